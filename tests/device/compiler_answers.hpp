// SPDX-License-Identifier: Apache-2.0
// compiler_answers: what the offline compilers said before, in results/compilers/answers.csv.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>

#include "base/csv.hpp"
#include "base/hash.hpp"
#include "compilers/target.hpp"

namespace clweave::compilers {

// Keeps answers of compilers in a committed file, by a hash of all that they depend on: target, versions and
// options of its compilers, the files of host/compilers that tell them what to do and read what they say, and
// the question with its sources. Where that is what it was, so is the answer; of one in 16, others each time,
// it is asked for again and must be the same. What a test expects of an answer it expects of a kept one as
// well; a test that asks for something else must say so in its question. CLWEAVE_WHOLE_TABLE=1 asks for all
// of it; CLWEAVE_RENEW=1 too, and writes the file anew if no test fails.
class CompilerAnswers : public testing::Environment {
 public:
  std::string of(const Target& target, const std::string& question, const std::function<std::string()>& ask) {
    const std::string key =
        hash_of(fmt::format("{}\n{}\n{}\n{}", target.name, target.compiler, question, reader()));
    const auto before = known_.find(key);
    const bool is_known = before != known_.end();
    const bool asks = always_ || !is_known || draw_() % 16 == 0;
    std::string answer = asks ? ask() : before->second;
    ++(asks ? asked_ : kept_);
    if (is_known && !renew_) {
      EXPECT_EQ(answer, before->second) << target.name << ", " << target.compiler << ": " << question;
    }
    now_[key] = answer;
    return answer;
  }

  void SetUp() override {
    if (!std::filesystem::exists(path_)) return;
    for (const auto& row : read_csv(path_).rows) known_[row.cells.at(0)] = row.cells.at(1);
  }

  void TearDown() override {
    if (asked_ + kept_ > 0)
      std::cout << fmt::format("{} answers of compilers, and {} that are known\n", asked_, kept_);
    if (!renew_ || testing::UnitTest::GetInstance()->Failed()) return;
    if (GTEST_FLAG_GET(filter) != "*") now_.insert(known_.begin(), known_.end());
    std::ofstream out(path_, std::ios::binary);
    out << "key,answer\n";
    for (const auto& [key, answer] : now_) out << csv_line(std::vector<std::string>{key, answer});
  }

 private:
  static const std::string& reader() {
    static const std::string text = [] {
      std::set<std::filesystem::path> files;
      for (const auto& entry : std::filesystem::directory_iterator(CLWEAVE_SOURCE_DIR "/host/compilers")) {
        const std::string name = entry.path().stem();
        if (name != "inspect_report" && name != "survey") files.insert(entry.path());
      }
      std::string all;
      for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        all.append(std::istreambuf_iterator<char>(in), {});
      }
      return all;
    }();
    return text;
  }

  const std::string path_ = CLWEAVE_SOURCE_DIR "/results/compilers/answers.csv";
  const bool renew_ = std::getenv("CLWEAVE_RENEW") != nullptr;
  const bool always_ = renew_ || std::getenv("CLWEAVE_WHOLE_TABLE") != nullptr;
  std::map<std::string, std::string> known_, now_;
  std::random_device draw_;
  int asked_ = 0, kept_ = 0;
};

}  // namespace clweave::compilers
