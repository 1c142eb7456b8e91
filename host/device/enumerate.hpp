// enumerate: asks every platform for its devices.
#pragma once
#include <string>
#include <vector>

#include "suite/device_info.hpp"

namespace clweave::device {

// Lists every device of every platform; skips a platform that fails and names it in `driver_errors`. Entries
// of equal `silicon` are the same hardware: equal UUID or PCI address, or a CPU of this host.
std::vector<DeviceInfo> enumerate_devices(std::vector<std::string>& driver_errors);

}  // namespace clweave::device
