// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/case_noise.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <span>

#include "analysis/compare/unit_shares.hpp"

namespace clweave::compare {

namespace {

constexpr std::size_t least_for_shared = 10;  // cases that tell what a unit's cases share
constexpr std::size_t neighbours = 40, scattered = 60, least_for_scatter = 20;
// Weighs what the neighbours have in common, at most as much as so many degrees: a window of them cannot tell
// that all their variances are equal.
constexpr double most_degrees = 12;
// Sessions differ by at least this part of the variance of their runs.
constexpr double kept_between_sessions = 0.01;
// The part of the variance between processes of different sessions that the runs of one session do not show.
constexpr double of_sessions_alone = 0.25;
constexpr double degrees_of_scatter = 4;  // heavier tails than normal

// Sums the squares about each group's mean, over several groups of units of one case.
struct Squares {
  double sum = 0, degrees = 0, within = 0, groups = 0;

  void add(const Units& units) {
    if (units.size() < 2) return;
    const double centre = mean_of(units);
    for (const auto& unit : units) sum += (unit.log_time - centre) * (unit.log_time - centre);
    degrees += static_cast<double>(units.size() - 1);
    within += within_of(units);
    ++groups;
  }

  Spread spread() const {
    if (degrees == 0) return {};
    return {std::max({sum / degrees, within / groups, least_variance}), degrees};
  }
};

// The spreads of the cases, and the one of what they share.
struct Spreads {
  std::vector<Spread> own;
  Spread shared;
};

// Computes the spreads over groups of units, each of which has one Units per case.
Spreads spreads_of(const std::vector<PairedCase>& cases,
                   const std::vector<std::vector<const Units*>>& groups) {
  std::vector<Squares> own(cases.size());
  Squares shared;
  for (const auto& group : groups) {
    const auto common = unit_shares(cases, group, least_for_shared);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Units rest = *group[i];
      for (auto& unit : rest) {
        if (const auto found = common.find(unit.of); found != common.end()) unit.log_time -= found->second;
      }
      own[i].add(rest);
    }
    Units of_all;
    for (const auto& [unit, value] : common) of_all.push_back({unit, value, 0});
    if (cases.size() >= least_for_shared) shared.add(of_all);
  }
  Spreads out{{}, shared.spread()};
  for (const auto& squares : own) out.own.push_back(squares.spread());
  return out;
}

// Returns the places of the cases by their time.
std::vector<std::size_t> by_time(const std::vector<PairedCase>& cases,
                                 const std::function<bool(std::size_t)>& counts) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (counts(i)) out.push_back(i);
  }
  std::ranges::stable_sort(out, {}, [&](std::size_t i) { return cases[i].log_time; });
  return out;
}

// Returns the begin of the window of so many in the order, about a place in it.
std::size_t window_about(std::size_t place, std::size_t size, std::size_t all) {
  if (all <= size) return 0;
  return std::min(place > size / 2 ? place - size / 2 : 0, all - size);
}

// Shrinks the variances towards those of the cases of about the same time.
std::vector<Spread> moderated_by_time(const std::vector<PairedCase>& cases, const std::vector<Spread>& own) {
  const auto order = by_time(cases, [&](std::size_t i) { return own[i].degrees > 0; });
  std::vector<Spread> relative, out(own.size());
  for (const std::size_t i : order)
    relative.push_back({own[i].variance / cases[i].prior.variance, own[i].degrees});
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t i = order[place], from = window_about(place, neighbours, order.size());
    Spread common = common_spread(std::span(relative).subspan(from, std::min(neighbours, order.size())));
    common.degrees = std::min(common.degrees, most_degrees);
    // Too few cases to have anything in common: what such devices were measured to differ by.
    if (common.degrees == 0 && std::isfinite(cases[i].prior.degrees)) common = {1, cases[i].prior.degrees};
    out[i] = moderated(relative[place], common);
    out[i].variance *= cases[i].prior.variance;
  }
  return out;
}

// Returns the probability that units of this spread agree as closely: 1 of no more than one.
double so_close(const Spread& own, double sd) {
  if (own.degrees == 0 || sd == 0) return 1;
  return boost::math::gamma_p(own.degrees / 2, own.degrees * own.variance / (2 * sd * sd));
}

}  // namespace

double mean_of(const Units& units) {
  double sum = 0;
  for (const auto& unit : units) sum += unit.log_time;
  return sum / static_cast<double>(units.size());
}

double within_of(const Units& units) {
  double sum = 0;
  for (const auto& unit : units) sum += unit.within;
  return sum / static_cast<double>(units.size());
}

DeviceNoise noise_of(const std::vector<PairedCase>& cases, bool by_session) {
  static const Units none;
  std::vector<std::vector<const Units*>> runs(2), sessions(1);
  std::size_t quiet = 0;
  for (const auto& one : cases) {
    runs[0].push_back(&one.before);
    runs[1].push_back(&one.after);
    sessions[0].push_back(&one.quiet_sessions);
    quiet = std::max(quiet, one.quiet_runs.size());
  }
  for (std::size_t s = 0; s < quiet; ++s) {
    auto& group = runs.emplace_back();
    for (const auto& one : cases) group.push_back(s < one.quiet_runs.size() ? &one.quiet_runs[s] : &none);
  }
  const Spreads of_runs = spreads_of(cases, runs), of_sessions = spreads_of(cases, sessions);
  const auto run = moderated_by_time(cases, of_runs.own), session = moderated_by_time(cases, of_sessions.own);
  DeviceNoise out{{}, of_runs.shared, of_sessions.shared};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const PairedCase& one = cases[i];
    const double units =
        1 / static_cast<double>(one.before.size()) + 1 / static_cast<double>(one.after.size());
    CaseNoise& noise = out.cases.emplace_back();
    if (run[i].degrees > 0)
      noise.difference = {run[i].variance * (units + 2 * kept_between_sessions), run[i].degrees};
    if (session[i].degrees > 0 && 2 * session[i].variance > noise.difference.variance)
      noise.difference = {2 * session[i].variance, session[i].degrees};
    noise.assumed = noise.difference.degrees == 0;
    noise.rare = {one.rare.part, one.rare.sd * std::numbers::sqrt2};
    const double rare_sd = std::max(one.rare.sd, 2 * std::sqrt(one.prior.variance));
    noise.agreed_rare = {one.rare.part, rare_sd * std::sqrt(units), so_close(of_runs.own[i], rare_sd)};
    if (!noise.assumed && !by_session && std::isfinite(one.prior.degrees))
      noise.session = {1, std::sqrt(2 * of_sessions_alone * one.prior.variance)};
    if (!noise.assumed) continue;
    // A t distribution's variance is larger than the square of its scale.
    const double tails = std::isfinite(one.prior.degrees) ? (one.prior.degrees - 2) / one.prior.degrees : 1;
    noise.difference = {tails * one.prior.variance * units, one.prior.degrees};
  }
  return out;
}

double widen(const std::vector<PairedCase>& cases, const std::vector<double>& centres,
             std::vector<CaseNoise>& noise) {
  // Several units tell of their own noise; the scatter of few cases tells less.
  const bool assumed = std::ranges::all_of(noise, &CaseNoise::assumed);
  if (cases.size() < (assumed ? 2 : least_for_scatter)) return 1;
  const auto order = by_time(cases, [](std::size_t) { return true; });
  std::vector<double> scatter, variances, factors;
  for (const std::size_t i : order) {
    double least = std::numeric_limits<double>::infinity();
    for (const double centre : centres) least = std::min(least, std::abs(cases[i].difference() - centre));
    const Spread& spread = noise[i].difference;
    variances.push_back(spread.variance);
    scatter.push_back(least / (std::sqrt(spread.variance) * t_quantile(0.5, spread.degrees)));
  }
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t from = window_about(place, scattered, order.size()),
                      size = std::min(scattered, order.size());
    const auto window = std::span(scatter).subspan(from, size);
    std::vector<double> near(window.begin(), window.end());
    // The smallest may belong to the centre itself. With it, the median of 3 to 10 cases would be too small.
    near.erase(std::ranges::min_element(near));
    CaseNoise& one = noise[order[place]];
    // Less most of a standard error of that median, so that chance alone widens little.
    const double chance =
        near.size() < least_for_scatter ? 0 : 0.8 / std::sqrt(static_cast<double>(near.size()));
    one.widened = std::max(1.0, median(near) * (1 - chance));
    factors.push_back(one.widened);
    if (one.widened == 1) continue;
    // What is more than the cases' own noise need not be proportional to it. The degrees of a sum of
    // variances are by Satterthwaite (1946).
    const double own = one.difference.variance, typical = median(std::span(variances).subspan(from, size)),
                 more = (one.widened * one.widened - 1) * std::max(own, typical), all = own + more;
    one.difference = {all,
                      all * all / (own * own / one.difference.degrees + more * more / degrees_of_scatter)};
  }
  return median(factors);
}

}  // namespace clweave::compare
