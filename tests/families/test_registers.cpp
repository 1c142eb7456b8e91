// SPDX-License-Identifier: Apache-2.0
// test_registers: what family registers asks for and concludes of invented devices.
#include <gmock/gmock.h>

#include <set>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

namespace {

// A device on which an operation among so many live values takes `cost`, and `at_once` groups run at once.
// Nothing makes a row faster than it is.
std::vector<Outcome> measured_rows(const std::function<double(std::int64_t live)>& cost, double at_once,
                                   std::uint64_t seed = 1) {
  const Family registers = family_named("registers");
  const Random<double> noise(seed, 1);
  std::vector<Outcome> outcomes;
  auto wanted = preset_of(registers, "quick");
  std::set<std::string> ids;
  for (int round = 0; !wanted.empty() && round < 20; ++round) {
    for (const auto& at : wanted) {
      if (!ids.insert(at.id()).second) continue;
      const Plan plan = plan_of(registers, at, roomy());
      const double disturbed = 1 + 0.1 * std::abs(noise(outcomes.size()));
      outcomes.emplace_back(
          at, 1e-12 * cost(at.number("live")) * static_cast<double>(plan.cost.flops) * disturbed);
      outcomes.back().flops = plan.cost.flops;
      if (at.is("kernel", "census")) outcomes.back().value = at_once;
    }
    wanted = registers.refine(outcomes, roomy());
    std::erase_if(wanted, [&](const Case& at) { return ids.contains(at.id()); });
  }
  EXPECT_THAT(wanted, IsEmpty()) << "it never has enough";
  return outcomes;
}

const Finding& named(const std::vector<Finding>& found, const std::string& name) {
  const auto it = std::ranges::find(found, name, &Finding::name);
  if (it == found.end()) throw std::logic_error("no finding " + name);
  return *it;
}

}  // namespace

TEST(RegistersFindings, FindWhereLiveValuesCostMore) {
  const Family registers = family_named("registers");
  for (const std::int64_t fit : {8, 16, 60, 100, 250}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto rows = measured_rows([&](std::int64_t live) { return live <= fit ? 1 : 2.5; }, 1, seed);
      const auto found = registers.findings(rows, roomy());
      const Finding& values = named(found, "live_values_before_slowdown");
      EXPECT_LE(values.low.value(), static_cast<double>(fit)) << seed;
      EXPECT_GT(values.high.value(), static_cast<double>(fit)) << seed;
      EXPECT_LE(values.high.value() - values.low.value(), std::max(8.0, values.low.value() / 8));
      EXPECT_EQ(values.value, values.low);
      EXPECT_NEAR(finding_of(found, "spill_cost"), 2.5, 0.3);
    }
  }
}

TEST(RegistersFindings, FindNothingWhereNothingCostsMore) {
  const Family registers = family_named("registers");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto rows = measured_rows([](std::int64_t) { return 1; }, 1, seed);
    EXPECT_EQ(rows.size(), preset_of(registers, "quick").size()) << "there is nothing to look closer at";
    // The loop itself takes longer with few values, and somebody disturbed one.
    rows.at(0).time_s *= 2;
    rows.at(3).time_s *= 3;
    const Finding values = named(registers.findings(rows, roomy()), "live_values_before_slowdown");
    EXPECT_FALSE(values.value);
    EXPECT_THAT(values.text, StartsWith("none found"));
  }
}

TEST(RegistersFindings, AreWhatTheGroupsCounted) {
  const Family registers = family_named("registers");
  const auto cost = [](std::int64_t) { return 1; };
  const auto found = registers.findings(measured_rows(cost, 17), roomy());
  EXPECT_EQ(finding_of(found, "resident_work_groups_8"), 17);
  EXPECT_EQ(finding_of(found, "resident_work_groups_64"), 17);
  // Expects a lower bound alone if all work-groups of the launch were resident.
  const double all = 64 * static_cast<double>(roomy().units());
  const Finding most = named(registers.findings(measured_rows(cost, all), roomy()), "resident_work_groups_8");
  EXPECT_FALSE(most.value);
  EXPECT_EQ(most.low, all);
  EXPECT_THAT(most.text, HasSubstr("more might be"));
}

TEST(RegistersFindings, NeedACurve) {
  const Family registers = family_named("registers");
  auto rows = measured_rows([](std::int64_t) { return 1; }, 2);
  rows.resize(3);
  EXPECT_THAT(registers.findings(rows, roomy()),
              Not(Contains(Field(&Finding::name, "live_values_before_slowdown"))));
}

// Accepts counts from one, as a work-group counts itself, to the number of work-groups.
TEST(RegistersChecks, ACensusIsOfGroupsThatWereThere) {
  const Plan plan = plan_with("registers", {{"kernel", word("census")}});
  const std::uint64_t groups = plan.buffers[3].bytes / sizeof(std::uint32_t);
  const auto said = [&](std::uint32_t first, std::uint32_t other) {
    std::vector<std::uint32_t> met(groups, first);
    met.back() = other;
    Bytes bytes(plan.buffers[3].bytes);
    std::memcpy(bytes.data(), met.data(), bytes.size());
    return plan.checks.at(1).compare(0, bytes);
  };
  EXPECT_EQ(said(1, 1).wrong, 0U);
  EXPECT_EQ(said(1, 2).measured, 2);
  EXPECT_EQ(said(1, 0).wrong, 1U);
  EXPECT_EQ(said(static_cast<std::uint32_t>(groups), 1).wrong, 0U);
  EXPECT_EQ(said(1, static_cast<std::uint32_t>(groups) + 1).wrong, 1U);
  EXPECT_EQ(said(1, static_cast<std::uint32_t>(groups) + 1).measured, 1);
}
