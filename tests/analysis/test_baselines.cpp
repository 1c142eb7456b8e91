// SPDX-License-Identifier: Apache-2.0
// test_rivals: the best kernel beside the best of what people would use instead, from invented rows.
#include "analysis/rows/baselines.hpp"

#include <gmock/gmock.h>

#include "analysis/invented_records.hpp"
#include "results/row.hpp"

using namespace clweave::commands;
using testing::HasSubstr;

namespace {

Record kernel_row(const std::string& kernel, double time_s, double wall_s, const std::string& n = "64") {
  Record record = grid_row(kernel, "row", 100, n);
  record.device_type = "cpu";
  record.cpu = "Loom processor";
  record.timer = Timer::event;
  record.bytes = 1000;
  record.time_s = time_s;
  record.time_low_s = 0.9 * time_s;
  record.time_high_s = 1.1 * time_s;
  record.wall_s = wall_s;
  return record;
}

Record native_row(const std::string& api, const std::string& name, double time_s,
                  const std::string& n = "64") {
  Record record = row("grid", {{"kernel", name}, {"mapping", "row"}, {"n", n}, {"threads", "2"}});
  record.api = api;
  record.platform = "native, C++20";
  record.device = record.cpu = "Loom processor";
  record.timer = Timer::host;
  record.bytes = 1000;
  record.time_s = record.wall_s = time_s;
  record.time_low_s = 0.8 * time_s;
  record.time_high_s = 1.25 * time_s;
  return record;
}

// Rows of a session that alternates with a baseline.
Record in_round(int run, Record record) {
  record.run_id = "S";
  record.run = run;
  return record;
}

std::vector<std::string> cells_of(const std::vector<Record>& records, std::size_t work = 0) {
  const auto set = results_of(records, invented());
  return baseline_rows(set, set.devices.at(0), invented()).at(work).cells;
}

}  // namespace

TEST(Baselines, AreTheBestOfEachSideByTheHostsClock) {
  const auto set = results_of({kernel_row("plain", 1e-3, 2e-3), kernel_row("clever", 2e-3, 1.6e-3),
                               native_row("std", "loop", 9e-3), native_row("tbb", "parallel_for", 3.2e-3)},
                              invented());
  ASSERT_EQ(set.devices.size(), 1u);
  const auto rivals = baselines_of(set, set.devices[0]);
  ASSERT_EQ(rivals.size(), 1u) << "the same work of both";
  EXPECT_THAT(rivals[0].ours->id(), HasSubstr("kernel=clever"))
      << "plain is faster by the device's clock alone";
  EXPECT_EQ(rivals[0].native.api, "tbb");
  EXPECT_NEAR(rivals[0].ratio, 2, 1e-9);
  EXPECT_NEAR(rivals[0].low, 3.2 * 0.8 / (1.6 * 1.1), 1e-9);
  EXPECT_NEAR(rivals[0].high, 3.2 * 1.25 / (1.6 * 0.9), 1e-9);
}

// Compares times of the device's clock with each other, because only the host's includes launch overhead.
TEST(Baselines, WithTimeStampsStandByThemAsOursDo) {
  Record library = native_row("cuda", "library", 3e-3);
  library.timer = Timer::event;
  library.wall_s = 4e-3;
  for (const bool in_turns : {false, true}) {
    const Record ours = kernel_row("plain", 1e-3, 2e-3);
    const auto set = in_turns ? results_of({in_round(1, ours), in_round(1, library)}, invented())
                              : results_of({ours, library}, invented());
    const auto rivals = baselines_of(set, set.devices.at(0));
    ASSERT_EQ(rivals.size(), 1u);
    EXPECT_NEAR(rivals[0].ratio, 3, 1e-9) << "not 4: theirs by the host's clock";
    EXPECT_NEAR(rivals[0].native_s, 3e-3, 1e-12);
    EXPECT_NEAR(rivals[0].high, 3 * 1.25 / 0.9, 1e-9);
  }
}

TEST(Baselines, StandWithTheirMedianAsOursDo) {
  const auto set = results_of({kernel_row("plain", 1e-3, 1e-3), native_row("std", "loop", 1e-3),
                               native_row("std", "loop", 4e-3), native_row("std", "loop", 3e-3)},
                              invented());
  const auto rivals = baselines_of(set, set.devices.at(0));
  ASSERT_EQ(rivals.size(), 1u);
  EXPECT_NEAR(rivals[0].ratio, 3, 1e-9) << "neither the best of three nor the last";
}

TEST(Baselines, OfTwoLooksNotInTurnsStandWithTheMeanOfThem) {
  const auto set = results_of({kernel_row("plain", 1e-3, 1e-3), kernel_row("plain", 3e-3, 3e-3),
                               native_row("std", "loop", 2e-3), native_row("std", "loop", 6e-3)},
                              invented());
  const auto rivals = baselines_of(set, set.devices.at(0));
  ASSERT_EQ(rivals.size(), 1u);
  EXPECT_EQ(rivals[0].rounds, 0u);
  EXPECT_NEAR(rivals[0].native_s, 4e-3, 1e-12);
  EXPECT_NEAR(rivals[0].ratio, 2, 1e-9);
}

// Compares within each round, because interference changes between them: here our kernel is twice as slow in
// one and twice as fast in the other.
TEST(Baselines, AreHeldAgainstEachOtherRoundByRound) {
  const std::vector<Record> records = {
      in_round(1, kernel_row("plain", 4e-3, 4e-3)), in_round(1, native_row("std", "loop", 2e-3)),
      in_round(2, kernel_row("plain", 1e-3, 1e-3)), in_round(2, native_row("std", "loop", 2e-3))};
  const auto set = results_of(records, invented());
  const auto rivals = baselines_of(set, set.devices.at(0));
  ASSERT_EQ(rivals.size(), 1u);
  EXPECT_EQ(rivals[0].rounds, 2u);
  EXPECT_NEAR(rivals[0].ratio, 1, 1e-9) << "the slower run of each side would be 0.5";
  EXPECT_NEAR(rivals[0].low, 0.5 * 0.8 / 1.1, 1e-9);
  EXPECT_NEAR(rivals[0].high, 2 * 1.25 / 0.9, 1e-9);
  EXPECT_NEAR(rivals[0].native_s / rivals[0].ours_s, rivals[0].ratio, 1e-9) << "the speeds beside it";
  EXPECT_EQ(cells_of(records).at(5), "1.00x (0.36 to 2.78), 2 rounds");
  EXPECT_THAT(cells_of({records[0], records[1]}).at(5), HasSubstr("0.50x (0.36 to 0.69), 1 round"));
  EXPECT_THAT(cells_of({records[0], native_row("std", "loop", 2e-3)}).at(5), HasSubstr(", not in turns"));
}

TEST(Baselines, RatiosOfDisturbedRowsAreMarked) {
  for (const bool ours : {false, true}) {
    std::vector<Record> records = {kernel_row("plain", 1e-3, 2e-3), native_row("tbb", "parallel_for", 3e-3)};
    EXPECT_THAT(cells_of(records).back(), HasSubstr("1.50x ("));
    records[ours ? 0 : 1].disturbed = "other processes used 2 processors";
    EXPECT_THAT(cells_of(records).back(), HasSubstr("1.50x* ("));
    const auto set = results_of(records, invented());
    Report out;
    add_baselines(out, set, set.devices.at(0), invented());
    EXPECT_THAT(text_of(out, "text", Screen()), HasSubstr("* undecided: the machine was not quiet"));
  }
}

TEST(Baselines, AreTheBestOverAllRounds) {
  const auto set = results_of(
      {in_round(1, kernel_row("plain", 1e-3, 1e-3)), in_round(2, kernel_row("plain", 9e-3, 9e-3)),
       in_round(1, kernel_row("clever", 2e-3, 2e-3)), in_round(2, kernel_row("clever", 2e-3, 2e-3)),
       in_round(1, native_row("std", "loop", 2e-3)), in_round(2, native_row("std", "loop", 12e-3)),
       in_round(1, native_row("tbb", "parallel_for", 3e-3)),
       in_round(2, native_row("tbb", "parallel_for", 3e-3))},
      invented());
  const auto rivals = baselines_of(set, set.devices.at(0));
  ASSERT_EQ(rivals.size(), 1u);
  EXPECT_EQ(*rivals[0].ours->name->axis("kernel"), Value("clever"));
  EXPECT_EQ(rivals[0].native.api, "tbb");
  EXPECT_NEAR(rivals[0].ratio, 1.5, 1e-9);
}

// Names the work without the program that did it, whichever is faster at a size.
TEST(Baselines, WorkIsNamedByWhatIsDone) {
  const std::vector<Record> records = {
      kernel_row("plain", 1e-3, 1e-3),         kernel_row("plain", 1e-3, 1e-3, "1024"),
      native_row("std", "loop", 1e-3),         native_row("std", "loop", 1e-3, "1024"),
      native_row("tbb", "parallel_for", 2e-3), native_row("tbb", "parallel_for", 0.5e-3, "1024")};
  EXPECT_EQ(cells_of(records, 0).at(0), "grid n=64");
  EXPECT_EQ(cells_of(records, 0).at(3), "std loop on 2 threads");
  EXPECT_EQ(cells_of(records, 1).at(0), "grid n=1024");
  EXPECT_EQ(cells_of(records, 1).at(3), "tbb parallel_for on 2 threads");
}

TEST(Baselines, StandInTheOrderOfTheirSizes) {
  std::vector<Record> records;
  for (const char* n : {"1024", "64", "256"}) {
    records.push_back(kernel_row("plain", 1e-3, 1e-3, n));
    records.push_back(native_row("std", "loop", 1e-3, n));
  }
  const std::vector<std::string> works = {cells_of(records, 0).at(0), cells_of(records, 1).at(0),
                                          cells_of(records, 2).at(0)};
  EXPECT_THAT(works, testing::ElementsAre("grid n=64", "grid n=256", "grid n=1024"));
}

TEST(Baselines, ThatFailedAreNoted) {
  Record crashed = native_row("std", "loop", 1e-3);
  fail(crashed, ErrorCode::crashed, "SIGSEGV");
  const auto set = results_of({kernel_row("plain", 1e-3, 1e-3), crashed}, invented());
  EXPECT_TRUE(set.baselines.empty());
  ASSERT_EQ(set.notes.size(), 1u);
  EXPECT_THAT(set.notes[0], HasSubstr("1 row of std failed"));
}

TEST(Baselines, DoTheSameWorkOnTheSameSilicon) {
  Record other_size = kernel_row("plain", 1e-3, 1e-3), less = kernel_row("plain", 1e-3, 1e-3),
         elsewhere = native_row("std", "loop", 1e-3), known_incorrect = kernel_row("plain", 1e-3, 1e-3);
  other_size.axes[2].second = "1024";
  other_size.case_id = "grid/kernel=plain/mapping=row/n=1024/local=16x16/form=corrected";
  less.bytes = 500;
  elsewhere.device = elsewhere.cpu = "another processor";
  known_incorrect.known_incorrect = "yes";
  const Record native = native_row("std", "loop", 1e-3);
  for (const auto& ours : {other_size, less, known_incorrect}) {
    const auto set = results_of({ours, native}, invented());
    EXPECT_TRUE(baselines_of(set, set.devices.at(0)).empty()) << ours.case_id;
  }
  const auto set = results_of({kernel_row("plain", 1e-3, 1e-3), elsewhere}, invented());
  EXPECT_TRUE(baselines_of(set, set.devices.at(0)).empty());
}

TEST(Baselines, StandInATable) {
  const auto set =
      results_of({kernel_row("plain", 1e-3, 2e-3), native_row("tbb", "parallel_for", 3e-3)}, invented());
  Report out;
  add_baselines(out, set, set.devices[0], invented());
  const std::string text = text_of(out, "text", {.ascii = false});
  for (const char* word : {"plain", "tbb parallel_for on 2 threads", "1.50x"})
    EXPECT_THAT(text, HasSubstr(word));
  auto computes = kernel_row("plain", 1e-3, 2e-3), theirs = native_row("cuda", "fma", 3e-3);
  computes.flops = theirs.flops = 6000000;
  computes.peak = Peak::arithmetic_float;
  const auto arithmetic = results_of({computes, theirs}, invented());
  Report rates;
  add_baselines(rates, arithmetic, arithmetic.devices[0], invented());
  EXPECT_THAT(text_of(rates, "text", {.ascii = false}), HasSubstr("3 Gop/s"));
  Report none;
  const auto alone = results_of({kernel_row("plain", 1e-3, 2e-3)}, invented());
  add_baselines(none, alone, alone.devices[0], invented());
  EXPECT_EQ(text_of(none, "text", {.ascii = false}), "");
}
