// SPDX-License-Identifier: Apache-2.0
// contents: contents of an array that is copied, as devices that compress memory copy some faster.
#pragma once
#include <cstdint>

#include "base/random.hpp"
#include "suite/axis.hpp"
#include "suite/case.hpp"

namespace clweave::families {

// Computes element i of an array with the case's `contents`.
template <class T>
class Contents {
 public:
  explicit Contents(const Case& at)
      : random_(at.seed, 1),
        factor_(at.is("contents", "ramp") ? 1 : 0),
        zeros_(at.is("contents", "zeros")),
        is_random_(at.is("contents", "random")) {}

  T operator()(std::uint64_t i) const {
    if (is_random_) return random_(i);
    if (zeros_) return T{};
    // Keeps values small enough that neighbours differ as floats.
    constexpr std::uint64_t most = 1 << 20;
    return static_cast<T>(first_of(random_) + factor_ * (i % most));
  }

 private:
  // Returns the first element of a ramp, or the constant; not 0.
  static std::uint64_t first_of(const Random<T>& random) { return 1 + (random.key & 0xFFFF); }

  Random<T> random_;
  std::uint64_t factor_;
  bool zeros_, is_random_;
};

inline Axis axis_contents(std::function<bool(const Case&)> when) {
  return {.name = "contents",
          .meaning = "contents of the array: random words, zeros, one repeated word, or a ramp",
          .values = {"random", "zeros", "constant", "ramp"},
          .when = std::move(when)};
}

}  // namespace clweave::families
