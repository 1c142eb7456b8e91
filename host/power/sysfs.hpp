// SPDX-License-Identifier: Apache-2.0
// sysfs: reads the sensors that Linux shows as files: powercap and cpufreq of CPUs, hwmon of GPUs.
#pragma once
#include <filesystem>
#include <string>

#include "power/power_meter.hpp"

namespace clweave::power {

// Finds energy of all packages and, if reported, of their memory; clocks; temperature. `root` stands for
// /sys.
Sensors processor_sensors(const std::filesystem::path& root);

// Finds the sensors that amdgpu, i915 and xe report of a GPU. `pci`: "0000:03:00.0".
Sensors gpu_sensors(const std::filesystem::path& root, const std::string& pci);

}  // namespace clweave::power
