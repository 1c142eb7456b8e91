// SPDX-License-Identifier: Apache-2.0
// test_quiet_wait: for how long a run waits for a quiet machine, by an invented one.
#include "campaign/quiet_wait.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

using namespace clweave::commands;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// Four processors, of which others use three until a time.
struct Host {
  double now_s = 0, quiet_from_s = 0;
  int interrupts = 0;
  std::vector<std::string> noted;

  QuietWait waiting(double budget_s) {
    return {budget_s,
            {.interrupts = [this] { return interrupts; }, .now = [this] { return now_s; }},
            {},
            [this] {
              ProcessorUse use;
              use.at_s = now_s;
              use.processors = 4;
              use.busy_s = 3 * std::min(now_s, quiet_from_s);
              return use;
            },
            [this](double seconds) { now_s += seconds; }};
  }
  bool wait(QuietWait& wait) {
    return wait.wait([this](const std::string& line) { noted.push_back(line); });
  }
};

TEST(QuietWait, GoesOnAfterASecondOfQuiet) {
  Host host;
  QuietWait wait = host.waiting(60);
  EXPECT_TRUE(host.wait(wait));
  EXPECT_NEAR(host.now_s, 1, 0.2);
  EXPECT_THAT(host.noted, IsEmpty());
}

TEST(QuietWait, WaitsUntilOthersHaveEnded) {
  Host host;
  host.quiet_from_s = 20;
  QuietWait wait = host.waiting(60);
  EXPECT_TRUE(host.wait(wait));
  EXPECT_NEAR(host.now_s, 21, 1.5);
  EXPECT_THAT(host.noted, ElementsAre(HasSubstr("other processes use 3 of 4 processors")));
}

TEST(QuietWait, WaitsUntilTheDeviceIsCool) {
  Host host;
  QuietWait wait = host.waiting(60);
  const auto heat = [&host]() -> std::string {
    return host.now_s < 7 ? "the device is throttled: thermal" : "";
  };
  EXPECT_TRUE(wait.wait([&](const std::string& line) { host.noted.push_back(line); }, heat));
  EXPECT_NEAR(host.now_s, 7, 1.5);
  EXPECT_THAT(host.noted, ElementsAre(HasSubstr("the device is throttled: thermal")));
}

TEST(QuietWait, SpendsItsBudgetOnce) {
  Host host;
  host.quiet_from_s = 1e9;
  QuietWait wait = host.waiting(10);
  EXPECT_FALSE(host.wait(wait));
  EXPECT_NEAR(host.now_s, 10, 1.5);
  EXPECT_FALSE(host.wait(wait));
  EXPECT_NEAR(host.now_s, 10, 1.5) << "no second wait";
}

TEST(QuietWait, EndsWhenTheUserWantsToStop) {
  Host host;
  host.quiet_from_s = 1e9;
  QuietWait wait = host.waiting(1e6);
  host.interrupts = 1;
  EXPECT_FALSE(host.wait(wait));
  EXPECT_LT(host.now_s, 1);
}

}  // namespace
