// SPDX-License-Identifier: Apache-2.0
#include "power/power_meter.hpp"

#include <cstdlib>

#include "power/nvml.hpp"
#include "power/sysfs.hpp"
#include "suite/device_info.hpp"

namespace clweave::power {

SensorPlaces sensor_places() {
  SensorPlaces out;
  if (const char* nvml = std::getenv("CLWEAVE_NVML")) out.nvml = nvml;
  if (const char* root = std::getenv("CLWEAVE_SYSFS_ROOT")) out.sysfs = root;
  return out;
}

Sensors sensors_of(const DeviceInfo& device, const SensorPlaces& places) {
  if (device.type == "cpu") return processor_sensors(places.sysfs);
  if (!places.nvml.empty() && device.vendor.find("NVIDIA") != std::string::npos)
    return nvml_sensors(places.nvml, device.uuid, device.pci);
  if (!device.pci.empty()) return gpu_sensors(places.sysfs, device.pci);
  return {};
}

}  // namespace clweave::power
