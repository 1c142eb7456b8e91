// SPDX-License-Identifier: Apache-2.0
// Clusters of units in a matrix of pairs.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "base/pair_matrix.hpp"
#include "base/random.hpp"

namespace clweave::base {
namespace {

using Ideal = std::function<double(std::size_t, std::size_t)>;

// Makes a matrix whose values differ from the ideal ones by a noise of this standard deviation.
PairMatrix matrix(std::size_t units, const Ideal& ideal, double noise, std::uint64_t seed) {
  const Random<double> uniform(seed, 1);
  std::vector<double> values;
  std::uint64_t i = 0;
  for (std::size_t a = 0; a < units; ++a) {
    for (std::size_t b = a + 1; b < units; ++b, i += 3)
      values.push_back(ideal(a, b) * std::exp(noise * (uniform(i) + uniform(i + 1) + uniform(i + 2))));
  }
  return *PairMatrix::of(values);
}

TEST(PairMatrix, TakesAsManyValuesAsSomeUnitsHavePairs) {
  for (const std::size_t units : {2, 3, 4, 132}) {
    std::vector<double> values(units * (units - 1) / 2);
    std::iota(values.begin(), values.end(), 1.0);
    const auto made = PairMatrix::of(values);
    ASSERT_TRUE(made) << units;
    EXPECT_EQ(made->units(), units);
    std::size_t i = 0;
    for (std::size_t a = 0; a < units; ++a) {
      for (std::size_t b = a + 1; b < units; ++b, ++i) {
        EXPECT_EQ(made->at(a, b), values[i]);
        EXPECT_EQ(made->at(b, a), values[i]);
      }
    }
  }
  EXPECT_FALSE(PairMatrix::of({}));
  EXPECT_FALSE(PairMatrix::of(std::vector<double>{1, 2}));
  EXPECT_FALSE(PairMatrix::of(std::vector<double>{1, 2, 0}));
}

// Of noise alone there is no cluster, whatever it is.
TEST(Clusters, OfNoiseThereAreNone) {
  for (const std::size_t units : {2, 3, 4, 5, 6, 8, 16, 64}) {
    int found = 0;
    const std::uint64_t seeds = units < 16 ? 400 : 40;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const auto clusters = clusters_of(matrix(
          units, [](auto, auto) { return 700.0; }, seed % 2 == 0 ? 0.003 : 0.1, seed));
      EXPECT_EQ(clusters.size(), units);
      for (const auto cluster : clusters) found += cluster > 0 ? 1 : 0;
    }
    EXPECT_EQ(found, 0) << units << " units";
  }
}

// Dies: a pair of one die is fast.
TEST(Clusters, OfDiesAreThoseWhosePairsAreFast) {
  const auto die = [](std::size_t unit) { return unit % 8; };
  const auto made = matrix(
      64, [&](auto a, auto b) { return die(a) == die(b) ? 50.0 : 150.0; }, 0.03, 1);
  const auto clusters = clusters_of(made);
  for (std::size_t a = 0; a < 64; ++a) {
    for (std::size_t b = 0; b < 64; ++b) EXPECT_EQ(clusters[a] == clusters[b], die(a) == die(b));
  }
}

// Halves of a cache: a pair is as fast as its two units are near to the word that they share, so that the
// pairs of the far half are the slowest of all. The near half is number 0.
TEST(Clusters, OfACacheWithTwoHalvesAreTheNearUnitsAndTheFarOnes) {
  const auto is_far = [](std::size_t unit) { return unit % 6 < 3; };
  const auto made = matrix(
      132, [&](auto a, auto b) { return 600.0 + (is_far(a) ? 60 : 0) + (is_far(b) ? 60 : 0); }, 0.02, 1);
  const auto clusters = clusters_of(made);
  for (std::size_t a = 0; a < 132; ++a) EXPECT_EQ(clusters[a], is_far(a) ? 1U : 0U) << a;
}

// One unit apart, such as one that another program disturbed, is no cluster.
TEST(Clusters, OfOneUnitIsNone) {
  const auto clusters = clusters_of(matrix(
      16, [](auto a, auto b) { return a == 5 || b == 5 ? 900.0 : 600.0; }, 0.01, 1));
  for (const auto cluster : clusters) EXPECT_EQ(cluster, 0U);
}

}  // namespace
}  // namespace clweave::base
