// SPDX-License-Identifier: Apache-2.0
#include "base/stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "base/block_spread.hpp"
#include "base/error.hpp"

namespace clweave::base {
namespace {

// Keeps Boost in double precision; its default promotes to long double, five times slower.
using Plain = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

constexpr double most_r1 = 0.95;   // above it 1 - r1 is too uncertain to divide by
constexpr double trend_z = 1.645;  // normal quantile of Mann and Kendall's test, two-sided at 10 %

template <class... Args>
void check(bool right, const char* who, fmt::format_string<Args...> what, Args&&... args) {
  if (!right)
    throw Error(ErrorCode::usage, fmt::format("{}: {}", who, fmt::format(what, std::forward<Args>(args)...)));
}

void check_values(std::span<const double> values, const char* who) {
  check(!values.empty(), who, "there are no values");
  const auto wrong =
      std::find_if_not(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  if (wrong == values.end()) return;
  check(false, who, "value {} of {} is {}, not a finite number", wrong - values.begin() + 1, values.size(),
        *wrong);
}

void check_positive(std::span<const double> values, const char* who) {
  check_values(values, who);
  const auto wrong = std::find_if_not(values.begin(), values.end(), [](double v) { return v > 0; });
  if (wrong == values.end()) return;
  check(false, who, "value {} of {} is {}, not positive", wrong - values.begin() + 1, values.size(), *wrong);
}

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> out(values.begin(), values.end());
  std::sort(out.begin(), out.end());
  return out;
}

double sorted_quantile(std::span<const double> values, double p) {
  const double rank = static_cast<double>(values.size() - 1) * p;
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], rank - static_cast<double>(below));
}

double unchecked_mean(std::span<const double> values) {
  // Sums distances from the first value: equal values then have exactly that mean and zero variance.
  double sum = 0;
  for (const double value : values) sum += value - values[0];
  return values[0] + sum / static_cast<double>(values.size());
}

double variance(std::span<const double> values) {
  const double centre = unchecked_mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum / static_cast<double>(values.size() - 1);
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> out;
  for (const double value : values) out.push_back(std::log(value));
  return out;
}

void check_pairs(std::span<const double> x, std::span<const double> y, const char* who) {
  check_values(x, who);
  check_values(y, who);
  check(x.size() == y.size(), who, "{} values cannot be paired with {}", x.size(), y.size());
  check(x.size() >= 2, who, "one pair has no correlation");
}

std::vector<std::size_t> by_probability(std::span<const double> p, const char* who) {
  for (const double value : p) check(value >= 0 && value <= 1, who, "{} is no probability", value);
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  return order;
}

boost::math::students_t_distribution<double, Plain> students_t(double degrees, const char* who) {
  check(degrees > 0, who, "{} degrees of freedom", degrees);
  return boost::math::students_t_distribution<double, Plain>(
      std::min(degrees, 1e9));  // normal to double precision
}

void check_rule(const StopRule& rule) {
  const char* who = "stop rule";
  check(rule.precision > 0, who, "the precision is {}, not positive", rule.precision);
  check(rule.max_seconds > 0, who, "the time cap is {} s, not positive", rule.max_seconds);
  check(rule.check_every > 0, who, "it never looks: check_every is 0");
}

Stop cap_of(const StopRule& rule, std::size_t samples, double elapsed_s) {
  if (samples >= rule.max_samples) return Stop::sample_cap;
  return elapsed_s >= rule.max_seconds ? Stop::time_cap : Stop::go_on;
}

}  // namespace

double median(std::span<const double> values) {
  check_values(values, "median");
  return sorted_quantile(sorted(values), 0.5);
}

double weighted_median(std::span<const double> values, std::span<const double> weights) {
  const char* who = "weighted_median";
  check_values(values, who);
  check(values.size() == weights.size(), who, "{} values have {} weights", values.size(), weights.size());
  check_positive(weights, who);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double half = std::accumulate(weights.begin(), weights.end(), 0.0) / 2;
  double below = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    below += weights[order[i]];
    if (below > half || i + 1 == order.size()) return values[order[i]];
    if (below == half) return 0.5 * (values[order[i]] + values[order[i + 1]]);
  }
  return values[order.back()];
}

double quantile(std::span<const double> values, double p) {
  check_values(values, "quantile");
  check(p >= 0 && p <= 1, "quantile", "p is {}, not in [0, 1]", p);
  return sorted_quantile(sorted(values), p);
}

double geometric_mean(std::span<const double> values) {
  check_positive(values, "geometric_mean");
  return std::exp(unchecked_mean(logarithms(values)));
}

double harmonic_mean(std::span<const double> values) {
  check_positive(values, "harmonic_mean");
  double sum = 0;
  for (const double value : values) sum += 1 / value;
  return static_cast<double>(values.size()) / sum;
}

std::vector<double> average_ranks(std::span<const double> values) {
  check_values(values, "average_ranks");
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) ranks[order[i]] = 0.5 * static_cast<double>(first + 1 + end);
  }
  return ranks;
}

std::optional<double> lag1_rank_autocorrelation(std::span<const double> values) {
  check_values(values, "lag1_rank_autocorrelation");
  if (values.size() < 3) return {};
  const std::vector<double> ranks = average_ranks(values);
  const double centre = 0.5 * static_cast<double>(values.size() + 1);
  double product = 0;
  double square = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    square += (ranks[i] - centre) * (ranks[i] - centre);
    if (i > 0) product += (ranks[i - 1] - centre) * (ranks[i] - centre);
  }
  if (square == 0) return {};
  return product / square;
}

double cautious_autocorrelation(std::span<const double> values) {
  const auto r1 = lag1_rank_autocorrelation(values);
  if (!r1) return 0;
  const auto n = static_cast<double>(values.size());
  const double unbiased = (n * *r1 + 1) / std::max(1.0, n - 4);
  return std::clamp(unbiased + 1 / std::sqrt(n), 0.0, most_r1);
}

std::optional<double> drift(std::span<const double> all) {
  check_values(all, "drift");
  // All pairs of many samples would take longer than the samples did.
  constexpr std::size_t most = 400;
  std::vector<double> some;
  for (std::size_t i = 0; i < most && all.size() > most; ++i) some.push_back(all[i * all.size() / most]);
  const std::span<const double> values = some.empty() ? all : some;
  if (values.size() < 8) return {};
  const auto n = static_cast<double>(values.size());
  double excess = 0;  // of pairs that rise over pairs that fall
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j)
      excess += values[i] < values[j] ? 1 : values[i] > values[j] ? -1 : 0;
  }
  double variance = n * (n - 1) * (2 * n + 5);
  const std::vector<double> ascending = sorted(values);
  for (auto first = ascending.begin(), end = first; first != ascending.end(); first = end) {
    end = std::upper_bound(first, ascending.end(), *first);
    const auto ties = static_cast<double>(end - first);
    variance -= ties * (ties - 1) * (2 * ties + 5);
  }
  if (variance <= 0 || excess * excess <= trend_z * trend_z * variance / 18) return {};
  const std::size_t half = values.size() / 2;
  return (median(values.last(half)) - median(values.first(half))) / sorted_quantile(ascending, 0.5);
}

Summary summarize(std::span<const double> values) {
  check_values(values, "summarize");
  const std::vector<double> ascending = sorted(values);
  Summary out;
  out.n = values.size();
  out.min = ascending.front();
  out.p25 = sorted_quantile(ascending, 0.25);
  out.median = sorted_quantile(ascending, 0.5);
  out.p75 = sorted_quantile(ascending, 0.75);
  out.p95 = sorted_quantile(ascending, 0.95);
  out.max = ascending.back();
  out.mean = unchecked_mean(values);
  if (values.size() >= 2) out.sd = std::sqrt(variance(values));
  out.lag1 = lag1_rank_autocorrelation(values);
  const double reach = 3 * (out.p75 - out.p25);
  out.outliers =
      static_cast<std::size_t>(std::count_if(ascending.begin(), ascending.end(), [&](double value) {
        return value < out.p25 - reach || value > out.p75 + reach;
      }));
  return out;
}

MedianInterval median_interval(std::span<const double> samples, double z) {
  MedianInterval out = median_interval(samples, z, cautious_autocorrelation(samples));
  if (const auto blocks = block_spread(samples, z)) {
    out.low = std::min(out.low, blocks->first);
    out.high = std::max(out.high, blocks->second);
  }
  return out;
}

MedianInterval median_interval(std::span<const double> samples, double z, double r1) {
  check_values(samples, "median_interval");
  check(std::isfinite(z) && z > 0, "median_interval", "z is {}, not positive", z);
  check(!std::isnan(r1), "median_interval", "the autocorrelation is not a number");
  const std::vector<double> ascending = sorted(samples);
  MedianInterval out;
  out.n = samples.size();
  out.median = sorted_quantile(ascending, 0.5);
  out.r1 = std::clamp(r1, 0.0, most_r1);
  const auto n = static_cast<double>(out.n);
  const double reach = z * std::sqrt(n * (1 + out.r1) / (1 - out.r1));
  const double lower = std::floor((n - reach) / 2);
  const double upper = std::ceil(1 + (n + reach) / 2);
  out.bounded = lower >= 1 && upper <= n;
  out.low = lower >= 1 ? ascending[static_cast<std::size_t>(lower) - 1] : ascending.front();
  out.high = upper <= n ? ascending[static_cast<std::size_t>(upper) - 1] : ascending.back();
  return out;
}

bool drifts(const StopRule& rule, std::span<const double> samples) {
  return std::abs(drift(samples).value_or(0)) > rule.precision / 4;
}

Stop decide(const StopRule& rule, std::span<const double> samples, double elapsed_s) {
  const Stop stop = decide(rule, median_interval(samples), elapsed_s);
  return stop == Stop::converged && drifts(rule, samples) ? cap_of(rule, samples.size(), elapsed_s) : stop;
}

Stop decide(const StopRule& rule, const MedianInterval& interval, double elapsed_s) {
  check_rule(rule);
  check(elapsed_s >= 0, "stop rule", "{} s have passed", elapsed_s);
  check(interval.median > 0, "stop rule",
        "the median of {} samples is {}, and no precision is relative to that", interval.n, interval.median);
  const Stop cap = cap_of(rule, interval.n, elapsed_s);
  if (interval.n < rule.min_samples) return cap;
  if (cap == Stop::go_on && (interval.n - rule.min_samples) % rule.check_every != 0) return cap;
  return interval.bounded && interval.relative_half_width() <= rule.precision ? Stop::converged : cap;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const std::vector<std::size_t> order = by_probability(p, "benjamini_hochberg");
  std::vector<double> out(p.size());
  double most = 1;
  for (std::size_t i = order.size(); i > 0; --i) {
    most = std::min(most, static_cast<double>(order.size()) / static_cast<double>(i) * p[order[i - 1]]);
    out[order[i - 1]] = most;
  }
  return out;
}

Spread common_spread(std::span<const Spread> spreads) {
  const char* who = "common_spread";
  std::vector<double> logs;  // log variances, less the mean of log chi-square
  double chance = 0;         // variance of `logs` due to chi-square
  for (const auto& [variance, degrees] : spreads) {
    if (degrees <= 0) continue;
    check(std::isfinite(variance) && variance > 0, who, "a variance is {}, not positive", variance);
    logs.push_back(std::log(variance) - boost::math::digamma(degrees / 2, Plain()) + std::log(degrees / 2));
    chance += boost::math::trigamma(degrees / 2, Plain());
  }
  if (logs.size() < 3) return {};
  const double centre = unchecked_mean(logs);
  const double excess = variance(logs) - chance / static_cast<double>(logs.size());
  if (excess <= 0) return {std::exp(centre), std::numeric_limits<double>::infinity()};
  // Solves trigamma(degrees / 2) = excess by Newton's method on its reciprocal, which is nearly linear.
  double half = 0.5 + 1 / excess;
  for (int i = 0; i < 50; ++i) {
    const double value = boost::math::trigamma(half, Plain());
    const double step = value * (1 - value / excess) / boost::math::polygamma(2, half, Plain());
    half += step;
    if (-step < 1e-10 * half) break;
  }
  return {std::exp(centre + boost::math::digamma(half, Plain()) - std::log(half)), 2 * half};
}

Spread moderated(const Spread& own, const Spread& common) {
  if (own.degrees <= 0) return common;
  if (common.degrees <= 0) return own;
  if (std::isinf(common.degrees)) return common;
  const double degrees = own.degrees + common.degrees;
  return {(own.degrees * own.variance + common.degrees * common.variance) / degrees, degrees};
}

double beyond_margin_p(double t, double margin, double degrees) {
  const auto student = students_t(degrees, "beyond_margin_p");
  const double size = std::abs(t);
  return std::min(1.0, boost::math::cdf(boost::math::complement(student, size - margin)) +
                           boost::math::cdf(boost::math::complement(student, size + margin)));
}

double t_quantile(double level, double degrees) {
  check(level > 0 && level < 1, "t_quantile", "the level is {}, not in (0, 1)", level);
  return boost::math::quantile(boost::math::complement(students_t(degrees, "t_quantile"), (1 - level) / 2));
}

std::optional<double> concordance(std::span<const std::vector<double>> judges) {
  const char* who = "concordance";
  check(judges.size() >= 2, who, "one ranking agrees with none");
  const std::size_t things = judges[0].size();
  check(things >= 2, who, "one thing has no rank");
  const auto m = static_cast<double>(judges.size()), n = static_cast<double>(things);
  std::vector<double> sums(things);
  double ties = 0;
  for (const auto& judge : judges) {
    check(judge.size() == things, who, "{} values beside {}", judge.size(), things);
    const std::vector<double> ranks = average_ranks(judge);
    double squares = 0;
    for (std::size_t i = 0; i < things; ++i) {
      sums[i] += ranks[i];
      squares += ranks[i] * ranks[i];
    }
    // Tie correction: ties lower the sum of squared ranks by sum(t^3 - t) / 12.
    ties += n * (n + 1) * (2 * n + 1) / 6 - squares;
  }
  double deviation = 0;
  for (const double sum : sums) deviation += (sum - m * (n + 1) / 2) * (sum - m * (n + 1) / 2);
  const double most = (m * m * n * (n * n - 1) - 12 * m * ties) / 12;
  if (most <= 0) return {};
  return deviation / most;
}

std::optional<double> kendall(std::span<const double> x, std::span<const double> y) {
  check_pairs(x, y, "kendall");
  const auto sign = [](double a, double b) -> std::int64_t { return a < b ? 1 : a > b ? -1 : 0; };
  std::int64_t excess = 0;    // of concordant pairs over discordant ones
  std::int64_t untied_x = 0;  // pairs
  std::int64_t untied_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      const std::int64_t dx = sign(x[i], x[j]);
      const std::int64_t dy = sign(y[i], y[j]);
      excess += dx * dy;
      untied_x += dx * dx;
      untied_y += dy * dy;
    }
  }
  if (untied_x == 0 || untied_y == 0) return {};
  return static_cast<double>(excess) /
         std::sqrt(static_cast<double>(untied_x) * static_cast<double>(untied_y));
}

}  // namespace clweave::base
