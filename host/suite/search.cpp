// SPDX-License-Identifier: Apache-2.0
#include "suite/search.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"

namespace clweave {

Space::Space(std::vector<Point> points) : points_(std::move(points)), neighbours_(points_.size()) {
  // Along one axis, points that agree on all others lie in the order of that axis' values.
  const std::size_t axes = points_.empty() ? 0 : points_.front().size();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::map<Point, std::map<std::size_t, std::size_t>> lines;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      Point others = points_[p];
      const std::size_t place = others[axis];
      others[axis] = 0;
      lines[others][place] = p;
    }
    for (const auto& [others, line] : lines) {
      std::optional<std::size_t> before;
      for (const auto& [place, p] : line) {
        if (before) {
          neighbours_[*before].push_back(p);
          neighbours_[p].push_back(*before);
        }
        before = p;
      }
    }
  }
}

Strategy strategy_of(const std::string& name) {
  static const std::map<std::string, Strategy> names = {{"exhaustive", Strategy::exhaustive},
                                                        {"coarse", Strategy::coarse},
                                                        {"random", Strategy::random},
                                                        {"halving", Strategy::halving}};
  const auto it = names.find(name);
  if (it == names.end())
    throw Error(Kind::usage, "--strategy " + name + ": there are exhaustive, coarse, random and halving");
  return it->second;
}

namespace {

constexpr std::size_t least = 8;  // configurations that halving begins with, however small the space
constexpr double brief = 0.05, longer = 0.25;  // efforts of its first two rounds

// The default first, the others in random order; the same for the same seed everywhere.
std::vector<std::size_t> shuffled(std::size_t size, std::uint64_t seed) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Random<std::uint64_t> draw(seed, 0x7E57);
  for (std::size_t i = size; i > 2; --i) std::swap(order[i - 1], order[1 + draw(i) % (i - 1)]);
  return order;
}

std::size_t first_round(std::size_t size) { return std::min(size, std::max(least, (size + 15) / 16)); }

// What was found so far, and no measurement twice with the same effort.
class Trials {
 public:
  Trials(const Measurement& measure, const std::function<bool()>& spent, std::size_t size)
      : measure_(measure), spent_(spent), effort_(size, 0), time_(size) {}

  // False when the budget is spent.
  bool run(std::size_t point, double effort) {
    if (effort_[point] >= effort) return true;
    if (spent_()) return false;
    effort_[point] = effort;
    time_[point] = measure_(point, effort);
    return true;
  }
  bool run(const std::vector<std::size_t>& points, double effort) {
    return std::ranges::all_of(points, [&](std::size_t p) { return run(p, effort); });
  }
  double time(std::size_t point) const {
    return time_[point].value_or(std::numeric_limits<double>::infinity());
  }
  // The fastest `count` of those measured with this effort or more.
  std::vector<std::size_t> best(std::size_t count, double effort) const {
    std::vector<std::size_t> points;
    for (std::size_t p = 0; p < time_.size(); ++p) {
      if (time_[p] && effort_[p] >= effort) points.push_back(p);
    }
    std::ranges::stable_sort(points, {}, [&](std::size_t p) { return time(p); });
    points.resize(std::min(points.size(), count));
    return points;
  }

 private:
  const Measurement& measure_;
  const std::function<bool()>& spent_;
  std::vector<double> effort_;  // of the last measurement; 0: none
  std::vector<std::optional<double>> time_;
};

// Moves to the fastest neighbour until there is none faster. False when the budget is spent.
bool climb(Trials& trials, const Space& space, std::size_t start, double effort) {
  for (std::size_t at = start;;) {
    if (!trials.run(space.neighbours(at), effort)) return false;
    std::size_t next = at;
    for (const std::size_t p : space.neighbours(at)) {
      if (trials.time(p) < trials.time(next)) next = p;
    }
    if (next == at) return true;
    at = next;
  }
}

void halve(Trials& trials, const Space& space, const std::vector<std::size_t>& order) {
  const std::size_t begun = first_round(space.size());
  if (!trials.run({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(begun)}, brief)) return;
  // The sample is sparse: from its best, go downhill to what lies between.
  for (const std::size_t p : trials.best(3, brief)) {
    if (!climb(trials, space, p, brief)) return;
  }
  const auto finer = trials.best(std::max<std::size_t>(3, begun / 4), brief);
  if (!trials.run(finer, longer)) return;
  if (!trials.run(trials.best(3, longer), 1)) return;
  trials.run(order.front(), 1);  // the default, to compare with
}

}  // namespace

void search(const Space& space, Strategy strategy, std::uint64_t seed, const Measurement& measure,
            const std::function<bool()>& spent) {
  if (space.size() == 0) return;
  Trials trials(measure, spent, space.size());
  const auto order = shuffled(space.size(), seed);
  switch (strategy) {
    case Strategy::exhaustive:
    case Strategy::random: trials.run(order, 1); return;
    case Strategy::coarse: {
      std::vector<std::size_t> some;
      for (const std::size_t p : order) {
        const auto& point = space.points()[p];
        if (p == order.front() || std::ranges::all_of(point, [](std::size_t at) { return at % 2 == 0; }))
          some.push_back(p);
      }
      if (!trials.run(some, 1)) return;
      for (const std::size_t p : trials.best(1, 1)) climb(trials, space, p, 1);
      return;
    }
    case Strategy::halving: halve(trials, space, order); return;
  }
}

std::size_t expected_trials(const Space& space, Strategy strategy) {
  const std::size_t all = space.size();
  if (all == 0 || strategy == Strategy::exhaustive || strategy == Strategy::random) return all;
  if (strategy == Strategy::halving) {
    const std::size_t begun = first_round(all);
    return 2 * begun + std::max<std::size_t>(3, begun / 4) + 4;
  }
  std::size_t even = 0;
  for (const auto& point : space.points())
    even += std::ranges::all_of(point, [](std::size_t at) { return at % 2 == 0; }) ? 1 : 0;
  return std::min(all, even + 8);
}

std::vector<std::size_t> local_minima(const Space& space, const std::vector<std::optional<double>>& times) {
  std::vector<std::size_t> minima;
  for (std::size_t p = 0; p < space.size(); ++p) {
    if (!times[p]) continue;
    std::size_t known = 0;
    bool lowest = true;
    for (const std::size_t other : space.neighbours(p)) {
      if (!times[other]) continue;
      ++known;
      lowest = lowest && *times[p] < *times[other];
    }
    if (lowest && known > 0) minima.push_back(p);
  }
  return minima;
}

}  // namespace clweave
