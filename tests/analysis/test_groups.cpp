// SPDX-License-Identifier: Apache-2.0
// test_groups: values that fall into groups, and values that do not.
#include "analysis/fleet/groups.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "analysis/fleet/identical_devices.hpp"

using namespace clweave::fleet;
using testing::ElementsAre;
using testing::SizeIs;

namespace {

constexpr double gap = 0.03;
const Spread known = {25e-6, 4};  // half a percent

std::vector<double> even(std::size_t n, std::mt19937_64& random) {
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(0.03 * static_cast<double>(random() >> 11) * 0x1p-53);
  return out;
}

}  // namespace

TEST(Groups, AreFoundWhateverTheirOrder) {
  const std::vector<double> values = {0.081, 0.001, unmeasured, 0.079, -0.002, 0.08, 0, 0.002, 0.003};
  const Groups groups = groups_of(values, known, gap);
  EXPECT_THAT(groups.sizes, ElementsAre(5, 3));
  EXPECT_THAT(groups.of, ElementsAre(1, 0, Groups::none, 1, 0, 1, 0, 0, 0));
  EXPECT_NEAR(groups.means[1] - groups.means[0], 0.0792, 1e-4);
  EXPECT_LT(std::sqrt(groups.within.variance), 0.002);
  EXPECT_EQ(groups.largest(), 5U);
}

TEST(Groups, MayBeThree) {
  EXPECT_THAT(
      groups_of(std::vector{0.0, 0.001, 0.002, 0.08, 0.081, 0.082, 0.16, 0.161, 0.162}, known, gap).sizes,
      ElementsAre(3, 3, 3));
}

TEST(Groups, OfFewOrEqualValuesAreOne) {
  EXPECT_THAT(groups_of(std::vector{0.0, 0.2, 0.2}, known, gap).sizes, SizeIs(1));
  EXPECT_THAT(groups_of(std::vector(8, 0.1), known, gap).sizes, SizeIs(1));
  EXPECT_THAT(groups_of(std::vector<double>{}, known, gap).sizes, SizeIs(0));
  EXPECT_THAT(groups_of(std::vector{0.0, 0.001, 0.002, 0.003, 0.02, 0.021, 0.022, 0.023}, known, gap).sizes,
              SizeIs(1))
      << "closer than the least gap";
}

// Evenly spread values, which have no centre, are one group, with a known spread and without.
TEST(Groups, AreNotSeenInEvenlySpreadValues) {
  std::mt19937_64 random(7);
  for (const std::size_t n : {4, 6, 8, 16, 64, 256}) {
    std::size_t several = 0;
    for (int i = 0; i < 200; ++i) {
      several += groups_of(even(n, random), {75e-6, 4}, 0).sizes.size() > 1 ? 1 : 0;
      several += groups_of(even(n, random), {}, 0).sizes.size() > 1 ? 1 : 0;
    }
    EXPECT_LE(several, 1U) << n;
  }
}
