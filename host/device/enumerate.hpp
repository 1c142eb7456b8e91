// enumerate: asks every platform for its devices.
#pragma once
#include <string>
#include <vector>

#include "suite/device_info.hpp"

namespace clweave::device {

// Every device of every platform; a platform that fails is skipped and named in `complaints`.
// Entries of equal `silicon` are the same hardware: equal UUID or PCI address, or a CPU of this host.
std::vector<DeviceInfo> enumerate_devices(std::vector<std::string>& complaints);

}  // namespace clweave::device
