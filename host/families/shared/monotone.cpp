// SPDX-License-Identifier: Apache-2.0
#include "families/shared/monotone.hpp"

#include <algorithm>
#include <cmath>

#include "base/stats.hpp"

namespace clweave::families {

Curve made_monotone(const Curve& times) {
  struct Pool {
    std::vector<double> times;
    double middle;
  };
  std::vector<Pool> pools;
  for (const auto& [x, time] : times) {
    pools.push_back({{time}, time});
    while (pools.size() > 1 && pools[pools.size() - 2].middle > pools.back().middle) {
      Pool last = std::move(pools.back());
      pools.pop_back();
      Pool& into = pools.back();
      into.times.insert(into.times.end(), last.times.begin(), last.times.end());
      into.middle = median(into.times);
    }
  }
  Curve out;
  auto at = times.begin();
  for (const auto& pool : pools) {
    for (std::size_t i = 0; i < pool.times.size(); ++i, ++at) out.emplace(at->first, pool.middle);
  }
  return out;
}

double noise_of(const std::vector<Curve>& curves) {
  constexpr double of_median = 0.6745;            // median absolute value of the normal distribution
  constexpr double of_second_difference = 2.449;  // sqrt(1 + 4 + 1)
  constexpr double of_noise = 3.5;                // a bend above so many standard deviations is a step's
  std::vector<double> bends;
  for (const auto& curve : curves) {
    std::vector<double> y;
    for (const auto& [x, time] : curve) y.push_back(std::log(time));
    for (std::size_t i = 1; i + 1 < y.size(); ++i) bends.push_back(std::abs(y[i - 1] - 2 * y[i] + y[i + 1]));
  }
  if (bends.empty()) return 0;
  double deviation = median(bends) / of_median;
  for (std::size_t before = 0; before != bends.size() && deviation > 0;) {
    before = bends.size();
    std::erase_if(bends, [&](double bend) { return bend > of_noise * deviation; });
    deviation = median(bends) / of_median;
  }
  return deviation / of_second_difference;
}

namespace {

struct Explained {
  double squares = 0, worst = 0;  // of differences of logarithms
};

// Explains the first `flat` logarithms by one value, and the others by any that is `above` higher at least.
Explained explain(const std::vector<double>& logs, std::size_t flat, double above) {
  double level = 0;
  for (std::size_t i = 0; i < flat; ++i) level += logs[i] / static_cast<double>(flat);
  // A value behind the rise that is too low counts as one of the level: takes them in until none is left.
  for (int round = 0; round < 20; ++round) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const double value = i < flat ? logs[i] : logs[i] - above;
      if (i >= flat && value >= level) continue;
      sum += value;
      count += 1;
    }
    if (std::abs(sum / count - level) < 1e-12) break;
    level = sum / count;
  }
  Explained out;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double off = i < flat ? logs[i] - level : std::min(0.0, logs[i] - above - level);
    out.squares += off * off;
    out.worst = std::max(out.worst, std::abs(off));
  }
  return out;
}

// Explains the first `flat` logarithms by one value, and the others by one that is `above` higher at least.
Explained explain_step(const std::vector<double>& logs, std::size_t flat, double above) {
  const std::size_t n = logs.size();
  double level = 0, step = 0;
  for (std::size_t i = 0; i < n; ++i) (i < flat ? level : step) += logs[i];
  const double all = level + step;
  level /= static_cast<double>(flat);
  step = flat < n ? step / static_cast<double>(n - flat) - level : above;
  if (step < above) {
    step = above;
    level = (all - above * static_cast<double>(n - flat)) / static_cast<double>(n);
  }
  Explained out;
  for (std::size_t i = 0; i < n; ++i) {
    const double off = logs[i] - level - (i < flat ? 0 : step);
    out.squares += off * off;
    out.worst = std::max(out.worst, std::abs(off));
  }
  return out;
}

}  // namespace

Rise rise_of(const Curve& curve, double error, double factor) {
  constexpr double ruled_out = 9;             // of squares
  constexpr double seen = 5, step_alone = 3;  // errors
  double above = std::max(std::log(factor), seen * error);
  Rise out{.is_none = true};
  if (curve.empty()) return out;
  std::vector<std::int64_t> places;
  std::vector<double> logs;
  for (const auto& [x, time] : curve) {
    places.push_back(x);
    logs.push_back(std::log(time));
  }
  const auto explained = [&](const auto& by, double higher) {
    std::vector<Explained> by_flat;  // so many are flat, from 1
    for (std::size_t flat = 1; flat <= logs.size(); ++flat) by_flat.push_back(by(logs, flat, higher));
    return by_flat;
  };
  std::vector<Explained> by_flat = explained(explain_step, std::log(factor));
  if (std::ranges::min_element(by_flat, {}, &Explained::squares)->worst > step_alone * error)
    by_flat = explained(explain, above);
  else
    above = std::log(factor);
  const auto best = std::ranges::min_element(by_flat, {}, &Explained::squares);
  const auto place = [&](std::size_t i) { return i < places.size() ? places[i] : 0; };
  const auto flat = static_cast<std::size_t>(best - by_flat.begin()) + 1;
  out.is_none = flat == places.size();
  out.last = place(flat - 1);
  out.first = place(flat);
  out.worst = best->worst / error;
  for (std::size_t i = 0; i < by_flat.size(); ++i) {
    if (by_flat[i].squares - best->squares > ruled_out * error * error) continue;
    if (out.low == 0) out.low = place(i);
    out.high = place(i + 1);
  }
  out.is_surely_none = out.is_none && out.is_certain();
  return out;
}

}  // namespace clweave::families
