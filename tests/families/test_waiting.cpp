// SPDX-License-Identifier: Apache-2.0
// test_waiting: what family waiting asks for and concludes of invented devices.
#include <gmock/gmock.h>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::DoubleNear;
using testing::HasSubstr;

namespace {

// A kernel takes 1 us a step; waits spin, but for a callback and a sleep, which hear of the end 60 us late.
std::vector<Finding> concluded(const DeviceInfo& device, double kernels_own_cpus, bool by_event) {
  const Family& family = family_named("waiting");
  std::vector<Outcome> outcomes;
  const auto measure = [&](const std::vector<Case>& cases) {
    for (const auto& at : cases) {
      const double time_s = 1e-6 * static_cast<double>(at.number("iterations"));
      const bool sleeps = at.is("wait", "callback") || at.is("wait", "sleep");
      Outcome& made = outcomes.emplace_back(at, time_s);
      made.own_cpus = kernels_own_cpus + (sleeps ? 0.01 : 1);
      made.wall_s = by_event ? time_s + (sleeps ? 65e-6 : 5e-6) : time_s;
    }
  };
  measure(preset_of(family, "quick"));
  const auto asked = family.refine(outcomes, device);
  EXPECT_EQ(asked.size(), 12U) << "six ways, short and long";
  measure(asked);
  EXPECT_EQ(family.refine(outcomes, device).size(), 12U) << "the same again";
  return family.findings(outcomes, device);
}

Number value_of(const std::vector<Finding>& found, const std::string& name) {
  const auto it = std::ranges::find(found, name, &Finding::name);
  return it == found.end() ? Number() : it->value;
}

TEST(WaitingFindings, TellWhatAWaitCostsAndHowLateItIs) {
  const auto found = concluded(roomy(), 0, true);
  EXPECT_THAT(*value_of(found, "cpu_finish"), DoubleNear(1, 1e-9));
  EXPECT_THAT(*value_of(found, "cpu_callback"), DoubleNear(0.01, 1e-9));
  EXPECT_THAT(*value_of(found, "latency_finish"), DoubleNear(5, 1e-6));
  EXPECT_THAT(*value_of(found, "latency_sleep"), DoubleNear(65, 1e-6));
  EXPECT_THAT(found.front().text,
              HasSubstr("clFinish keeps 1.00 processors busy while a kernel runs for 50 ms"));
}

TEST(WaitingFindings, LeaveOutWhatTheKernelItselfTakesOfAProcessor) {
  DeviceInfo device = roomy();
  device.type = "cpu";
  const auto found = concluded(device, 2, true);
  EXPECT_THAT(*value_of(found, "cpu_finish"), DoubleNear(0.99, 1e-9));
  EXPECT_THAT(*value_of(found, "cpu_sleep"), DoubleNear(0, 1e-9));
}

TEST(WaitingFindings, KnowNoLatencyWithoutTheDevicesTimer) {
  EXPECT_FALSE(value_of(concluded(roomy(), 0, false), "latency_finish"));
}

}  // namespace
