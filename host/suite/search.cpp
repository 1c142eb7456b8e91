// SPDX-License-Identifier: Apache-2.0
#include "suite/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "base/error.hpp"
#include "base/near_word.hpp"
#include "base/random.hpp"

namespace clweave::suite {

Space::Space(std::vector<Point> points, std::size_t starts)
    : points_(std::move(points)), starts_(starts), neighbours_(points_.size()) {
  // Points that agree on all axes but one are neighbours in the order of that axis' values.
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
  static const std::map<std::string, Strategy> all = {{"exhaustive", Strategy::exhaustive},
                                                      {"coarse", Strategy::coarse},
                                                      {"random", Strategy::random},
                                                      {"halving", Strategy::halving}};
  const auto it = all.find(name);
  if (it != all.end()) return it->second;
  std::vector<std::string> known;
  for (const auto& [one, strategy] : all) known.push_back(one);
  throw Error(ErrorCode::usage,
              fmt::format("--strategy {}: there is no such strategy{}", name, suggestion(name, known)));
}

namespace {

// Configurations that halving samples beside the starts, however small or large the space.
constexpr std::size_t least = 24, most = 128;
constexpr std::size_t climbs = 12;  // starts of climbs: fewer may all end in the same local minimum
constexpr std::size_t finals = 3;   // in full
constexpr double brief = 0.05, longer = 0.25;  // efforts of its first two rounds
// Parts of the budget reserved for the steps after the sample, the climbs, and the longer round. A full
// measurement takes as long as some twenty brief ones.
constexpr double after_sample = 0.55, after_climbs = 0.25, after_longer = 0.1;

// Shuffles the points from `first` on. The order depends on the seed alone.
void shuffle(std::vector<std::size_t>& points, std::size_t first, std::uint64_t seed) {
  const Random<std::uint64_t> draw(seed, 0x7E57);
  for (std::size_t i = points.size(); i > first + 1; --i)
    std::swap(points[i - 1], points[first + draw(i) % (i - first)]);
}

// Returns the starts, then the others in random order.
std::vector<std::size_t> shuffled(const Space& space, std::uint64_t seed) {
  std::vector<std::size_t> order(space.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, std::min(space.starts(), space.size()), seed);
  return order;
}

std::size_t first_round(std::size_t size) {
  return std::min(size, std::clamp((size + 15) / 16, least, most));
}

// Remembers what was measured, and never measures a point twice with the same effort.
class Trials {
 public:
  Trials(const Objective& measure, const BudgetLeft& left, std::size_t size)
      : measure_(measure), left_(left), effort_(size, 0), time_(size) {}

  // Keeps a part of the budget for later steps.
  void reserve(double part) { reserved_ = part; }

  // Measures a point; returns false if the budget is spent, but for what is reserved.
  bool run(std::size_t point, double effort) {
    if (effort_[point] >= effort) return true;
    if (left_() <= reserved_) return false;
    measure(point, effort);
    return true;
  }
  // Measures a point, whatever is left.
  void measure(std::size_t point, double effort) {
    effort_[point] = effort;
    time_[point] = measure_(point, effort);
  }
  bool run(const std::vector<std::size_t>& points, double effort) {
    return std::ranges::all_of(points, [&](std::size_t p) { return run(p, effort); });
  }
  double time(std::size_t point) const {
    return time_[point].value_or(std::numeric_limits<double>::infinity());
  }
  // Returns the fastest `count` of the points measured with this effort or more.
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
  const Objective& measure_;
  const BudgetLeft& left_;
  double reserved_ = 0;
  std::vector<double> effort_;  // of the last measurement; 0: none
  std::vector<std::optional<double>> time_;
};

// Climbs to the first neighbour that is faster, in random order, until there is none; with many axes, finding
// the fastest neighbour would take too many measurements. Returns false if the budget is spent.
bool climb(Trials& trials, const Space& space, std::size_t start, std::uint64_t seed, double effort,
           const std::vector<bool>& left_out) {
  std::size_t at = start;
  for (bool moved = true; moved;) {
    moved = false;
    auto neighbours = space.neighbours(at);
    shuffle(neighbours, 0, seed + at);
    for (const std::size_t p : neighbours) {
      if (left_out[p]) continue;
      if (!trials.run(p, effort)) return false;
      moved = trials.time(p) < trials.time(at);
      if (!moved) continue;
      at = p;
      break;
    }
  }
  return true;
}

// Returns for each point whether all starts of its design were measured and are far slower than the best.
std::vector<bool> far_behind(const Trials& trials, const Space& space) {
  constexpr double far = 3;
  std::map<std::size_t, double> best;  // by design
  double best_s = std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < space.starts(); ++p) {
    const auto [it, is_new] = best.try_emplace(space.points()[p].front(), trials.time(p));
    it->second = std::min(it->second, trials.time(p));
    best_s = std::min(best_s, it->second);
  }
  std::vector<bool> out;
  for (const auto& point : space.points()) {
    const auto it = best.find(point.front());
    out.push_back(it != best.end() && it->second > far * best_s);
  }
  return out;
}

// Reorders round-robin: the first point of each design before the second of any.
std::vector<std::size_t> in_turns(const Space& space, const std::vector<std::size_t>& order) {
  std::map<std::size_t, std::size_t> met;  // by design
  std::vector<std::pair<std::size_t, std::size_t>> placed;
  for (const std::size_t p : order) placed.emplace_back(met[space.points()[p].front()]++, p);
  std::ranges::stable_sort(placed, {}, [](const auto& one) { return one.first; });
  std::vector<std::size_t> out;
  for (const auto& [turn, p] : placed) out.push_back(p);
  return out;
}

// Runs strategy `halving`. Whatever the budget, the best is measured in full. A step that runs out of its
// part ends alone.
void halve(Trials& trials, const Space& space, std::vector<std::size_t> order, std::uint64_t seed) {
  const std::size_t usual = order.front();
  const auto starts = static_cast<std::ptrdiff_t>(space.starts());
  trials.reserve(after_sample);
  trials.run({order.begin(), order.begin() + starts}, brief);
  const auto left_out = far_behind(trials, space);
  order.erase(order.begin(), order.begin() + starts);
  std::erase_if(order, [&](std::size_t p) { return left_out[p]; });
  order = in_turns(space, order);
  const std::size_t begun = first_round(order.size());
  order.resize(begun);
  trials.run(order, brief);
  // The sample is sparse: climb from its best to points between.
  trials.reserve(after_climbs);
  for (const std::size_t p : trials.best(climbs, brief)) {
    if (!climb(trials, space, p, seed, brief, left_out)) break;
  }
  trials.reserve(after_longer);
  trials.run(trials.best(std::max(finals, begun / 4), brief), longer);
  trials.reserve(0);
  auto last = trials.best(finals, longer);
  if (last.empty()) last = trials.best(finals, brief);
  if (!last.empty()) trials.measure(last.front(), 1);
  if (!trials.run(last, 1)) return;
  trials.run(usual, 1);  // the default, to compare with
}

}  // namespace

void search(const Space& space, Strategy strategy, std::uint64_t seed, const Objective& measure,
            const BudgetLeft& left) {
  if (space.size() == 0) return;
  Trials trials(measure, left, space.size());
  const auto order = shuffled(space, seed);
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
      for (const std::size_t p : trials.best(1, 1))
        climb(trials, space, p, seed, 1, std::vector<bool>(space.size()));
      return;
    }
    case Strategy::halving: halve(trials, space, order, seed); return;
  }
}

std::size_t expected_trials(const Space& space, Strategy strategy) {
  const std::size_t all = space.size();
  if (all == 0 || strategy == Strategy::exhaustive || strategy == Strategy::random) return all;
  if (strategy == Strategy::halving) {
    const std::size_t begun = space.starts() + first_round(all);
    return std::min(all, 3 * begun) + std::max(finals, begun / 4) + finals + 1;
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

}  // namespace clweave::suite
