// SPDX-License-Identifier: Apache-2.0
// comparison: outputs against expected values within a tolerance.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "base/namespaces.hpp"
#include "description/description.hpp"
#include "description/scalars.hpp"
#include "suite/plan.hpp"

namespace clweave::description {

// Returns whether a value is right: the same, NaN where NaN is expected, or within one of the tolerances
// given. In ULP, zero is right where a denormal number is expected, as devices may flush those.
template <class T>
bool is_right(T got, T want, const Tolerance& tolerance) {
  // Wide enough for 64-bit integers, where the processor has such a type.
  using Wide = std::conditional_t<is_whole_type<T>, long double, double>;
  const auto wide = [](T value) {
    if constexpr (is_whole_type<T>)
      return static_cast<Wide>(value);
    else
      return as_double(value);
  };
  const Wide is = wide(got), should = wide(want);
  if (is == should) return true;
  if constexpr (!is_whole_type<T>) {
    if (std::isnan(is) && std::isnan(should)) return true;
    if (!std::isfinite(is) || !std::isfinite(should)) return false;
    if (tolerance.ulp > 0 && (ulp_between(got, want) <= tolerance.ulp || (is == 0 && is_denormal(want))))
      return true;
  }
  const Wide apart = std::abs(is - should);
  return (tolerance.absolute > 0 && apart <= tolerance.absolute) ||
         (tolerance.relative > 0 && apart <= tolerance.relative * std::abs(should));
}

// Collects the comparison of one stretch.
template <class T>
class Comparison {
 public:
  // `measures`: notes the largest error in ULP.
  Comparison(const Tolerance& tolerance, bool measures) : tolerance_(tolerance), measures_(measures) {}

  // Takes element i, which lies at this scalar of the stretch.
  void take(std::uint64_t i, std::span<const std::byte> stretch, std::uint64_t scalar, T want) {
    const T got = scalar_at<T>(stretch, scalar);
    const bool is_written = count(stretch, scalar);
    note_error(got, want);
    if (is_right(got, want, tolerance_)) return;
    // What nothing wrote is wrong alike, whatever computes it.
    if (is_written && tally_.samples(i))
      tally_.add_sample({i, scalar_text(got), scalar_text(want), tolerance_at(got)});
    if (tally_.wrong++ > 0) return;
    tally_.first_wrong = i;
    tally_.first_text = fmt::format("[{}] is {}, expected {}{}", i, scalar_text(got), scalar_text(want),
                                    distance_text(got, want));
  }

  // Counts an element, for comparisons of a whole. Returns whether it was written.
  bool count(std::span<const std::byte> stretch, std::uint64_t scalar) {
    ++tally_.elements;
    // Bytes, not values: the pattern may be a NaN.
    const std::uint64_t at = scalar * sizeof(T);
    const bool is_written =
        std::memcmp(&stretch[at], &suite::poison[at % suite::poison.size()], sizeof(T)) != 0;
    tally_.written += is_written ? 1 : 0;
    return is_written;
  }

  suite::ComparisonResult& tally() { return tally_; }

 private:
  void note_error(T got, T want) {
    if constexpr (!is_whole_type<T>) {
      if (!measures_ || !std::isfinite(as_double(got)) || !std::isfinite(as_double(want))) return;
      const bool is_flushed = as_double(got) == 0 && is_denormal(want);
      const double error = is_flushed ? 0 : static_cast<double>(ulp_between(got, want));
      tally_.measured = std::max(tally_.measured.value_or(0), error);
    }
  }
  // Returns how far another value may be from this one to be taken where this one is expected.
  double tolerance_at(T value) const {
    const double size = std::abs(as_double(value));
    double out = std::max(tolerance_.absolute, tolerance_.relative * size);
    if constexpr (!is_whole_type<T>) {
      const int bits = sizeof(T) == 2 ? 10 : sizeof(T) == 4 ? 23 : 52;
      out = std::max(out, std::ldexp(size * static_cast<double>(tolerance_.ulp), -bits));
    }
    return std::isfinite(out) ? out : 0;
  }
  static std::string distance_text(T got, T want) {
    if constexpr (!is_whole_type<T>) {
      if (std::isfinite(as_double(got)) && std::isfinite(as_double(want)))
        return fmt::format(", {} ULP apart", ulp_between(got, want));
    }
    return {};
  }

  Tolerance tolerance_;
  bool measures_;
  suite::ComparisonResult tally_;
};

}  // namespace clweave::description
