// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/effects.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/rows/prior.hpp"

namespace clweave::fleet {

namespace {

Spread least_prior(const Effects& effects) {
  Spread out = effects.families.front().prior;
  for (const auto& family : effects.families) {
    if (family.prior.degrees > 0 && (out.degrees == 0 || family.prior.variance < out.variance))
      out = family.prior;
  }
  return out;
}

// Adds what memory bounds over the rest.
void add_memory(Effects& effects) {
  if (effects.families.size() < 2) return;
  std::vector<std::size_t> memory, rest;
  for (const auto& family : effects.families) {
    for (const std::size_t c : family.cases)
      (effects.devices->cases[c].bound == Bound::memory ? memory : rest).push_back(c);
  }
  Measure out{Measure::Of::memory_over_rest, 0, least_prior(effects), {}};
  for (std::size_t u = 0; u < effects.size(); ++u) {
    const double of_memory = effect_of(*effects.devices, u, memory, effects.centres),
                 of_rest = effect_of(*effects.devices, u, rest, effects.centres);
    out.values.push_back(of_memory - of_rest);
    out.own.push_back(of_memory > of_rest ? of_memory : -of_rest);
  }
  effects.measures.push_back(std::move(out));
}

// Returns the median of sorted values but one of them.
double median_without(const std::vector<double>& sorted, double one) {
  const auto left_out = static_cast<std::size_t>(std::ranges::lower_bound(sorted, one) - sorted.begin());
  const std::size_t n = sorted.size() - 1;
  const auto at = [&](std::size_t i) { return sorted[i < left_out ? i : i + 1]; };
  return std::lerp(at((n - 1) / 2), at(n / 2), n % 2 == 0 ? 0.5 : 0);
}

// Adds what all families have in common, and each family over the median of the others.
void add_common(Effects& effects) {
  constexpr std::size_t least_families = 4;  // of fewer the median is that of the odd one
  const std::size_t families = effects.families.size();
  if (families < least_families) return;
  Measure all{Measure::Of::all_families, 0, least_prior(effects), {}};
  for (std::size_t u = 0; u < effects.size(); ++u) {
    std::vector<double> own;
    for (std::size_t f = 0; f < families; ++f) own.push_back(effects.of_family(f, u));
    all.values.push_back(2 * effects.families_of(u) < families ? unmeasured : middle_of(own));
  }
  effects.measures.push_back(std::move(all));
  std::vector<std::vector<double>> sorted(effects.size());  // per device its families', once for all of them
  for (std::size_t u = 0; u < effects.size(); ++u) {
    for (std::size_t f = 0; f < families; ++f) {
      if (const double value = effects.of_family(f, u); !std::isnan(value)) sorted[u].push_back(value);
    }
    std::ranges::sort(sorted[u]);
  }
  for (std::size_t f = 0; f < families; ++f) {
    Measure over{Measure::Of::family_over_others, f, effects.families[f].prior, {}};
    for (std::size_t u = 0; u < effects.size(); ++u) {
      const double own = effects.of_family(f, u);
      over.own.push_back(own);
      over.values.push_back(std::isnan(own) || sorted[u].size() < least_families
                                ? unmeasured
                                : own - median_without(sorted[u], own));
    }
    effects.measures.push_back(std::move(over));
  }
}

}  // namespace

bool Measure::counts(std::size_t device, double margin) const {
  if (own.empty()) return true;
  return std::abs(own[device]) > margin && (own[device] > 0) == (values[device] > 0);
}

void Sums::add(double value, double times) {
  if (std::isnan(value)) return;
  n += times;
  sum += times * value;
  squares += times * value * value;
}

Sums Sums::without(double value) const {
  Sums out = *this;
  out.add(value, -1);
  return out;
}

Spread Sums::spread() const {
  return {std::max(least_variance, (squares - n * mean() * mean()) / (n - 1)), n - 1};
}

double Difference::p(double margin) const {
  // Skips the distribution for a difference within the margin, as most are.
  return std::abs(value) <= margin ? 1 : beyond_margin_p(value / se, margin / se, degrees);
}

double Difference::beyond(double margin) const { return (std::abs(value) - margin) / se; }

Difference difference(double value, const Sums& others, const Spread& prior, double tails) {
  const Spread noise = noise_of(others.spread(), prior, tails);
  return {value - others.mean(), std::sqrt(noise.variance * (1 + 1 / others.n)), noise.degrees};
}

std::size_t Effects::measures_of(std::size_t device) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(measures, [&](const auto& one) { return !std::isnan(one.values[device]); }));
}

std::size_t Effects::families_of(std::size_t device) const {
  std::size_t out = 0;
  for (std::size_t f = 0; f < families.size(); ++f) out += std::isnan(of_family(f, device)) ? 0 : 1;
  return out;
}

double middle_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values.empty() ? unmeasured : median(values);
}

Effects effects_over(const IdenticalDevices& devices, std::vector<IdenticalDevices::OfFamily> families,
                     std::vector<double> centres) {
  Effects out{&devices, std::move(centres), std::move(families), {}};
  for (std::size_t f = 0; f < out.families.size(); ++f) {
    Measure& measure = out.measures.emplace_back(Measure{Measure::Of::family, f, out.families[f].prior, {}});
    for (std::size_t u = 0; u < out.size(); ++u)
      measure.values.push_back(effect_of(devices, u, out.families[f].cases, out.centres));
  }
  add_common(out);
  add_memory(out);
  return out;
}

std::vector<double> outlier_p(const std::vector<double>& values, const Spread& prior, double margin,
                              double level, std::size_t tests) {
  constexpr double never = 2;  // standard errors; fewer are never significant among so many tests
  std::vector<double> out(values.size(), 1), p;
  std::vector<std::size_t> order, taken;
  Sums sums;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    order.push_back(i);
    sums.add(values[i]);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::span<const std::size_t> left = order;
  const std::size_t most = left.empty() ? 0 : (left.size() - 1) / 2;
  std::size_t to_name = 0;
  while (taken.size() < most) {
    // The farthest is the lowest or the highest.
    const auto at = [&](std::size_t i) {
      return difference(values[i], sums.without(values[i]), prior, family_tails);
    };
    const Difference low = at(left.front()), high = at(left.back());
    const bool is_high = high.beyond(margin) > low.beyond(margin);
    const Difference& found = is_high ? high : low;
    if (found.beyond(margin) <= 0) break;
    const auto factor = static_cast<double>(left.size() * tests);
    p.push_back(found.beyond(margin) < never ? 1 : std::min(1.0, factor * found.p(margin)));
    taken.push_back(is_high ? left.back() : left.front());
    if (p.back() < level) to_name = taken.size();
    sums.add(values[taken.back()], -1);
    left = is_high ? left.first(left.size() - 1) : left.subspan(1);
  }
  // Gives an outlier that others masked a p no larger than that of the outlier found after it.
  double least = 1;
  for (std::size_t i = to_name; i-- > 0;) out[taken[i]] = least = std::min(least, p[i]);
  return out;
}

}  // namespace clweave::fleet
