// SPDX-License-Identifier: Apache-2.0
// groups: whether values fall into groups or are spread around one centre.
//
// Sorted values are cut where the sum of squares within the parts is least (Fisher, "On grouping for maximum
// homogeneity", 1958), into two, three and four parts. Parts are groups if the sum of squares falls by more
// than it does for values that are spread evenly (compare Engelman and Hartigan, "Percentage points of a test
// for clusters", 1969, for a normal distribution, which falls by less).
#pragma once
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "base/stats.hpp"

namespace clweave::fleet {

struct Groups {
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  std::vector<std::size_t> of;     // per value: its group, from low to high; `none` for a NaN
  std::vector<std::size_t> sizes;  // per group; one group if there is no evidence of more
  std::vector<double> means;       // per group
  Spread within;                   // around the groups' means; 0 degrees: there are too few values

  std::size_t largest() const;
};

// Finds the smallest number of groups for which there is evidence: one value spread evenly in 5000 sets is
// taken for several. Groups lie at least `least_gap` apart. The prior says what variance is expected within a
// group, which few values cannot tell themselves. Skips NaN. One group for fewer than 4 values.
Groups groups_of(std::span<const double> values, const Spread& prior, double least_gap);

}  // namespace clweave::fleet
