// SPDX-License-Identifier: Apache-2.0
// watching: reads a power meter while the device works, and its other sensors between pieces of work.
#pragma once
#include <functional>
#include <vector>

#include "power/power_meter.hpp"

namespace clweave::power {

struct SensorLog {
  std::vector<Energy> looks;
  double begin_s = 0, end_s = 0;  // of the work: host_now()
};

// Calls `work` again and again until so long has passed, while a thread reads the meter every few
// milliseconds: the device is to have no pause, and nobody looks at its times meanwhile. Throws what `work`
// throws.
SensorLog watch(PowerMeter&, double seconds, const std::function<void()>& work);

// Clocks, power and temperature beside a case that is timed. They are read between two batches, a tenth of a
// second apart at least, and once at the end: a thread that reads while a batch runs would be work of a
// processor that is the device itself, and hold the driver's locks of a card. Power counts from a quarter of
// a second on alone: before, an H200 tells what it was at rest.
class Conditioned {
 public:
  explicit Conditioned(PowerMeter*);  // null: nothing is read
  void between_batches();
  // Median clocks, mean power, the highest temperature, and every reason met.
  Conditions end();

 private:
  void look();

  PowerMeter* meter_;
  double began_s_, last_s_;
  Energy first_;
  std::vector<Conditions> looks_;
};

}  // namespace clweave::power
