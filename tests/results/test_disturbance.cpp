// SPDX-License-Identifier: Apache-2.0
// test_disturbance: which rows were measured on a machine that was not quiet.
#include "results/disturbance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace clweave::results;
using testing::HasSubstr;

namespace {

Record row(const char* type, std::int64_t units) {
  Record out;
  out.device_type = type;
  out.compute_units = units;
  return out;
}

TEST(Disturbance, IsNoneOfAQuietMachineNorOfARowThatTellsNothing) {
  Record quiet = row("cpu", 16);
  EXPECT_EQ(disturbance_of(quiet), "");
  quiet.other_cpus = 0.7;
  quiet.cpu_wait = 0.1;
  quiet.steal = 0.1;
  quiet.quota = 0;
  quiet.swapped_pages = 12;
  quiet.throttled = 1;
  quiet.throttle_reasons = "sw_power_cap;gpu_idle";
  EXPECT_EQ(disturbance_of(quiet), "");
}

TEST(Disturbance, NamesWhatTookTheProcessors) {
  Record busy = row("cpu", 2);
  busy.other_cpus = 1.5;
  EXPECT_EQ(disturbance_of(busy), "other processes used 1.5 processors");
  busy.cpu_wait = 0.6;
  busy.steal = 0.2;
  busy.quota = 0.5;
  busy.swapped_pages = 12000;
  const std::string text = disturbance_of(busy);
  EXPECT_THAT(text, HasSubstr("waited for a processor for 60 % of their time"));
  EXPECT_THAT(text, HasSubstr("the hypervisor took 20 % of the processors"));
  EXPECT_THAT(text, HasSubstr("the limit of processor time stopped it for 50 % of the time"));
  EXPECT_THAT(text, HasSubstr("the host swapped 12000 pages"));
}

TEST(Disturbance, OfAGpuIsThatItsHostThreadWaits) {
  Record beside = row("gpu", 132);
  beside.other_cpus = 3;
  EXPECT_EQ(disturbance_of(beside), "") << "other processors were free";
  beside.cpu_wait = 0.3;
  EXPECT_THAT(disturbance_of(beside), HasSubstr("waited for a processor"));
}

TEST(Disturbance, IsHeatButNoPowerCap) {
  Record hot = row("gpu", 132);
  hot.throttle_reasons = "sw_power_cap;hw_thermal_slowdown";
  EXPECT_EQ(disturbance_of(hot), "the device was throttled: hw_thermal_slowdown");
}

}  // namespace
