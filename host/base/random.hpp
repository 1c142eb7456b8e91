// SPDX-License-Identifier: Apache-2.0
// random: counter-based random numbers: element i depends on (key, i) alone, so any thread can generate any
// part of an input, and a check recomputes it instead of storing it.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/namespaces.hpp"

namespace clweave::base {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): passes BigCrush when fed a counter.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// Generates uniform values of T. Integers use every bit; floating-point values lie in [-1, 1) on a grid of
// the type's precision, so that no sum of two is denormal and a device that flushes denormals passes.
template <class T>
struct Random {
  std::uint64_t key;

  constexpr Random(std::uint64_t seed, std::uint64_t stream) : key(mix_bits(seed ^ mix_bits(stream))) {}

  constexpr T operator()(std::uint64_t i) const {
    const std::uint64_t bits = mix_bits(key ^ i);
    if constexpr (std::is_same_v<T, float>) {
      return static_cast<float>(static_cast<std::int32_t>(bits >> 40) - (1 << 23)) * 0x1p-23F;
    } else if constexpr (std::is_same_v<T, double>) {
      return static_cast<double>(static_cast<std::int64_t>(bits >> 11) - (1LL << 52)) * 0x1p-52;
    } else {
      static_assert(std::is_integral_v<T>);
      return static_cast<T>(bits >> (64 - 8 * sizeof(T)));
    }
  }
};

}  // namespace clweave::base
