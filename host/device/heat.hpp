// SPDX-License-Identifier: Apache-2.0
// heat: asks a device's sensors whether it is throttled by heat. No OpenCL.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/namespaces.hpp"

namespace clweave::power {
struct Sensors;
}  // namespace clweave::power

namespace clweave::suite {
struct DeviceInfo;
}  // namespace clweave::suite

namespace clweave::device {

// Finds the sensors of each device when it is first asked about.
class Heat {
 public:
  // `most_celsius`: above it a device is too warm to measure, throttled or not.
  explicit Heat(std::optional<double> most_celsius = {});
  ~Heat();
  Heat(const Heat&) = delete;
  Heat& operator=(const Heat&) = delete;
  // Returns "the device is throttled: hw_thermal_slowdown" or "the device has 71 C"; empty if neither holds,
  // or no sensor tells.
  std::string of(const DeviceInfo&);

 private:
  std::optional<double> most_celsius_;
  std::map<std::string, std::unique_ptr<Sensors>> sensors_;  // by index of the device
};

}  // namespace clweave::device
