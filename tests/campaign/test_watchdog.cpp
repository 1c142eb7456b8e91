// SPDX-License-Identifier: Apache-2.0
// test_watchdog: when a child counts as hanging, by an invented clock.
#include "campaign/watchdog.hpp"

#include <gtest/gtest.h>

using namespace clweave::commands;

namespace {

TEST(Watchdog, EndsWithSilence) {
  Watchdog watchdog(2);
  watchdog.hear("sample");
  watchdog.pass(1);
  watchdog.pass(0.9);
  EXPECT_FALSE(watchdog.expired());
  watchdog.pass(0.1);
  EXPECT_TRUE(watchdog.expired());
  EXPECT_EQ(watchdog.phase(), "sample");
}

TEST(Watchdog, ACaseThatIsAliveMayTakeAsLongAsItWasAskedTo) {
  Watchdog watchdog(2);
  for (int i = 0; i < 1000; ++i) {
    watchdog.hear("sample");
    watchdog.pass(1);
    EXPECT_FALSE(watchdog.expired());
  }
}

TEST(Watchdog, ACompilerMayBeSilentForLonger) {
  Watchdog watchdog(2);
  watchdog.hear("build");
  for (int i = 0; i < 7; ++i) watchdog.pass(1);
  EXPECT_FALSE(watchdog.expired());
  watchdog.pass(1);
  EXPECT_TRUE(watchdog.expired());
}

TEST(Watchdog, AProcessMayTakeSecondsToStart) {
  Watchdog brief(0.5), patient(60);
  for (int i = 0; i < 9; ++i) {
    brief.pass(1);
    patient.pass(1);
  }
  EXPECT_FALSE(brief.expired());
  brief.pass(1);
  EXPECT_TRUE(brief.expired());
  for (int i = 9; i < 59; ++i) patient.pass(1);
  EXPECT_FALSE(patient.expired());
  patient.pass(1);
  EXPECT_TRUE(patient.expired());
}

// A driver may read hundreds of megabytes from a slow disk before it answers: that is no case's timeout.
TEST(Watchdog, DriversMayTakeSecondsToLoad) {
  Watchdog watchdog(2);
  watchdog.hear("loading drivers");
  for (int i = 0; i < 9; ++i) watchdog.pass(1);
  EXPECT_FALSE(watchdog.expired());
  watchdog.pass(1);
  EXPECT_TRUE(watchdog.expired());
}

TEST(Watchdog, WaitingForAProcessorIsNoSilence) {
  Watchdog watchdog(2);
  watchdog.hear("sample");
  for (int i = 0; i < 9; ++i) watchdog.pass(1, 0.2);
  EXPECT_FALSE(watchdog.expired());
  watchdog.pass(1, 0.21);
  EXPECT_TRUE(watchdog.expired()) << "a fifth of ten seconds";
  EXPECT_EQ(watchdog.wall_s(), 10);
}

TEST(Watchdog, APauseOfTheWatcherIsNoSilence) {
  Watchdog watchdog(2);
  watchdog.pass(3600);
  EXPECT_FALSE(watchdog.expired());
}

}  // namespace
