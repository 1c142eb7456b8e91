// SPDX-License-Identifier: Apache-2.0
// clock_comparison: holds the device times of a row's batches against the host's. No OpenCL.
#pragma once
#include <string>
#include <vector>

#include "device/timer.hpp"

namespace clweave::device {

// A timed batch, by both clocks, in seconds.
struct TimedBatch {
  int executions;
  double device_s;   // from the first start to the last end
  double host_s;     // from the first call until the host heard of the end
  double enqueue_s;  // the part of it before the host began to wait, and the pause of a wait that sleeps
};

// Collects batches. The host may be delayed, so only the least of what it waited beyond the device's time
// counts, and of its time beyond the device's median, among batches as long as the last one. Nothing explains
// a device time that is longer than the host's.
class ClockComparison {
 public:
  void add(const TimedBatch&);

  // Returns why the device's times cannot be true; empty if they may be. A device may begin as late as the
  // host begins to wait, and the host hears of the end as late as it did when the timer was certified.
  // `tick_s` is the device's.
  std::string contradiction(const TimerCertificate&, double tick_s) const;

  // Returns the least host time of a batch as long as the last one; 0 if there is none.
  double host_s() const { return executions_ > 0 ? host_s_ : 0; }
  // Returns the least time before the host began to wait.
  double enqueue_s() const { return executions_ > 0 ? enqueue_s_ : 0; }

 private:
  TimedBatch longest_ = {};  // whose device time exceeds the host's most
  // Of those as long as the last: whose host time exceeds the device's least.
  TimedBatch closest_ = {};
  int executions_ = 0;  // of the last batch; of those as long:
  std::vector<double> device_s_;
  double host_s_ = 0, enqueue_s_ = 0;  // least
};

}  // namespace clweave::device
