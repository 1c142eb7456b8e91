// SPDX-License-Identifier: Apache-2.0
// stats: estimates, intervals and tests on repeated measurements, and the rule that ends the repeating.
//
// Pure functions. A sequence that is empty or holds a NaN or an infinity throws Error(ErrorCode::usage); what
// else a function refuses, it says. Estimates carry the unit of the samples.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

// The mean of the two middle values when their number is even.
double median(std::span<const double>);

// The value that half of the weight lies below and half above: where that falls between two, their mean.
// Refuses weights that are not positive, and another number of them.
double weighted_median(std::span<const double>, std::span<const double> weights);

// Type R-7 of Hyndman and Fan 1996, the default of R and NumPy: linear between the order statistics around
// rank 1 + (n - 1) p. Refuses p outside [0, 1].
double quantile(std::span<const double>, double p);

double geometric_mean(std::span<const double>);  // refuses values that are not positive
double harmonic_mean(std::span<const double>);   // refuses values that are not positive

// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> average_ranks(std::span<const double>);

// The autocorrelation at lag 1 of the ranks, in the order measured: like the plain one, but an outlier weighs
// no more than any other sample. In [-1, 1], not clipped. None for fewer than 3 samples or when all are
// equal.
std::optional<double> lag1_rank_autocorrelation(std::span<const double>);

struct Summary {
  std::size_t n = 0;
  double min = 0, p25 = 0, median = 0, p75 = 0, p95 = 0, max = 0, mean = 0;  // quantiles of type R-7
  std::optional<double> sd;                                                  // none for one sample
  std::optional<double> lag1;  // rank autocorrelation; none where it does not exist
  std::size_t outliers = 0;  // farther than 3 interquartile ranges from the quartiles; counted, never dropped
};
Summary summarize(std::span<const double>);

// The interval of a median by ranks: no distribution is assumed.
struct MedianInterval {
  std::size_t n = 0;
  double median = 0, low = 0, high = 0;
  double r1 = 0;  // the autocorrelation corrected for, in [0, 0.95]
  // False when the ranks fall outside the sample: no interval of this level exists, and low and high are only
  // the extremes.
  bool bounded = false;

  double relative_half_width() const { return (high - low) / (2 * median); }
};

// Correlated samples tell less than their number: n of them count as n / f, f = (1 + r1) / (1 - r1). From
// rank floor((n - z sqrt(n f)) / 2) to rank ceil(1 + (n + z sqrt(n f)) / 2) (Le Boudec 2010, chapter 2,
// with f = 1). z is the normal quantile of the level, 1.96 for 95 %; refuses z that is not positive. The
// second form takes r1 as known instead of estimating it; both clip it to [0, 0.95].
MedianInterval median_interval(std::span<const double> samples, double z = 1.96);
MedianInterval median_interval(std::span<const double> samples, double z, double r1);

struct StopRule {
  double precision = 0.01;        // of the median: half the interval's width / the median
  std::size_t min_samples = 15;   // before the first look
  std::size_t max_samples = 200;  // cap
  double max_seconds = 2;         // cap, and stronger than min_samples
  std::size_t check_every = 5;    // samples between looks: each look is one more chance to stop by luck
};

enum class Stop { go_on, converged, sample_cap, time_cap };

// Whether to take another sample, after `elapsed_s` seconds of sampling. A cap that is reached takes a last
// look first, whatever check_every says. Refuses a median that is not positive and a rule that could not
// work. The second form judges an interval made elsewhere.
Stop decide(const StopRule&, std::span<const double> samples, double elapsed_s);
Stop decide(const StopRule&, const MedianInterval&, double elapsed_s);

// p values adjusted for their number (Benjamini and Hochberg 1995), in the order given: comparing each with
// 1 % keeps the expected share of false ones among those found below 1 %; and where nothing is to be found,
// the chance of finding any. None in, none out. Refuses values outside [0, 1].
std::vector<double> benjamini_hochberg(std::span<const double> p);

// A variance estimated with so many degrees of freedom; 0: nothing is known of it.
struct Spread {
  double variance = 0, degrees = 0;
};

// What the variances of many cases, each from few values, have in common: the scaled inverse chi-square
// distribution that they seem drawn from, by the moments of their logarithms (Smyth, "Linear models and
// empirical Bayes methods", 2004, section 6.2). Infinite degrees: they differ no more than by chance. Cases
// without degrees of freedom are passed over; no degrees in the result when fewer than 3 have some. Refuses
// variances that are not positive.
Spread common_spread(std::span<const Spread>);

// A case's own variance, drawn towards the common one by the weight of its degrees: a t statistic with it
// has the degrees of both. Without any degrees, that of neither.
Spread moderated(const Spread& own, const Spread& common);

// The probability that Student's t exceeds this in absolute value by chance when the truth lies anywhere
// within +-margin: |t| and the margin in standard errors. One-sided at the margin's edge, two-sided for
// margin 0. Refuses degrees that are not positive.
double beyond_margin_p(double t, double margin, double degrees);

// The value that |t| exceeds with probability 1 - level.
double t_quantile(double level, double degrees);

// Kendall's W, the agreement of several rankings of the same things, corrected for ties: 1 when all are the
// same, 0 when they cancel out; none when every ranking is one tie. Rows are judges. Refuses fewer than 2
// judges or things, and rows of different lengths.
std::optional<double> concordance(std::span<const std::vector<double>> judges);

// Kendall's tau-b, the rank correlation of pairs, in [-1, 1] and O(n^2); none when one side is constant.
// Refuses different lengths and fewer than 2 pairs.
std::optional<double> kendall(std::span<const double>, std::span<const double>);

}  // namespace clweave::base
