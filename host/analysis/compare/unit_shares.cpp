// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/unit_shares.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/compare/common_change.hpp"

namespace clweave::compare {

namespace {

// Returns the median of the shares of a side without one of its units, of which there are two or more.
double median_of_others(const UnitShares& side, std::uint32_t without) {
  std::vector<double> others;
  for (const auto& [unit, share] : side) {
    if (unit != without) others.push_back(share);
  }
  return median(others);
}

// Returns the unit that is farthest from its side's others; of two units that differ neither is the odd one.
OddUnit farthest_of(const std::array<UnitShares, 2>& sides) {
  OddUnit out;
  for (const bool is_new : {false, true}) {
    const UnitShares& side = sides[is_new ? 1 : 0];
    if (side.size() < 3) continue;
    for (const auto& [unit, share] : side) {
      const double difference = share - median_of_others(side, unit);
      if (std::abs(difference) > std::abs(out.difference)) out = {is_new, unit, difference};
    }
  }
  return out;
}

// Returns the largest distance of a unit from its side's others, of all but the odd one: that is no part of
// those medians either.
double farthest_of_others(const std::array<UnitShares, 2>& sides, const OddUnit& odd) {
  double out = 0;
  for (const bool is_new : {false, true}) {
    UnitShares rest = sides[is_new ? 1 : 0];
    if (odd.is_new == is_new) rest.erase(odd.of);
    if (rest.size() < 2) continue;
    for (const auto& [unit, share] : rest)
      out = std::max(out, std::abs(share - median_of_others(rest, unit)));
  }
  return out;
}

// Sums the squares about the mean.
double squares_of(const UnitShares& side) {
  double mean = 0, out = 0;
  for (const auto& [unit, share] : side) mean += share / static_cast<double>(side.size());
  for (const auto& [unit, share] : side) out += (share - mean) * (share - mean);
  return out;
}

}  // namespace

UnitShares unit_shares(const std::vector<PairedCase>& cases, const std::vector<const Units*>& group,
                       std::size_t least) {
  struct Values {
    std::vector<double> off, scale;
  };
  std::map<std::uint32_t, Values> units;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (group[i]->size() < 2) continue;
    const double centre = mean_of(*group[i]);
    for (const auto& unit : *group[i]) {
      Values& values = units[unit.of];
      values.off.push_back(unit.log_time - centre);
      values.scale.push_back(std::sqrt(cases[i].prior.variance));
    }
  }
  UnitShares out;
  for (const auto& [unit, values] : units)
    out[unit] = values.off.size() < std::max(least, least_cases)
                    ? 0
                    : common_changes(values.off, values.scale).front().centre;
  return out;
}

SideShares side_shares(const std::vector<PairedCase>& cases, double margin) {
  std::array<UnitShares, 2> sides;
  double squares = 0, of_means = 0;
  SideShares out;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    std::vector<const Units*> group;
    std::size_t units = 1;
    for (const auto& one : cases) {
      group.push_back(side == 0 ? &one.before : &one.after);
      units = std::max(units, group.back()->size());
    }
    sides[side] = unit_shares(cases, group, least_cases);
    of_means += 1 / static_cast<double>(units);
    if (sides[side].size() < 2) continue;
    squares += squares_of(sides[side]);
    out.mean_difference.degrees += static_cast<double>(sides[side].size() - 1);
    const auto [low, high] = std::ranges::minmax_element(sides[side], {}, &UnitShares::value_type::second);
    out.widest = std::max(out.widest, high->second - low->second);
  }
  if (out.mean_difference.degrees == 0) return out;
  out.mean_difference.variance = squares / out.mean_difference.degrees * of_means;
  const OddUnit odd = farthest_of(sides);
  if (std::abs(odd.difference) > std::max(margin, 3 * farthest_of_others(sides, odd))) out.odd = odd;
  return out;
}

}  // namespace clweave::compare
