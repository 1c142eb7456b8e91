// SPDX-License-Identifier: Apache-2.0
// test_instruction_cache: what family instruction_cache asks for and concludes of invented devices.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

namespace {

DeviceInfo nvidia() {
  DeviceInfo device = roomy();
  device.type = "gpu";
  device.platform = "NVIDIA CUDA";  // all that a results file says; a statement has 32 bytes
  return device;
}

// A statement takes so many nanoseconds in code of so many.
std::vector<Finding> concluded(const std::function<double(std::int64_t)>& ns) {
  const Family& family = family_named("instruction_cache");
  std::vector<Outcome> outcomes;
  std::set<std::string> done;
  std::vector<Case> asked = preset_of(family, "quick");
  for (int round = 0; round < 20 && !asked.empty(); ++round) {
    for (const auto& at : asked) {
      if (!done.insert(at.id()).second) continue;
      const Plan plan = plan_of(family, at, nvidia());
      outcomes.emplace_back(at, 1e-9 * ns(at.number("statements")) * static_cast<double>(plan.cost.items));
      outcomes.back().items = plan.cost.items;
    }
    asked = family.refine(outcomes, nvidia());
    std::erase_if(asked, [&](const Case& at) { return done.contains(at.id()); });
  }
  EXPECT_TRUE(asked.empty()) << "asks without end";
  EXPECT_LE(outcomes.size(), 30U);
  return family.findings(outcomes, nvidia());
}

TEST(InstructionCache, FindsWhereTwoFlatLevelsMeet) {
  const auto found = concluded([](std::int64_t n) { return n <= 1500 ? 1.0 : 3.0; });
  EXPECT_EQ(found.at(0).name, "instruction_cache_1");
  EXPECT_THAT(*found.at(0).value, AllOf(Ge(0.85 * 1500 * 32), Le(1.15 * 1500 * 32)));
  EXPECT_LE(*found.at(0).low, 1500 * 32);
  EXPECT_GE(*found.at(0).high, 1500 * 32);
}

// As an H200 has it: no second level stays flat over a factor of 1.4.
TEST(InstructionCache, FindsTheEndOfTheFirstLevelWhereNothingBehindItIsFlat) {
  const auto found = concluded(
      [](std::int64_t n) { return 1.1 * std::max(1.0, std::pow(static_cast<double>(n) / 1100, 0.8)); });
  EXPECT_EQ(found.at(0).name, "instruction_cache_1");
  ASSERT_TRUE(found.at(0).value) << found.at(0).text;
  const double slower = 32 * 1100 * std::pow(1.22, 1 / 0.8);  // bytes
  EXPECT_THAT(*found.at(0).value, AllOf(Ge(0.9 * slower), Le(1.1 * slower))) << found.at(0).text;
  EXPECT_THAT(found.at(0).text, HasSubstr("statements become slower between"));
}

TEST(InstructionCache, FindsNothingWhereAllLengthsAreAlike) {
  const auto found = concluded([](std::int64_t n) { return n % 128 == 0 ? 1.0 : 1.05; });
  EXPECT_FALSE(found.at(0).value);
  EXPECT_THAT(found.at(0).text, HasSubstr("none found"));
}

}  // namespace
