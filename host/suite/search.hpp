// SPDX-License-Identifier: Apache-2.0
// search: the order in which configurations of a case are tried. It never measures anything itself, so that
// tests can search an invented objective.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

// A configuration: the place of each axis' value in its list.
using Point = std::vector<std::size_t>;

// The valid configurations. A search begins at the first `starts` of them, of which the first is the default.
// Neighbours differ on one axis, by one step to the next valid value. The first axis is the design, where
// several compete.
class Space {
 public:
  explicit Space(std::vector<Point> points, std::size_t starts = 1);

  std::size_t starts() const { return starts_; }
  const std::vector<Point>& points() const { return points_; }
  std::size_t size() const { return points_.size(); }
  const std::vector<std::size_t>& neighbours(std::size_t point) const { return neighbours_[point]; }

 private:
  std::vector<Point> points_;
  std::size_t starts_;
  std::vector<std::vector<std::size_t>> neighbours_;
};

enum class Strategy {
  exhaustive,  // every configuration in full
  coarse,      // every other value of each axis in full, then hill climbing from the best
  random,      // configurations in random order until the budget ends
  // Sequential halving (Karnin, Koren & Somekh 2013) with hill climbing: the starts briefly; then the same
  // number of random points of each design that is not far behind, a sixteenth of the space in all; climbing
  // from the best; the better ones longer; the best few in full. Each step leaves a part of the budget to the
  // next.
  halving
};

// Throws `usage` that names the strategies.
Strategy strategy_of(const std::string& name);

// Measures a configuration with `effort`, in (0, 1] of full sampling, and returns its time in seconds; empty
// when it failed.
using Objective = std::function<std::optional<double>(std::size_t point, double effort)>;

// Returns how much of the budget is left: 1 as long as there is none, 0 when it is spent.
using BudgetLeft = std::function<double()>;

// Tries configurations until the strategy has no more or the budget is spent. The default comes first, so
// that there is something to compare with. Every configuration that may be called the best is measured in
// full, unless the budget ends before; halving measures one in full in any case. `expected_trials` estimates
// the number of measurements.
void search(const Space&, Strategy, std::uint64_t seed, const Objective&, const BudgetLeft& left);
std::size_t expected_trials(const Space&, Strategy);

// Returns the points that are faster than all of their measured neighbours, of which they have at least one.
// `times` has an entry per point.
std::vector<std::size_t> local_minima(const Space&, const std::vector<std::optional<double>>& times);

}  // namespace clweave::suite
