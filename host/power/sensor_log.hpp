// SPDX-License-Identifier: Apache-2.0
// sensor_log: reads a power meter while the device works, and its other sensors between batches.
#pragma once
#include <functional>
#include <vector>

#include "power/power_meter.hpp"

namespace clweave::power {

struct SensorLog {
  std::vector<Energy> readings;
  double begin_s = 0, end_s = 0;  // of the work: host_now()
};

// Calls `work` repeatedly for `seconds`, so that the device has no pause, while a thread reads the meter
// every few milliseconds. The reading may disturb the work, so its times are not used. Throws what `work`
// throws.
SensorLog watch(PowerMeter&, double seconds, const std::function<void()>& work);

// Logs clocks, power and temperature during a timed case. Reads them between batches, at least a tenth of a
// second apart, and once at the end: a thread that reads during a batch would take time of a CPU device and
// hold driver locks of a GPU. Power counts from a quarter of a second on, because an H200 reports idle power
// before.
class ConditionLog {
 public:
  explicit ConditionLog(PowerMeter*);  // null: reads nothing
  // Returns what it read; null if nothing was due.
  const Conditions* between_batches();
  // Returns the median clocks, the mean power, the highest temperature and all throttle reasons.
  Conditions end();

 private:
  void read();

  PowerMeter* meter_;
  double began_s_, last_s_;
  Energy first_;
  std::vector<Conditions> readings_;
};

}  // namespace clweave::power
