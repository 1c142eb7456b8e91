// SPDX-License-Identifier: Apache-2.0
// test_stats: every function against known values, and the promises of the intervals on invented noise.
#include "base/stats.hpp"

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

#include "base/block_spread.hpp"
#include "base/error.hpp"
#include "draws.hpp"

namespace clweave::commands {

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
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

class Noise : public draws::Draws {
 public:
  using Draws::Draws;

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
};

using IntervalOf = std::function<MedianInterval(const Values&)>;
MedianInterval corrected(const Values& times) {
  return median_interval(times, 1.96, lag1_rank_autocorrelation(times).value_or(0));
}
MedianInterval uncorrected(const Values& times) { return median_interval(times, 1.96, 0); }

// The share of samples whose interval holds the true median, 1.
double coverage(std::size_t n, double rho, const IntervalOf& interval_of) {
  constexpr int trials = 4000;
  Noise noise(n);
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const MedianInterval interval = interval_of(noise.times(n, 0.03, rho));
    held += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
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
  EXPECT_DOUBLE_EQ(geometric_mean(Values{4, 1, 1.0 / 32}), 0.5);
  EXPECT_NEAR(geometric_mean(seven), 3.072722817511793, 1e-14);
  EXPECT_DOUBLE_EQ(harmonic_mean(Values{1, 4, 4}), 2);
  EXPECT_NEAR(harmonic_mean(seven), 2.66167374175812, 1e-14);
}

TEST(Estimates, AreExactForEqualValues) {
  const Values equal(7, 0.1);
  EXPECT_EQ(summarize(equal).mean, 0.1);
  EXPECT_EQ(summarize(equal).sd, 0);
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
  EXPECT_NEAR(*summary.sd, 2.7688746209726918, 1e-14);
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

TEST(WeightedMedian, HasHalfOfTheWeightOnEachSide) {
  EXPECT_EQ(weighted_median(Values{3, 1, 2}, Values{1, 1, 1}), 2);
  EXPECT_EQ(weighted_median(Values{3, 1, 2}, Values{5, 1, 1}), 3);
  EXPECT_EQ(weighted_median(Values{4, 1, 2, 3}, Values{1, 1, 1, 1}), 2.5);
  EXPECT_EQ(weighted_median(Values{1, 2, 10}, Values{1, 1, 2}), 6);
  EXPECT_EQ(weighted_median(Values{7}, Values{0.1}), 7);
  expect_refused([] { weighted_median(Values{}, Values{}); }, "no values");
  expect_refused([] { weighted_median(Values{1, 2}, Values{1}); }, "2 values have 1 weights");
  expect_refused([] { weighted_median(Values{1, 2}, Values{1, 0}); }, "not positive");
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
  const double r1 = cautious_autocorrelation(times);
  const MedianInterval estimated = median_interval(times);
  EXPECT_GT(r1, *lag1_rank_autocorrelation(times));
  EXPECT_EQ(estimated.r1, r1);
  EXPECT_LE(estimated.low, median_interval(times, 1.96, r1).low);
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
    // Coverage that the correction adds by taking chance for correlation; integer ranks already give 15
    // samples over 99 %.
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
  // Repeats one value, so that only missing ranks can keep it from stopping.
  const Values equal(300, 1.0);
  const StopRule eager{.min_samples = 5, .check_every = 1};
  EXPECT_EQ(decide(eager, std::span(equal).first(7), 0), Stop::go_on);
  EXPECT_EQ(decide(eager, std::span(equal).first(8), 0), Stop::converged);
  EXPECT_EQ(decide(eager, median_interval(std::span(equal).first(150), 1.96, 0.95), 0), Stop::go_on);
  EXPECT_EQ(decide(eager, median_interval(std::span(equal).first(160), 1.96, 0.95), 0), Stop::converged);
}

TEST(Autocorrelation, CautiousEstimateIsSeldomTooLow) {
  EXPECT_EQ(cautious_autocorrelation(Values{1, 2}), 0);
  EXPECT_EQ(cautious_autocorrelation(Values(20, 3.0)), 0);
  EXPECT_EQ(cautious_autocorrelation(Values{1, 2, 3, 4, 5, 6, 7, 8}), 0.95);
  Noise noise(11);
  for (const double rho : {0.0, 0.6, 0.9}) {
    for (const std::size_t n : {15, 40, 150}) {
      int enough = 0;
      int enough_plain = 0;
      for (int trial = 0; trial < 1000; ++trial) {
        const Values times = noise.times(n, 0.02, rho);
        enough += cautious_autocorrelation(times) >= 0.97 * rho ? 1 : 0;
        enough_plain += *lag1_rank_autocorrelation(times) >= 0.97 * rho ? 1 : 0;
      }
      EXPECT_GE(enough, 600) << rho << ' ' << n;
      EXPECT_LT(enough_plain, 600) << rho << ' ' << n;
    }
  }
}

TEST(Drift, IsFoundWhereThereIsOneAndSeldomElse) {
  Values rising(20);
  std::iota(rising.begin(), rising.end(), 1.0);
  EXPECT_DOUBLE_EQ(*drift(rising), 10 / 10.5);
  std::ranges::reverse(rising);
  EXPECT_DOUBLE_EQ(*drift(rising), -10 / 10.5);
  EXPECT_FALSE(drift(std::span(rising).first(7)));
  EXPECT_FALSE(drift(Values(20, 2.0)));
  Values steps(20, 2.0);  // of a coarse clock
  std::fill(steps.begin() + 10, steps.end(), 3.0);
  EXPECT_DOUBLE_EQ(*drift(steps), 1 / 2.5);
  Noise noise(12);
  for (const std::size_t n : {15, 40, 200}) {
    int found = 0;
    for (int trial = 0; trial < 1000; ++trial) found += drift(noise.times(n, 0.02, 0)) ? 1 : 0;
    EXPECT_NEAR(found, 100, 40) << n;
  }
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
      held += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
      converged += stop == Stop::converged ? 1 : 0;
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

// Many measurements by decide itself: mean samples, share converged, and of those the share that holds 1.
struct Judged {
  double mean_n = 0, converged = 0, held = 0;
};
Judged judge_often(const std::function<Values(Noise&)>& stream) {
  constexpr int trials = 400;
  const StopRule rule;
  Noise noise(23);
  Judged out;
  for (int trial = 0; trial < trials; ++trial) {
    const Values all = stream(noise);
    std::size_t n = rule.min_samples;
    Stop stop = Stop::go_on;
    for (; (stop = decide(rule, std::span(all).first(n), 0)) == Stop::go_on; n += rule.check_every) {
    }
    out.mean_n += static_cast<double>(n) / trials;
    if (stop != Stop::converged) continue;
    const MedianInterval interval = median_interval(std::span(all).first(n));
    out.converged += 1;
    out.held += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
  }
  out.held /= std::max(1.0, out.converged);
  out.converged /= trials;
  return out;
}

TEST(StopRules, IndependentSamplesConvergeAtNearlyTheSameCost) {
  const struct { double sd, most; } known[] = {{0.001, 18}, {0.005, 18}, {0.01, 25}, {0.02, 52}, {0.03, 92}};
  for (const auto& [sd, most] : known) {
    const Judged judged = judge_often([sd = sd](Noise& noise) { return noise.times(200, sd, 0); });
    record(fmt::format("independent_sd{}_n", sd), judged.mean_n);
    EXPECT_GE(judged.converged, 0.95) << sd;
    EXPECT_GE(judged.held, 0.95) << sd;
    EXPECT_LE(judged.mean_n, most) << sd;
  }
}

TEST(StopRules, CorrelatedSamplesThatConvergedHoldTheMedian) {
  for (const double rho : {0.6, 0.9}) {
    for (const double sd : {0.002, 0.005}) {
      const Judged judged = judge_often([=](Noise& noise) { return noise.times(200, sd, rho); });
      record(fmt::format("rho{}_sd{}_held", rho, sd), judged.held);
      EXPECT_GE(judged.held, 0.9) << rho << ' ' << sd;
      EXPECT_GE(judged.converged, 0.5) << rho << ' ' << sd;
    }
  }
  // Noise so strong that a quiet stretch alone is narrow enough: few converge, and fewer are right.
  const Judged strong = judge_often([](Noise& noise) { return noise.times(200, 0.03, 0.9); });
  EXPECT_LE(strong.converged, 0.05);
}

// A device that warms up by 5 % over 100 samples, and one that changes its clock every 20.
TEST(StopRules, DriftKeepsSamplesFromConverging) {
  const auto warming = [](double sd) {
    return judge_often([sd](Noise& noise) {
      Values times = noise.times(200, sd, 0);
      for (std::size_t i = 0; i < times.size(); ++i)
        times[i] *= 0.95 + 0.05 * std::min(1.0, static_cast<double>(i) / 100);
      return times;
    });
  };
  EXPECT_LE(warming(0.001).converged, 0.01);
  EXPECT_LE(warming(0.003).converged, 0.25) << "0.7 % in 15 samples is little beside their noise";
  const Judged levels = judge_often([](Noise& noise) {
    Values times = noise.times(200, 0.001, 0);
    const auto phase = static_cast<std::size_t>(40 * noise.uniform());
    for (std::size_t i = 0; i < times.size(); ++i) times[i] *= (i + phase) / 20 % 2 == 0 ? 0.975 : 1.025;
    return times;
  });
  // Three in ten begin in a level and have enough samples before it ends.
  EXPECT_LE(levels.converged, 0.4);
}

// Slow changes below the noise of neighbouring samples: medians of parts tell what autocorrelation does not.
TEST(BlockSpread, IsWideWhereTheMachineChangesSlowly) {
  const auto held = [](const IntervalOf& interval_of) {
    constexpr int trials = 400;
    Noise noise(31);
    int count = 0;
    for (int trial = 0; trial < trials; ++trial) {
      Values all = noise.times(400, 0.03, 0);
      const Values slow = noise.times(400, 0.03, 0.99);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] *= slow[i];
      const MedianInterval interval = interval_of(Values(all.begin(), all.begin() + 200));
      const double next = median(std::span(all).subspan(200));
      count += interval.low <= next && next <= interval.high ? 1 : 0;
    }
    return static_cast<double>(count) / trials;
  };
  const double with = held([](const Values& times) { return median_interval(times); });
  const double without =
      held([](const Values& times) { return median_interval(times, 1.96, cautious_autocorrelation(times)); });
  record("slow_held", with);
  record("slow_held_by_neighbours_alone", without);
  EXPECT_GE(with, 0.85);
  EXPECT_LE(without, 0.6) << "the bound does not notice missing blocks";
}

TEST(BlockSpread, IsThatOfThirdsForIndependentSamples) {
  EXPECT_FALSE(block_spread(Values{1, 2, 3, 4, 5, 6, 7, 8}, 1.96));
  EXPECT_FALSE(block_spread(Values(20, 0.0), 1.96));
  const auto thirds = block_spread(Values{1, 2, 3, 9, 8, 7, 4, 5, 6}, 1.96);
  EXPECT_EQ(thirds->first, 2);
  EXPECT_EQ(thirds->second, 8);
  EXPECT_EQ(block_spread(Values(100, 3.0), 1.96)->second, 3);
  Noise noise(32);
  int wider = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const Values times = noise.times(100, 0.03, 0);
    const MedianInterval one = median_interval(times, 1.96, cautious_autocorrelation(times)),
                         both = median_interval(times);
    wider += both.high - both.low > 1.001 * (one.high - one.low) ? 1 : 0;
  }
  EXPECT_GE(wider, 50);
  EXPECT_LE(wider, 250);
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
  // Ignores a spread without degrees of freedom.
  EXPECT_EQ(common_spread(spreads).degrees, common_spread(known).degrees);
  // Trusts many equal spreads fully, because they vary less than by chance.
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
  EXPECT_DOUBLE_EQ(*kendall(iq, hours), -5.0 / 45);
  const Values x{1, 2, 2, 3, 5};
  const Values y{2, 1, 4, 4, 6};
  EXPECT_NEAR(*kendall(x, y), 6.0 / 9, 1e-15);
  EXPECT_NEAR(*kendall(Values{12, 2, 1, 12, 2}, Values{1, 4, 7, 1, 0}), -0.4714045207910316, 1e-15);
}

TEST(RankCorrelation, SeesOnlyOrder) {
  const Values x{1, 2, 3, 4, 5};
  const Values up{1, 10, 100, 1000, 1e4};
  const Values down{-1, -10, -100, -1000, -1e4};
  EXPECT_EQ(kendall(x, up), 1);
  EXPECT_EQ(kendall(x, down), -1);
  EXPECT_FALSE(kendall(x, Values(5, 2.0)));
  EXPECT_FALSE(kendall(Values(5, 2.0), x));
}

TEST(Refusals, EmptyAndNotFinite) {
  const Values good{1, 2, 3};
  const std::vector<std::function<void(const Values&)>> calls{
      [](const Values& v) { median(v); },
      [](const Values& v) { quantile(v, 0.5); },
      [](const Values& v) { geometric_mean(v); },
      [](const Values& v) { harmonic_mean(v); },
      [](const Values& v) { average_ranks(v); },
      [](const Values& v) { lag1_rank_autocorrelation(v); },
      [](const Values& v) { summarize(v); },
      [](const Values& v) { median_interval(v); },
      [](const Values& v) { median_interval(v, 1.96, 0); },
      [](const Values& v) { decide({}, v, 0); },
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
  expect_refused([&] { median_interval(good, 0); }, "z is 0");
  expect_refused([&] { median_interval(good, nan); }, "z is nan");
  expect_refused([&] { median_interval(good, 1.96, nan); }, "the autocorrelation");
  expect_refused([&] { decide({.precision = 0}, good, 0); }, "the precision is 0");
  expect_refused([&] { decide({.precision = nan}, good, 0); }, "the precision is nan");
  expect_refused([&] { decide({.max_seconds = 0}, good, 0); }, "the time cap is 0 s");
  expect_refused([&] { decide({.check_every = 0}, good, 0); }, "check_every is 0");
  expect_refused([&] { decide({}, good, nan); }, "nan s have passed");
  expect_refused([&] { decide({}, good, -1); }, "-1 s have passed");
  expect_refused([&] { kendall(good, Values{1, 2}); }, "3 values cannot be paired with 2");
  expect_refused([&] { kendall(Values{1}, Values{1}); }, "one pair has no correlation");
}

}  // namespace
}  // namespace clweave::commands
