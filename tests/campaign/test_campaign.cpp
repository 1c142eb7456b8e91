// SPDX-License-Identifier: Apache-2.0
// test_campaign: what becomes of hangs, crashes, lost devices, interrupts, impossible rows and budgets,
// without a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/version.hpp"
#include "campaign/campaign.hpp"
#include "campaign/fake_runner.hpp"
#include "campaign/tuner.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using namespace fake;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

namespace fs = std::filesystem;

class CampaignTest : public testing::Test {
 protected:
  std::string path() const { return folder_.of("rows.csv"); }
  static std::vector<std::string> axes() { return axis_names(families()); }
  static Record common() {
    Record record;
    record.run_id = "one";
    record.version = version;
    record.command = R"(["run"])";
    return record;
  }
  static Origin origin() {
    Record record;
    describe_device(record, device());
    return {common().command, common().run_id, version, {record.device_key().text()}};
  }

  Exit run(std::vector<Job> jobs, const Unfinished* left = nullptr) {
    const auto file = left != nullptr ? std::make_shared<ResultsFile>(path(), axes(), origin(), *left)
                                      : std::make_shared<ResultsFile>(path(), axes(), origin());
    rules_.environment = {.interrupts = [this] { return interrupts_; }, .now = [this] { return now_s_; }};
    testing::internal::CaptureStderr();
    Campaign campaign(rules_, runner_, common(), left);
    const Exit code =
        campaign.execute({{device(), file, std::move(jobs), refines_, baselines_, with_tuned_}});
    said_ = testing::internal::GetCapturedStderr();
    rows_ = campaign.records();
    left_out_ = campaign.skipped();
    return code;
  }
  Exit resume(std::vector<Job> jobs) {
    const Unfinished left = ResultsFile::read(path(), axes());
    return run(std::move(jobs), &left);
  }

  std::vector<std::string> in_file() const {
    std::vector<std::string> out;
    for (const auto& record : records_of(read_csv(path()), path()))
      out.push_back(text_of(record.status) + " " + record.case_id);
    std::ranges::sort(out);
    return out;
  }
  const Record& row(const Job& job) const { return *std::ranges::find(rows_, job.at.id(), &Record::case_id); }

  Folder folder_;
  FakeRunner runner_;
  CampaignRules rules_;
  bool refines_ = false;
  std::vector<BaselineProgram> baselines_;
  decltype(DevicePlan::with_tuned) with_tuned_;
  int interrupts_ = 0;
  double now_s_ = 0;
  std::size_t left_out_ = 0;
  std::string said_;
  std::vector<Record> rows_;
};

TEST_F(CampaignTest, EveryCaseIsARow) {
  EXPECT_EQ(run({toy("a"), toy("b")}), success);
  EXPECT_THAT(in_file(), ElementsAre("ok toy/kernel=a/n=1024", "ok toy/kernel=b/n=1024"));
  EXPECT_TRUE(ResultsFile::read(path(), axes()).complete);
  EXPECT_FALSE(std::filesystem::exists(path() + ".running"));
}

TEST_F(CampaignTest, WhatTheRunnerSaysOfAHangACrashAndALostDeviceIsKept) {
  runner_.fails(toy("a"), ErrorCode::timeout, "no sign of life");
  runner_.fails(toy("b"), ErrorCode::crashed, "SIGSEGV");
  runner_.fails(toy("a", 2048), ErrorCode::device_lost, "not run: gone");
  EXPECT_EQ(run({toy("a"), toy("b"), toy("a", 2048), toy("b", 2048)}), case_failed);
  EXPECT_THAT(in_file(), ElementsAre("crashed toy/kernel=b/n=1024", "device_lost toy/kernel=a/n=2048",
                                     "ok toy/kernel=b/n=2048", "timeout toy/kernel=a/n=1024"));
  EXPECT_THAT(said_, HasSubstr("timeout  toy/kernel=a/n=1024  no sign of life"));
}

// Who asks for cases and gets none hears it by the code; among others, what a device lacks is no failure.
TEST_F(CampaignTest, UnsupportedCasesFailARunOfNothingElse) {
  runner_.fails(toy("a"), ErrorCode::unsupported, "no double precision");
  runner_.fails(toy("a", 2048), ErrorCode::unsupported, "no double precision");
  const auto code_of = [&](std::vector<Job> jobs) {
    std::filesystem::remove(path());
    return run(std::move(jobs));
  };
  EXPECT_EQ(code_of({toy("a"), toy("a", 2048), toy("b")}), success);
  EXPECT_EQ(code_of({toy("a"), toy("a", 2048)}), case_failed);
  EXPECT_EQ(code_of({peak(), toy("a")}), case_failed) << "its peak alone is no answer";
  EXPECT_EQ(code_of({peak()}), success);
}

TEST_F(CampaignTest, ADeviceThatIsBackIsUsedByResume) {
  runner_.fails(toy("a", 2048), ErrorCode::device_lost, "not run: gone");
  EXPECT_EQ(run({toy("a"), toy("a", 2048)}), case_failed);
  runner_.times(toy("a", 2048), {2e-3});
  EXPECT_EQ(resume({toy("a"), toy("a", 2048)}), success);
  EXPECT_THAT(in_file(), ElementsAre("ok toy/kernel=a/n=1024", "ok toy/kernel=a/n=2048"));
  const auto samples = read_csv(samples_path(path()));
  EXPECT_THAT(samples.rows, SizeIs(10));
  EXPECT_EQ(runner_.ran.size(), 3U) << "the other case was run again";
}

// Rows of a machine on which others work, in those of its runs that are named.
class BusyTest : public CampaignTest {
 protected:
  void disturb(const Job& job, std::set<int> runs) {
    runner_.answer(job, [job, runs = std::move(runs)](int nth) {
      Row row = ok_row(device(), job, runs.contains(nth) ? 4e-3 : 2e-3);
      if (runs.contains(nth)) row.record.disturbed = "other processes used 1.9 processors";
      return row;
    });
  }
};

TEST_F(BusyTest, ADisturbedCaseIsMeasuredAgain) {
  disturb(toy("a"), {1});
  EXPECT_EQ(run({toy("a")}), success);
  EXPECT_EQ(row(toy("a")).time_s, 2e-3);
  EXPECT_EQ(row(toy("a")).disturbed, "");
  EXPECT_THAT(runner_.ran, SizeIs(2));
}

TEST_F(BusyTest, WhatIsDisturbedTwiceSaysSo) {
  disturb(toy("a"), {1, 2});
  EXPECT_EQ(run({toy("a")}), success);
  EXPECT_EQ(row(toy("a")).disturbed, "other processes used 1.9 processors");
  EXPECT_THAT(runner_.ran, SizeIs(2));
}

TEST_F(BusyTest, AFailureOfTheSecondMeasurementIsKept) {
  runner_.answer(toy("a"), [](int nth) {
    if (nth > 1)
      return Row{
          failed_record(device(), *toy("a").family, toy("a").at, ErrorCode::wrong_result, "no"), {}, 0};
    Row row = ok_row(device(), toy("a"), 4e-3);
    row.record.disturbed = "other processes used 1.9 processors";
    return row;
  });
  EXPECT_EQ(run({toy("a")}), case_failed);
}

TEST_F(BusyTest, AMachineThatIsBusyAllTheTimeDoesNotDoubleTheRun) {
  std::vector<Job> jobs;
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(toy("a", 1024 + i));
    disturb(jobs.back(), {1, 2});
  }
  EXPECT_EQ(run(jobs), success);
  EXPECT_THAT(runner_.ran, SizeIs(8 + 3)) << "three of them twice, to no avail";
}

// A family that asks for what lies between two sizes until they are 128 apart, and times as long as they are
// large.
class RefinedTest : public CampaignTest {
 protected:
  RefinedTest() {
    refines_ = true;
    family_.refine = [](const std::vector<Outcome>& outcomes, const DeviceInfo&) {
      std::set<std::int64_t> sizes;
      for (const auto& o : outcomes) sizes.insert(o.at.number("n"));
      std::vector<Case> out;
      if (sizes.size() < 2) return out;
      const std::int64_t low = *sizes.begin(), high = *std::next(sizes.begin());
      if (high - low > 128) out.push_back(toy("a", (low + high) / 2).at);
      return out;
    };
    for (const std::int64_t n : {1024, 1088, 1152, 1280, 1536, 2048})
      runner_.times(of(n), {1e-6 * static_cast<double>(n)});
  }
  Job of(std::int64_t n) const { return {&family_, toy("a", n).at}; }
  static std::string id(std::int64_t n) { return toy("a", n).at.id(); }

  Family family_ = families()[1];
};

TEST_F(RefinedTest, WhatAFamilyAsksForOnTheWayIsMeasuredBehindTheRest) {
  EXPECT_EQ(run({of(1024), of(2048), {&family_, toy("b").at}}), success);
  ASSERT_THAT(runner_.ran, SizeIs(6));
  EXPECT_THAT(std::vector(runner_.ran.begin() + 3, runner_.ran.end()),
              ElementsAre(id(1536), id(1280), id(1152)));
  EXPECT_TRUE(ResultsFile::read(path(), axes()).complete);
  std::set<std::int64_t> orders;
  for (const auto& record : rows_) orders.insert(*record.order);
  EXPECT_THAT(orders, SizeIs(6)) << "two rows have one place";
}

TEST_F(RefinedTest, ARowThatAFamilyAskedForSaysSo) {
  EXPECT_EQ(run({of(1024), of(2048)}), success);
  EXPECT_EQ(row(of(1024)).reason, "");
  EXPECT_EQ(row(of(1536)).reason, chosen_here);
}

// Measures the tuned launch beside a case that refinement adds. Findings do not use it.
TEST_F(RefinedTest, WhatAFamilyAskedForIsMeasuredAsTunedToo) {
  with_tuned_ = [&](std::vector<Job> jobs, const auto&) {
    if (jobs.front().at.number("n") == 1536) {
      jobs.push_back(jobs.front());
      jobs.back().at = toy("b", 1536).at;
      jobs.back().tuned = true;
      jobs.back().tuned_on = "Another";
      jobs.back().tuned_with = "op=sum";
    }
    return jobs;
  };
  runner_.times({&family_, toy("b", 1536).at}, {1e-3});
  EXPECT_EQ(run({of(1024), of(2048)}), success);
  EXPECT_THAT(std::vector(runner_.ran.begin() + 2, runner_.ran.end()),
              ElementsAre(id(1536), toy("b", 1536).at.id(), id(1280), id(1152)));
  const Record& tuned = row({&family_, toy("b", 1536).at});
  EXPECT_EQ(tuned.tuned, "yes");
  EXPECT_EQ(tuned.reason, "launched as was best with op=sum on Another");
  EXPECT_EQ(row(of(1536)).tuned, "");
}

TEST_F(RefinedTest, NobodyIsAskedWhereTheUserChoseTheCases) {
  refines_ = false;
  EXPECT_EQ(run({of(1024), of(2048)}), success);
  EXPECT_THAT(runner_.ran, SizeIs(2));
}

TEST_F(RefinedTest, CeilingsAreAskedEvenThere) {
  refines_ = false;
  Job least = of(1024), most = of(2048);
  least.is_peak = most.is_peak = true;
  EXPECT_EQ(run({least, most}), success);
  EXPECT_THAT(runner_.ran, SizeIs(5));
}

TEST_F(CampaignTest, PeaksMayBeSampledInAnotherWay) {
  rules_.sampling.stop.max_seconds = 2;
  Job peak = toy("a");
  peak.is_peak = true;
  const auto sampled_s = [&](const Job& job) {
    runner_.rules.clear();
    EXPECT_EQ(run({job}), success);
    return runner_.rules.at(0).stop.max_seconds;
  };
  EXPECT_EQ(sampled_s(peak), 2);
  rules_.peak_sampling = rules_.sampling;
  rules_.peak_sampling->stop.max_seconds = 0.1;
  fs::remove(path());
  EXPECT_EQ(sampled_s(peak), 0.1);
  fs::remove(path());
  EXPECT_EQ(sampled_s(toy("b")), 2);
}

TEST_F(RefinedTest, AnInterruptedRunGoesOnWhereItWas) {
  runner_.before = [this](const Job& job) { interrupts_ = job.at.id() == id(1280) ? 1 : interrupts_; };
  EXPECT_EQ(run({of(1024), of(2048)}), interrupted);
  interrupts_ = 0;
  runner_.before = {};
  const std::size_t before = runner_.ran.size();
  EXPECT_EQ(resume({of(1024), of(2048)}), success);
  EXPECT_THAT(in_file(), SizeIs(5));
  EXPECT_LE(runner_.ran.size() - before, 2U) << "a row that was there has been measured again";
}

TEST_F(RefinedTest, EveryRunHasTheSameCases) {
  rules_.runs = 2;
  int asked = 0;  // a curve that looks another way in the second run
  family_.refine = [&asked](const std::vector<Outcome>&, const DeviceInfo&) {
    return std::vector<Case>{toy("a", ++asked <= 2 ? 1280 : 1536).at};
  };
  EXPECT_EQ(run({of(1024), of(2048)}), success);
  std::map<std::string, int> times;
  for (const auto& ran : runner_.ran) ++times[ran];
  EXPECT_EQ(times[id(1280)], 2);
  EXPECT_FALSE(times.contains(id(1536))) << "one run alone has it";
}

TEST_F(RefinedTest, WhatTheBudgetDidNotReachIsLeftToResume) {
  rules_.budget_s = 10;
  runner_.before = [this](const Job&) { now_s_ += 6; };
  EXPECT_EQ(run({of(1024), of(2048)}), success);
  EXPECT_EQ(left_out_, 1U);
  EXPECT_FALSE(ResultsFile::read(path(), axes()).complete);
}

TEST_F(CampaignTest, AnInterruptLeavesTheRestToResume) {
  runner_.before = [this](const Job& job) {
    interrupts_ = job.at.id() == toy("a").at.id() ? 1 : interrupts_;
  };
  std::vector<Job> jobs = {toy("a"), toy("b"), toy("a", 2048)};
  EXPECT_EQ(run(jobs), interrupted);
  const std::size_t done = runner_.ran.size();
  EXPECT_EQ(in_file().size(), done);
  interrupts_ = 0;
  runner_.before = {};
  EXPECT_EQ(resume(jobs), success);
  EXPECT_EQ(runner_.ran.size(), 3U);
  EXPECT_THAT(in_file(), SizeIs(3));
}

TEST_F(CampaignTest, APeakIsMeasuredOnceForAllRepetitions) {
  rules_.runs = 3;
  rules_.peaks_once = true;
  EXPECT_EQ(run({peak(), toy("a")}), success) << said_;
  EXPECT_EQ(std::ranges::count(runner_.ran, "peak/kernel=copy"), 1);
  EXPECT_EQ(std::ranges::count(runner_.ran, "toy/kernel=a/n=1024"), 3);
  EXPECT_NEAR(row(toy("a")).fraction_of_peak.value_or(0), 1, 1e-6);
}

TEST_F(CampaignTest, ADisturbedPeakIsMeasuredAgain) {
  rules_.runs = 3;
  rules_.peaks_once = true;
  runner_.answer(peak(), [](int) -> std::optional<Row> {
    Row row = ok_row(device(), peak(), 1e-3);
    row.record.disturbed = "other processes used 1 processor";
    return row;
  });
  run({peak(), toy("a")});
  EXPECT_GE(std::ranges::count(runner_.ran, "peak/kernel=copy"), 3);
}

TEST_F(CampaignTest, APeakAtALowClockIsMeasuredAgainUntilItIsNot) {
  rules_.runs = 4;
  rules_.peaks_once = true;
  int measured = 0;
  runner_.answer(peak(), [&](int) -> std::optional<Row> {
    Row row = ok_row(device(), peak(), 1e-3);
    if (measured++ == 0) row.record.throttled = 0.9;
    return row;
  });
  run({peak(), toy("a")});
  EXPECT_EQ(std::ranges::count(runner_.ran, "peak/kernel=copy"), 2) << "the second serves the other two";
}

// The runner gives no row when the user does not want to wait for it.
TEST_F(CampaignTest, AnOrderlyEndWithinACaseIsNotItsCrash) {
  runner_.answer(toy("a"), [this](int nth) -> std::optional<Row> {
    if (nth > 5) return ok_row(device(), toy("a"), 1e-3);
    interrupts_ = 2;
    return {};
  });
  EXPECT_EQ(run({toy("a")}), interrupted);
  EXPECT_THAT(in_file(), SizeIs(0));
  for (int again = 0; again < 4; ++again) {
    interrupts_ = 0;
    EXPECT_EQ(resume({toy("a")}), interrupted) << "a file without a row tells its command";
  }
  interrupts_ = 0;
  EXPECT_EQ(resume({toy("a")}), success);
  EXPECT_THAT(in_file(), ElementsAre("ok toy/kernel=a/n=1024"));
}

// The note that a killed process leaves.
TEST_F(CampaignTest, ACaseThatTookTheRunDownTwiceIsNotTriedAgain) {
  Record key;
  describe_device(key, device());
  key.run = 1;
  key.case_id = toy("a").at.id();
  const auto died = [&](int attempts) {
    run({toy("b")});
    std::filesystem::resize_file(path(), read_text(path()).find(footer_mark));
    const nlohmann::json note = {{"command", common().command}, {"run_id", "one"},
                                 {"version", version},          {"devices", origin().devices},
                                 {"case", row_key(key)},        {"attempts", attempts}};
    std::ofstream(path() + ".running") << note.dump();
    const Exit code = resume({toy("a"), toy("b")});
    const auto rows = in_file();
    std::filesystem::remove(path());
    return std::pair(code, rows);
  };
  EXPECT_EQ(died(1).first, success);
  const auto [code, rows] = died(2);
  EXPECT_EQ(code, case_failed);
  EXPECT_THAT(rows, Contains("crashed toy/kernel=a/n=1024"));
}

// ---- Peaks --------------------------------------------------------------------------------------------

TEST_F(CampaignTest, ACeilingOfAWorseMomentIsMeasuredAgainBesideTheRow) {
  runner_.times(peak(), {3e-3, 1e-3});
  EXPECT_EQ(run({peak(), toy("a")}), success) << said_;
  EXPECT_EQ(row(toy("a")).status, Status::ok);
  EXPECT_NEAR(row(toy("a")).fraction_of_peak.value_or(0), 1, 1e-6);
  EXPECT_THAT(runner_.ran, ElementsAre("peak/kernel=copy", "toy/kernel=a/n=1024", "peak/kernel=copy"));
}

TEST_F(CampaignTest, ARowOfALuckyMomentIsMeasuredAgainBesideItsCeilings) {
  runner_.times(peak(), {2e-3});
  runner_.times(toy("a"), {1e-3, 2e-3});
  EXPECT_EQ(run({peak(), toy("a")}), success) << said_;
  EXPECT_EQ(row(toy("a")).time_s, Number(2e-3));
}

TEST_F(CampaignTest, WhatBeatsItsCeilingsEachTimeIsImplausible) {
  runner_.times(peak(), {2e-3});
  runner_.times(peak("copy_run"), {2.5e-3});
  runner_.times(toy("a"), {1e-3});
  EXPECT_EQ(run({peak(), peak("copy_run"), toy("a")}), case_failed);
  EXPECT_EQ(row(toy("a")).status, Status::implausible);
  EXPECT_EQ(row(toy("a")).time_s, Number(1e-3)) << "the number stays, with its reason";
  // Expects both peaks before and after each repetition of the row.
  EXPECT_EQ(std::ranges::count(runner_.ran, "toy/kernel=a/n=1024"), 4);
  EXPECT_EQ(std::ranges::count(runner_.ran, "peak/kernel=copy_run"), 5);
}

TEST_F(CampaignTest, AFamilyOfImplausibleRowsEnds) {
  runner_.times(peak(), {2e-3});
  std::vector<Job> jobs = {peak()};
  for (int n = 1; n <= 50; ++n) jobs.push_back(toy("a", n));
  EXPECT_EQ(run(jobs), case_failed);
  EXPECT_LE(std::ranges::count(runner_.ran, "peak/kernel=copy"), 21);
}

TEST_F(CampaignTest, ASiblingOfAWorseMomentIsMeasuredAgainBesideTheRow) {
  // Makes the first time of the small case too long, whichever case comes first in the shuffled order.
  runner_.times(toy("a", 1024), {10e-3, 1e-3});
  runner_.times(toy("a", 4096), {4e-3});
  EXPECT_EQ(run({toy("a", 1024), toy("a", 4096)}), success) << said_;
}

// Interrupts the repetition of a doubtful case: whether it is ok is not known yet, so it gets no row.
TEST_F(CampaignTest, AnInterruptedDoubtIsNoRow) {
  runner_.times(peak(), {2e-3});
  runner_.answer(toy("a"), [this](int nth) {
    if (nth == 1) interrupts_ = 1;
    return ok_row(device(), toy("a"), 1e-3);
  });
  EXPECT_EQ(run({peak(), toy("a")}), interrupted);
  EXPECT_THAT(in_file(), ElementsAre("ok peak/kernel=copy"));
}

// ---- Budget ----------------------------------------------------------------------------------------------

TEST_F(CampaignTest, ABudgetIsSharedByWhatIsLeft) {
  rules_.budget_s = 10;
  rules_.sampling.stop.max_seconds = 2;
  runner_.before = [this](const Job&) { now_s_ += 4; };
  EXPECT_EQ(run({toy("a"), toy("b"), toy("a", 2048)}), success);
  ASSERT_EQ(runner_.rules.size(), 3U);
  EXPECT_NEAR(runner_.rules[0].stop.max_seconds, 10.0 / 3 / 2, 1e-6);
  EXPECT_NEAR(runner_.rules[1].stop.max_seconds, 6.0 / 2 / 2, 1e-6);
  EXPECT_NEAR(runner_.rules[2].stop.max_seconds, 2.0 / 2, 1e-6);
}

// Ends within one case of the budget, and leaves the other cases to --resume.
TEST_F(CampaignTest, ASpentBudgetEndsTheRun) {
  rules_.budget_s = 10;
  runner_.before = [this](const Job&) { now_s_ += 6; };
  const std::vector<Job> jobs = {toy("a"), toy("b"), toy("a", 2048), toy("b", 2048)};
  EXPECT_EQ(run(jobs), success);
  EXPECT_EQ(now_s_, 12);
  EXPECT_EQ(left_out_, 2U);
  EXPECT_THAT(in_file(), SizeIs(2));
  EXPECT_FALSE(ResultsFile::read(path(), axes()).complete);
  EXPECT_EQ(resume(jobs), success);
  EXPECT_EQ(left_out_, 0U);
  EXPECT_THAT(in_file(), SizeIs(4));
  EXPECT_THAT(runner_.ran, SizeIs(4)) << "a case was run again";
  EXPECT_TRUE(ResultsFile::read(path(), axes()).complete);
}

TEST_F(CampaignTest, ABudgetThatIsSpentByOneCaseStillGetsToTheEnd) {
  rules_.budget_s = 1;
  runner_.before = [this](const Job&) { now_s_ += 100; };
  EXPECT_EQ(run({toy("a"), toy("b")}), success);
  EXPECT_EQ(resume({toy("a"), toy("b")}), success);
  EXPECT_THAT(in_file(), SizeIs(2));
}

// ---- Rivals ----------------------------------------------------------------------------------------------

// Another program that does the work of kernel a, on a device of its own.
class RivalTest : public CampaignTest {
 protected:
  RivalTest() {
    DeviceInfo processor = device();
    processor.platform = "native";
    const auto runner = std::shared_ptr<Runner>(&baseline_runner_, [](Runner*) {});
    baselines_ = {{runner, processor, {baseline_job()}}};
    baseline_runner_.before = [this](const Job&) { turns_ += "B"; };
    runner_.before = [this](const Job&) { turns_ += "A"; };
    answer([](Row row) { return row; });
  }
  static Job baseline_job() {
    Job job = toy("a");
    job.baseline = {"theirs", {"toy", {{"kernel", std::string("loop")}, {"n", std::int64_t{1024}}}, 1}};
    return job;
  }
  void answer(const std::function<Row(Row)>& with) {
    baseline_runner_.answer(baseline_job(), [this, with](int) {
      Row row = ok_row(baselines_.front().device, {&families()[1], baseline_job().named()}, 1e-3);
      row.record.api = "theirs";
      return with(row);
    });
  }
  static std::vector<Job> jobs() { return {peak(), toy("a"), toy("b")}; }

  FakeRunner baseline_runner_;
  std::string turns_;
};

TEST_F(RivalTest, AreMeasuredInTurnsWithOurs) {
  rules_.runs = 3;
  EXPECT_EQ(run(jobs()), success);
  EXPECT_EQ(turns_, "AAABAAABAAAB") << "a peak and two of ours, then theirs";
  EXPECT_EQ(baseline_runner_.begun, 3) << "a process each";
  EXPECT_THAT(in_file(), SizeIs(12));
  EXPECT_EQ(std::ranges::count_if(rows_, &Record::is_baseline), 3);
}

TEST_F(RivalTest, AreResumedAsOursAre) {
  rules_.runs = 2;
  for (const int after : {1, 3, 4, 7}) {
    turns_.clear();
    interrupts_ = 0;
    const auto stop = [&, this](const char* who) {
      turns_ += who;
      if (turns_.size() == static_cast<std::size_t>(after)) interrupts_ = 1;
    };
    runner_.before = [&](const Job&) { stop("A"); };
    baseline_runner_.before = [&](const Job&) { stop("B"); };
    fs::remove(path());
    EXPECT_EQ(run(jobs()), interrupted);
    interrupts_ = 0;
    EXPECT_EQ(resume(jobs()), success);
    EXPECT_EQ(turns_, "AAABAAAB") << "interrupted after " << after;
    EXPECT_THAT(in_file(), SizeIs(8));
    EXPECT_TRUE(ResultsFile::read(path(), axes()).complete);
  }
}

TEST_F(RivalTest, ThatFailAreARowAndLeaveOursAlone) {
  answer([this](const Row&) {
    return failed_row(baselines_.front().device, baseline_job(), ErrorCode::crashed, "SIGSEGV");
  });
  EXPECT_EQ(run(jobs()), case_failed);
  EXPECT_THAT(in_file(), ElementsAre("crashed toy/kernel=loop/n=1024", "ok peak/kernel=copy",
                                     "ok toy/kernel=a/n=1024", "ok toy/kernel=b/n=1024"));
  EXPECT_THAT(said_, HasSubstr("crashed  toy/kernel=loop/n=1024  SIGSEGV"));
}

TEST_F(RivalTest, AreNoMeasureForOurs) {
  std::size_t heard = 0;
  Family family = families()[1];
  family.findings = [&](const std::vector<Outcome>& outcomes, const DeviceInfo&) {
    heard = outcomes.size();
    return std::vector<Finding>{};
  };
  baselines_.front().jobs = {baseline_job()};
  baselines_.front().jobs.front().family = &family;
  EXPECT_EQ(run({{&family, toy("a").at}, {&family, toy("b").at}}), success);
  EXPECT_EQ(turns_, "AAB");
  EXPECT_EQ(heard, 2U) << "a family hears of its own";
}

TEST_F(RivalTest, DoTheWorkThatAFamilyAsksForOnTheWay) {
  Family family = families()[1];
  family.refine = [](const std::vector<Outcome>&, const DeviceInfo&) {
    return std::vector<Case>{toy("a", 4096).at};
  };
  refines_ = true;
  rules_.runs = 2;
  Job theirs = baseline_job();
  theirs.family = &family;
  baselines_.front().jobs = {theirs};
  baselines_.front().more = [&](const std::vector<Job>& ours) {
    EXPECT_THAT(ours, SizeIs(1));
    Job more = theirs, again = theirs;
    more.baseline->row.axes.back().second = ours.front().at.number("n");
    return std::vector<Job>{more, again};
  };
  baseline_runner_.before = [this](const Job& job) { turns_ += job.refined ? "b" : "B"; };
  EXPECT_EQ(run({{&family, toy("a").at}}), success);
  EXPECT_EQ(turns_, "AABbAABb");
}

TEST_F(RivalTest, KeepToTheBudget) {
  rules_.budget_s = 10;
  runner_.before = [this](const Job&) { now_s_ += 4; };
  EXPECT_EQ(run(jobs()), success);
  EXPECT_EQ(left_out_, 1U);
  EXPECT_THAT(baseline_runner_.ran, SizeIs(0));
  EXPECT_EQ(resume(jobs()), success);
  EXPECT_THAT(baseline_runner_.ran, SizeIs(1));
  EXPECT_THAT(in_file(), SizeIs(4));
}

// ---- The file --------------------------------------------------------------------------------------------

TEST_F(CampaignTest, OneProcessAtATimeWritesAFile) {
  const ResultsFile file(path(), axes(), origin());
  EXPECT_THROW(ResultsFile::read(path(), axes()), Error);
  EXPECT_THROW(ResultsFile(path(), axes(), origin(), true), Error);
}

TEST_F(CampaignTest, AFileThatIsTakenAwayEndsTheRun) {
  for (const bool replaced : {false, true}) {
    runner_.before = [&](const Job&) {
      std::filesystem::remove(path());
      if (replaced) std::ofstream(path()) << "mine\n";
    };
    EXPECT_THROW(run({toy("a")}), Error);
    testing::internal::GetCapturedStderr();
    std::filesystem::remove(path());
  }
}

TEST_F(CampaignTest, AFileThatIsCutEndsTheRun) {
  runner_.before = [&](const Job&) { std::filesystem::resize_file(path(), 3); };
  EXPECT_THROW(run({toy("a")}), Error);
  testing::internal::GetCapturedStderr();
}

TEST_F(CampaignTest, AFileGoesOnUnderItsOwnHeaderAndVersionOnly) {
  run({toy("a")});
  const auto text = read_text(path());
  const auto refused = [&](const std::string& other) {
    std::ofstream(path()) << other;
    try {
      ResultsFile::read(path(), axes());
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::usage) << error.what();
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string rows = text.substr(0, text.find("#end"));
  std::string older = rows;
  for (auto at = older.find(version); at != std::string::npos; at = older.find(version))
    older.replace(at, std::string(version).size(), "0.0.1");
  EXPECT_THAT(refused(older), HasSubstr("it was made by clweave 0.0.1"));
  std::string renamed = rows;
  renamed.replace(renamed.find(",n\n"), 3, ",m\n");
  EXPECT_THAT(refused(renamed), HasSubstr("is 'm', today's is 'n'"));
  EXPECT_THAT(refused(rows.substr(0, rows.find('\n') + 1)), HasSubstr("--overwrite"));
  EXPECT_EQ(refused(rows), "");
}

TEST_F(CampaignTest, AFileIsReplacedOnPurposeOnly) {
  run({toy("a"), toy("b")});
  EXPECT_THROW(ResultsFile(path(), axes(), origin()), Error);
  ResultsFile(path(), axes(), origin(), true).finish();
  EXPECT_THAT(in_file(), SizeIs(0));
  EXPECT_THAT(read_csv(samples_path(path())).rows, SizeIs(0));
}

// A folder of a stranger, in which files beside the rows are links.
TEST_F(CampaignTest, WhatLiesBesideTheRowsFollowsNoLink) {
  const std::string victim = folder_.of("victim"), running = path() + ".running";
  fs::create_symlink(victim, samples_path(path()));
  EXPECT_THROW(ResultsFile(path(), axes(), origin()), Error);
  EXPECT_FALSE(fs::exists(victim));
  fs::remove(samples_path(path()));
  std::ofstream(victim) << "mine";
  for (const auto& link : {running, running + ".new"}) fs::create_symlink(victim, link);
  run({toy("a")});
  EXPECT_EQ(read_text(victim), "mine");
  EXPECT_FALSE(fs::exists(running));
}

TEST_F(CampaignTest, SamplesReplaceNothingElse) {
  EXPECT_THROW(ResultsFile(folder_.of("q.samples.csv"), axes(), origin()), Error);
  std::ofstream(samples_path(path())) << "mine\n";
  EXPECT_THROW(ResultsFile(path(), axes(), origin()), Error);
  EXPECT_EQ(read_text(samples_path(path())), "mine\n");
  fs::remove(samples_path(path()));
  ASSERT_EQ(mkfifo(samples_path(path()).c_str(), 0600), 0);
  EXPECT_THROW(ResultsFile(path(), axes(), origin()), Error);
  fs::remove(samples_path(path()));
  EXPECT_FALSE(fs::exists(path())) << "what was refused began nothing";
}

TEST_F(CampaignTest, ResumeAddsNoSamplesToAnotherFile) {
  runner_.fails(toy("b"), ErrorCode::device_lost, "not run: gone");
  run({toy("a"), toy("b")});
  const std::string rows = read_text(path());
  std::ofstream(samples_path(path())) << "row,run\n1,1";
  EXPECT_THROW(resume({toy("a"), toy("b")}), Error);
  EXPECT_EQ(read_text(samples_path(path())), "row,run\n1,1");
  EXPECT_EQ(read_text(path()), rows);
  // A header that its writer did not end is its own.
  std::ofstream(samples_path(path())) << "row,run,cas";
  runner_.times(toy("b"), {2e-3});
  EXPECT_EQ(resume({toy("a"), toy("b")}), success);
  EXPECT_TRUE(read_text(samples_path(path())).starts_with("row,run,case_id,index,"));
}

// rows and rows.csv have one name for their samples.
TEST_F(CampaignTest, SamplesAreOfOneFile) {
  ResultsFile(path(), axes(), origin()).finish();
  const std::string twin = path().substr(0, path().size() - 4);
  ASSERT_EQ(samples_path(twin), samples_path(path()));
  EXPECT_THROW(ResultsFile(twin, axes(), origin()), Error);
  EXPECT_FALSE(fs::exists(twin));
  std::ofstream(twin) << "a program\n";
  ResultsFile(path(), axes(), origin(), true).finish();
}

// A file is the same by every name.
TEST_F(CampaignTest, ALinkIsTheFileItself) {
  runner_.fails(toy("b"), ErrorCode::device_lost, "not run: gone");
  run({toy("a"), toy("b")});
  const std::string link = folder_.of("link.csv");
  fs::create_symlink("rows.csv", link);
  const Unfinished left = ResultsFile::read(link, axes());
  EXPECT_THAT(left.records, SizeIs(1));
  { const ResultsFile file(link, axes(), origin(), left); }
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_THAT(in_file(), ElementsAre("ok toy/kernel=a/n=1024"));
  EXPECT_FALSE(fs::exists(samples_path(link)));
}

// ---- Searches --------------------------------------------------------------------------------------------

TEST_F(CampaignTest, ASearchDoubtsAsARunDoes) {
  static const Family searched = {
      .name = "searched",
      .question = "?",
      .axes = {{.name = "kernel", .meaning = "", .values = {"a"}},
               {.name = "width", .meaning = "", .values = {1, 2, 4}, .tunable = true}},
      .plan = families()[1].plan};
  const Job job{&searched, {"searched", {{"kernel", std::string("a")}, {"width", std::int64_t{1}}}, 1}};
  runner_.times(peak(), {3e-3, 1e-3});
  const auto spaces = search_spaces_of({job}, {}, device());
  ResultsFile file(path(), {"kernel", "width"}, origin());
  const DeviceInfo on = device();
  testing::internal::CaptureStderr();
  Tuner tuner(
      {.sampling = {},
       .environment = {.interrupts = [this] { return interrupts_; }, .now = [this] { return now_s_; }}},
      runner_, on, file, common());
  tuner.execute({peak()}, spaces);
  testing::internal::GetCapturedStderr();
  EXPECT_FALSE(tuner.failed());
  ASSERT_THAT(tuner.searches(), SizeIs(1));
  EXPECT_TRUE(tuner.searches()[0].whole);
  for (const auto& row : tuner.searches()[0].rows) EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_EQ(std::ranges::count(runner_.ran, "peak/kernel=copy"), 2) << "measured again beside the first row";
}

}  // namespace
