// SPDX-License-Identifier: Apache-2.0
// ulp: errors of floats in units in the last place (ULP), and checks that measure them.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "suite/plan.hpp"

namespace clweave::families {

// Returns the distance of floats near a value: near 0 and subnormal ones that of the least float, and beyond
// the largest float that of the largest.
inline double ulp_of(long double value) {
  return std::ldexp(1.0, std::clamp(std::ilogb(value), -126, 127) - 23);
}

// Returns a number for the bits of element i of an output. Sums of such numbers are equal, as good as
// certainly, only where all elements are; they do not depend on the order. All NaNs count as one.
inline std::uint64_t hash_of_bits(std::uint64_t i, float value) {
  constexpr std::uint32_t nan = 0x7FC00000;
  const std::uint32_t bits = std::isnan(value) ? nan : std::bit_cast<std::uint32_t>(value);
  return base::mix_bits(base::mix_bits(i) ^ bits);
}

inline void measure(suite::ComparisonResult& tally, double number) {
  tally.measured = std::max(tally.measured, std::optional(number));
}

// Checks each float by `look(i, got, tally)`, which returns what was expected if it is wrong, and may
// measure. `unit`: of what it measures.
template <class Look>
void check_each(suite::Plan& p, suite::Buffer out, std::string unit, Look look) {
  p.checks.push_back({out,
                      [look](std::uint64_t offset, std::span<const std::byte> bytes) {
                        suite::ComparisonResult tally;
                        const std::uint64_t first = offset / sizeof(float);
                        for (std::uint64_t k = 0; k < bytes.size() / sizeof(float); ++k) {
                          float got = 0;
                          std::memcpy(&got, &bytes[k * sizeof got], sizeof got);
                          ++tally.elements;
                          const void* blank = &suite::poison[k * sizeof got % suite::poison.size()];
                          tally.written +=
                              std::memcmp(&bytes[k * sizeof got], blank, sizeof got) != 0 ? 1U : 0U;
                          const std::string wrong = look(first + k, got, tally);
                          if (wrong.empty() || tally.wrong++ > 0) continue;
                          tally.first_wrong = first + k;
                          tally.first_text = fmt::format("[{}] is {}, expected {}", first + k, got, wrong);
                        }
                        return tally;
                      },
                      std::move(unit)});
}

// Expects a float within `ulps` and `absolute` of the exact value, and measures its error in ULP. Returns
// what was expected if it is farther away or no number.
inline std::string expect_within(long double want, float got, double ulps, double absolute,
                                 suite::ComparisonResult& tally) {
  const double error = std::abs(static_cast<double>(got - want)), ulp = ulp_of(want);
  if (error <= ulps * ulp + absolute) {
    measure(tally, error / ulp);
    return {};
  }
  return fmt::format("{:.9g} within {:g} ULP, not {:.4g}", want, ulps + absolute / ulp, error / ulp);
}

}  // namespace clweave::families
