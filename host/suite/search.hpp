// SPDX-License-Identifier: Apache-2.0
// search: in which order the configurations of a case are tried. It never measures anything itself, so it is
// tested on invented landscapes.
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

// The configurations that make sense. Those in front are where a search begins, the first of them is the
// default. A point's neighbours differ from it on one axis, by one step to the next value that makes sense.
// The first axis says which design, where several compete.
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
  coarse,  // every other value of each axis in full, then downhill from the best until no neighbour is better
  random,  // configurations in random order until the budget ends
  // The starts briefly; of each design that is not far behind the others as many more, a sixteenth in all, in
  // random order; downhill from the best; the better ones longer; the best few in full. Of a budget each of
  // these steps leaves the next its part.
  halving
};

// Throws `usage` that names the strategies.
Strategy strategy_of(const std::string& name);

// Measures a configuration with `effort`, in (0, 1] of full sampling, and returns its time in seconds; empty
// when it failed.
using Objective = std::function<std::optional<double>(std::size_t point, double effort)>;

// What is left of the budget: 1 as long as there is none, 0 when it is spent.
using BudgetLeft = std::function<double()>;

// Tries configurations until the strategy has no more or the budget is spent. The default is always the
// first, so that there is something to compare with. Every configuration that may be called the best was
// measured in full, unless the budget ended before; halving looks at one in full anyhow. `expected_trials` is
// about how many measurements that takes.
void search(const Space&, Strategy, std::uint64_t seed, const Objective&, const BudgetLeft& left);
std::size_t expected_trials(const Space&, Strategy);

// The configurations that are faster than all of their neighbours that were measured; a configuration none of
// whose neighbours was measured is not counted. `times` has an entry per point.
std::vector<std::size_t> local_minima(const Space&, const std::vector<std::optional<double>>& times);

}  // namespace clweave::suite
