// SPDX-License-Identifier: Apache-2.0
// test_progress: what family progress counts as given up, and what it concludes.
#include <gmock/gmock.h>

#include <cstring>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::HasSubstr;

namespace {

ComparisonResult told(std::vector<std::uint32_t> words) {
  const Family& family = family_named("progress");
  const Plan plan = plan_of(family, preset_of(family, "smoke").front(), roomy());
  return plan.checks.front().compare_all(std::as_bytes(std::span(words)));
}

std::vector<Finding> concluded(double tickets, double resident, double many, double items) {
  const Family& family = family_named("progress");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(family, "quick")) {
    outcomes.emplace_back(at, 1e-3);
    outcomes.back().value = at.is("waits", "ticket")      ? tickets
                            : at.is("waits", "next_item") ? items
                            : at.is("groups", "many")     ? many
                                                          : resident;
  }
  return family.findings(outcomes, roomy());
}

TEST(ProgressCheck, CountsWhoGaveUpAndRefusesWhatNobodyWrites) {
  EXPECT_EQ(told({1, 100, UINT32_MAX}).wrong, 0U);
  EXPECT_EQ(told({1, 100, UINT32_MAX}).measured, 1);
  EXPECT_EQ(told({1, 0, 101}).wrong, 2U);
  EXPECT_THAT(told({1, 0, 101}).first_text, HasSubstr("[1] is 0"));
}

TEST(ProgressFindings, TellTheStrongestGuarantee) {
  const auto level = [](double tickets, double resident, double many) {
    return concluded(tickets, resident, many, 0).front();
  };
  EXPECT_EQ(*level(0, 0, 0).value, 3);
  EXPECT_EQ(*level(0, 0, 7).value, 2);
  EXPECT_EQ(level(0, 0, 7).note, "occupancy-bound");
  EXPECT_EQ(*level(0, 1, 7).value, 1);
  EXPECT_EQ(*level(3, 1, 7).value, 0);
  EXPECT_EQ(*concluded(0, 0, 0, 0).back().value, 1);
  EXPECT_EQ(*concluded(0, 0, 0, 63).back().value, 0);
}

}  // namespace
