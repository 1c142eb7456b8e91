// SPDX-License-Identifier: Apache-2.0
// test_speedups: speed-ups over a baseline that a user chose, from invented rows.
#include "analysis/profile/speedups.hpp"

#include <gmock/gmock.h>

#include "analysis/compared_rows.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
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
