// SPDX-License-Identifier: Apache-2.0
// test_native: rows of baselines are verified, timed and named as those of kernels are.
#include "baselines/native.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <thread>

#include "base/csv.hpp"
#include "base/exit.hpp"
#include "baselines/cuda_work.hpp"
#include "results/results_set.hpp"
#include "suite/family.hpp"
#include "suite/selection.hpp"

using namespace clweave::baselines;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

using Strings = std::vector<std::string>;

class Baselines : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(csv); }
  void TearDown() override {
    std::filesystem::remove(csv);
    std::filesystem::remove("native.samples.csv");
  }

  // Works on a copy that `prepare` makes.
  int measure(const std::function<Prepared(const Work&)>& prepare, Strings more = {}) {
    Strings words = {"--family", "copy", "--preset", "smoke", "--set", "n=1009", "--csv", csv};
    words.insert(words.end(), more.begin(), more.end());
    const auto of_type = [&](const char* name, const char* type) -> Native {
      return {.api = "mine",
              .family = "copy",
              .name = name,
              .like = "kernel=no_loop width=1",
              .axes = {"type", "n"},
              .takes = [type](const Case& at) { return at.is("type", type); },
              .prepare = prepare};
    };
    std::vector<Native> all = {of_type("move", "uint")};
    if (one_is_alone_) {
      all.push_back(of_type("alone", "ulong"));
      all.back().parallel = false;
    }
    return native_main(words, [&](const Wanted& wanted) -> Natives {
      return {processor(), wanted.threads.empty() ? std::vector{3U} : wanted.threads, "a compiler", all,
              [&](unsigned threads, const auto& f) {
                on_threads_.push_back(threads);
                f();
              }};
    });
  }
  std::vector<Record> rows() const { return records_of(read_csv(csv), csv); }

  const std::string csv = "native.csv";
  bool one_is_alone_ = false;  // of ulong, on one thread
  std::vector<unsigned> on_threads_;
};

// Keeps what is not zero; `more` words behind that are overwritten.
Prepared kept_of(const Work& work, std::size_t more) {
  const auto from = work.input<std::uint32_t>();
  const auto to = work.output<std::uint32_t>(0), counts = work.output<std::uint32_t>(1);
  return {[=] {
    const auto end = std::ranges::copy_if(from, to.begin(), [](std::uint32_t key) { return key != 0; }).out;
    counts[0] = static_cast<std::uint32_t>(end - to.begin());
    counts[1] = static_cast<std::uint32_t>(from.size()) - counts[0];
    std::fill_n(end, more, 0U);
  }};
}

Prepared copy_of(const Work& work, std::size_t less) {
  const auto from = work.inputs[0];
  const auto to = work.outputs[0];
  return {[=] { std::memcpy(to.data(), from.data(), from.size() - less); }};
}

}  // namespace

TEST_F(Baselines, AreRowsOfTheWorkThatTheyDo) {
  EXPECT_EQ(measure([](const Work& work) { return copy_of(work, 0); }), success);
  const auto all = rows();
  ASSERT_EQ(all.size(), 1u) << "cases that differ in how alone are the same work";
  const Record& row = all.front();
  EXPECT_EQ(row.case_id, "copy/kernel=move/type=uint/n=1009/threads=3");
  EXPECT_EQ(row.api, "mine");
  EXPECT_EQ(row.verified, Verified::yes);
  EXPECT_EQ(row.timer, Timer::host);
  EXPECT_EQ(row.bytes, 2 * 4 * 1009);
  EXPECT_EQ(row.build_options, "a compiler");
  EXPECT_GT(*row.time_s, 0);
  EXPECT_NEAR(*row.gb_per_s, 1e-9 * 8072 / *row.time_s, 1e-9);
  const ResultsSet set = read_results({csv}, all_families());
  EXPECT_TRUE(set.devices.empty());
  ASSERT_EQ(set.baselines.size(), 1u);
  EXPECT_EQ(set.baselines[0].api, "mine");
}

TEST_F(Baselines, ThatAreWrongHaveNoTime) {
  EXPECT_EQ(measure([](const Work& work) { return copy_of(work, 1); }), case_failed);
  const Record row = rows().at(0);
  EXPECT_EQ(row.status, Status::wrong_result);
  EXPECT_THAT(row.reason, HasSubstr("1008 of 1009"));
  EXPECT_FALSE(row.time_s.has_value());
}

TEST_F(Baselines, ThatAreWrongLaterHaveNoTimeEither) {
  int left = 5;
  EXPECT_EQ(measure([&](const Work& work) {
              const auto right = copy_of(work, 0), wrong = copy_of(work, 1);
              return Prepared{[&left, right, wrong] { (left-- > 0 ? right : wrong).execute(); }};
            }),
            case_failed);
  EXPECT_EQ(rows().at(0).status, Status::wrong_result);
  EXPECT_FALSE(rows().at(0).time_s.has_value());
}

TEST_F(Baselines, AreComparedInEveryStretch) {
  const auto wrong = [](const Work& work) {
    const auto right = copy_of(work, 0);
    const auto to = work.output<std::uint32_t>();
    return Prepared{[=] {
      right.execute();
      for (const std::size_t i : {70'001, 500'001, 999'999}) to[i] += 1;
    }};
  };
  EXPECT_EQ(measure(wrong, {"--set", "n=1000003"}), case_failed);
  EXPECT_THAT(rows().at(0).reason, HasSubstr("1000000 of 1000003"));
  EXPECT_THAT(rows().at(0).reason, HasSubstr("[70001]"));
}

TEST_F(Baselines, MayNotWriteBehindWhatTheyKeep) {
  const auto compaction = [&](std::size_t more) {
    const Native native{.api = "mine",
                        .family = "compaction",
                        .name = "keep",
                        .like = "kernel=spataro",
                        .axes = {"type", "predicate", "selectivity", "n"},
                        .takes = [](const Case&) { return true; },
                        .prepare = [more](const Work& work) { return kept_of(work, more); }};
    const int code = native_main({"--family", "compaction", "--where", "kernel=spataro", "--set", "type=uint",
                                  "--set", "predicate=non_zero", "--set", "selectivity=0.5", "--set",
                                  "output=key", "--set", "n=300007", "--csv", csv, "--overwrite"},
                                 [&](const Wanted&) -> Natives {
                                   return {processor(), {}, "a compiler", {native}, {}};
                                 });
    EXPECT_EQ(rows().size(), 1U);
    return code;
  };
  EXPECT_EQ(compaction(0), success) << rows().at(0).reason;
  EXPECT_EQ(compaction(9), case_failed);
  EXPECT_THAT(rows().at(0).reason, HasSubstr("behind what is kept"));
}

TEST_F(Baselines, SayWhatTheyDoNotTake) {
  const auto right = [](const Work& work) { return copy_of(work, 0); };
  EXPECT_EQ(measure(right, {"--set", "type=double"}), bad_usage) << "the work of no case";
  EXPECT_EQ(measure(right, {"--family", "nothing"}), bad_usage);
  EXPECT_FALSE(std::filesystem::exists(csv));
}

TEST_F(Baselines, RunOnAsManyThreadsAsTheyAreAskedTo) {
  const auto right = [](const Work& work) { return copy_of(work, 0); };
  one_is_alone_ = true;
  EXPECT_EQ(measure(right, {"--where", "type=uint,ulong", "--threads", "1,4", "--label", "this one"}),
            success);
  std::vector<std::string> ids;
  for (const auto& row : rows()) {
    ids.push_back(row.case_id);
    EXPECT_EQ(row.label, "this one");
  }
  EXPECT_THAT(ids, ElementsAre("copy/kernel=move/type=uint/n=1009/threads=1",
                               "copy/kernel=move/type=uint/n=1009/threads=4",
                               "copy/kernel=alone/type=ulong/n=1009/threads=1"));
  EXPECT_THAT(on_threads_, ElementsAre(1u, 4u, 1u));
  EXPECT_EQ(measure(right, {"--threads", "0", "--overwrite"}), bad_usage);
}

TEST_F(Baselines, AreListedByADryRunAndNotRun) {
  testing::internal::CaptureStdout();
  const int code =
      measure([](const Work&) -> Prepared { throw Error(ErrorCode::launch, "it was run"); }, {"--dry-run"});
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, success);
  EXPECT_THAT(said, HasSubstr("copy/kernel=move/type=uint/n=1009/threads=3"));
  EXPECT_THAT(said, HasSubstr("by mine"));
  EXPECT_FALSE(std::filesystem::exists(csv));
}

TEST_F(Baselines, EndWithTheirBudget) {
  const auto slow = [](const Work& work) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    return copy_of(work, 0);
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(measure(slow, {"--runs", "3", "--budget", "1s"}), success);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("ended before 2 cases"));
  EXPECT_EQ(rows().size(), 1u);
}

TEST_F(Baselines, RefuseWhatTheyWouldNotHeed) {
  const auto right = [](const Work& work) { return copy_of(work, 0); };
  for (const Strings& words :
       {Strings{"--report", "page.html"}, Strings{"--share"}, Strings{"--energy"}, Strings{"--no-tuned"},
        Strings{"--cache", "cold"}, Strings{"--timeout", "5"}, Strings{"--resume", csv}}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(measure(right, words), bad_usage) << words.front();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(words.front()));
    EXPECT_FALSE(std::filesystem::exists(csv)) << words.front();
  }
}

TEST_F(Baselines, TellInTheirHelpWhatTheyTake) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(measure({}, {"--help"}), success);
  const std::string help = testing::internal::GetCapturedStdout();
  for (const char* option : {"--threads", "--dry-run", "--budget", "--label", "--csv"})
    EXPECT_THAT(help, HasSubstr(option));
  EXPECT_THAT(help, Not(HasSubstr("--report")));
}

// nvcc's programs run on few of the machines that test them: without this a family that is renamed would lose
// them.
TEST(CudaBaselines, DoTheWorkOfFamiliesThatThereAre) {
  const auto work = cuda_work("cuda");
  ASSERT_NO_THROW(check_names(work));
  for (const auto& native : work) {
    const auto family = std::ranges::find(all_families(), native.family, &Family::name);
    ASSERT_NE(family, all_families().end()) << native.family;
    const auto cases = cases_of(*family, family->presets.at("quick"), 1);
    EXPECT_TRUE(std::ranges::any_of(cases, native.takes))
        << native.name << " takes no case of " << native.family;
  }
}

TEST(CudaBaselines, AreRefusedByNamesThatThereAreNot) {
  auto work = cuda_work("cuda");
  work.front().axes.emplace_back("trips");
  EXPECT_THROW(check_names(work), Error);
  work.front() = {
      .api = "cuda", .family = "divergence", .name = "", .like = "", .axes = {}, .takes = {}, .prepare = {}};
  EXPECT_THROW(check_names(work), Error);
}

// What prepares a baseline asks its case for axes, too.
TEST(BaselineSources, AskForAxesThatThereAre) {
  const auto names = axis_names(all_families());
  static const std::regex asked(R"(\bat\.(?:at|count|is|number|text)\("(\w+)\")");
  int found = 0;
  for (const char* name : {"boost_compute.cpp", "cpu.cpp", "cuda.cu", "cuda_work.hpp"}) {
    std::ifstream in(std::filesystem::path(CLWEAVE_SOURCE_DIR) / "host/baselines" / name);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (std::sregex_iterator at(text.begin(), text.end(), asked), end; at != end; ++at, ++found)
      EXPECT_THAT(names, testing::Contains((*at)[1].str())) << name;
  }
  EXPECT_GT(found, 20);
}
