// SPDX-License-Identifier: Apache-2.0
// nvml: the sensors of NVIDIA's cards, by the library that comes with their driver.
#pragma once
#include <string>

#include "power/power_meter.hpp"

namespace clweave::power {

// `library`: as dlopen takes it. `uuid`: 32 hex digits; `pci`: "0000:17:00.0"; either may be empty.
Sensors nvml_sensors(const std::string& library, const std::string& uuid, const std::string& pci);

}  // namespace clweave::power
