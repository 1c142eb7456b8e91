// SPDX-License-Identifier: Apache-2.0
// test_stats: every function against known values, and the promises of the intervals on invented noise.
#include "stats.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <string>

#include "error.hpp"

namespace clweave {

// For gtest's messages.
void PrintTo(Stop stop, std::ostream* out) {
  constexpr const char* names[] = {"go_on", "converged", "sample_cap", "time_cap"};
  *out << names[static_cast<int>(stop)];
}

namespace {

using Values = std::vector<double>;
using Runs = std::vector<Values>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_refused(const std::function<void()>& call, const std::string& why) {
  try {
    call();
    ADD_FAILURE() << "accepted, expected: " << why;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, Kind::usage);
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

// Invented noise. The standard's distributions differ between libraries, its engines do not.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : engine_(seed) {}

  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

  // n times with median 1: the logarithm is normal with this sd and autocorrelation at lag 1.
  Values times(std::size_t n, double sd, double rho) {
    Values out;
    double state = normal();
    for (std::size_t i = 0; i < n; ++i) {
      out.push_back(std::exp(sd * state));
      state = rho * state + std::sqrt(1 - rho * rho) * normal();
    }
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

using IntervalOf = std::function<MedianInterval(const Values&)>;
MedianInterval corrected(const Values& times) { return median_interval(times); }
MedianInterval uncorrected(const Values& times) { return median_interval(times, 1.96, 0); }

// The share of samples whose interval holds the true median, 1.
double coverage(std::size_t n, double rho, const IntervalOf& interval_of) {
  constexpr int trials = 4000;
  Noise noise(n);
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const MedianInterval interval = interval_of(noise.times(n, 0.03, rho));
    held += interval.low <= 1 && 1 <= interval.high;
  }
  return static_cast<double>(held) / trials;
}

void record(const std::string& what, double value) {
  ::testing::Test::RecordProperty(what, fmt::format("{:.4f}", value));
}

// Holds a tie and an outlier.
const Values seven{3.1, 1.4, 2.7, 9.5, 2.2, 4.8, 2.2};

TEST(Estimates, MatchHandAndReference) {
  EXPECT_EQ(median(Values{7}), 7);
  EXPECT_EQ(median(Values{3, 1, 2}), 2);
  EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(mean(seven), 3.7);
  EXPECT_DOUBLE_EQ(standard_deviation(Values{2, 4, 4, 4, 5, 5, 7, 9}), std::sqrt(32.0 / 7));
  EXPECT_NEAR(standard_deviation(seven), 2.7688746209726918, 1e-14);
  EXPECT_EQ(median_absolute_deviation(Values{1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_DOUBLE_EQ(geometric_mean(Values{4, 1, 1.0 / 32}), 0.5);
  EXPECT_NEAR(geometric_mean(seven), 3.072722817511793, 1e-14);
  EXPECT_DOUBLE_EQ(harmonic_mean(Values{1, 4, 4}), 2);
  EXPECT_NEAR(harmonic_mean(seven), 2.66167374175812, 1e-14);
}

TEST(Estimates, AreExactForEqualValues) {
  const Values equal(7, 0.1);
  EXPECT_EQ(mean(equal), 0.1);
  EXPECT_EQ(standard_deviation(equal), 0);
  EXPECT_EQ(median_absolute_deviation(equal), 0);
}

TEST(Quantile, IsOfTypeR7) {
  const Values ten{10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(quantile(ten, 0.25), 3.25);  // type 6 says 2.75, type 8 says 2.9167
  EXPECT_DOUBLE_EQ(quantile(seven, 0.1), 1.88);
  EXPECT_DOUBLE_EQ(quantile(seven, 0.95), 8.09);
  EXPECT_EQ(quantile(seven, 0), 1.4);
  EXPECT_EQ(quantile(seven, 1), 9.5);
  EXPECT_EQ(quantile(Values{5}, 0.3), 5);
  EXPECT_EQ(quantile(seven, 0.5), median(seven));
}

TEST(Ranks, ShareTies) {
  EXPECT_EQ(average_ranks(seven), (Values{5, 1, 4, 7, 2.5, 6, 2.5}));
  EXPECT_EQ(average_ranks(Values{2, 2, 2}), (Values{2, 2, 2}));
}

TEST(Autocorrelation, MatchesHand) {
  EXPECT_DOUBLE_EQ(*lag1_rank_autocorrelation(Values{1, 2, 3, 4, 50}), 0.4);  // (2 + 0 + 0 + 2) / 10
  EXPECT_DOUBLE_EQ(*lag1_rank_autocorrelation(Values{1, 3, 2}), -0.5);        // (-1 + 0) / 2
  EXPECT_NEAR(*lag1_rank_autocorrelation(seven), -0.4909090909090909, 1e-15);
  EXPECT_FALSE(lag1_rank_autocorrelation(Values{1, 2}));
  EXPECT_FALSE(lag1_rank_autocorrelation(Values(20, 3.0)));
}

TEST(Autocorrelation, FindsThatOfTheNoise) {
  Noise noise(1);
  for (const double rho : {0.0, 0.5, 0.9}) {
    const double found = *lag1_rank_autocorrelation(noise.times(20000, 0.03, rho));
    // Pearson's rho of a normal pair, seen by ranks.
    EXPECT_NEAR(found, 6 / std::numbers::pi * std::asin(rho / 2), 0.02) << rho;
  }
}

TEST(Summary, HoldsEveryEstimate) {
  const Summary summary = summarize(seven);
  EXPECT_EQ(summary.n, 7u);
  EXPECT_EQ(summary.min, 1.4);
  EXPECT_EQ(summary.p25, 2.2);
  EXPECT_EQ(summary.median, 2.7);
  EXPECT_DOUBLE_EQ(summary.p75, 3.95);
  EXPECT_DOUBLE_EQ(summary.p95, 8.09);
  EXPECT_EQ(summary.max, 9.5);
  EXPECT_DOUBLE_EQ(summary.mean, 3.7);
  EXPECT_EQ(summary.sd, standard_deviation(seven));
  EXPECT_EQ(summary.lag1, lag1_rank_autocorrelation(seven));
  EXPECT_EQ(summary.outliers, 1u);  // 9.5 > 3.95 + 3 * 1.75 = 9.2
}

TEST(Summary, CountsOutliersBeyondThreeRanges) {
  EXPECT_EQ(summarize(Values{0, 1, 2, 3, 4, 9}).outliers, 0u);           // quartiles 1.25 and 3.75: to 11.25
  EXPECT_EQ(summarize(Values{0, 1, 2, 3, 4, 11.3}).outliers, 1u);        // on one side
  EXPECT_EQ(summarize(Values{-99, 0, 1, 2, 3, 4, 5, 99}).outliers, 2u);  // on both
}

TEST(Summary, LeavesOutWhatOneSampleCannotSay) {
  const Summary summary = summarize(Values{2});
  EXPECT_EQ(summary.median, 2);
  EXPECT_EQ(summary.p95, 2);
  EXPECT_FALSE(summary.sd);
  EXPECT_FALSE(summary.lag1);
}

TEST(MedianIntervals, TakesTheRanksOfTheFormula) {
  const struct {
    std::size_t n;
    double r1, low, high;
    bool bounded;
  } known[] = {
      {15, 0, 3, 13, true},      {40, 0, 13, 28, true},      {75, 0, 29, 47, true},
      {8, 0, 1, 8, true},        {7, 0, 1, 7, false},        {1, 0, 1, 1, false},
      {40, 0.5, 9, 32, true},    {75, 0.5, 22, 54, true},     // f = 3
      {40, 0.8, 1, 40, true},                                 // f = 9: 20 -+ 18.6
      {40, 0.9, 1, 40, false},                                // f = 19: 20 -+ 27.0
      {40, -0.5, 13, 28, true},                               // negative: not narrowed
      {200, 1.0, 13, 188, true}, {200, 0.95, 13, 188, true},  // clipped: f = 39
  };
  for (const auto& k : known) {
    Values ranks(k.n);
    std::iota(ranks.rbegin(), ranks.rend(), 1.0);
    const MedianInterval interval = median_interval(ranks, 1.96, k.r1);
    EXPECT_EQ(interval.low, k.low) << k.n << ' ' << k.r1;
    EXPECT_EQ(interval.high, k.high) << k.n << ' ' << k.r1;
    EXPECT_EQ(interval.bounded, k.bounded) << k.n << ' ' << k.r1;
    EXPECT_EQ(interval.r1, std::clamp(k.r1, 0.0, 0.95));
    EXPECT_EQ(interval.median, median(ranks));
    EXPECT_EQ(interval.n, k.n);
  }
}

TEST(MedianIntervals, EstimatesTheAutocorrelationUnlessTold) {
  const Values times = Noise(3).times(150, 0.02, 0.6);
  const double r1 = *lag1_rank_autocorrelation(times);
  const MedianInterval estimated = median_interval(times);
  EXPECT_GT(r1, 0.4);
  EXPECT_EQ(estimated.r1, r1);
  EXPECT_EQ(estimated.low, median_interval(times, 1.96, r1).low);
  EXPECT_LT(estimated.low, uncorrected(times).low);
  EXPECT_GT(estimated.high, uncorrected(times).high);
  EXPECT_DOUBLE_EQ(estimated.relative_half_width(), (estimated.high - estimated.low) / (2 * median(times)));
}

TEST(MedianIntervals, IndependentNoiseIsCovered) {
  // For independent samples of any distribution the coverage is exact: P(low rank <= Bin(n, 1/2) < high
  // rank).
  const struct {
    std::size_t n;
    double exact;
  } known[] = {{15, 0.99261}, {40, 0.98341}, {75, 0.96305}};
  for (const auto& [n, exact] : known) {
    const double plain = coverage(n, 0, uncorrected);
    const double full = coverage(n, 0, corrected);
    record(fmt::format("plain_n{}", n), plain);
    record(fmt::format("corrected_n{}", n), full);
    EXPECT_NEAR(plain, exact, 4 * std::sqrt(exact * (1 - exact) / 4000)) << n;
    // What the correction adds by taking chance for correlation; whole ranks already give 15 samples over 99
    // %.
    EXPECT_GE(full, plain) << n;
    EXPECT_LE(full, n == 15 ? 0.999 : 0.99) << n;
  }
}

TEST(MedianIntervals, CorrelatedNoiseIsCoveredOnlyWhenCorrected) {
  const struct {
    std::size_t n;
    double rho, least;
  } promised[] = {{75, 0.5, 0.93}, {140, 0.5, 0.93}, {200, 0.9, 0.90}};
  for (const auto& [n, rho, least] : promised) {
    const double plain = coverage(n, rho, uncorrected);
    const double full = coverage(n, rho, corrected);
    record(fmt::format("plain_n{}_rho{}", n, rho), plain);
    record(fmt::format("corrected_n{}_rho{}", n, rho), full);
    EXPECT_GE(full, least) << n << ' ' << rho;
    EXPECT_LE(full, 0.99) << n << ' ' << rho;
    EXPECT_LT(plain, least) << "the bound does not notice a missing correction: " << n << ' ' << rho;
  }
}

TEST(StopRules, FollowsItsClauses) {
  const StopRule rule;
  const Values equal(300, 2.0);
  const auto first = [&](std::size_t n) { return std::span(equal).first(n); };
  EXPECT_EQ(decide(rule, first(1), 0), Stop::go_on);
  EXPECT_EQ(decide(rule, first(14), 1.9), Stop::go_on);
  EXPECT_EQ(decide(rule, first(15), 0), Stop::converged);
  EXPECT_EQ(decide(rule, first(16), 0), Stop::go_on);  // no look between 15 and 20
  EXPECT_EQ(decide(rule, first(20), 0), Stop::converged);
  EXPECT_EQ(decide(rule, first(14), 2), Stop::time_cap);   // stronger than min_samples
  EXPECT_EQ(decide(rule, first(16), 2), Stop::converged);  // the last look
  EXPECT_EQ(decide(rule, first(200), 0), Stop::converged);
  EXPECT_EQ(decide(rule, first(300), 9), Stop::converged);

  const Values wild = Noise(5).times(300, 0.5, 0);
  EXPECT_EQ(decide(rule, std::span(wild).first(195), 1.9), Stop::go_on);
  EXPECT_EQ(decide(rule, std::span(wild).first(200), 1.9), Stop::sample_cap);
  EXPECT_EQ(decide(rule, std::span(wild).first(3), 2.5), Stop::time_cap);
  EXPECT_EQ(decide(rule, std::span(wild).first(200), 2.5), Stop::sample_cap);
  EXPECT_EQ(decide({.precision = 0.5}, std::span(wild).first(200), 0), Stop::converged);
  EXPECT_EQ(decide({.min_samples = 15, .max_samples = 5}, first(5), 0), Stop::sample_cap);
}

TEST(StopRules, ConvergesAtThePrecisionAndNotBeyond) {
  MedianInterval interval{.n = 15, .median = 1, .low = 0.875, .high = 1.125, .r1 = 0, .bounded = true};
  EXPECT_EQ(decide({.precision = 0.125}, interval, 0), Stop::converged);
  EXPECT_EQ(decide({.precision = 0.1249}, interval, 0), Stop::go_on);
  interval.bounded = false;
  EXPECT_EQ(decide({.precision = 0.125}, interval, 0), Stop::go_on);
}

TEST(StopRules, NeedsABoundedInterval) {
  // All equal, so that only the missing ranks can hold it back.
  const Values equal(300, 1.0);
  const StopRule eager{.min_samples = 5, .check_every = 1};
  EXPECT_EQ(decide(eager, std::span(equal).first(7), 0), Stop::go_on);
  EXPECT_EQ(decide(eager, std::span(equal).first(8), 0), Stop::converged);
  EXPECT_EQ(decide(eager, median_interval(std::span(equal).first(150), 1.96, 0.95), 0), Stop::go_on);
  EXPECT_EQ(decide(eager, median_interval(std::span(equal).first(160), 1.96, 0.95), 0), Stop::converged);
}

// Many measurements under the rule, the clock standing still.
struct Stopped {
  double median_n = 0;
  double covered = 0;    // share of all
  double converged = 0;  // share of all
};

Stopped measure_often(double sd, double rho, std::size_t cap, const IntervalOf& interval_of) {
  constexpr int trials = 800;
  const StopRule rule{.max_samples = cap};
  Noise noise(17);
  Values counts;
  int held = 0;
  int converged = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Values all = noise.times(cap, sd, rho);
    for (std::size_t n = rule.min_samples;; n += rule.check_every) {
      const MedianInterval interval =
          interval_of(Values(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)));
      const Stop stop = decide(rule, interval, 0);
      if (stop == Stop::go_on) continue;
      counts.push_back(static_cast<double>(n));
      held += interval.low <= 1 && 1 <= interval.high;
      converged += stop == Stop::converged;
      break;
    }
  }
  return {median(counts), static_cast<double>(held) / trials, static_cast<double>(converged) / trials};
}

void record(const std::string& what, const Stopped& stopped) {
  record(what + "_n", stopped.median_n);
  record(what + "_covered", stopped.covered);
  record(what + "_converged", stopped.converged);
}

TEST(StopRules, TakesAsManySamplesAsTheNoiseNeeds) {
  const struct { double sd, fewest, most; } known[] = {{0.005, 15, 15}, {0.02, 30, 45}, {0.03, 60, 90}};
  for (const auto& [sd, fewest, most] : known) {
    const Stopped stopped = measure_often(sd, 0, 300, corrected);
    record(fmt::format("sd{}", sd), stopped);
    EXPECT_GE(stopped.median_n, fewest) << sd;
    EXPECT_LE(stopped.median_n, most) << sd;
    EXPECT_GE(stopped.covered, 0.93) << sd;
    EXPECT_EQ(stopped.converged, 1) << sd;
  }
}

TEST(StopRules, CorrelatedNoiseTakesMoreSamples) {
  const Stopped half = measure_often(0.03, 0.5, 300, corrected);
  const Stopped half_plain = measure_often(0.03, 0.5, 300, uncorrected);
  record("rho0.5", half);
  record("rho0.5_plain", half_plain);
  EXPECT_GE(half.median_n, 110);
  EXPECT_LE(half.median_n, 180);
  EXPECT_GE(half.covered, 0.91);
  EXPECT_LT(half_plain.covered, 0.91) << "the bound does not notice a missing correction";

  const Stopped strong = measure_often(0.03, 0.9, 300, corrected);
  const Stopped strong_plain = measure_often(0.03, 0.9, 300, uncorrected);
  record("rho0.9", strong);
  record("rho0.9_plain", strong_plain);
  EXPECT_GE(strong.covered,
            0.75);  // short of 93 %: what stops early did so by luck, most reach the cap instead
  EXPECT_LE(strong.converged, 0.5);
  EXPECT_LT(strong_plain.covered, 0.75) << "the bound does not notice a missing correction";
}

TEST(Bootstraps, HasTheExactDistributionOfSmallCases) {
  // The median of 3 draws from {1, 2, 3} is 1, 2 or 3 with probability 7/27, 13/27, 7/27, whether the three
  // are samples of a run or runs of one sample.
  const Runs unit{{1}};
  for (const Runs& three : {Runs{{3, 1, 2}}, Runs{{2}, {3}, {1}}}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const RatioInterval wide =
          bootstrap_ratio(three, unit, {.seed = seed, .resamples = 20000, .level = 0.52});
      EXPECT_EQ(wide.ratio, 2);
      EXPECT_EQ(wide.low, 1);  // tail 0.24 < 7/27 = 0.259
      EXPECT_EQ(wide.high, 3);
      const RatioInterval narrow =
          bootstrap_ratio(three, unit, {.seed = seed, .resamples = 20000, .level = 0.44});
      EXPECT_EQ(narrow.low, 2);  // tail 0.28
      EXPECT_EQ(narrow.high, 2);
    }
  }
  // Of 2 draws from {1, 2}: 1, 1.5, 2 with probability 1/4, 1/2, 1/4.
  const RatioInterval even = bootstrap_ratio(Runs{{1, 2}}, unit, {.resamples = 20000, .level = 0.48});
  EXPECT_EQ(even.ratio, 1.5);
  EXPECT_EQ(even.low, 1.5);
  EXPECT_EQ(even.high, 1.5);
  EXPECT_EQ(bootstrap_ratio(Runs{{1, 2}}, unit, {.resamples = 20000, .level = 0.54}).low, 1);
  EXPECT_EQ(bootstrap_ratio(Runs{{1, 2}}, unit, {.resamples = 20000, .level = 0.54}).high, 2);
}

// Runs of 40 samples: each run has a factor of its own, a few samples are up to 30 % late.
struct RunNoise {
  double run_sd = 0.02;
  double sample_sd = 0.03;
  double late = 0.03;     // share
  double rho = 0;         // within a run
  double two_clocks = 0;  // half of the runs are slower by this
};

Runs invent_runs(Noise& noise, std::size_t runs, const RunNoise& how, double factor = 1) {
  Runs out;
  for (std::size_t run = 0; run < runs; ++run) {
    const double speed =
        factor * std::exp(how.run_sd * noise.normal()) * (noise.uniform() < 0.5 ? 1 + how.two_clocks : 1);
    out.push_back(noise.times(40, how.sample_sd, how.rho));
    for (double& time : out.back())
      time *= speed * (noise.uniform() < how.late ? 1 + 0.3 * noise.uniform() : 1);
  }
  return out;
}

Runs pooled(const Runs& runs) {
  Values all;
  for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
  return {all};
}

TEST(Bootstraps, DependsOnTheSeedAlone) {
  Noise noise(8);
  const Runs a = invent_runs(noise, 5, {}, 1.1);
  const Runs b = invent_runs(noise, 4, {});
  const RatioInterval once = bootstrap_ratio(a, b, {.seed = 7});
  const RatioInterval again = bootstrap_ratio(a, b, {.seed = 7});
  const RatioInterval other = bootstrap_ratio(a, b, {.seed = 8});
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  EXPECT_EQ(once.ratio, other.ratio);
  EXPECT_NE(once.low, other.low);
  EXPECT_NEAR(once.low, other.low, 0.01);
  EXPECT_NEAR(once.high, other.high, 0.01);
  const RatioInterval mirrored = bootstrap_ratio(b, a, {.seed = 7});
  EXPECT_DOUBLE_EQ(mirrored.ratio, 1 / once.ratio);
  EXPECT_NEAR(mirrored.low, 1 / once.high, 0.01);
  EXPECT_LT(once.low, once.ratio);
  EXPECT_GT(once.high, once.ratio);
}

TEST(Bootstraps, GivesTheSameNumbersOnEveryMachine) {
  Runs a(5);
  Runs b(4);
  for (int i = 0; i < 60; ++i) a[i % 5].push_back(100 + i * 37 % 61);
  for (int i = 0; i < 60; ++i) b[i % 4].push_back(90 + i * 53 % 67);
  const RatioInterval interval = bootstrap_ratio(a, b, {.seed = 42, .resamples = 999, .level = 0.95});
  // From a second implementation, in Python.
  EXPECT_DOUBLE_EQ(interval.ratio, 1.0357142857142858);
  EXPECT_DOUBLE_EQ(interval.low, 0.8711629655331945);
  EXPECT_DOUBLE_EQ(interval.high, 1.2251297129021095);
}

TEST(Bootstraps, CountsARunOnceHoweverLong) {
  // The two long runs hold most samples; the median run is a short one.
  const Runs runs{Values(200, 9.0), Values(200, 9.0), Values(15, 1.0), Values(15, 1.0), Values(15, 1.0)};
  EXPECT_EQ(bootstrap_ratio(runs, Runs{{1}}).ratio, 1);
  EXPECT_EQ(bootstrap_ratio(pooled(runs), Runs{{1}}).ratio, 9);
}

struct Alarms {
  double any = 0;     // share of comparisons whose interval leaves out the true ratio
  double beyond = 0;  // share whose interval lies wholly beyond 3 % from 1
};

Alarms compare_often(std::size_t runs, const RunNoise& how, double factor,
                     const std::function<Runs(const Runs&)>& view) {
  constexpr int trials = 800;
  Noise noise(23);
  int any = 0;
  int beyond = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Runs a = view(invent_runs(noise, runs, how, factor));
    const Runs b = view(invent_runs(noise, runs, how));
    const RatioInterval interval =
        bootstrap_ratio(a, b, {.seed = static_cast<std::uint64_t>(trial), .resamples = 300});
    any += interval.low > factor || interval.high < factor;
    beyond += interval.low > 1.03 || interval.high < 1 / 1.03;
  }
  return {static_cast<double>(any) / trials, static_cast<double>(beyond) / trials};
}

Runs as_is(const Runs& runs) { return runs; }

constexpr double false_alarms = 0.05 + 3 * 0.0077;  // 5 % and 3 sd of 800 trials
constexpr double false_verdicts = 0.01 + 3 * 0.0035;

TEST(Bootstraps, ByRunsKeepsItsLevelAndPooledDoesNot) {
  const struct {
    const char* name;
    RunNoise how;
  } models[] = {{"run_effect", {}},
                {"two_clocks", {.run_sd = 0.005, .two_clocks = 0.05}},
                {"correlated", {.rho = 0.5}}};
  for (const auto& [name, how] : models) {
    const Alarms by_runs = compare_often(5, how, 1, as_is);
    const Alarms by_samples = compare_often(5, how, 1, pooled);
    record(fmt::format("{}_by_runs", name), by_runs.any);
    record(fmt::format("{}_by_runs_beyond", name), by_runs.beyond);
    record(fmt::format("{}_pooled", name), by_samples.any);
    record(fmt::format("{}_pooled_beyond", name), by_samples.beyond);
    EXPECT_LE(by_runs.any, false_alarms) << name;
    EXPECT_LE(by_runs.beyond, false_verdicts) << name;
    EXPECT_GT(by_samples.any, false_alarms) << "the bound does not notice pooling: " << name;
  }
}

TEST(Bootstraps, WithoutARunEffectPoolingIsRight) {
  const Alarms by_samples = compare_often(5, {.run_sd = 0}, 1, pooled);
  record("pooled", by_samples.any);
  EXPECT_LE(by_samples.any, false_alarms);
  EXPECT_GE(by_samples.any, 0.05 - 3 * 0.0077);
}

TEST(Bootstraps, FindsATenthMore) {
  const Alarms by_runs = compare_often(5, {}, 1.10, as_is);
  record("found", by_runs.beyond);
  record("missed_the_ratio", by_runs.any);
  EXPECT_GE(by_runs.beyond, 0.95);
  EXPECT_LE(by_runs.any, false_alarms);
}

Values exponentials(Values values) {
  for (double& value : values) value = std::exp(value);
  return values;
}

TEST(Welch, MatchesReference) {
  const Values a = exponentials(
      {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4});
  const Values b = exponentials(
      {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4});
  const WelchTest plain = welch_test(a, b, 0);  // R: t.test(a, b, alternative = "greater")
  EXPECT_NEAR(plain.t, 2.455356398286006, 1e-12);
  EXPECT_NEAR(plain.degrees, 24.988529290231416, 1e-10);
  EXPECT_NEAR(plain.p, 0.010689000731433496, 1e-12);
  EXPECT_NEAR(welch_test(b, a, 0).p, 1 - plain.p, 1e-12);

  const Values slow{1.02, 1.05, 1.01, 1.07, 1.04};
  const Values fast{0.98, 1.00, 0.99, 1.01, 1.03};
  EXPECT_NEAR(welch_test(slow, fast, 0).p, 0.015395050895114937, 1e-12);
  const WelchTest margin = welch_test(slow, fast, 0.03);
  EXPECT_NEAR(margin.t, 0.4243646896821287, 1e-10);
  EXPECT_NEAR(margin.p, 0.3414192807848375, 1e-10);
  const WelchTest uneven = welch_test(slow, std::span(fast).first(2), 0);
  EXPECT_NEAR(uneven.t, 3.2748856494016074, 1e-11);
  EXPECT_NEAR(uneven.degrees, 3.265637861582928, 1e-11);
  EXPECT_NEAR(uneven.p, 0.020613817021705384, 1e-11);
}

TEST(Welch, WithoutSpreadSaysYesOrNo) {
  const Values two(3, 2.0);
  EXPECT_EQ(welch_test(Values(4, 2.2), two, 0.05).p, 0);
  EXPECT_EQ(welch_test(Values(4, 2.0), two, 0.05).p, 1);
  EXPECT_EQ(welch_test(Values(4, 2.0), two, 0).p, 1);
}

TEST(Welch, KeepsItsLevelAtTheMargin) {
  constexpr int trials = 8000;
  constexpr double sd = 0.0024;  // of a share of 5 % in so many trials
  Noise noise(31);
  int at_zero = 0;
  int at_margin = 0;
  int within = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Values a = noise.times(5, 0.02, 0);
    const Values b = noise.times(5, 0.03, 0);
    Values slower = a;
    for (double& time : slower) time *= 1.05;
    at_zero += welch_test(a, b, 0).p < 0.05;
    at_margin += welch_test(slower, b, 0.05).p < 0.05;
    within += welch_test(a, b, 0.05).p < 0.05;
  }
  record("at_zero", static_cast<double>(at_zero) / trials);
  record("within", static_cast<double>(within) / trials);
  EXPECT_NEAR(static_cast<double>(at_zero) / trials, 0.05, 4 * sd);
  EXPECT_EQ(at_margin, at_zero);
  EXPECT_LT(static_cast<double>(within) / trials, 0.005);
}

TEST(Holm, MatchesReference) {
  const auto expect_near = [](const Values& found, const Values& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_DOUBLE_EQ(found[i], expected[i]) << i;
  };
  // R: p.adjust(p, "holm")
  expect_near(holm(Values{0.01, 0.02, 0.03, 0.04, 0.05}), {0.05, 0.08, 0.09, 0.09, 0.09});
  expect_near(holm(Values{0.04, 0.005, 0.6, 0.01}), {0.08, 0.02, 0.6, 0.03});
  expect_near(holm(Values{0.7, 0.9}), {1, 1});
  expect_near(holm(Values{0.3}), {0.3});
  EXPECT_TRUE(holm(Values{}).empty());
}

TEST(Holm, KeepsTheLevelOfASuite) {
  constexpr int trials = 8000;
  Noise noise(37);
  int adjusted = 0;
  int plain = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Values p(10);
    for (double& value : p) value = noise.uniform();
    const Values after = holm(p);
    adjusted += *std::min_element(after.begin(), after.end()) < 0.05;
    plain += *std::min_element(p.begin(), p.end()) < 0.05;
  }
  record("adjusted", static_cast<double>(adjusted) / trials);
  record("plain", static_cast<double>(plain) / trials);
  constexpr double bound = 0.05 + 3 * 0.0024;
  EXPECT_LE(static_cast<double>(adjusted) / trials, bound);
  EXPECT_GT(static_cast<double>(plain) / trials, bound) << "the bound does not notice a missing adjustment";
}

TEST(BenjaminiHochberg, MatchesReference) {
  const auto expect_near = [](const Values& found, const Values& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_DOUBLE_EQ(found[i], expected[i]) << i;
  };
  // R: p.adjust(p, "BH")
  expect_near(benjamini_hochberg(Values{0.01, 0.02, 0.03, 0.04, 0.05}), {0.05, 0.05, 0.05, 0.05, 0.05});
  expect_near(benjamini_hochberg(Values{0.5, 0.009, 0.05, 0.005}), {0.5, 0.018, 0.2 / 3, 0.018});
  expect_near(benjamini_hochberg(Values{0.7, 0.9}), {0.9, 0.9});
  EXPECT_TRUE(benjamini_hochberg(Values{}).empty());
  expect_refused([] { benjamini_hochberg(Values{-0.1}); }, "-0.1 is no probability");
}

// References of this and the next two: the formulas in 30 digits.
TEST(CommonSpread, MatchesReference) {
  const std::vector<Spread> spreads{{1, 4}, {2, 4}, {0, 0}, {4, 4}, {30, 4}, {0.05, 4}};
  const std::vector<Spread> known{{1, 4}, {2, 4}, {4, 4}, {30, 4}, {0.05, 4}};
  EXPECT_NEAR(common_spread(known).degrees, 1.01858404959432601, 1e-8);
  EXPECT_NEAR(common_spread(known).variance, 0.621082369517449836, 1e-8);
  // One that knows nothing does not count.
  EXPECT_EQ(common_spread(spreads).degrees, common_spread(known).degrees);
  // Equal ones vary less than chance would make them.
  EXPECT_EQ(common_spread(std::vector<Spread>(9, {2, 4})).degrees, infinity);
  EXPECT_EQ(common_spread(std::vector<Spread>(2, {2, 4})).degrees, 0);
  expect_refused([] { common_spread(std::vector<Spread>{{0, 4}}); }, "not positive");
}

TEST(CommonSpread, FindsWhatTheVariancesWereDrawnFrom) {
  // Variances 2 * 6 / chi-square of 6 degrees, each then estimated with 4.
  Noise noise(43);
  const auto chi_square = [&](int degrees) {
    double sum = 0;
    for (int i = 0; i < degrees; ++i) {
      const double value = noise.normal();
      sum += value * value;
    }
    return sum;
  };
  std::vector<Spread> spreads;
  for (int i = 0; i < 20000; ++i) spreads.push_back({2 * 6 / chi_square(6) * chi_square(4) / 4, 4});
  EXPECT_NEAR(common_spread(spreads).degrees, 6, 0.5);
  EXPECT_NEAR(common_spread(spreads).variance, 2, 0.05);
}

TEST(CommonSpread, ModeratesByDegrees) {
  EXPECT_EQ(moderated({4, 2}, {1, 6}).variance, (2.0 * 4 + 6 * 1) / 8);
  EXPECT_EQ(moderated({4, 2}, {1, 6}).degrees, 8);
  EXPECT_EQ(moderated({4, 2}, {1, infinity}).variance, 1);
  EXPECT_EQ(moderated({0, 0}, {1, 6}).variance, 1);
  EXPECT_EQ(moderated({4, 2}, {0, 0}).variance, 4);
  EXPECT_EQ(moderated({}, {}).degrees, 0);
}

TEST(BeyondMargin, MatchesReference) {
  EXPECT_NEAR(beyond_margin_p(2.5, 1, 8), 0.0900411871061615890, 1e-12);
  EXPECT_NEAR(beyond_margin_p(-2.5, 0, 8), 0.0369420377136241048, 1e-12);
  EXPECT_NEAR(beyond_margin_p(0.2, 1, 8), 0.908826885543453732, 1e-12);
  EXPECT_NEAR(beyond_margin_p(1.959963984540054, 0, infinity), 0.05, 1e-8);
  EXPECT_NEAR(t_quantile(0.95, 8), 2.30600413520416668, 1e-12);
  expect_refused([] { beyond_margin_p(1, 1, 0); }, "0 degrees of freedom");
}

TEST(Concordance, MatchesReference) {
  EXPECT_NEAR(*concordance(Runs{{1, 2, 3, 4, 5, 6}, {1, 5, 6, 3, 2, 4}, {1, 2, 5, 4, 3, 6}}),
              0.644444444444444444, 1e-14);
  EXPECT_NEAR(*concordance(Runs{{1, 2, 2, 4}, {1, 3, 2, 4}, {2, 1, 3, 4}}), 0.770114942528735632, 1e-14);
  EXPECT_EQ(*concordance(Runs{{1, 2, 3}, {10, 20, 30}, {0.1, 0.2, 0.3}}), 1);
  EXPECT_EQ(*concordance(Runs{{1, 2, 3}, {3, 2, 1}}), 0);
  EXPECT_FALSE(concordance(Runs{{1, 1}, {2, 2}}));
  expect_refused([] { concordance(Runs{{1, 2}}); }, "one ranking agrees with none");
  expect_refused([] { concordance(Runs{{1, 2}, {1, 2, 3}}); }, "3 values beside 2");
}

TEST(RankCorrelation, MatchesReference) {
  const Values iq{106, 100, 86, 101, 99, 103, 97, 113, 112, 110};
  const Values hours{7, 27, 2, 50, 28, 29, 20, 12, 6, 17};
  EXPECT_DOUBLE_EQ(*spearman(iq, hours), -29.0 / 165);
  EXPECT_DOUBLE_EQ(*kendall(iq, hours), -5.0 / 45);
  const Values x{1, 2, 2, 3, 5};
  const Values y{2, 1, 4, 4, 6};
  EXPECT_NEAR(*spearman(x, y), 0.7631578947368421, 1e-15);
  EXPECT_NEAR(*kendall(x, y), 6.0 / 9, 1e-15);
  EXPECT_NEAR(*kendall(Values{12, 2, 1, 12, 2}, Values{1, 4, 7, 1, 0}), -0.4714045207910316, 1e-15);
}

TEST(RankCorrelation, SeesOnlyOrder) {
  const Values x{1, 2, 3, 4, 5};
  const Values up{1, 10, 100, 1000, 1e4};
  const Values down{-1, -10, -100, -1000, -1e4};
  for (const auto correlation : {spearman, kendall}) {
    EXPECT_EQ(correlation(x, up), 1);
    EXPECT_EQ(correlation(x, down), -1);
    EXPECT_FALSE(correlation(x, Values(5, 2.0)));
    EXPECT_FALSE(correlation(Values(5, 2.0), x));
  }
}

TEST(ClopperPearson, MatchesReference) {
  EXPECT_NEAR(clopper_pearson_upper(0, 300), 1 - std::pow(0.05, 1.0 / 300), 1e-14);
  EXPECT_NEAR(clopper_pearson_upper(10, 100, 0.975), 0.17622259774002266, 1e-12);
  EXPECT_NEAR(clopper_pearson_upper(299, 300), 0.9998290369678865, 1e-12);
  EXPECT_EQ(clopper_pearson_upper(5, 5), 1);
  EXPECT_EQ(clopper_pearson_upper(1, 1), 1);
  // What proves 1 %: just enough trials, and one too few.
  const struct { std::uint64_t events, trials; } enough[] = {{0, 299}, {1, 473}, {3, 773}};
  for (const auto& [events, trials] : enough) {
    EXPECT_LE(clopper_pearson_upper(events, trials), 0.01) << events;
    EXPECT_GT(clopper_pearson_upper(events, trials - 1), 0.01) << events;
  }
}

TEST(ClopperPearson, LeavesTheRestOfTheLevelBelow) {
  // P(Bin(20, bound) <= 3) is 1 - level, by definition.
  const double p = clopper_pearson_upper(3, 20, 0.9);
  double below = 0;
  const double ways[] = {1, 20, 190, 1140};
  for (int k = 0; k <= 3; ++k) below += ways[k] * std::pow(p, k) * std::pow(1 - p, 20 - k);
  EXPECT_NEAR(below, 0.1, 1e-12);
}

TEST(Refusals, EmptyAndNotFinite) {
  const Values good{1, 2, 3};
  const std::vector<std::function<void(const Values&)>> calls{
      [](const Values& v) { median(v); },
      [](const Values& v) { quantile(v, 0.5); },
      [](const Values& v) { median_absolute_deviation(v); },
      [](const Values& v) { mean(v); },
      [](const Values& v) { standard_deviation(v); },
      [](const Values& v) { geometric_mean(v); },
      [](const Values& v) { harmonic_mean(v); },
      [](const Values& v) { average_ranks(v); },
      [](const Values& v) { lag1_rank_autocorrelation(v); },
      [](const Values& v) { summarize(v); },
      [](const Values& v) { median_interval(v); },
      [](const Values& v) { median_interval(v, 1.96, 0); },
      [](const Values& v) { decide({}, v, 0); },
      [&](const Values& v) {
        bootstrap_ratio(Runs{good, v}, Runs{good});
      },
      [&](const Values& v) { bootstrap_ratio(Runs{good}, Runs{v}); },
      [&](const Values& v) { welch_test(v, good, 0); },
      [&](const Values& v) { welch_test(good, v, 0); },
      [&](const Values& v) { spearman(v, good); },
      [&](const Values& v) { spearman(good, v); },
      [&](const Values& v) { kendall(v, good); },
      [&](const Values& v) { kendall(good, v); },
  };
  for (const auto& call : calls) {
    expect_refused([&] { call({}); }, "there are no values");
    expect_refused([&] { call({1, nan, 3}); }, "value 2 of 3 is nan, not a finite number");
    expect_refused([&] { call({1, 2, infinity}); }, "value 3 of 3 is inf, not a finite number");
    EXPECT_NO_THROW(call(good));
  }
}

TEST(Refusals, NotPositive) {
  const Values good{1, 2, 3};
  const std::vector<std::function<void(const Values&)>> calls{
      [](const Values& v) { geometric_mean(v); },
      [](const Values& v) { harmonic_mean(v); },
      [&](const Values& v) { bootstrap_ratio(Runs{v}, Runs{good}); },
      [&](const Values& v) { bootstrap_ratio(Runs{good}, Runs{v}); },
      [&](const Values& v) { welch_test(v, good, 0); },
      [&](const Values& v) { welch_test(good, v, 0); },
  };
  for (const auto& call : calls) {
    expect_refused([&] { call({1, 0, 3}); }, "value 2 of 3 is 0, not positive");
    expect_refused([&] { call({-1, 2, 3}); }, "value 1 of 3 is -1, not positive");
  }
  expect_refused([] { decide({}, Values(15, 0.0), 0); }, "the median of 15 samples is 0");
}

TEST(Refusals, WrongArguments) {
  const Values good{1, 2, 3};
  expect_refused([&] { quantile(good, 1.01); }, "p is 1.01");
  expect_refused([&] { quantile(good, nan); }, "p is nan");
  expect_refused([&] { standard_deviation(Values{1}); }, "one value has none");
  expect_refused([&] { median_interval(good, 0); }, "z is 0");
  expect_refused([&] { median_interval(good, nan); }, "z is nan");
  expect_refused([&] { median_interval(good, 1.96, nan); }, "the autocorrelation");
  expect_refused([&] { decide({.precision = 0}, good, 0); }, "the precision is 0");
  expect_refused([&] { decide({.precision = nan}, good, 0); }, "the precision is nan");
  expect_refused([&] { decide({.max_seconds = 0}, good, 0); }, "the time cap is 0 s");
  expect_refused([&] { decide({.check_every = 0}, good, 0); }, "check_every is 0");
  expect_refused([&] { decide({}, good, nan); }, "nan s have passed");
  expect_refused([&] { decide({}, good, -1); }, "-1 s have passed");
  expect_refused([&] { bootstrap_ratio(Runs{}, Runs{good}); }, "one side has no runs");
  expect_refused([&] { bootstrap_ratio(Runs{good}, Runs{}); }, "one side has no runs");
  expect_refused([&] { bootstrap_ratio(Runs{good}, Runs{good}, {.resamples = 0}); }, "no resamples");
  expect_refused([&] { bootstrap_ratio(Runs{good}, Runs{good}, {.level = 1}); }, "the level is 1");
  expect_refused([&] { welch_test(good, Values{1}, 0); }, "3 and 1 runs are too few");
  expect_refused([&] { welch_test(good, good, -0.1); }, "the margin is -0.1");
  expect_refused([&] { holm(Values{0.5, 1.5}); }, "1.5 is no probability");
  expect_refused([&] { holm(Values{nan}); }, "nan is no probability");
  expect_refused([&] { spearman(good, Values{1, 2}); }, "3 values cannot be paired with 2");
  expect_refused([&] { kendall(Values{1}, Values{1}); }, "one pair has no correlation");
  expect_refused([&] { clopper_pearson_upper(0, 0); }, "0 of 0 cannot be");
  expect_refused([&] { clopper_pearson_upper(4, 3); }, "4 of 3 cannot be");
  expect_refused([&] { clopper_pearson_upper(1, 3, 1); }, "the level is 1");
}

}  // namespace
}  // namespace clweave
