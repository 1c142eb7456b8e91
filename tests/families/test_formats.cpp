// SPDX-License-Identifier: Apache-2.0
// test_formats: what family formats plans, and what it concludes of an invented device.
#include <gmock/gmock.h>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::DoubleNear;
using testing::HasSubstr;

namespace {

TEST(FormatsFindings, AreOfTheFastestPath) {
  const Family& formats = family_named("formats");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(formats, "quick")) {
    const Plan plan = plan_of(formats, at, roomy());
    const double rate = at.is("path", "ptx") ? 4e12 : at.is("path", "emulation") ? 1e12 : 2e12;
    const double time_s = static_cast<double>(plan.cost.flops) / rate;
    outcomes.emplace_back(at, time_s, 0.99 * time_s, 1.01 * time_s);
    outcomes.back().flops = plan.cost.flops;
  }
  const auto found = formats.findings(outcomes, roomy());
  const auto named = [&](const std::string& name) { return *std::ranges::find(found, name, &Finding::name); };
  EXPECT_THAT(*named("half_rate").value, DoubleNear(4000, 1));
  EXPECT_THAT(named("half_rate").text, HasSubstr("path ptx"));
  EXPECT_THAT(*named("half_gain").value, DoubleNear(4, 0.01));
  EXPECT_THAT(*named("int24_gain").value, DoubleNear(2, 0.01));
  EXPECT_THAT(*named("matrix_int8_rate").value, DoubleNear(4000, 1));
  EXPECT_LT(*named("dot8_rate").low, 4000);
  EXPECT_GT(*named("dot8_rate").high, 4000);
}

// A step more or less changes what is expected: halves come to rest after a thousand.
TEST(FormatsPlans, SeeEachStep) {
  const Family& formats = family_named("formats");
  for (auto at : preset_of(formats, "quick")) {
    const auto trips = [&](std::int64_t n) {
      std::ranges::find(at.axes, "iterations", &std::pair<std::string, Value>::first)->second = n;
      return plan_of(formats, at, roomy());
    };
    const Plan one = trips(512), other = trips(511);
    // Each must reject what the other expects.
    Bytes zeros(4096);
    const auto expected = [&](const Plan& plan) { return plan.checks.at(0).compare(0, zeros).first_text; };
    EXPECT_NE(expected(one), expected(other)) << at.id();
  }
}

}  // namespace
