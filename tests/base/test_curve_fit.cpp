// SPDX-License-Identifier: Apache-2.0
// test_curve_fit: the parabola through measured points.
#include "base/curve_fit.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace clweave {

using namespace base;

namespace {

using Points = std::vector<std::pair<double, double>>;

TEST(Parabola, IsFoundAgainFromItsPoints) {
  // y = 5 + 2 (log2 x - 6)^2
  const auto curve = fit_parabola(Points{{16, 13}, {32, 7}, {64, 5}, {128, 7}, {256, 13}});
  ASSERT_TRUE(curve);
  EXPECT_NEAR(curve->vertex(), 64, 1e-9);
  EXPECT_NEAR(curve->curvature, 2, 1e-12);
  EXPECT_NEAR(curve->at(512), 23, 1e-9);
  EXPECT_NEAR(curve->mean, 9, 1e-12);
  EXPECT_NEAR(curve->r_squared, 1, 1e-12);
  EXPECT_NEAR(curve->residual, 0, 1e-9);
}

TEST(Parabola, LeavesTheLeastSquares) {
  // Over d = -2 .. 2 the residuals of (0, 0, 1, 0, 0) are y - (17 - 5 d^2) / 35.
  const auto curve = fit_parabola(Points{{1, 0}, {2, 0}, {4, 1}, {8, 0}, {16, 0}});
  ASSERT_TRUE(curve);
  EXPECT_NEAR(curve->curvature, -1.0 / 7, 1e-12);
  EXPECT_NEAR(curve->at(4), 17.0 / 35, 1e-12);
  EXPECT_NEAR(curve->r_squared, 5.0 / 14, 1e-12);
}

TEST(Parabola, NeedsFourPointsAtThreePlaces) {
  EXPECT_FALSE(fit_parabola(Points{{1, 1}, {2, 3}, {4, 2}}));
  EXPECT_FALSE(fit_parabola(Points{{1, 1}, {1, 2}, {2, 3}, {2, 4}}));
  EXPECT_FALSE(fit_parabola(Points{{1, 1}, {2, 1}, {4, 1}, {8, 1}}));
}

// A ridge of one place between two dips is what one disturbed time looks like.
TEST(LonePeaks, AreLoweredToTheHigherNeighbourAndDipsStay) {
  using Values = std::vector<double>;
  EXPECT_EQ(without_lone_peaks(Values{9, 1, 5, 2, 8, 8, 3}), (Values{9, 1, 2, 2, 8, 8, 3}));
  EXPECT_EQ(without_lone_peaks(Values{1, 2}), (Values{1, 2}));
  EXPECT_EQ(without_lone_peaks(Values{}), Values{});
}

TEST(Valleys, RiseByTheDepthToBothSides) {
  const auto count = [](const std::vector<double>& values) { return count_valleys(values, 1.1); };
  EXPECT_EQ(count({120, 100, 120, 100, 120}), 2U);
  EXPECT_EQ(count({120, 100, 109, 100, 120}), 1U) << "the ridge is lower than a tenth";
  EXPECT_EQ(count({100, 120, 100}), 0U) << "an end is no valley";
  EXPECT_EQ(count({}), 0U);
}

}  // namespace

}  // namespace clweave
