// SPDX-License-Identifier: Apache-2.0
// test_plausibility: which rows cannot be true, on invented ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "campaign/fake_runner.hpp"
#include "campaign/plausibility.hpp"

using namespace clweave::commands;
using namespace fake;
using testing::HasSubstr;
using Against = Implausible::Against;

namespace {

struct JudgeTest : testing::Test {
  PlausibilityCheck plausibility{device()};
  // 1 GB in a millisecond: a peak of 1000 GB/s.
  void SetUp() override { plausibility.learn(ok_row(device(), peak(), 1e-3), peak()); }
  Against of(const Row& row, const Job& job = toy("a")) const { return plausibility.check(row, job).against; }
};

TEST_F(JudgeTest, BelievesWhatCanBe) {
  EXPECT_EQ(of(ok_row(device(), toy("a"), 1e-3)), Against::nothing);
  EXPECT_EQ(of(ok_row(device(), toy("a"), 0.97e-3)), Against::nothing) << "a worse day of the peak's";
}

TEST_F(JudgeTest, NothingBeatsACeilingByFarMore) {
  const Implausible problem = plausibility.check(ok_row(device(), toy("a"), 0.5e-3), toy("a"));
  EXPECT_EQ(problem.against, Against::peak);
  EXPECT_THAT(problem.why, HasSubstr("2000 GB/s where family peak reaches 1000"));
}

// A mix of reads and writes may be faster than a copy, but reads alone are no faster for fast writes.
TEST_F(JudgeTest, ReadsAndWritesAreHeldAgainstTheirOwnPeakAndTheCopy) {
  const auto of_peak = [](const Job& job, Peak bound, double time_s) {
    Row row = ok_row(device(), job, time_s);
    row.record.peak = bound;
    return row;
  };
  plausibility.learn(of_peak(peak(), Peak::read, 0.8e-3), peak());
  plausibility.learn(of_peak(peak(), Peak::write, 0.5e-3), peak());
  const auto judged = [&](Peak bound, double time_s) { return of(of_peak(toy("a"), bound, time_s)); };
  EXPECT_EQ(judged(Peak::write, 0.5e-3), Against::nothing);
  EXPECT_EQ(judged(Peak::write, 0.4e-3), Against::peak);
  EXPECT_EQ(judged(Peak::copy, 0.5e-3), Against::nothing);
  EXPECT_EQ(judged(Peak::copy, 0.4e-3), Against::peak);
  EXPECT_EQ(judged(Peak::read, 0.8e-3), Against::nothing);
  EXPECT_EQ(judged(Peak::read, 0.5e-3), Against::peak);
  plausibility = PlausibilityCheck(device());
  SetUp();
  EXPECT_EQ(judged(Peak::write, 0.5e-3), Against::nothing) << "of a run whose peaks have no writes";
  plausibility.learn(of_peak(peak(), Peak::write, 2e-3), peak());
  EXPECT_EQ(judged(Peak::write, 1e-3), Against::nothing) << "a copy moves as much";
  EXPECT_EQ(judged(Peak::write, 0.9e-3), Against::peak);
}

// A driver's copy within the processor's cache is no wrong time, though kernels here never got as far as it.
TEST_F(JudgeTest, WhatFitsACacheOfAProcessorsSystemMayBeatMemory) {
  DeviceInfo processor = device();
  processor.host_caches = {32 << 10, 32 << 20};
  plausibility = PlausibilityCheck(processor);
  SetUp();
  Row row = ok_row(device(), toy("a"), 0.5e-3);
  row.buffer_bytes = 32 << 20;
  EXPECT_EQ(of(row), Against::nothing);
  row.buffer_bytes += 4;
  EXPECT_EQ(of(row), Against::peak);
}

// 1 MiB was reread from a cache and 2 MiB were not: what lies between may be held in part.
TEST_F(JudgeTest, WhatTheCacheMayHoldAPartOfMayBeatMemory) {
  Family family = *peak().family;
  family.findings = [](const std::vector<Outcome>&, const DeviceInfo&) -> std::vector<Finding> {
    return {{"cache_bytes", 1 << 20, "B", ""}};
  };
  Job job = peak();
  job.family = &family;
  Row known = ok_row(device(), job, 1e-3);
  plausibility.complete(known, job, {});
  const auto checked = [&](std::uint64_t bytes) {
    Row row = ok_row(device(), toy("a"), 0.5e-3);
    row.buffer_bytes = bytes;
    const Implausible problem = plausibility.check(row, toy("a"));
    plausibility.complete(row, toy("a"), problem);
    return std::pair(problem.against, row.record.cached);
  };
  using testing::Pair;
  EXPECT_THAT(checked((1 << 20) + 4096), Pair(Against::nothing, "yes")) << "the set, and sums of its tiles";
  EXPECT_THAT(checked(3 << 19), Pair(Against::nothing, "no"));
  EXPECT_THAT(checked(2 << 20), Pair(Against::peak, "no"));
}

TEST_F(JudgeTest, WhatNoiseExplainsIsNoDoubt) {
  Row row = ok_row(device(), toy("a"), 0.9e-3);
  EXPECT_EQ(of(row), Against::peak);
  row.record.time_high_s = 1.0e-3;
  EXPECT_EQ(of(row), Against::nothing);
}

// Beside other processes a peak may reach half of what it does on a quiet machine.
TEST_F(JudgeTest, ABusyMachinesCeilingAccusesNobody) {
  plausibility = PlausibilityCheck(device());
  Row low = ok_row(device(), peak(), 2e-3);
  low.record.disturbed = "other processes used 1.9 processors";
  plausibility.learn(low, peak());
  Row row = ok_row(device(), toy("a"), 1e-3);
  const Implausible problem = plausibility.check(row, toy("a"));
  EXPECT_EQ(problem.against, Against::peak) << "both are worth another measurement";
  EXPECT_TRUE(problem.undecided);
  plausibility.complete(row, toy("a"), problem);
  EXPECT_EQ(row.record.status, Status::ok);
  EXPECT_THAT(row.record.reason, HasSubstr("not judged, as the machine was not quiet"));
  EXPECT_NE(row.record.disturbed, "") << "it is not to be trusted either";
  EXPECT_FALSE(row.record.fraction_of_peak) << "of half a peak";

  plausibility.learn(ok_row(device(), peak(), 2e-3), peak());
  EXPECT_FALSE(plausibility.check(ok_row(device(), toy("a"), 1e-3), toy("a")).undecided)
      << "a quiet machine reached no more";
}

// A disturbed row can only look too slow.
TEST_F(JudgeTest, ADisturbedRowThatIsTooFastIsAccused) {
  Row row = ok_row(device(), toy("a"), 0.5e-3);
  row.record.disturbed = "other processes used 1.9 processors";
  EXPECT_FALSE(plausibility.check(row, toy("a")).undecided);
}

TEST_F(JudgeTest, ASmallerCaseThatABusyMachineSlowedAccusesNobody) {
  Row small = ok_row(device(), toy("a", 1024), 10e-3), big = ok_row(device(), toy("a", 2048), 2e-3);
  small.record.disturbed = "other processes used 1.9 processors";
  plausibility.learn(small, toy("a", 1024));
  Implausible problem = plausibility.check(big, toy("a", 2048));
  EXPECT_EQ(problem.against, Against::sibling);
  EXPECT_TRUE(problem.undecided);

  plausibility = PlausibilityCheck(device());
  big.record.disturbed = "other processes used 1.9 processors";
  plausibility.learn(big, toy("a", 2048));
  small.record.disturbed.clear();
  problem = plausibility.check(small, toy("a", 1024));
  EXPECT_EQ(problem.against, Against::sibling);
  EXPECT_FALSE(problem.undecided) << "the slow one was measured on a quiet machine";
}

TEST_F(JudgeTest, ACeilingOnlyEverRises) {
  const Row fast = ok_row(device(), toy("a"), 0.5e-3);
  plausibility.learn(ok_row(device(), peak(), 2e-3), peak());
  EXPECT_EQ(of(ok_row(device(), toy("a"), 1e-3)), Against::nothing);
  plausibility.learn(ok_row(device(), peak(), 0.5e-3), peak());
  EXPECT_EQ(of(fast), Against::nothing);
}

TEST_F(JudgeTest, AFailedRowIsNoMeasure) {
  Row wrong = ok_row(device(), peak(), 1e-4);
  wrong.record.status = Status::wrong_result;
  plausibility.learn(wrong, peak());
  EXPECT_EQ(of(ok_row(device(), toy("a"), 0.5e-3)), Against::peak);
}

TEST_F(JudgeTest, TwiceTheWorkInLessTimeIsDoubted) {
  Row small = ok_row(device(), toy("a", 1024), 4e-3), big = ok_row(device(), toy("a", 4096), 2e-3);
  plausibility.complete(small, toy("a", 1024), {});
  const Implausible problem = plausibility.check(big, toy("a", 4096));
  EXPECT_EQ(problem.against, Against::sibling);
  ASSERT_TRUE(problem.sibling);
  EXPECT_EQ(problem.sibling->id(), toy("a", 1024).at.id());
  EXPECT_FALSE(plausibility.check(ok_row(device(), toy("b", 4096), 2e-3), toy("b", 4096)))
      << "another kernel";
  // Clears the doubt when the small case, measured again, turns out faster.
  plausibility.learn(ok_row(device(), toy("a", 1024), 1.1e-3), toy("a", 1024));
  EXPECT_FALSE(plausibility.check(big, toy("a", 4096)));
}

TEST_F(JudgeTest, StampsFarFromTheHostsClockAreDoubted) {
  const auto with = [](double event_s, double host_s, int batch = 1) {
    Row row = ok_row(device(), toy("a"), event_s);
    for (std::size_t i = 0; i < row.samples.size(); ++i)
      row.samples[i] = {event_s * (1 + 1e-3 * static_cast<double>(i)), host_s, batch, false};
    return row;
  };
  EXPECT_EQ(of(with(5.3e-6, 5.3e-3)), Against::stamps) << "a timer that failed late";
  EXPECT_EQ(of(with(2e-3, 2e-3 / 41.67)), Against::stamps);
  EXPECT_EQ(of(with(1.5e-3, 1e-3)), Against::stamps);
  EXPECT_EQ(of(with(0, 1e-3)), Against::stamps);
  EXPECT_EQ(of(with(16.7e-3, 14.0e-3)), Against::stamps) << "a device that works longer than the host waits";
  Row once = with(1e-3, 1.1e-3);
  once.samples[2].event_s = 1.3e-3;
  EXPECT_EQ(of(once), Against::stamps) << "which no delay explains";
  plausibility = PlausibilityCheck(device());  // without peaks, as the times are short
  EXPECT_EQ(of(with(5e-6, 60e-6)), Against::nothing) << "a launch takes long beside a short kernel";
  EXPECT_EQ(of(with(5e-6, 5.5e-6, 200)), Against::nothing);
  EXPECT_EQ(of(with(5e-6, 50e-6, 200)), Against::stamps) << "but not one by one in a batch";
  // A driver that says 2 ms late that work has ended, as the timer's certificate knows.
  Row late = with(0.9e-6, 2.13e-3);
  EXPECT_EQ(of(late), Against::stamps);
  late.completion_latency_s = 2.08e-3;
  EXPECT_EQ(of(late), Against::nothing);
  for (auto& sample : late.samples) sample.host_s = 5.5e-3;
  EXPECT_EQ(of(late), Against::stamps) << "so late is it not";
  // Does not blame the timer for one sample that waited for the host.
  Row row = with(1e-3, 1.1e-3);
  row.samples[2].host_s = 50e-3;
  EXPECT_EQ(of(row), Against::nothing);
}

// As among fifteen programs on two processors, and whether or not the system tells of them.
TEST_F(JudgeTest, ATimerIsNotBlamedForABusyHost) {
  plausibility = PlausibilityCheck(device());
  Row row = ok_row(device(), toy("a"), 2e-6);
  for (auto& sample : row.samples) sample.host_s = 30e-6;
  row.samples[2].host_s = 40e-3;
  EXPECT_EQ(of(row), Against::nothing) << "one sample waited 20000 times as long as the device worked";
  row.samples[1].event_s = 1e-9;
  row.samples[1].host_s = 40e-3;
  EXPECT_EQ(of(row), Against::stamps) << "no wait makes the device work for less";
  row.samples[1].event_s = 2e-6;
  for (auto& sample : row.samples) sample.host_s = 6e-3;
  EXPECT_EQ(of(row), Against::stamps) << "nothing tells that the host was late";
  row.least_host_s = 30e-6;
  EXPECT_EQ(of(row), Against::nothing) << "another batch ended at once";
}

// Which of its cases is the fastest is not known until each was measured on a quiet machine.
TEST_F(JudgeTest, APeakOfWhichOneCaseWasDisturbedAccusesNobody) {
  Row low = ok_row(device(), peak("copy_run"), 2e-3);
  low.record.throttled = 1;
  plausibility.learn(low, peak("copy_run"));
  const Row row = ok_row(device(), toy("a"), 0.5e-3);
  EXPECT_TRUE(plausibility.check(row, toy("a")).undecided);
  plausibility.learn(ok_row(device(), peak("copy_run"), 2e-3), peak("copy_run"));
  EXPECT_FALSE(plausibility.check(row, toy("a")).undecided);
}

TEST_F(JudgeTest, ATimerThatStandsStillLeavesNoNumber) {
  Row row = ok_row(device(), toy("a"), 1e-6);
  for (auto& sample : row.samples) sample = {1e-6, 30e-6, 1, false};
  const Implausible problem = plausibility.check(row, toy("a"));
  EXPECT_EQ(problem.against, Against::stamps);
  plausibility.complete(row, toy("a"), problem);
  EXPECT_EQ(row.record.status, Status::implausible);
  EXPECT_EQ(row.record.time_s, Number());
  EXPECT_EQ(row.record.gb_per_s, Number());
  EXPECT_TRUE(row.samples.empty());
}

TEST_F(JudgeTest, AVerdictKeepsItsNumber) {
  Row row = ok_row(device(), toy("a"), 0.5e-3);
  plausibility.complete(row, toy("a"), plausibility.check(row, toy("a")));
  EXPECT_EQ(row.record.status, Status::implausible);
  EXPECT_EQ(row.record.time_s, Number(0.5e-3));
  EXPECT_THAT(row.record.reason, HasSubstr("where family peak reaches"));
}

TEST_F(JudgeTest, ARowIsHeldAgainstItsCeiling) {
  Row row = ok_row(device(), toy("a"), 2e-3);
  plausibility.complete(row, toy("a"), {});
  EXPECT_EQ(row.record.fraction_of_peak, Number(0.5));
  EXPECT_EQ(row.record.cached, "") << "nobody looked for a cache";
}

// JSON and readers of CSV have no infinity: "never" is a sentence.
TEST_F(JudgeTest, AFindingOfNeverHasNoNumberInItsRow) {
  Family family = *toy("a").family;
  family.findings = [](const std::vector<Outcome>&, const DeviceInfo&) -> std::vector<Finding> {
    return {{"never", std::numeric_limits<double>::infinity(), "", "none is enough"},
            {"once", 1, "", "one is"}};
  };
  Job job = toy("a");
  job.family = &family;
  Row row = ok_row(device(), job, 1e-3);
  plausibility.complete(row, job, {});
  const auto found = plausibility.findings();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].value, std::nullopt);
  EXPECT_EQ(found[0].reason, "none is enough");
  EXPECT_EQ(found[1].value, 1.0);
}

}  // namespace
