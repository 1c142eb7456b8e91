// SPDX-License-Identifier: Apache-2.0
// sysfs: the sensors that Linux shows as files: powercap and cpufreq of processors, hwmon of cards.
#pragma once
#include <filesystem>
#include <string>

#include "power/power_meter.hpp"

namespace clweave::power {

// `root` stands for /sys. Energy of all packages and, where it is told, of their memory; clocks; temperature.
Sensors processor_sensors(const std::filesystem::path& root);

// Of amdgpu, i915 and xe. `pci`: "0000:03:00.0".
Sensors card_sensors(const std::filesystem::path& root, const std::string& pci);

}  // namespace clweave::power
