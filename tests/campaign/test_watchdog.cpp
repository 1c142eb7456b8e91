// SPDX-License-Identifier: Apache-2.0
// test_patience: when a child counts as hanging, by an invented clock.
#include "campaign/watchdog.hpp"

#include <gtest/gtest.h>

using namespace clweave::commands;

namespace {

TEST(Watchdog, EndsWithSilence) {
  Watchdog patience(2);
  patience.hear("sample");
  patience.pass(1);
  patience.pass(0.9);
  EXPECT_FALSE(patience.over());
  patience.pass(0.1);
  EXPECT_TRUE(patience.over());
  EXPECT_EQ(patience.stage(), "sample");
}

TEST(Watchdog, ACaseThatIsAliveMayTakeAsLongAsItWasAskedTo) {
  Watchdog patience(2);
  for (int i = 0; i < 1000; ++i) {
    patience.hear("sample");
    patience.pass(1);
    EXPECT_FALSE(patience.over());
  }
}

TEST(Watchdog, ACompilerMayBeSilentForLonger) {
  Watchdog patience(2);
  patience.hear("build");
  for (int i = 0; i < 7; ++i) patience.pass(1);
  EXPECT_FALSE(patience.over());
  patience.pass(1);
  EXPECT_TRUE(patience.over());
}

TEST(Watchdog, AProcessMayTakeSecondsToStart) {
  Watchdog brief(0.5), patient(60);
  for (int i = 0; i < 9; ++i) {
    brief.pass(1);
    patient.pass(1);
  }
  EXPECT_FALSE(brief.over());
  brief.pass(1);
  EXPECT_TRUE(brief.over());
  for (int i = 9; i < 59; ++i) patient.pass(1);
  EXPECT_FALSE(patient.over());
  patient.pass(1);
  EXPECT_TRUE(patient.over());
}

TEST(Watchdog, APauseOfTheWatcherIsNoSilence) {
  Watchdog patience(2);
  patience.pass(3600);
  EXPECT_FALSE(patience.over());
}

}  // namespace
