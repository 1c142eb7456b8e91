// SPDX-License-Identifier: Apache-2.0
// stats: estimates, confidence intervals and tests on repeated measurements, and the rule that stops
// sampling.
//
// Pure functions. Sequences that are empty or hold a NaN or an infinity throw Error(ErrorCode::usage), as do
// arguments that a comment says are refused. Estimates carry the unit of the samples.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

// Returns the median; the mean of the two middle values for an even number.
double median(std::span<const double>);

// Returns the value with half of the weight below and half above; the mean of two if that falls between them.
// Refuses non-positive weights and a different number of them.
double weighted_median(std::span<const double>, std::span<const double> weights);

// Computes quantile type 7 of Hyndman and Fan (1996), the default of R and NumPy: linear between the order
// statistics around rank 1 + (n - 1) p. Refuses p outside [0, 1].
double quantile(std::span<const double>, double p);

double geometric_mean(std::span<const double>);  // refuses non-positive values
double harmonic_mean(std::span<const double>);   // refuses non-positive values

// Returns ranks from 1; equal values get the mean of their ranks.
std::vector<double> average_ranks(std::span<const double>);

// Computes the lag-1 autocorrelation of the ranks, in the order measured; ranks keep an outlier from weighing
// more than any other sample. In [-1, 1], not clipped. std::nullopt for fewer than 3 samples or if all are
// equal.
std::optional<double> lag1_rank_autocorrelation(std::span<const double>);

// Returns an autocorrelation in [0, 0.95] that few sequences have more of: that of lag 1, of ranks, corrected
// for the bias of short sequences (Kendall, 1954), plus a standard error. Short sequences of correlated
// values look quiet, and an interval from their own estimate misses the median. 0 for fewer than 3 samples or
// if all are equal.
double cautious_autocorrelation(std::span<const double>);

// Returns how much the median of the second half of the samples is above the first half's, over the median of
// all, if Mann and Kendall's test finds a trend; it finds one in a tenth of sequences without any.
// std::nullopt without a trend, and for fewer than 8 samples.
std::optional<double> drift(std::span<const double>);

struct Summary {
  std::size_t n = 0;
  double min = 0, p25 = 0, median = 0, p75 = 0, p95 = 0, max = 0, mean = 0;  // quantiles of type R-7
  std::optional<double> sd;                                                  // std::nullopt for one sample
  std::optional<double> lag1;                                                // rank autocorrelation
  std::size_t outliers = 0;  // farther than 3 interquartile ranges from the quartiles; counted, never dropped
};
Summary summarize(std::span<const double>);

// Confidence interval of a median by order statistics: distribution-free.
struct MedianInterval {
  std::size_t n = 0;
  double median = 0, low = 0, high = 0;
  double r1 = 0;  // autocorrelation corrected for, in [0, 0.95]
  // False if the ranks fall outside the sample: there is no interval of this level, and low and high are the
  // extremes.
  bool bounded = false;

  double relative_half_width() const { return (high - low) / (2 * median); }
};

// Computes the interval from rank floor((n - z sqrt(n f)) / 2) to rank ceil(1 + (n + z sqrt(n f)) / 2): Le
// Boudec (2010), chapter 2, which has f = 1, with the effective sample size n / f of correlated samples,
// f = (1 + r1) / (1 - r1). z is the normal quantile of the level, 1.96 for 95 %; refuses z <= 0. The first
// takes cautious_autocorrelation, and widens by block_spread; the second clips r1 to [0, 0.95].
MedianInterval median_interval(std::span<const double> samples, double z = 1.96);
MedianInterval median_interval(std::span<const double> samples, double z, double r1);

struct StopRule {
  double precision = 0.01;        // half width of the interval / median
  std::size_t min_samples = 15;   // before the first check
  std::size_t max_samples = 200;  // cap
  double max_seconds = 2;         // cap, even before min_samples
  std::size_t check_every = 5;    // samples between checks: each check is another chance of stopping by luck
};

// A precision that nothing reaches: only the caps end the sampling.
inline constexpr double no_precision = 1e-12;

enum class Stop { go_on, converged, sample_cap, time_cap };

// Returns whether samples drift by more than a quarter of the precision, so that more of them would have
// another median.
bool drifts(const StopRule&, std::span<const double> samples);

// Decides whether to take another sample after `elapsed_s` seconds. At a cap it checks convergence once more,
// whatever check_every says. Samples that drift have not converged. Refuses a non-positive median and an
// impossible rule. The second form takes an interval computed elsewhere and knows no drift.
Stop decide(const StopRule&, std::span<const double> samples, double elapsed_s);
Stop decide(const StopRule&, const MedianInterval&, double elapsed_s);

// Returns p values adjusted by Benjamini and Hochberg (1995), in the order given: rejecting those below 1 %
// keeps the false discovery rate below 1 %. Empty for empty. Refuses values outside [0, 1].
std::vector<double> benjamini_hochberg(std::span<const double> p);

// Variance with its degrees of freedom; 0 degrees: unknown.
struct Spread {
  double variance = 0, degrees = 0;
};

// Fits the prior of the variances of many cases, each from few values: a scaled inverse chi-square
// distribution, by the moments of their logarithms (Smyth, "Linear models and empirical Bayes methods", 2004,
// section 6.2). Infinite degrees: they differ no more than by chance. Skips cases without degrees of freedom;
// 0 degrees if fewer than 3 have some. Refuses non-positive variances.
Spread common_spread(std::span<const Spread>);

// Shrinks a case's own variance towards the prior, weighted by degrees of freedom (Smyth's moderated t, which
// has the degrees of both). 0 degrees if neither has any.
Spread moderated(const Spread& own, const Spread& common);

// Returns the p value of |t| under the hypothesis that the true value lies within +-margin, both in standard
// errors. One-sided at the margin's edge, two-sided for margin 0. Refuses non-positive degrees.
double beyond_margin_p(double t, double margin, double degrees);

// Returns the value that |t| exceeds with probability 1 - level.
double t_quantile(double level, double degrees);

// Computes Kendall's W, the agreement of several rankings (rows) of the same items, corrected for ties: 1 if
// all agree, 0 if they cancel out; std::nullopt if every ranking is one tie. Refuses fewer than 2 rankings or
// items, and rows of different lengths.
std::optional<double> concordance(std::span<const std::vector<double>> judges);

// Computes Kendall's tau-b, the rank correlation of pairs, in [-1, 1]; std::nullopt if one side is constant.
// O(n^2). Refuses different lengths and fewer than 2 pairs.
std::optional<double> kendall(std::span<const double>, std::span<const double>);

}  // namespace clweave::base
