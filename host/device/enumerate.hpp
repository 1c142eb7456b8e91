// enumerate: asks every platform for its devices.
#pragma once
#include <string>
#include <vector>

#include "suite/device_info.hpp"

namespace clweave::device {

// Lists every device of every platform, with identities resolved. Names in `driver_errors` the platforms that
// fail, which are skipped, and the queries that fail, whose property is left at its default.
std::vector<DeviceInfo> enumerate_devices(std::vector<std::string>& driver_errors);

}  // namespace clweave::device
