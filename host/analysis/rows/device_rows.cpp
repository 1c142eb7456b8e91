// SPDX-License-Identifier: Apache-2.0
#include "analysis/rows/device_rows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numbers>
#include <tuple>

#include "analysis/rows/prior.hpp"
#include "base/random.hpp"
#include "base/stats.hpp"
#include "suite/published.hpp"

namespace clweave::rows {

namespace {

constexpr std::size_t most_draws = 200, least_draws = 20;
constexpr std::size_t draws_of_far_ends = 300;  // of intervals beyond 95 %, whose ends few draws reach
constexpr std::size_t most_reads = 20'000 * most_draws;

// Returns a normal deviate (Box and Muller 1958; the second of the pair is not needed).
double normal(std::uint64_t key, std::uint64_t i) {
  const Random<double> uniform(key, i);
  const double radius = std::sqrt(-2 * std::log((uniform(0) + 1) / 2 + 0x1p-54));
  return radius * std::cos(std::numbers::pi * uniform(1));
}

// Returns whether a time is a constant without samples. One of too few samples for an interval is not: it is
// the least certain.
bool is_exact(const RunTime& run) { return run.log_variance == 0 && !run.min_s; }

// Returns a deviate of a t distribution with four degrees of freedom, scaled to a variance of 1: a normal one
// over the root of a chi-square one, here -2 ln of the product of two uniform ones.
double with_tails(std::uint64_t key, std::uint64_t i) {
  const Random<double> uniform(key, i);
  const double product = ((uniform(2) + 1) / 2 + 0x1p-54) * ((uniform(3) + 1) / 2 + 0x1p-54);
  return normal(key, i) / std::sqrt(-std::log(product));
}

// The spread between processes that the repetitions of a case do not show themselves.
struct Luck {
  double sd = 0;           // of the logarithm
  bool has_tails = false;  // those of with_tails

  double deviate(std::uint64_t key, std::uint64_t i) const {
    return has_tails ? sd * with_tails(key, i) : sd * normal(key, i);
  }
};

// Returns what is missing to the spread of other sessions (prior.hpp), which is a floor whatever the number
// of repetitions: few of them agree by chance. A resample of repetitions has the mean square of their
// deviations as its variance.
Luck luck_of(const std::vector<const RunTime*>& runs, const std::vector<double>& values,
             std::string_view device_type) {
  const RunTime& run = *runs.front();
  if (is_exact(run)) return {};
  const auto prior = prior_spread(device_type, run.timer, run.time_s / static_cast<double>(run.commands));
  double mean = 0, squares = 0;
  for (const double value : values) mean += std::log(value) / static_cast<double>(values.size());
  for (const double value : values)
    squares += std::pow(std::log(value) - mean, 2) / static_cast<double>(values.size());
  if (!std::isfinite(squares)) squares = 0;
  return {std::sqrt(std::max(prior.variance - squares, 0.0)), std::isfinite(prior.degrees)};
}

// Draws the median of many repetitions without resampling them all: their spread includes their own
// intervals, and the median of a resample is an order statistic whose rank has a standard deviation of
// n / (2 sqrt(n + 2)), that of a beta distribution.
constexpr std::size_t many = 64;
double drawn_of_many(const std::vector<double>& sorted, std::uint64_t draw, std::size_t index) {
  const auto n = static_cast<double>(sorted.size());
  const Random<std::uint64_t> choice(draw, index);
  const double place = 0.5 + normal(choice(0), draw) / (2 * std::sqrt(n + 2));
  const double rank = std::clamp(place, 0.0, 1.0) * (n - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Draws medians over repetitions: each repetition with replacement, its time from its interval and the spread
// between processes. One draw takes the same repetitions at the same times for every number asked.
class Draws {
 public:
  // `value(run, slower)` returns the number of a repetition that takes `slower` times as long.
  template <typename Value>
  Draws(const std::vector<const RunTime*>& runs, std::size_t index, std::string_view device_type, Value value)
      : runs_(runs), index_(index), value_(std::move(value)) {
    std::vector<double> values;
    for (const auto* run : runs) values.push_back(value_(*run, 1));
    luck_ = luck_of(runs, values, device_type);
    if (runs.size() <= many) return;
    std::ranges::sort(values);
    by_time_ = std::move(values);
  }

  double at(std::uint64_t draw) const {
    if (!by_time_.empty()) return value_of_many(draw);
    const std::size_t n = runs_.size();
    const Random<std::uint64_t> choice(draw, index_);
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
      const RunTime& run = *runs_[choice(i) % n];
      const double own = std::log(run.high_s / run.low_s) / (2 * 1.96);
      const double slower =
          own * normal(choice(n + i), draw) + (luck_.sd > 0 ? luck_.deviate(choice(2 * n + i), draw) : 0);
      values.push_back(value_(run, std::exp(slower)));
    }
    return median(values);
  }

 private:
  // Returns the median of many repetitions, whose standard deviation is 1.2533 / sqrt(n) times theirs.
  double value_of_many(std::uint64_t draw) const {
    const double median = drawn_of_many(by_time_, draw, index_);
    const auto n = static_cast<double>(by_time_.size());
    const Random<std::uint64_t> choice(draw, index_);
    const double slower = std::exp(1.2533 / std::sqrt(n) * luck_.sd * normal(choice(1), draw));
    return median / value_(*runs_.front(), 1) * value_(*runs_.front(), slower);
  }

  const std::vector<const RunTime*>& runs_;
  std::size_t index_;
  Luck luck_;
  std::function<double(const RunTime&, double)> value_;
  std::vector<double> by_time_;  // only of many repetitions
};

}  // namespace

const Value* TimedCase::axis(std::string_view wanted) const {
  static const Value event{std::string("event")}, host{std::string("host")};
  if (wanted == timer_axis) return representative->timer == Timer::host ? &host : &event;
  return name->axis(wanted);
}

std::string TimedCase::cell(std::string_view wanted) const {
  const Value* value = axis(wanted);
  return value != nullptr ? text_of(*value) : "";
}

std::int64_t TimedCase::number(std::string_view wanted) const {
  const Value* value = axis(wanted);
  const auto* n = value != nullptr ? std::get_if<std::int64_t>(value) : nullptr;
  return n != nullptr ? *n : 0;
}

bool TimedCase::is(std::string_view wanted, std::string_view word) const {
  const Value* value = axis(wanted);
  const auto* text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
  return text != nullptr && *text == word;
}

bool TimedCase::is_disturbed() const {
  return 2 * std::ranges::count_if(runs, [](const RunTime* run) { return run->disturbed; }) >=
         std::ssize(runs);
}

double Resample::operator[](std::size_t index) const {
  ++rows_->reads;
  if (draw_ == 0) return rows_->timed[index].median_s;
  auto& drawn = rows_->drawn[index];
  if (drawn.size() < draw_) {
    drawn.clear();
    const Draws seconds(rows_->timed[index].runs, index, rows_->results->type,
                        [](const RunTime& run, double slower) { return run.time_s * slower; });
    for (std::size_t k = 1; k <= draws_; ++k) drawn.push_back(seconds.at(k));
  }
  return drawn[draw_ - 1];
}

namespace {

std::vector<const RunTime*> runs_that_have(const TimedCase& timed, Number RunTime::*what) {
  std::vector<const RunTime*> out;
  std::ranges::copy_if(timed.runs, std::back_inserter(out),
                       [&](const RunTime* run) { return (run->*what).has_value(); });
  return out;
}

}  // namespace

Number Resample::median_of(const TimedCase& timed, Number RunTime::*what,
                           const std::function<double(double value, double slower)>& at) const {
  const auto runs = runs_that_have(timed, what);
  if (runs.empty()) return {};
  const auto value = [&](const RunTime& run, double slower) { return at(*(run.*what), slower); };
  if (draw_ > 0) return Draws(runs, timed.index, rows_->results->type, value).at(draw_);
  std::vector<double> values;
  for (const auto* run : runs) values.push_back(value(*run, 1));
  return median(values);
}

Number Resample::fraction_of_peak(const TimedCase& timed) const {
  return median_of(timed, &RunTime::fraction_of_peak,
                   [](double fraction, double slower) { return fraction / slower; });
}

Number Resample::counted(const TimedCase& timed) const {
  return median_of(timed, &RunTime::value, [](double count, double) { return count; });
}

void Resample::count(std::size_t reads) const { rows_->reads += reads; }

const RowSelection& DeviceRows::of(const std::string& family) const {
  static const RowSelection none;
  const auto it = by_family.find(family);
  return it != by_family.end() ? it->second : none;
}

RowSelection DeviceRows::with_tuned(const std::string& family) const {
  RowSelection out = of(family);
  if (const auto it = tuned_by_family.find(family); it != tuned_by_family.end())
    out.insert(out.end(), it->second.begin(), it->second.end());
  return out;
}

namespace {

// Adds baselines; rows of the same work, program and clock are repetitions.
void add_natives(std::vector<TimedCase>& out, const ResultsSet& set, const DeviceResults& device) {
  std::map<std::tuple<std::string_view, std::string_view, Timer>, std::size_t> known;
  for (const auto& native : set.baselines) {
    if (!native.runs_on(device)) continue;
    const auto [at, is_new] = known.try_emplace({native.api, native.of->id, native.run.timer}, out.size());
    if (is_new) {
      TimedCase& timed = out.emplace_back();
      timed.name = native.of;
      timed.api = native.api;
      timed.representative = &native.run;
    }
    out[at->second].runs.push_back(&native.run);
  }
}

// Collects the runs of a case by one timer; `any` is null if there are none.
TimedCase timed_by(Timer timer, const CaseTimes& at) {
  TimedCase timed;
  timed.name = at.name;
  timed.at = &at;
  timed.tuned = at.tuned;
  for (const auto& run : at.runs) {
    if (run.timer != timer || !at.counts(run)) continue;
    timed.runs.push_back(&run);
    // Not every run measures peaks.
    if (timed.representative == nullptr || (!timed.representative->fraction_of_peak && run.fraction_of_peak))
      timed.representative = &run;
  }
  return timed;
}

}  // namespace

std::vector<DeviceRows> device_rows(const ResultsSet& set) {
  std::vector<DeviceRows> out;
  for (const auto& device : set.devices) {
    if (device.published) continue;
    DeviceRows& rows = out.emplace_back();
    rows.results = &device;
    for (const auto& at : device.cases) {
      for (const auto timer : {Timer::event, Timer::host, Timer::none}) {
        TimedCase timed = timed_by(timer, at);
        if (timed.representative != nullptr) rows.timed.push_back(std::move(timed));
      }
    }
    std::ranges::stable_sort(rows.timed, {}, [](const TimedCase& timed) { return timed.runs.front()->row; });
    const std::size_t ours = rows.timed.size();
    add_natives(rows.timed, set, device);
    rows.drawn.resize(rows.timed.size());
    for (std::size_t i = 0; i < rows.timed.size(); ++i) {
      TimedCase& timed = rows.timed[i];
      timed.index = i;
      std::vector<double> medians;
      for (const auto* run : timed.runs) medians.push_back(run->time_s);
      timed.median_s = median(medians);
      (i >= ours     ? rows.baselines
       : timed.tuned ? rows.tuned_by_family[timed.family()]
                     : rows.by_family[timed.family()])
          .push_back(&timed);
    }
  }
  return out;
}

std::optional<Estimate> estimate(const DeviceRows& rows,
                                 const std::function<std::optional<double>(Resample)>& number, double level) {
  const std::size_t before = rows.reads;
  const auto measured = number(rows.measured());
  const std::size_t draws = std::clamp(most_reads / std::max<std::size_t>(rows.reads - before, 1),
                                       least_draws, level > 0.95 ? draws_of_far_ends : most_draws);
  if (!measured) return {};
  const bool certain = std::ranges::all_of(rows.timed, [](const TimedCase& timed) {
    return timed.runs.size() == 1 && is_exact(*timed.representative);
  });
  if (certain || !std::isfinite(*measured)) return Estimate{*measured, *measured, *measured};
  std::vector<double> drawn;
  for (std::size_t k = 1; k <= draws; ++k) {
    if (const auto value = number(Resample(rows, k, draws)); value && std::isfinite(*value))
      drawn.push_back(*value);
  }
  if (drawn.empty()) return Estimate{*measured, *measured, *measured};
  // The minimum of many noisy times lies below most draws: the interval includes the number as measured.
  return Estimate{*measured, std::min(*measured, quantile(drawn, (1 - level) / 2)),
                  std::max(*measured, quantile(drawn, (1 + level) / 2))};
}

namespace {

// Builds the device as far as its rows tell, which is enough for Family::findings.
DeviceInfo device_of(const DeviceRows& rows) {
  DeviceInfo device;
  device.name = rows.results->name;
  device.platform = rows.results->platform;
  device.driver = rows.results->driver;
  device.type = rows.results->type;
  device.compute_units = rows.results->compute_units;
  return device;
}

// Returns nothing if a run has no such time.
std::optional<double> call_of(const TimedCase& timed) {
  std::vector<double> values;
  for (const auto* run : timed.runs) {
    if (!run->call_s) return {};
    values.push_back(*run->call_s);
  }
  return median(values);
}

double median_of(const TimedCase& timed, double RunTime::*what) {
  std::vector<double> values;
  for (const auto* run : timed.runs) values.push_back(run->*what);
  return median(values);
}

Outcome outcome_of(Case at, const TimedCase& timed) {
  Outcome out(std::move(at), 0);
  static_cast<Measurement&>(out) = static_cast<const Measurement&>(*timed.representative);
  for (const auto* run : timed.runs) {
    out.value = std::max(out.value, run->value);
    if (run->min_s && (!out.min_s || *run->min_s < *out.min_s)) out.min_s = run->min_s;
  }
  out.call_s = call_of(timed);
  out.converged = std::ranges::none_of(timed.runs, &RunTime::unsettled);
  out.disturbed = timed.is_disturbed();
  out.steps_s = timed.representative->steps_s;
  // Energy is not drawn again with the times: a finding from it would look exact.
  out.energy_j = out.energy_low_j = out.energy_high_j = {};
  return out;
}

}  // namespace

std::optional<Case> case_of(const Family& family, const CaseName& row) {
  Case at{family.name, {}, 0};
  for (const auto& axis : family.axes) {
    const Value* value = row.axis(axis.name);
    if (value == nullptr) return {};
    at.axes.emplace_back(axis.name, *value);
  }
  return at;
}

Conclusions::Conclusions(const Family& family, std::span<const TimedCase* const> rows,
                         const DeviceRows& device, Times times)
    : family_(&family), device_(device_of(device)), times_(times) {
  for (const auto* row : rows) {
    auto at = case_of(family, *row->name);
    if (!at) continue;
    outcomes_.push_back(outcome_of(std::move(*at), *row));
    rows_.push_back(row);
    intervals_.emplace_back(median_of(*row, &RunTime::low_s), median_of(*row, &RunTime::high_s));
  }
}

const std::vector<Finding>& Conclusions::by(Resample clock) const {
  const auto [it, is_new] = by_draw_.try_emplace(clock.draw());
  // Counts a row's fraction and what the findings look at like another two times: else a search of 20 000
  // rows is concluded 200 times.
  clock.count(2 * rows_.size());
  if (!is_new || !family_->findings) {
    clock.count(rows_.size());
    return it->second;
  }
  const bool has_intervals = clock.draw() == 0 && times_ == Times::with_intervals;
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    Outcome& outcome = outcomes_[i];
    outcome.time_s = clock[rows_[i]->index];
    outcome.fraction_of_peak = clock.fraction_of_peak(*rows_[i]);
    const auto [low_s, high_s] = intervals_[i];
    const bool is_known = has_intervals && std::ranges::all_of(rows_[i]->runs, &RunTime::has_interval);
    outcome.low_s = is_known ? Number(low_s) : Number();
    outcome.high_s = is_known ? Number(high_s) : Number();
  }
  return it->second = findings_of(*family_, outcomes_, device_);
}

const Finding* Conclusions::find(const std::string& finding, Resample clock) const {
  const auto& all = by(clock);
  const auto it = std::ranges::find(all, finding, &Finding::name);
  return it != all.end() ? &*it : nullptr;
}

RowSelection Conclusions::rows_of(const Finding& found) const {
  RowSelection out;
  for (const auto* outcome : found.from)
    out.push_back(rows_.at(static_cast<std::size_t>(outcome - outcomes_.data())));
  return out;
}

}  // namespace clweave::rows
