// SPDX-License-Identifier: Apache-2.0
#include "device/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/block_spread.hpp"
#include "suite/over_time.hpp"

namespace clweave::device {

namespace {

constexpr int canary_every = 10;  // samples
constexpr int max_retries = 3;
constexpr int most_futile = 9;
constexpr int most_passing = 16;  // batches between two samples

// Warms up and returns the batch that is long enough to time.
int warm_up(SamplerHooks& hooks, const SamplingOptions& sampling) {
  const double batch_s =
      std::min(sampling.stop.max_seconds / 5,
               std::max({sampling.min_batch_s, 20 * sampling.launch_overhead_s, 100 * sampling.tick_s}));
  Sample last = hooks.run(1);
  if (last.host_s >= std::max(batch_s, sampling.warm_up_s)) return 1;
  double warmed_s = last.host_s;
  int batch = 1;
  int steady = 0;
  for (int launches = 1; launches < 200; ++launches) {
    const Sample next = hooks.run(batch);
    warmed_s += next.host_s * next.batch + sampling.rest_s;
    steady = std::abs(next.host_s - last.host_s) <= 0.1 * std::min(next.host_s, last.host_s) ? steady + 1 : 0;
    last = next;
    const double took_s = next.host_s * next.batch;
    if (!sampling.cold && took_s < batch_s && batch < sampling.max_batch) {
      const double factor = std::clamp(std::ceil(batch_s / std::max(took_s, 1e-9)), 2.0, 16.0);
      batch = std::min(sampling.max_batch, batch * static_cast<int>(factor));
      continue;
    }
    if (warmed_s >= sampling.warm_up_s || (steady >= 2 && launches >= 3)) break;
  }
  return batch;
}

// Executes batches that do not count until the next sample is due; returns the seconds that they took.
double pass_time(SamplerHooks& hooks, const SamplingOptions& sampling, const Sample& last) {
  double passed_s = 0;
  for (int i = 0;
       i < most_passing && !sampling.cold && last.host_s * last.batch + passed_s < sampling.spread_s; ++i) {
    const Sample passing = hooks.run(last.batch);
    passed_s += passing.host_s * passing.batch;
  }
  return passed_s;
}

// Returns a reading of this process from before, so that a short case costs no wait.
ProcessorUse& earlier_use() {
  static ProcessorUse earlier;
  return earlier;
}

// Returns the load since a reading. Too short a time begins earlier: what others do then, they do now.
HostLoad load_since(const ProcessorUse& before) {
  ProcessorUse& earlier = earlier_use();
  const ProcessorUse after = processor_use();
  HostLoad load = load_between(before, after);
  if (!load.other_cpus && earlier.processors > 0) {
    const HostLoad longer = load_between(earlier, after);
    load.other_cpus = longer.other_cpus;
    load.steal = longer.steal;
    load.quota = longer.quota;
  }
  if (earlier.processors == 0 || before.at_s - earlier.at_s >= least_load_window_s) earlier = before;
  return load;
}

}  // namespace

void begin_load_window() {
  if (earlier_use().processors == 0) earlier_use() = processor_use();
}

bool ThrottleDetector::slow(double canary_s) {
  latest_.push_back(canary_s);
  if (latest_.size() == window) {
    std::ranges::sort(latest_);
    const double least_s = latest_[1], variation = latest_.back() / least_s;
    reference_s_ = std::min(reference_s_, least_s);
    variations_.insert(std::ranges::upper_bound(variations_, variation), variation);
    latest_.clear();
  }
  if (variations_.empty()) return false;
  return canary_s > std::max(1.05, variations_[variations_.size() / 2]) * reference_s_;
}

SampleSet measure(SamplerHooks& hooks, const SamplingOptions& sampling) {
  const ProcessorUse before = processor_use();
  const int batch = warm_up(hooks, sampling);
  const auto slow = [&] {
    if (!hooks.canary) return false;
    return hooks.throttling.slow(hooks.canary());
  };
  SampleSet out;
  std::vector<double> times;
  double elapsed_s = 0;
  double pause_s = std::min(0.05, sampling.stop.max_seconds / 5);
  int retries = 0;
  while (out.stop == Stop::go_on) {
    const std::size_t block = out.samples.size();  // of samples between two canaries
    const bool slow_before = slow();
    while (out.stop == Stop::go_on && out.samples.size() < block + canary_every) {
      out.samples.push_back(hooks.run(batch));
      const Sample& sample = out.samples.back();
      times.push_back(sampling.use_event ? sample.event_s : sample.host_s);
      elapsed_s += sample.host_s * sample.batch + sampling.rest_s / 4;
      out.stop = decide(sampling.stop, times, elapsed_s);
      if (out.stop == Stop::go_on && times.size() < sampling.stop.min_samples)
        elapsed_s += pass_time(hooks, sampling, sample);
    }
    const bool throttled = slow() || slow_before;
    if (!throttled) hooks.throttling.futile = 0;
    if (throttled && retries < max_retries && hooks.throttling.futile < most_futile &&
        elapsed_s < sampling.stop.max_seconds) {
      ++retries;
      ++hooks.throttling.futile;
      out.samples.resize(block);
      times.resize(block);
      out.stop = Stop::go_on;
      if (hooks.pause) hooks.pause(pause_s);
      pause_s *= 1.5;
      continue;
    }
    for (std::size_t i = block; i < out.samples.size(); ++i) out.samples[i].throttled = throttled;
  }
  out.load = load_since(before);
  return out;
}

SampleSet sustain(SamplerHooks& hooks, const SamplingOptions& sampling, double seconds) {
  constexpr double most_pause_s = 2;
  int batch = 1;
  for (double took_s = 0; took_s < bin_s && batch < sampling.max_batch;) {
    const Sample sample = hooks.run(batch);
    took_s = std::max(1e-9, sample.host_s * sample.batch);
    const double factor = std::clamp(bin_s / took_s, 1.0, 16.0);
    batch = std::clamp(static_cast<int>(std::lround(batch * factor)), 1, sampling.max_batch);
    if (factor < 2) break;
  }
  if (hooks.pause) hooks.pause(std::min(most_pause_s, seconds / 4));
  const ProcessorUse before = processor_use();
  SampleSet out;
  std::vector<double> times;
  for (double elapsed_s = 0; elapsed_s < seconds || out.samples.empty();) {
    out.samples.push_back(hooks.run(batch));
    const Sample& sample = out.samples.back();
    times.push_back(sampling.use_event ? sample.event_s : sample.host_s);
    elapsed_s += std::max(1e-9, sample.host_s * sample.batch);
  }
  StopRule rule = sampling.stop;
  rule.max_samples = std::max(rule.max_samples, times.size());
  out.stop = decide(rule, times, rule.max_seconds);
  out.load = load_since(before);
  return out;
}

void record_cost(Record& record, const Cost& cost) {
  const auto known = [](std::uint64_t count) -> Count {
    if (count == 0) return {};
    return static_cast<std::int64_t>(count);
  };
  record.bytes = known(cost.read + cost.written);
  record.flops = known(cost.flops);
  record.items = known(cost.items);
}

namespace {

// Returns why samples have not converged, where that is not their noise alone; empty if it is.
std::string unsettled_reason(const StopRule& stop, std::span<const double> times,
                             const MedianInterval& interval) {
  constexpr double strong_r1 = 0.5;
  constexpr std::size_t enough = 15;  // samples to speak of their correlation
  if (drifts(stop, times))
    return fmt::format(
        "not converged: the samples drift, the second half's median is {:+.2g} % off the first's",
        100 * *drift(times));
  const auto blocks = block_spread(times, 1.96);
  if (blocks && blocks->second - blocks->first > 2 * stop.precision * interval.median)
    return fmt::format(
        "not converged: medians of parts of the samples differ, by which another one lies between {:+.2g} "
        "and "
        "{:+.2g} % of this",
        100 * (blocks->first / interval.median - 1), 100 * (blocks->second / interval.median - 1));
  if (interval.n >= std::max(stop.min_samples, enough) && interval.r1 > strong_r1)
    return fmt::format("not converged: {} samples with an autocorrelation of {:.2g} are like {:.0f}",
                       interval.n, interval.r1,
                       static_cast<double>(interval.n) * (1 - interval.r1) / (1 + interval.r1));
  return "";
}

}  // namespace

void record_times(Record& record, const SampleSet& measured, const SamplingOptions& sampling) {
  std::vector<double> times;
  std::vector<double> walls;
  std::int64_t throttled = 0;
  for (const auto& sample : measured.samples) {
    times.push_back(sampling.use_event ? sample.event_s : sample.host_s);
    walls.push_back(sample.host_s);
    throttled += sample.throttled ? 1 : 0;
  }
  const auto interval = median_interval(times);
  const auto spread = summarize(times);
  record.batch = measured.samples.front().batch;
  record.method = *record.batch > 1 ? "back_to_back" : "single";
  record.cache = sampling.cold ? "cold" : "warm";
  record.samples = static_cast<std::int64_t>(times.size());
  record.converged = measured.stop == Stop::converged ? "yes" : "no";
  record.time_s = interval.median;
  if (measured.stop != Stop::converged && sampling.stop.precision > no_precision)
    add_reason(record, unsettled_reason(sampling.stop, times, interval));
  if (interval.bounded) {
    record.time_low_s = interval.low;
    record.time_high_s = interval.high;
  }
  record.wall_s = median(walls);
  record.min_s = spread.min;
  record.p25_s = spread.p25;
  record.p75_s = spread.p75;
  record.p95_s = spread.p95;
  record.mean_s = spread.mean;
  record.sd_s = spread.sd;
  record.lag1 = spread.lag1;
  record.outliers = static_cast<std::int64_t>(spread.outliers);
  record.steal = measured.load.steal;
  record.own_cpus = measured.load.own_cpus;
  record.other_cpus = measured.load.other_cpus;
  record.cpu_wait = measured.load.cpu_wait;
  record.quota = measured.load.quota;
  record.swapped_pages = std::llround(measured.load.swapped_pages);
  if (!sampling.parallel)
    record.throttled = static_cast<double>(throttled) / static_cast<double>(times.size());
  const auto rate = [&](Count count) -> Number {
    if (!count) return {};
    return 1e-9 * static_cast<double>(*count) / *record.time_s;
  };
  record.gb_per_s = rate(record.bytes);
  record.gflop_per_s = rate(record.flops);
  record.gitems_per_s = rate(record.items);
}

}  // namespace clweave::device
