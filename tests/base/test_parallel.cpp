// SPDX-License-Identifier: Apache-2.0
// test_parallel: stretches cover everything once, on the grain's edges; long work shows life.
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace clweave::commands;

TEST(Stretches, CoverEveryElementOnceAndBeginAtTheGrain) {
  for (const std::uint64_t n : {0, 1, 63, 64, 65, 6400, 100003}) {
    std::vector<std::atomic<int>> met(n);
    std::atomic<int> crooked = 0;
    for_stretches(n, 64, [&](std::uint64_t begin, std::uint64_t end) {
      if (begin % 64 != 0 || (end % 64 != 0 && end != n)) ++crooked;
      for (std::uint64_t i = begin; i < end; ++i) ++met[i];
    });
    EXPECT_EQ(crooked, 0) << n;
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(met[i], 1) << i << " of " << n;
  }
}

TEST(Stretches, ComputeInTheDefaultMode) {
  std::fesetround(FE_UPWARD);
  int others = 0;
  for_stretches(1, 1, [&](std::uint64_t, std::uint64_t) {
    if (std::fegetround() != FE_TONEAREST) ++others;
  });
  EXPECT_EQ(std::fegetround(), FE_UPWARD) << "the caller's mode is its own";
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(others, 0);
}

TEST(Stretches, ThrowWhatOneOfThemThrowsAfterAllHaveEnded) {
  std::atomic<std::uint64_t> met = 0;
  const auto fails_at = [&](std::uint64_t where) {
    return [&met, where](std::uint64_t begin, std::uint64_t end) {
      met += end - begin;
      if (begin <= where && where < end) throw std::runtime_error("wrong");
    };
  };
  for (const std::uint64_t where : {0, 6399}) {
    met = 0;
    EXPECT_THROW(for_stretches(6400, 64, fails_at(where)), std::runtime_error) << where;
    EXPECT_EQ(met, 6400U);
  }
}

TEST(Heartbeat, GoesOnAsLongAsTheWork) {
  using namespace std::chrono_literals;
  std::atomic<int> beats = 0;
  const auto until = std::chrono::steady_clock::now() + 60s;
  with_heartbeat(
      1ms,
      [&] {
        while (beats < 3 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
      },
      [&] { ++beats; });
  EXPECT_GE(beats, 3);
  EXPECT_THROW(with_heartbeat(
                   1ms, [] { throw std::runtime_error("wrong"); }, [] {}),
               std::runtime_error);
}
