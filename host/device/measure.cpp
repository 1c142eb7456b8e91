// SPDX-License-Identifier: Apache-2.0
#include "device/measure.hpp"

#include <algorithm>
#include <cmath>

namespace clweave {

namespace {

constexpr int canary_every = 10;  // samples
constexpr int max_retries = 3;
constexpr int most_futile = 9;

// The batch that is long enough to time, found while warming up.
int warm_up(Probe& probe, const Measuring& rule) {
  const double batch_s = std::min(rule.stop.max_seconds / 5,
                                  std::max({rule.min_batch_s, 20 * rule.launch_s, 100 * rule.tick_s}));
  Sample last = probe.run(1);  // the first launch may compile, and says nothing
  double warmed_s = last.host_s;
  int batch = 1;
  int steady = 0;
  for (int launches = 1; launches < 200; ++launches) {
    const Sample next = probe.run(batch);
    warmed_s += next.host_s * next.batch;
    steady = std::abs(next.host_s - last.host_s) <= 0.1 * std::min(next.host_s, last.host_s) ? steady + 1 : 0;
    last = next;
    const double took_s = next.host_s * next.batch;
    if (!rule.cold && took_s < batch_s && batch < rule.max_batch) {
      const double factor = std::clamp(std::ceil(batch_s / std::max(took_s, 1e-9)), 2.0, 16.0);
      batch = std::min(rule.max_batch, batch * static_cast<int>(factor));
      continue;
    }
    if (warmed_s >= rule.warm_up_s || (steady >= 2 && launches >= 3)) break;
  }
  return batch;
}

}  // namespace

Measured measure(Probe& probe, const Measuring& rule) {
  const int batch = warm_up(probe, rule);
  const auto slow = [&] {
    if (!probe.canary) return false;
    const double canary_s = probe.canary();
    probe.calm.best_canary_s = std::min(probe.calm.best_canary_s, canary_s);
    return canary_s > 1.05 * probe.calm.best_canary_s;
  };
  Measured out;
  std::vector<double> times;
  double elapsed_s = 0;
  double pause_s = 0.05;
  int retries = 0;
  while (out.stop == Stop::go_on) {
    const std::size_t block = out.samples.size();  // of samples between two canaries
    const bool slow_before = slow();
    while (out.stop == Stop::go_on && out.samples.size() < block + canary_every) {
      out.samples.push_back(probe.run(batch));
      const Sample& sample = out.samples.back();
      times.push_back(rule.use_event ? sample.event_s : sample.host_s);
      elapsed_s += sample.host_s * sample.batch;
      out.stop = decide(rule.stop, times, elapsed_s);
    }
    const bool throttled = slow() || slow_before;
    if (!throttled) probe.calm.futile = 0;
    if (throttled && retries < max_retries && probe.calm.futile < most_futile &&
        elapsed_s < rule.stop.max_seconds) {
      ++retries;
      ++probe.calm.futile;
      out.samples.resize(block);
      times.resize(block);
      out.stop = Stop::go_on;
      if (probe.pause) probe.pause(pause_s);
      pause_s *= 1.5;
      continue;
    }
    for (std::size_t i = block; i < out.samples.size(); ++i) out.samples[i].throttled = throttled;
  }
  return out;
}

}  // namespace clweave
