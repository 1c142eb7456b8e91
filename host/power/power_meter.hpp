// SPDX-License-Identifier: Apache-2.0
// power_meter: what a device's own sensors tell: energy, power, clocks, temperature. They are looked for
// while the program runs, and none is needed.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {
struct DeviceInfo;
}  // namespace clweave::suite

namespace clweave::power {

// Of one moment. What is empty is not told.
struct Energy {
  double at_s = 0;               // host_now()
  std::optional<double> joules;  // used up since some moment before all readings; never falls
  std::optional<double> watts;
};

struct Conditions {
  std::optional<double> watts, core_mhz, memory_mhz, celsius;
  std::vector<std::string> throttle;  // why the clock is lower than it could be, a word each
};

// Not for several threads at once.
class PowerMeter {
 public:
  virtual ~PowerMeter() = default;
  virtual std::string name() const = 0;
  virtual bool tells_power() const = 0;  // else it only counts energy, or tells neither
  virtual Energy energy() = 0;
  virtual Conditions conditions() = 0;
};

struct Sensors {
  std::unique_ptr<PowerMeter> meter;  // null: there is none
  std::string remark = {};            // a sentence: what is there and cannot be read; empty: nothing
};

// Where sensors are looked for. Tests, and who keeps them elsewhere, name other places.
struct SensorPlaces {
  std::string nvml = "libnvidia-ml.so.1";  // environment CLWEAVE_NVML; empty: it is not asked
  std::string sysfs = "/sys";              // environment CLWEAVE_SYSFS_ROOT
};
SensorPlaces sensor_places();

// A processor's are those of its host; a card is found by its UUID or PCI address, as DeviceInfo has them.
Sensors sensors_of(const DeviceInfo&, const SensorPlaces&);

}  // namespace clweave::power
