// SPDX-License-Identifier: Apache-2.0
#include "families/shared/levels.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "base/stats.hpp"

namespace clweave::families {

namespace {

// Returns whether times grow by a factor within a doubling somewhere between two sizes. Slow growth is not
// the end of a cache: a GPU's L1 is empty when a launch begins, so larger sets have more cold misses.
bool is_steep(const Curve& ns, std::int64_t from, std::int64_t to, double steep) {
  for (auto low = ns.find(from); low != ns.end() && low->first < to; ++low) {
    const auto within = ns.upper_bound(std::min(2 * low->first, to));
    const auto high = std::next(low) == within ? within : std::prev(within);  // the next one if there is none
    if (high->second >= steep * low->second) return true;
  }
  return false;
}

// Returns the largest set of a level whose loads are no slower than those of the next smaller one, by more
// than noise: near the end of a cache only some loads miss.
std::int64_t surely_within(const Level& level, const Curve& ns, double noise) {
  const double slower = 1 + std::max(0.05, 2 * noise);
  const auto is_slower = [&](Curve::const_iterator at) {
    const auto before = std::prev(at);
    // Sizes that lie far apart may grow as much as those between them.
    const double steps =
        std::log(static_cast<double>(at->first) / static_cast<double>(before->first)) / std::log(1.1);
    return at->second > std::pow(slower, std::clamp(steps, 1.0, 3.0)) * before->second;
  };
  auto at = ns.find(level.last);
  while (at->first > level.first && is_slower(at)) --at;
  return at->first;
}

}  // namespace

std::vector<Level> levels_of(const Curve& ns) {
  constexpr double same = 1.15, other = 1.3, span = 1.4;
  std::vector<Level> out;
  for (auto first = ns.begin(); first != ns.end();) {
    const auto behind =
        std::find_if(first, ns.end(), [&](const auto& at) { return at.second > same * first->second; });
    const auto last = std::prev(behind);
    if (static_cast<double>(last->first) < span * static_cast<double>(first->first)) {
      ++first;
      continue;
    }
    if (out.empty() ||
        (first->second >= other * out.back().ns && is_steep(ns, out.back().last, first->first, other)))
      out.push_back({.first = first->first, .ns = first->second});
    out.back().last = out.back().fits = last->first;
    first = behind;
  }
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    const double half_way = std::sqrt(out[i].ns * out[i + 1].ns);
    const auto beyond =
        std::find_if(ns.begin(), ns.end(), [&](const auto& at) { return at.second > half_way; });
    out[i].beyond = beyond->first;
    out[i].fits = std::prev(beyond)->first;
  }
  return out;
}

namespace {

Curve with_noise(const Curve& ns, double noise, std::uint64_t seed) {
  const Random<double> uniform(seed, 1);
  Curve out = ns;
  std::uint64_t i = 0;
  // The sum of three numbers from -1 to 1 has variance 1.
  for (auto& [bytes, value] : out) {
    value *= std::exp(noise * (uniform(i) + uniform(i + 1) + uniform(i + 2)));
    i += 3;
  }
  return out;
}

std::vector<Level> drawn_levels_of(const Curve& ns, double noise) {
  constexpr int draws = 40;
  constexpr std::size_t least = 36;
  constexpr double nothing = 0.01, alike = 2, widest = 8;
  std::vector<Level> out = levels_of(ns);
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    out[i].low = surely_within(out[i], ns, noise);
    out[i].high = out[i + 1].first;
  }
  if (noise <= nothing || out.size() < 2) return out;
  std::vector<std::vector<double>> lows(out.size()), highs(out.size());
  for (int draw = 0; draw < draws; ++draw) {
    const Curve drawn = made_monotone(with_noise(ns, noise, static_cast<std::uint64_t>(draw)));
    const std::vector<Level> levels = levels_of(drawn);
    for (std::size_t k = 0; k + 1 < std::min(levels.size(), out.size()); ++k) {
      const auto low = static_cast<double>(out[k].fits) / alike,
                 high = static_cast<double>(out[k].beyond) * alike;
      if (static_cast<double>(levels[k].fits) < low || static_cast<double>(levels[k].beyond) > high) break;
      lows[k].push_back(static_cast<double>(surely_within(levels[k], drawn, noise)));
      highs[k].push_back(static_cast<double>(levels[k + 1].first));
    }
  }
  for (std::size_t k = 0; k + 1 < out.size(); ++k) {
    out[k].is_sure = lows[k].size() >= least;
    if (lows[k].empty()) continue;
    out[k].low = std::min<std::int64_t>(out[k].low, std::llround(quantile(lows[k], 0.05)));
    out[k].high = std::max<std::int64_t>(out[k].high, std::llround(quantile(highs[k], 0.95)));
    out[k].is_sure =
        out[k].is_sure && static_cast<double>(out[k].high) <= widest * static_cast<double>(out[k].low);
  }
  return out;
}

}  // namespace

// Keeps the last answer: a profile asks again for each draw of its rows' medians, whose least times stay the
// same.
std::vector<Level> levels_of(const Curve& ns, double noise) {
  thread_local Curve last;
  thread_local double last_noise = -1;
  thread_local std::vector<Level> levels;
  if (noise != last_noise || ns != last) {
    last = ns;
    last_noise = noise;
    levels = drawn_levels_of(ns, noise);
  }
  return levels;
}

}  // namespace clweave::families
