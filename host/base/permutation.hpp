// SPDX-License-Identifier: Apache-2.0
// permutation: a pseudo-random permutation of 0 .. n - 1 and its inverse, computed per element without a
// table.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "base/random.hpp"

namespace clweave::base {

// Bijective mixing of the next power of two, repeated until the value is below n (cycle walking).
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed)
      : n_(n), mask_(std::bit_ceil(n) - 1), shift_(static_cast<int>((std::bit_width(mask_) + 1) / 2 + 1)) {
    for (std::uint64_t k = 0; k < factors_.size(); ++k) {
      factors_[k] = mix_bits(seed ^ mix_bits(k)) | 1;
      // Newton's iteration for the inverse modulo 2^64 doubles the correct bits, of which an odd number has
      // three at first.
      inverses_[k] = factors_[k];
      for (int step = 0; step < 5; ++step) inverses_[k] *= 2 - factors_[k] * inverses_[k];
    }
  }

  std::uint64_t size() const { return n_; }

  std::uint64_t operator()(std::uint64_t i) const {
    do {
      for (const auto factor : factors_) {
        i = (i * factor + (factor >> 32)) & mask_;
        i ^= i >> shift_;  // a shift by more than half of the bits is its own inverse
      }
    } while (i >= n_);
    return i;
  }

  // Returns the i of this value.
  std::uint64_t place_of(std::uint64_t value) const {
    do {
      for (std::size_t k = factors_.size(); k-- > 0;) {
        value ^= value >> shift_;
        value = ((value - (factors_[k] >> 32)) * inverses_[k]) & mask_;
      }
    } while (value >= n_);
    return value;
  }

 private:
  std::uint64_t n_, mask_;
  int shift_;
  std::array<std::uint64_t, 3> factors_{}, inverses_{};
};

}  // namespace clweave::base
