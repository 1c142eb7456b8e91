// SPDX-License-Identifier: Apache-2.0
// heat: asks a device's sensors whether it is throttled by heat. No OpenCL.
#pragma once
#include <map>
#include <memory>
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
  Heat();
  ~Heat();
  Heat(const Heat&) = delete;
  Heat& operator=(const Heat&) = delete;
  // Returns "the device is throttled: hw_thermal_slowdown"; empty if it is not, or no sensor tells.
  std::string of(const DeviceInfo&);

 private:
  std::map<std::string, std::unique_ptr<Sensors>> sensors_;  // by index of the device
};

}  // namespace clweave::device
