// SPDX-License-Identifier: Apache-2.0
// test_speedups: speed-ups over a baseline that a user chose, from invented rows.
#include "analysis/profile/speedups.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "analysis/compared_rows.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

std::vector<Family> invented() {
  Family loom;
  loom.name = "loom";
  loom.axes = {{"kernel", "", {"row", "grid"}},
               {.name = "group", .meaning = "", .values = {32, 64}, .tunable = true}};
  loom.view = {.rows = {"kernel"}, .columns = {}};
  return {loom};
}

std::string shown_with(std::size_t disturbed, const char* format) {
  std::vector<Record> records = {row({{"kernel", "row"}, {"group", "32"}}, 2),
                                 row({{"kernel", "row"}, {"group", "64"}}, 3),
                                 row({{"kernel", "grid"}, {"group", "32"}}, 1)};
  if (disturbed < records.size()) records[disturbed].disturbed = "other processes used 2 processors";
  return shown(speedups(set_of(records), invented(), {}, {"kernel=row"}), format);
}

}  // namespace

TEST(SpeedUps, OfDisturbedRowsAreMarked) {
  EXPECT_THAT(shown_with(3, "text"), HasSubstr("2.000x "));
  EXPECT_THAT(shown_with(3, "text"), Not(HasSubstr("undecided")));
  for (const std::size_t disturbed : {0, 1, 2}) {
    EXPECT_THAT(shown_with(disturbed, "text"), HasSubstr("2.000x* ")) << disturbed;
    EXPECT_THAT(shown_with(disturbed, "text"), HasSubstr("* undecided: the machine was not quiet"));
    EXPECT_THAT(shown_with(disturbed, "json"), HasSubstr("\"disturbed\": true"));
  }
}

TEST(SpeedUps, OfOneSampleHaveNoInterval) {
  std::vector<Record> records = {row({{"kernel", "row"}, {"group", "32"}}, 2),
                                 row({{"kernel", "grid"}, {"group", "32"}}, 1)};
  const auto text = [&] { return shown(speedups(set_of(records), invented(), {}, {"kernel=row"}), "text"); };
  EXPECT_THAT(text(), HasSubstr(" to "));
  for (auto& record : records) {
    record.samples = 1;
    record.time_low_s = record.time_high_s = {};
  }
  EXPECT_THAT(text(), AllOf(HasSubstr("2.000x"), Not(HasSubstr(" to "))));
  // A pair with an interval beside them: what is told lies within what is known.
  for (int run = 2; run <= 3; ++run) {
    records.push_back(row({{"kernel", "row"}, {"group", "32"}}, run == 2 ? 3 : 2, run));
    records.push_back(row({{"kernel", "grid"}, {"group", "32"}}, 1, run));
  }
  EXPECT_THAT(text(), HasSubstr(" to 3."));
}

TEST(SpeedUps, StandByTaskWithTheFastestFirst) {
  Family loom = invented().front();
  loom.axes.push_back({"n", "", {1, 2}});
  const auto at = [](const char* kernel, const char* group, const char* n, double time_s) {
    return row({{"kernel", kernel}, {"group", group}, {"n", n}}, time_s);
  };
  const std::vector<Record> records = {bad(at("grid", "64", "1", 9), "build_failed"),
                                       at("grid", "32", "2", 9),
                                       at("grid", "32", "1", 4),
                                       at("row", "32", "1", 8),
                                       at("row", "32", "2", 18),
                                       at("grid", "64", "2", 6),
                                       at("grid", "128", "1", 2)};
  const std::string text = shown(speedups(set_of(records), {loom}, {}, {"kernel=row"}), "text");
  std::vector<std::size_t> places;
  for (const char* told : {"4.000x", "2.000x", "3.000x", "2.000x", "build_failed"})
    places.push_back(text.find(told, places.empty() ? 0 : places.back() + 1));
  EXPECT_TRUE(std::ranges::is_sorted(places)) << text;
  EXPECT_NE(places.back(), std::string::npos) << text;
}
