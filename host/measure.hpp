// SPDX-License-Identifier: Apache-2.0
// measure: repeats a timed action until its median is known well enough. The action tells its own times,
// so the rule is tested with invented ones and no clock.
#pragma once
#include <functional>
#include <vector>

#include "stats.hpp"

namespace clweave {

// One timed batch; times are of one execution.
struct Sample {
  double event_s = 0;  // sum of the device's own start-to-end times / batch
  double host_s = 0;   // host clock around enqueue and finish / batch
  int batch = 1;
};

struct Measuring {
  StopRule stop;
  bool use_event = true;      // which of the two times the rule looks at
  double min_batch_s = 1e-3;  // short executions are repeated until a batch lasts this long
  double warm_up_s = 0.1;     // at least this long, or until two successive batches agree within 10 %
};

struct Measured {
  std::vector<Sample> samples;
  Stop stop = Stop::go_on;
};

// `run(batch)` executes `batch` times and says how long one took. Throws what `run` throws.
Measured measure(const std::function<Sample(int batch)>& run, const Measuring&);

}  // namespace clweave
