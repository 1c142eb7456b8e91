// SPDX-License-Identifier: Apache-2.0
// test_blocks: what precedes a block is there whoever asks first.
#include "families/shared/blocks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>

using namespace clweave::commands;
using namespace clweave::families;

// Asks for the table from within parallel work, as checks do: a thread that waits for it helps to compute it,
// and none waits for itself.
TEST(Blocks, AreMadeByWhoNeedsThemFirst) {
  for (int round = 0; round < 50; ++round) {
    constexpr std::uint64_t n = 100000, size = 64;
    const Blocks<std::uint64_t> sums(n, size);
    std::atomic<int> wrong = 0;
    for_stretches(n / size, 1, [&](std::uint64_t begin, std::uint64_t end) {
      const auto& before = sums.before(
          7,
          [](std::uint64_t first, std::uint64_t last) {
            std::uint64_t sum = 0;
            for (std::uint64_t i = first; i < last; ++i) sum += i;
            return sum;
          },
          std::plus<>());
      for (std::uint64_t b = begin; b < end; ++b) {
        if (before[b] != 7 + b * size * (b * size - 1) / 2) ++wrong;
      }
    });
    EXPECT_EQ(wrong, 0);
  }
}
