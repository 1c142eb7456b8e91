// SPDX-License-Identifier: Apache-2.0
// test_over_time: the cell of a row that tells times and sensors over seconds.
#include "suite/over_time.hpp"

#include <gtest/gtest.h>

namespace clweave::suite {
namespace {

TEST(OverTime, IsReadBackAsWritten) {
  const std::string text = text_of({{.at_s = 0.05, .time_s = 1.25e-4},
                                    {.at_s = 0.1004, .time_s = 1.3e-4, .core_mhz = 1980, .celsius = 54.5},
                                    {.at_s = 60, .time_s = 2, .watts = 699.96}});
  EXPECT_EQ(text, "0.050 0.000125 - - -;0.100 0.00013 1980 54.5 -;60.000 2 - - 700");
  const auto bins = bins_of(text);
  ASSERT_EQ(bins.size(), 3U);
  EXPECT_EQ(bins[0].time_s, 1.25e-4);
  EXPECT_FALSE(bins[0].core_mhz);
  EXPECT_EQ(bins[1].at_s, 0.1);
  EXPECT_EQ(bins[1].core_mhz, 1980);
  EXPECT_EQ(bins[1].celsius, 54.5);
  EXPECT_EQ(bins[2].watts, 700);
}

TEST(OverTime, GivesNoBinsForOtherText) {
  for (const char* text : {"", "0.05", "0.05 1e-4 - -", "x 1e-4 - - -", "0.05 0 - - -", "0.05 1e-4 - - -;"})
    EXPECT_TRUE(bins_of(text).empty()) << text;
}

}  // namespace
}  // namespace clweave::suite
