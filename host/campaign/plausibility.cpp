// SPDX-License-Identifier: Apache-2.0
#include "campaign/plausibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/stats.hpp"
#include "results/contradictions.hpp"
#include "results/disturbance.hpp"
#include "suite/family.hpp"
#include "suite/published.hpp"

namespace clweave::campaign {

namespace {

std::string sibling_key(const Case& at) {
  Case key = at;
  std::erase_if(key.axes, [](const auto& axis) { return is_size(axis.first); });
  return key.id();
}

// Returns how many times more work `big` does than `small`; 0 unless they differ in one size alone.
double growth(const Case& small, const Case& big) {
  double factor = 1;
  for (std::size_t a = 0; a < small.axes.size(); ++a) {
    const auto& [name, from] = small.axes[a];
    const auto& to = big.axes[a].second;
    if (from == to) continue;
    const auto* x = std::get_if<std::int64_t>(&from);
    const auto* y = std::get_if<std::int64_t>(&to);
    if (factor != 1 || x == nullptr || y == nullptr || *x <= 0) return 0;
    factor = static_cast<double>(*y) / static_cast<double>(*x);
  }
  return factor;
}

// Excess over a peak that variation between measurements explains.
constexpr double beaten = 1.05;
// Neither a cache nor rounding explains twice the work in less than this part of the time.
constexpr double far_less = 0.7;
// Allows for a few sums of tiles beside a working set that the cache holds.
constexpr double beside = 1.05;
// The working sets of the cache measurement double: up to the next one the cache may hold a part, as caches
// of 72 or 96 MiB do.
constexpr double next_reread = 2;
// Below this the launch overhead dominates the time.
constexpr double least_s = 20e-6;

// A device does not work longer than the host waits for it, but for what clocks and their ticks differ by. Of
// each batch, in seconds.
constexpr double most_of_host = 1.05, longer_s = 20e-6;
// Least event time of a single sample over its host time, and over the median of all: a sample that waited
// for the host has an event time like the others.
constexpr double least_of_host = 1e-4, least_of_events = 0.1;
// The bound for the median, over the host's least, which was delayed least, is narrower. From the first start
// to the last end the device works for most of the host's time: at least 0.48 of it for single executions and
// 0.93 back to back, in all rows published so far. The host may lose a millisecond around them, and per
// launch what it lost when the timer was certified, as some drivers report the end late, and what it took to
// enqueue.
constexpr double least_of_median = 0.25, host_alone_s = 1e-3, most_of_latency = 1.3;
// Equal stamps mean a timer that stands still only where the host's time is much longer.
constexpr double still = 20;
constexpr std::size_t still_samples = 3;

std::string apart(double event_s, double host_s, const char* what) {
  return fmt::format("{} took {:.3g} s by the time stamps and {:.3g} s by the host's clock", what, event_s,
                     host_s);
}

bool is_longer(double event_s, double host_s, int batch) {
  return (event_s - most_of_host * host_s) * batch > longer_s;
}

// Returns why the device's time stamps cannot be true; empty if they may be. A certified timer can still
// wrap, or fail later.
std::string stamp_problem(const Row& row) {
  if (!row.record.ok() || row.record.timer != Timer::event || row.samples.empty()) return {};
  const Sample& first = row.samples.front();
  bool all_same = row.samples.size() >= still_samples;
  std::vector<double> events, hosts;
  for (const auto& sample : row.samples) {
    events.push_back(sample.event_s);
    hosts.push_back(sample.host_s);
  }
  if (row.least_host_s > 0) hosts.push_back(row.least_host_s);
  const double event_s = median(events), host_s = std::ranges::min(hosts);
  for (const auto& sample : row.samples) {
    const double heard_s = std::max(0.0, sample.host_s - row.completion_latency_s / sample.batch);
    const bool is_short =
        sample.event_s <= least_of_host * heard_s && sample.event_s <= least_of_events * event_s;
    if (is_short || is_longer(sample.event_s, sample.host_s, sample.batch))
      return apart(sample.event_s, sample.host_s, "an execution");
    all_same = all_same && sample.event_s == first.event_s && sample.host_s > still * sample.event_s;
  }
  if (all_same)
    return fmt::format(
        "by the time stamps every execution took {:.3g} s, by the host's clock {:.3g} s or more",
        first.event_s, still * first.event_s);
  const bool too_short =
      event_s < least_of_median * host_s &&
      (host_s - event_s) * first.batch > host_alone_s + most_of_latency * row.completion_latency_s;
  if (too_short) return apart(event_s, host_s, "the median execution");
  return {};
}

double over(const Number& time_s, const Number& end_s) { return time_s && end_s ? *time_s / *end_s : 1; }

}  // namespace

void PlausibilityCheck::learn(const Row& row, const Job& job) {
  const Record& record = row.record;
  if (!record.ok() || !stamp_problem(row).empty()) return;
  if (job.is_peak && record.peak != Peak::none) {
    const double rate = rate_of(record).value_or(0);
    Best& best = peaks_[record.peak];
    best.rate = std::max(best.rate, rate);
    best.at_most = std::max(best.at_most, rate * over(record.time_s, record.time_low_s));
    bool& quiet = best.quiet.try_emplace(job.at.id(), false).first->second;
    quiet = quiet || !is_slowed(record);
  }
  if (!record.time_low_s || !record.time_high_s) return;
  auto& others = siblings_[sibling_key(job.at)];
  const auto known =
      std::ranges::find_if(others, [&](const Seen& seen) { return seen.at.axes == job.at.axes; });
  if (known == others.end()) {
    others.push_back({job.at, *record.time_low_s, *record.time_high_s, is_slowed(record)});
  } else if (*record.time_high_s < known->high_s) {
    known->low_s = *record.time_low_s;
    known->high_s = *record.time_high_s;
    known->slowed = is_slowed(record);
  }
}

bool PlausibilityCheck::is_cached(const Row& row) const {
  return static_cast<double>(row.buffer_bytes) <= beside * cache_bytes_;
}

bool PlausibilityCheck::may_be_cached(const Row& row) const {
  const auto fits = [&](std::int64_t bytes) { return row.buffer_bytes <= static_cast<std::uint64_t>(bytes); };
  return static_cast<double>(row.buffer_bytes) < next_reread * cache_bytes_ ||
         std::ranges::any_of(device_.host_caches, fits);
}

Implausible PlausibilityCheck::check(const Row& row, const Job& job) const {
  const Record& record = row.record;
  if (std::string why = stamp_problem(row); !why.empty())
    return {Implausible::Against::stamps, std::move(why)};
  if (!record.ok() || job.is_peak || !record.time_s) return {};
  const auto best = [&](Peak peak) {
    const auto it = peaks_.find(peak);
    return it == peaks_.end() ? Best() : it->second;
  };
  // A kernel that reads more than it writes, or less, may exceed the copy rate, but not also the rates of
  // reads and of writes.
  const bool memory = of_memory(record.peak), copies = record.peak == Peak::copy;
  const Best own = best(record.peak);
  std::vector<Best> bounds = {own};
  if (memory && !copies) bounds.push_back(best(Peak::copy));
  if (copies) bounds.insert(bounds.end(), {best(Peak::read), best(Peak::write)});
  const double bound = std::ranges::max(bounds, {}, &Best::at_most).at_most;
  const double rate = rate_of(record).value_or(0) * over(record.time_s, record.time_high_s);
  const auto too_low = [](const Best& one) {
    return std::ranges::any_of(one.quiet, [](const auto& peak) { return !peak.second; });
  };
  if (own.at_most > 0 && rate > beaten * bound && !(memory && may_be_cached(row)))
    return {Implausible::Against::peak,
            fmt::format("{:.4g} {} where family {} reaches {:.4g}", rate_of(record).value_or(0),
                        unit_of(record.peak), peak_family, std::ranges::max(bounds, {}, &Best::rate).rate),
            {},
            std::ranges::any_of(bounds, too_low)};
  // Both medians need an interval, and the intervals must not overlap.
  if (!record.time_low_s || !record.time_high_s) return {};
  const double low_s = *record.time_low_s, high_s = *record.time_high_s;
  if (const auto others = siblings_.find(sibling_key(job.at)); others != siblings_.end()) {
    for (const auto& other : others->second) {
      const double up = growth(other.at, job.at), down = growth(job.at, other.at);
      if (up >= 2 && other.low_s > least_s && high_s < far_less * other.low_s)
        return {Implausible::Against::sibling,
                fmt::format("{:.3g} times the work of {} took {:.3g} of its time", up, other.at.id(),
                            high_s / other.low_s),
                other.at, other.slowed};
      if (down >= 2 && low_s > least_s && other.high_s < far_less * low_s)
        return {Implausible::Against::sibling,
                fmt::format("{:.3g} times the work, {}, took {:.3g} of its time", down, other.at.id(),
                            other.high_s / low_s),
                other.at, is_slowed(record)};
    }
  }
  return {};
}

void PlausibilityCheck::complete(Row& row, const Job& job, const Implausible& problem) {
  Record& record = row.record;
  if (!record.ok()) return;
  const bool believed = stamp_problem(row).empty();
  if (job.is_peak) learn(row, job);
  if (believed && !job.is_peak) {
    if (const auto it = peaks_.find(record.peak); it != peaks_.end() && it->second.any_quiet()) {
      if (const Number rate = rate_of(record)) record.fraction_of_peak = *rate / it->second.rate;
    }
    if (of_memory(record.peak) && cache_bytes_ > 0) record.cached = is_cached(row) ? "yes" : "no";
  }
  if (problem.undecided) {
    add_reason(record, "not judged, as the machine was not quiet: " + problem.why);
    if (record.disturbed.empty()) record.disturbed = "what it is held against was disturbed";
  } else if (problem) {
    record.status = Status::implausible;
    add_reason(record, problem.why);
    if (believed) return;
    // Clear all numbers, those of sensors too: without a valid time stamp none of them must be plotted.
    clear_measured(record);
    for (const auto& column : columns()) {
      const auto* number = std::get_if<Number Record::*>(&column.member);
      if (number != nullptr && column.name != "clock_mhz" && column.name != "build_ms") record.** number = {};
    }
    row.samples.clear();
    return;
  }
  if (!job.is_peak) learn(row, job);
  // Findings compare configurations that were chosen in the same way, and whose output was right.
  if (job.tuned || is_unchecked(record)) return;
  if (!outcomes_.contains(job.family)) order_.push_back(job.family);
  outcomes_[job.family].push_back(outcome_of(job.at, record));
  if (job.family->name != peak_family || !job.family->findings) return;
  for (const auto& finding : job.family->findings(outcomes_.at(job.family), device_)) {
    if (finding.name == "cache_bytes") cache_bytes_ = finding.value.value_or(0);
  }
}

const std::vector<Outcome>& PlausibilityCheck::outcomes(const Family& family) const {
  static const std::vector<Outcome> none;
  const auto it = outcomes_.find(&family);
  return it != outcomes_.end() ? it->second : none;
}

std::vector<Record> PlausibilityCheck::findings() const {
  std::vector<Record> out;
  for (const auto* family : order_) {
    for (const auto& finding : findings_of(*family, outcomes_.at(family), device_)) {
      Record& record = out.emplace_back();
      describe_device(record, device_);
      record.family = family->name;
      record.case_id = family->name + "/finding=" + finding.name;
      record.status = Status::ok;
      record.reason = finding.text;
      record.finding = finding.name;
      // JSON and many readers of CSV have no infinity, which is "never" here; the sentence says so.
      if (finding.value && std::isfinite(*finding.value)) record.value = finding.value;
      record.value_low = finding.low;
      record.value_high = finding.high;
      record.unit = finding.unit;
    }
  }
  return out;
}

}  // namespace clweave::campaign
