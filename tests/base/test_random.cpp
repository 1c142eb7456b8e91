// SPDX-License-Identifier: Apache-2.0
// test_random: values that only their place and the seed decide.
#include "base/random.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

using namespace clweave::commands;

TEST(RandomValues, AreThoseOfSplitMix64) {
  // The first outputs of its reference implementation for seed 0.
  EXPECT_EQ(mix_bits(0), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(mix_bits(0x9E3779B97F4A7C15U), 0x6E789E6AA1B965F4U);
  EXPECT_EQ(mix_bits(2 * 0x9E3779B97F4A7C15U), 0x06C45D188009454FU);
  const auto keyless = []<class T>(T) {
    Random<T> random(0, 0);
    random.key = 0;
    return random(0);
  };
  EXPECT_EQ(keyless(std::uint64_t{}), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(keyless(std::uint32_t{}), 0xE220A839U);
  EXPECT_EQ(keyless(std::int32_t{}), static_cast<std::int32_t>(0xE220A839U));
  EXPECT_EQ(keyless(std::uint8_t{}), 0xE2U);
  EXPECT_EQ(keyless(float{}), static_cast<float>(0xE220A8 - 0x800000) / 8388608.0F);
  EXPECT_EQ(keyless(double{}), static_cast<double>(0xE220A8397B1DCDAFU >> 11) / 0x1p52 - 1);
}

TEST(RandomValues, OfFloatingTypesFillOneGridFromMinusOneToOne) {
  const auto expect_uniform = []<class T>(T grid) {
    const Random<T> random(1, 1);
    double sum = 0, low = 2, high = -2;
    constexpr int n = 100000;
    for (int i = 0; i < n; ++i) {
      const T x = random(static_cast<std::uint64_t>(i));
      ASSERT_EQ(std::floor(x * grid), x * grid) << "off the grid, so that a sum may be denormal";
      sum += static_cast<double>(x);
      low = std::min(low, static_cast<double>(x));
      high = std::max(high, static_cast<double>(x));
    }
    EXPECT_GE(low, -1);
    EXPECT_LT(low, -0.999);
    EXPECT_LT(high, 1);
    EXPECT_GT(high, 0.999);
    EXPECT_NEAR(sum / n, 0, 0.01);  // 5.5 standard errors
  };
  expect_uniform(0x1p23F);
  expect_uniform(0x1p52);
}

TEST(RandomValues, CannotBeCompressed) {
  // 2^18 bytes into 256 bins of 1024: chi-squared with 255 degrees of freedom, sd 22.6.
  const auto expect_even = []<class T>(T, std::uint64_t seed, std::uint64_t stream) {
    const Random<T> random(seed, stream);
    std::array<int, 256> count{};
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < (1U << 18) / sizeof(T); ++i) {
      T x = random(i);
      std::array<unsigned char, sizeof(T)> bytes{};
      std::memcpy(bytes.data(), &x, sizeof(T));
      for (const auto byte : bytes) ++count[byte];
      if constexpr (sizeof(T) == 8) {
        EXPECT_TRUE(seen.insert(x).second) << "a value comes twice";
      }
    }
    double chi2 = 0;
    for (const int n : count) chi2 += (n - 1024.0) * (n - 1024.0) / 1024.0;
    EXPECT_LT(chi2, 400);
    EXPECT_GT(chi2, 150);  // nor is it more even than chance
  };
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (std::uint64_t stream = 1; stream < 4; ++stream) {
      expect_even(std::uint8_t{}, seed, stream);
      expect_even(std::uint32_t{}, seed, stream);
      expect_even(std::uint64_t{}, seed, stream);
    }
  }
}

TEST(RandomValues, DifferBetweenSeedsAndStreams) {
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint64_t stream = 0; stream < 100; ++stream) keys.insert(Random<float>(seed, stream).key);
  }
  EXPECT_EQ(keys.size(), 10000U);
  const Random<std::uint32_t> a(1, 1), same(1, 1), stream(1, 2), seed(2, 1), swapped(2, 1);
  int equal = 0;
  for (std::uint64_t i = 0; i < 65536; ++i) {
    EXPECT_EQ(a(i), same(i));
    equal += a(i) == stream(i) ? 1 : 0;
    equal += a(i) == seed(i) ? 1 : 0;
    equal += stream(i) == swapped(i) ? 1 : 0;
    equal += a(i) == a(i + 1) ? 1 : 0;
  }
  EXPECT_LE(equal, 2);  // 0.00006 are expected
}
