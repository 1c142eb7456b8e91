// SPDX-License-Identifier: Apache-2.0
// power_meter: a device's own sensors: energy, power, clocks, temperature. They are found at run time and
// optional.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/namespaces.hpp"
#include "os/drivers.hpp"

namespace clweave::suite {
struct DeviceInfo;
}  // namespace clweave::suite

namespace clweave::power {

// A reading; empty where the meter has no such sensor.
struct Energy {
  double at_s = 0;               // host_now()
  std::optional<double> joules;  // used since some time before the first reading; never falls
  std::optional<double> watts;
};

struct Conditions {
  std::optional<double> watts, core_mhz, memory_mhz, celsius;
  std::vector<std::string> throttle;  // throttle reasons, a word each
};

// A meter; not thread-safe.
class PowerMeter {
 public:
  virtual ~PowerMeter() = default;
  virtual std::string name() const = 0;
  virtual bool tells_power() const = 0;  // else it only counts energy, or has neither
  virtual Energy energy() = 0;
  virtual Conditions conditions() = 0;
  // Returns the memory's highest clock times its width; empty where the driver does not tell both.
  virtual std::optional<double> theoretical_gb_per_s() { return {}; }
};

struct Sensors {
  std::unique_ptr<PowerMeter> meter;  // null: there is none
  std::string remark = {};            // a sentence on sensors that cannot be read; empty: none
};

// Names the places where sensors are looked for, so that tests can name others.
struct SensorPlaces {
  std::string nvml = os::nvml_library();  // environment CLWEAVE_NVML; empty: it is not asked
  std::string sysfs = "/sys";             // environment CLWEAVE_SYSFS_ROOT
};
SensorPlaces sensor_places();

// Finds the sensors of the host for a CPU, and those of a GPU by its UUID or PCI address.
Sensors sensors_of(const DeviceInfo&, const SensorPlaces&);

}  // namespace clweave::power
