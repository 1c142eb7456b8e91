// SPDX-License-Identifier: Apache-2.0
// draws: random numbers for invented measurements, the same from a seed with every library: the standard's
// distributions differ between libraries, its engines do not.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace draws {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  // Returns a number of [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  // Returns a normal number of mean 0 and variance 1, by Box and Muller (1958).
  double normal() {
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace draws
