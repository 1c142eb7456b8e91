// SPDX-License-Identifier: Apache-2.0
// common_change: what many cases changed by alike: a clock that a session's cases share, or a change of all.
//
// A mean or median of all cases lies between two groups of which neither changed by it. So the centres are
// the modes of the differences: where most cases lie within their noise, by Tukey's biweight (Beaton and
// Tukey 1974) at the scale of each case. What lies far from a mode has no weight in it, up to half of all
// cases.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace clweave::compare {

// Cases whose differences agree.
struct CommonChange {
  double centre = 0, se = 0;  // of the logarithm, with its standard error
  std::size_t cases = 0;      // nearer to it than to another centre, and within their noise
};

// Keeps many precise cases from making a centre of each few of them: differences of a hundredth agree.
inline constexpr double least_scale = 0.01;
inline constexpr double near_a_centre = 3;  // in scales

// Returns the centre of most cases, and a second one if at least a quarter of the cases lie there and not at
// the first. `scales` are the standard errors of the values, at least `least_scale` of which count. Empty for
// fewer than `least_cases`.
inline constexpr std::size_t least_cases = 5;
std::vector<CommonChange> common_changes(std::span<const double> values, std::span<const double> scales);

}  // namespace clweave::compare
