// SPDX-License-Identifier: Apache-2.0
// test_group_latency: what family group_latency asks for, refuses and concludes.
#include <gmock/gmock.h>

#include <cstring>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::HasSubstr;

namespace {

const Family& family() { return family_named("group_latency"); }

DeviceInfo device_of(std::int64_t units) {
  DeviceInfo device = roomy();
  device.compute_units = units;
  return device;
}

Case pairs_of(std::int64_t units, std::int64_t iterations) {
  return preset_of(family(), "quick")
      .front()
      .with("kernel", std::string("ping_pong"))
      .with("units", units)
      .with("iterations", iterations);
}

// The outcome of pairs that take so long each, of units of which every second one is `far_ns` further away.
Outcome outcome_of(std::int64_t units, std::int64_t iterations, double far_ns) {
  std::vector<double> steps;
  double all = 0;
  for (std::int64_t a = 0; a < units; ++a) {
    for (std::int64_t b = a + 1; b < units; ++b) {
      const double hop =
          700 + far_ns * static_cast<double>(a % 2 + b % 2) + static_cast<double>((a * 7 + b * 3) % 5);
      steps.push_back(1e-9 * (4000 + 2 * hop * static_cast<double>(iterations)));
      all += steps.back();
    }
  }
  Outcome out(pairs_of(units, iterations), all, 0.999 * all, 1.001 * all);
  out.items = 2 * iterations * static_cast<std::int64_t>(steps.size());
  out.steps_s = std::make_shared<const std::vector<double>>(std::move(steps));
  return out;
}

const Finding& named(const std::vector<Finding>& found, const std::string& name) {
  for (const auto& one : found) {
    if (one.name == name) return one;
  }
  throw std::logic_error("no finding " + name);
}

TEST(GroupLatency, OneLaunchIsOnePairOfAllUnits) {
  const Plan plan = plan_of(family(), pairs_of(0, 8), device_of(132));
  EXPECT_EQ(plan.steps.size(), 132U * 131 / 2);
  EXPECT_EQ(plan_of(family(), pairs_of(16, 8), device_of(132)).steps.size(), 120U);
  EXPECT_EQ(plan_of(family(), pairs_of(0, 8), device_of(1000)).steps.size(), 160U * 159 / 2);
  EXPECT_EQ(plan_of(family(), pairs_of(0, 8), device_of(1)).steps.size(), 1U);
}

// A row whose time holds a wait in vain is none.
TEST(GroupLatency, WhoGaveUpMakesTheRowUnsupported) {
  const Plan plan = plan_of(family(), pairs_of(4, 8), device_of(4));
  const auto said = [&](std::uint32_t word) {
    return plan.checks.front().compare_all(std::as_bytes(std::span(&word, 1)));
  };
  EXPECT_EQ(said(0).wrong, 0U);
  const Error error = error_of([&] { said(3); });
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(error.what(), HasSubstr("gave up"));
  EXPECT_EQ(said(7).wrong, 1U);  // there are six pairs
}

TEST(GroupLatency, TheSlopeLeavesOutTheLaunchAndTheStepsShowClusters) {
  for (const double far_ns : {0.0, 60.0}) {
    const auto found =
        family().findings({outcome_of(16, 64, far_ns), outcome_of(16, 1024, far_ns)}, device_of(16));
    EXPECT_NEAR(*named(found, "group_latency").value, 702 + far_ns, 2);
    const Finding& clusters = named(found, "unit_clusters");
    EXPECT_EQ(*clusters.value, far_ns > 0 ? 2 : 1);
    EXPECT_THAT(clusters.text, HasSubstr(far_ns > 0 ? "2 clusters of 8 and 8" : "no clusters"));
  }
  const auto few = family().findings({outcome_of(4, 64, 60), outcome_of(4, 1024, 60)}, device_of(4));
  EXPECT_FALSE(named(few, "unit_clusters").value);
  Outcome without = outcome_of(16, 64, 60);
  without.steps_s = nullptr;
  EXPECT_FALSE(named(family().findings({without}, device_of(16)), "unit_clusters").value);
}

// More work-groups follow at the barrier until one gives up, which leaves no outcome.
TEST(GroupLatency, BarriersGrowUntilOneGivesUp) {
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(family(), "quick")) {
    if (at.is("kernel", "grid_barrier")) outcomes.emplace_back(at, 1e-3);
  }
  ASSERT_EQ(outcomes.size(), 1U);
  std::vector<std::int64_t> asked;
  for (int round = 0; round < 20; ++round) {
    const auto more = family().refine(outcomes, device_of(6));
    std::size_t known = outcomes.size();
    for (const auto& at : more) {
      asked.push_back(at.number("groups"));
      if (at.number("groups") <= 24) outcomes.emplace_back(at, 1e-3);
    }
    if (outcomes.size() == known) break;
  }
  EXPECT_THAT(asked, testing::ElementsAre(4, 6, 12, 24, 48));
  const auto found = family().findings(outcomes, device_of(6));
  EXPECT_EQ(named(found, "grid_barrier_latency").note, "6 work-groups");
}

}  // namespace
