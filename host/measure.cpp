// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <algorithm>
#include <cmath>

namespace clweave {

Measured measure(const std::function<Sample(int batch)>& run, const Measuring& rule) {
  constexpr int max_batch = 4096;
  Sample last = run(1);  // the first launch may compile, and says nothing
  double warmed_s = last.host_s;
  int batch = 1;
  int steady = 0;
  for (int launches = 1; launches < 200; ++launches) {
    const Sample next = run(batch);
    warmed_s += next.host_s * next.batch;
    steady = std::abs(next.host_s - last.host_s) <= 0.1 * std::min(next.host_s, last.host_s) ? steady + 1 : 0;
    last = next;
    const double batch_s = next.host_s * next.batch;
    if (batch_s < rule.min_batch_s && batch < max_batch) {
      batch = std::min<int>(
          max_batch, batch * std::clamp<int>(static_cast<int>(std::ceil(rule.min_batch_s / batch_s)), 2, 16));
      continue;
    }
    if (warmed_s >= rule.warm_up_s || (steady >= 2 && launches >= 3)) break;
  }
  Measured out;
  std::vector<double> times;
  double elapsed_s = 0;
  while (out.stop == Stop::go_on) {
    out.samples.push_back(run(batch));
    const Sample& sample = out.samples.back();
    times.push_back(rule.use_event ? sample.event_s : sample.host_s);
    elapsed_s += sample.host_s * sample.batch;
    out.stop = decide(rule.stop, times, elapsed_s);
  }
  return out;
}

}  // namespace clweave
