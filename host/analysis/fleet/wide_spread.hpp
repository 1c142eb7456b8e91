// SPDX-License-Identifier: Apache-2.0
// wide_spread: whether devices differ by more than those of one model may though none of them stands out and
// they fall into no groups, as where each is a little slower than the one before.
//
// The devices themselves are then the only measure of what is usual, and the farther they are spread, the
// less any of them is an outlier.
#pragma once
#include <optional>
#include <span>

#include "base/stats.hpp"

namespace clweave::fleet {

// The lowest and the highest value.
struct WideSpread {
  double low = 0, high = 0;
};

// Returns the ends if more than a quarter of the values lie farther from their median than the margin and
// what the prior explains with 99 %. Skips NaN. Nothing without a prior, as the values may be noise.
std::optional<WideSpread> wide_spread(std::span<const double> values, const Spread& prior, double margin);

}  // namespace clweave::fleet
