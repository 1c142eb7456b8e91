// SPDX-License-Identifier: Apache-2.0
// test_beside: clweave run --with-baselines on PoCL, with a baseline that does what a test says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/trial.hpp"

using namespace clweave::baselines;
using namespace trial;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class Beside : public testing::Test {
 public:
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

 protected:
  Beside() {
    trial_.set("POCL_CACHE_DIR", fs::absolute("pocl_cache").string());
    fs::create_directory(bin());
    install(CLWEAVE_BINARY, "clweave");
  }
  ~Beside() override { trial_.expect_nobody_left(); }

  fs::path bin() const { return trial_.folder() / "bin"; }
  void install(const std::string& program, const std::string& name) const {
    std::error_code elsewhere;  // on another disk
    fs::create_hard_link(program, bin() / name, elsewhere);
    if (elsewhere) fs::copy_file(program, bin() / name);
  }
  void install_fake() const { install(CLWEAVE_FAKE_BASELINE, "clweave_baseline_cpu"); }

  Ended clweave(const Strings& words) {
    trial_.start(words, bin() / "clweave");
    return trial_.finish();
  }
  // Two sizes of two kernels, which the fake both copies.
  Ended run(const Strings& more = {}) {
    Strings words = {"run",
                     "--preset",
                     "smoke",
                     "--family",
                     "copy",
                     "--where",
                     "width=1",
                     "--where",
                     "kernel=no_loop,grid_stride",
                     "--set",
                     "n=1009,4096",
                     "--csv",
                     trial_.csv(),
                     "--with-baselines"};
    words.insert(words.end(), more.begin(), more.end());
    return clweave(words);
  }
  static std::string turns(const Results& results) {
    std::string out;
    for (const auto& record : results.cases) {
      const char who = record.is_baseline() ? 'B' : 'A';
      if (out.empty() || out.back() != who) out += who;
    }
    return out;
  }
  std::multiset<std::string> keys() const {
    std::multiset<std::string> out;
    for (const auto& record : records_of(read_csv(trial_.csv()), trial_.csv()))
      out.insert(fmt::format("{} {} {}", record.run.value_or(0), record.api, record.case_id));
    return out;
  }

  Trial trial_;
};

}  // namespace

TEST_F(Beside, BothStandInOneFileInTurns) {
  install_fake();
  const Ended ended = run({"--runs", "2"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("fake move on 2 threads"));
  const Results results = read_results(trial_.csv());
  EXPECT_TRUE(results.finished);
  EXPECT_EQ(turns(results), "ABAB");
  expect_sound_cells(results);
  expect_samples_of_rows(trial_.csv());
  EXPECT_EQ(std::ranges::count_if(results.cases, &Record::is_baseline), 4) << "two sizes, twice";
  const Record& theirs = *std::ranges::find_if(results.cases, &Record::is_baseline);
  EXPECT_EQ(theirs.api, "fake");
  EXPECT_EQ(theirs.axis("threads"), "2");
  EXPECT_EQ(theirs.run_id, results.cases.front().run_id);
  EXPECT_THAT(clweave({"show", trial_.csv()}).out, HasSubstr("fake move on 2 threads"));
}

TEST_F(Beside, WhatIsLeftIsMeasuredByResumeAndNothingTwice) {
  install_fake();
  ASSERT_EQ(run({"--runs", "2"}).code, 0);
  const auto whole = keys();
  const std::string text = content_of(trial_.csv());
  for (std::size_t rows = 1; rows < whole.size(); rows += 4) {
    std::size_t end = 0;
    for (std::size_t line = 0; line <= rows; ++line) end = text.find('\n', end) + 1;
    fs::resize_file(trial_.csv(), end);
    const Ended ended = clweave({"run", "--resume", trial_.csv()});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(keys(), whole) << "cut after " << rows;
    EXPECT_TRUE(read_results(trial_.csv()).finished);
    ASSERT_FALSE(HasFailure());
    std::ofstream(trial_.csv()) << text;
  }
}

TEST_F(Beside, ABaselineThatFailsIsARowAndLeavesOursAlone) {
  install_fake();
  for (const std::string manner : {"crash", "hang"}) {
    trial_.set("CLWEAVE_FAKE", manner);
    const Ended ended = run({"--timeout", "2", "--overwrite"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err, HasSubstr("copy/kernel=move/type=uint/n=4096/threads=2"));
    const Results results = read_results(trial_.csv());
    EXPECT_TRUE(results.finished);
    for (const auto& record : results.cases) {
      const bool hit = record.is_baseline() && record.axis("n") == "4096";
      const Status expected = !hit ? Status::ok : manner == "crash" ? Status::crashed : Status::timeout;
      EXPECT_EQ(record.status, expected) << record.case_id << ": " << record.reason;
    }
    EXPECT_EQ(std::ranges::count_if(results.cases, &Record::is_baseline), 2);
    EXPECT_THAT(clweave({"show", trial_.csv()}).out, HasSubstr("1 row of fake failed"));
  }
}

TEST_F(Beside, OneThatCannotWorkHereIsLeftOutWithAWord) {
  install_fake();
  trial_.set("CLWEAVE_FAKE", "refuse");
  const Ended ended = run();
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr("clweave_baseline_cpu is left out"));
  EXPECT_THAT(ended.err, HasSubstr("it likes none"));
  EXPECT_EQ(turns(read_results(trial_.csv())), "A");
}

TEST_F(Beside, OneThatSpeaksNonsenseOrNotAtAllIsLeftOut) {
  for (const char* text : {"#!/bin/sh\necho '[1]' >&3\nexit 0\n", "#!/bin/sh\nexit 3\n", "no program"}) {
    std::ofstream(bin() / "clweave_baseline_cuda") << text;
    fs::permissions(bin() / "clweave_baseline_cuda", fs::perms::owner_all);
    const Ended ended = run({"--overwrite"});
    EXPECT_EQ(ended.code, 0);
    EXPECT_THAT(ended.err, HasSubstr("clweave_baseline_cuda is left out")) << text;
    EXPECT_TRUE(read_results(trial_.csv()).finished);
  }
}

TEST_F(Beside, WithoutAnyNothingIsRun) {
  const Ended ended = run();
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("clweave_baseline_cpu, clweave_baseline_boost_compute"));
  EXPECT_FALSE(fs::exists(trial_.csv()));
}

TEST_F(Beside, ThreadsAreAnAxisOfOneRun) {
  install_fake();
  const Ended ended = run({"--threads", "1,4"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::multiset<std::string> counts;
  for (const auto& record : read_results(trial_.csv()).cases) {
    if (record.is_baseline()) counts.insert(record.axis("threads"));
  }
  EXPECT_THAT(counts, ElementsAre("1", "1", "4", "4")) << "two sizes";
  const Ended alone = clweave({"run", "--threads", "2", "--csv", "other.csv"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--with-baselines"));
}

TEST_F(Beside, AFileOfABaselinesOwnProgramIsNotGoneOnWith) {
  install_fake();
  trial_.start({"--family", "copy", "--preset", "smoke", "--set", "n=1009", "--csv", trial_.csv()},
               bin() / "clweave_baseline_cpu");
  ASSERT_EQ(trial_.finish().code, 0);
  const std::string text = content_of(trial_.csv());
  fs::resize_file(trial_.csv(), text.rfind('\n', text.size() - 2) + 1);  // its last line
  const Ended ended = clweave({"run", "--resume", trial_.csv()});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("start again what made it: clweave_baseline_cpu --family copy"));
}

TEST_F(Beside, ADryRunListsThem) {
  install_fake();
  const Ended ended = run({"--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("copy/kernel=move/type=uint/n=1009/threads=2"));
  EXPECT_THAT(ended.out, HasSubstr("by fake"));
  EXPECT_FALSE(fs::exists(trial_.csv()));
}
