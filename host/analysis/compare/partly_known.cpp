// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/partly_known.hpp"

#include <algorithm>
#include <cmath>

namespace clweave::compare {

namespace {

constexpr double level = 0.95;
constexpr double normal = HUGE_VAL;  // degrees of freedom

// Returns P(t < x).
double below(double x, double degrees) {
  const double beyond = beyond_margin_p(x, 0, degrees) / 2;  // of |x|
  return x < 0 ? beyond : 1 - beyond;
}

// Solves F(reach + width) - F(-reach) = level: for a width of 0 the two-sided quantile, for a large one the
// one-sided one.
double reach_of(double width, double degrees) {
  double low = t_quantile(2 * level - 1, degrees), high = t_quantile(level, degrees);
  constexpr double narrow = 1e-3, wide = 6;
  if (width < narrow || width > wide) return width < narrow ? high : low;
  for (int i = 0; i < 9; ++i) {
    const double middle = (low + high) / 2;
    (below(middle + width, degrees) - below(-middle, degrees) < level ? low : high) = middle;
  }
  return high;
}

}  // namespace

double Tail::p(double difference) const {
  if (part == 0 || sd == 0) return 0;
  const double beyond = beyond_margin_p(difference / sd, 0, normal), product = agreement * beyond;
  if (agreement == 1) return part * beyond;
  return product > 0 ? part * product * (1 - std::log(product)) : 0;
}

double PartlyKnown::least() const { return low > 0 ? low : high < 0 ? high : 0; }

PartlyKnown without_shared(double difference, const Spread& spread, const std::vector<double>& centres,
                           double reach) {
  PartlyKnown out{difference, difference, std::sqrt(spread.variance), spread.degrees};
  const auto take = [&](double shared) {
    const double rest = difference - std::clamp(shared, -reach, reach);
    out.low = std::min(out.low, rest);
    out.high = std::max(out.high, rest);
  };
  for (const double centre : centres) take(centre);
  if (centres.empty()) take(difference);
  return out;
}

LogInterval interval_95(const PartlyKnown& change) {
  const double reach = reach_of((change.high - change.low) / change.se, change.degrees) * change.se;
  return {change.low - reach, change.high + reach};
}

double p_of_no_change(const PartlyKnown& change, std::span<const Tail> tails) {
  double p = beyond_margin_p(change.least() / change.se, 0, change.degrees);
  for (const auto& tail : tails) p = std::max(p, tail.p(change.least()));
  return p;
}

double p_within(const PartlyKnown& change, double margin) {
  return beyond_margin_p(change.least() / change.se, margin / change.se, change.degrees);
}

double least_difference(const Spread& spread, std::span<const Tail> tails, double margin, double p_no_change,
                        double p_margin) {
  const double se = std::sqrt(spread.variance);
  double least = std::max(t_quantile(1 - p_no_change, spread.degrees) * se,
                          margin + t_quantile(1 - 2 * p_margin, spread.degrees) * se);
  for (const auto& tail : tails) {
    double enough = 40 * tail.sd;
    for (int i = 0; i < 20 && tail.p(least) > p_no_change; ++i) {
      const double middle = (least + enough) / 2;
      (tail.p(middle) > p_no_change ? least : enough) = middle;
    }
  }
  return least;
}

}  // namespace clweave::compare
