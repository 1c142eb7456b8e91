// SPDX-License-Identifier: Apache-2.0
// nvml: reads the sensors of NVIDIA GPUs through the library that comes with their driver.
#pragma once
#include <string>

#include "power/power_meter.hpp"

namespace clweave::power {

// Opens `library` as dlopen does and finds the GPU by `uuid`, 32 hex digits, or `pci`, "0000:17:00.0"; either
// may be empty.
Sensors nvml_sensors(const std::string& library, const std::string& uuid, const std::string& pci);

}  // namespace clweave::power
