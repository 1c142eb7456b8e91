// SPDX-License-Identifier: Apache-2.0
// unit_shares: by how much the runs of a side, or its sessions, differ among each other in what their cases
// share: a clock, a throttled process, another job beside it.
//
// That the two sides differ by as much tells nothing: where one of three runs is slow as a whole, the mean of
// its side is slower in every case, and the other two runs are as before.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/compare/case_noise.hpp"
#include "base/stats.hpp"

namespace clweave::compare {

// What the cases of a unit share, relative to the mean of its side, by the number of the unit; of the
// logarithm.
using UnitShares = std::map<std::uint32_t, double>;

// Returns the centre of each unit's cases (common_changes). `group` has the units of each case, of which
// those of a single unit tell nothing; 0 of a unit of fewer than `least` cases.
UnitShares unit_shares(const std::vector<PairedCase>&, const std::vector<const Units*>& group,
                       std::size_t least);

// A unit that differs from the others of its side.
struct OddUnit {
  bool is_new = false;    // it is of the new side
  std::uint32_t of = 0;   // its number there
  double difference = 0;  // of the logarithm, to the median of its side's others
};

// What the units of both sides differ by in these cases.
struct SideShares {
  Spread mean_difference;      // of the means of the sides; 0 degrees: there is one unit a side
  std::optional<OddUnit> odd;  // one that is farther from its side than all others from theirs
  double widest = 0;           // the largest difference within a side, of the logarithm
};

// Takes the unit for odd that is farther than `margin` and than three times the distance of any other unit
// from the median of its side's others.
SideShares side_shares(const std::vector<PairedCase>&, double margin);

}  // namespace clweave::compare
