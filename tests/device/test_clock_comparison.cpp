// SPDX-License-Identifier: Apache-2.0
// test_clock_comparison: invented batches, timed by both clocks, and what they say of the device's.
#include "device/clock_comparison.hpp"

#include <gmock/gmock.h>

#include <vector>

using namespace clweave::device;
using testing::HasSubstr;

namespace {

// A timer that was certified while the host heard of an end 20 us late.
std::string contradiction(const std::vector<TimedBatch>& batches, double tick_s = 0) {
  TimerCertificate certificate;
  certificate.event = true;
  certificate.completion_latency_s = 20e-6;
  ClockComparison clocks;
  for (const auto& batch : batches) clocks.add(batch);
  return clocks.contradiction(certificate, tick_s);
}

}  // namespace

TEST(ClockComparison, BelievesTimesThatLaunchAndEndExplain) {
  EXPECT_EQ(contradiction({}), "");
  EXPECT_EQ(contradiction({{1, 10e-3, 10.03e-3, 5e-6}}), "");
  EXPECT_EQ(contradiction({{1, 3e-6, 40e-6, 8e-6}}), "") << "the end is heard of late";
  EXPECT_EQ(contradiction({{1, 1e-3, 5e-3, 4.1e-3}}), "") << "a device that begins when the host waits";
  EXPECT_EQ(contradiction({{1, 5e-3, 5.01e-3, 4.1e-3}}), "") << "a device that begins at once";
}

TEST(ClockComparison, IsNotMisledByADelayedHost) {
  EXPECT_EQ(contradiction({{1, 10e-3, 30e-3, 5e-6}, {1, 10e-3, 10.03e-3, 5e-6}, {1, 10e-3, 18e-3, 5e-6}}),
            "");
}

TEST(ClockComparison, IsNotMisledByATimeThatIsRightNowAndThen) {
  EXPECT_NE(contradiction({{1, 5e-3, 10.03e-3, 5e-6}, {1, 10e-3, 10.03e-3, 5e-6}, {1, 5e-3, 10.03e-3, 5e-6}}),
            "");
}

// Neither while it waits nor while it enqueues; what warms up has other batches.
TEST(ClockComparison, ComparesBatchesOfOneLength) {
  EXPECT_NE(contradiction({{1, 10e-3, 20e-3, 9e-3}, {1, 10e-3, 20e-3, 5e-6}}), "");
  EXPECT_EQ(contradiction({{1, 10e-6, 2e-3, 5e-6}, {100, 1e-3, 1.04e-3, 0.1e-3}}), "");
  EXPECT_NE(contradiction({{1, 10e-6, 20e-6, 5e-6}, {100, 1e-3, 1.4e-3, 0.1e-3}}), "");
}

TEST(ClockComparison, DoubtsTimesThatAreTooShort) {
  EXPECT_THAT(contradiction({{1, 36.1e-3, 122.8e-3, 5e-6}, {1, 36.2e-3, 123e-3, 5e-6}}),
              HasSubstr("0.0361 s by the time stamps where the host waited 0.1228 s"));
  EXPECT_NE(contradiction({{1, 77e-3, 155e-3, 5e-6}}), "");
  EXPECT_NE(contradiction({{1, 10.1e-3, 11.03e-3, 5e-6}}), "") << "an end that is told 0.9 ms early";
  EXPECT_NE(contradiction({{1, 8.5e-3, 10.03e-3, 5e-6}}), "");
}

TEST(ClockComparison, DoubtsOneTimeThatIsLongerThanTheHosts) {
  EXPECT_THAT(contradiction({{1, 10e-3, 10.03e-3, 5e-6}, {1, 16.7e-3, 14.0e-3, 5e-6}}),
              HasSubstr("0.0167 s by the time stamps where the host waited 0.014 s"));
  EXPECT_EQ(contradiction({{1, 10.1e-3, 10e-3, 5e-6}}), "") << "within what certified timers differ by";
  EXPECT_NE(contradiction({{1, 10.3e-3, 10e-3, 5e-6}}), "");
}

TEST(ClockComparison, AllowsForTicks) {
  EXPECT_NE(contradiction({{1, 3e-6, 2e-6, 1e-6}}), "");
  EXPECT_EQ(contradiction({{1, 3e-6, 2e-6, 1e-6}}, 1e-6), "");
}
