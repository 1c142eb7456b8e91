// enumerate: asks every platform for its devices.
#pragma once
#include <string>
#include <vector>

#include "device/cl.hpp"
#include "suite/device_info.hpp"

namespace clweave::device {

// Lists every device of every platform, with identities resolved. Names in `driver_errors` the platforms that
// fail, which are skipped, and the queries that fail, whose property is left at its default.
std::vector<DeviceInfo> enumerate_devices(std::vector<std::string>& driver_errors);

// Returns the device of an earlier listing, in this process or another, by what it says of itself and not by
// its indices. Throws `device_lost` if it is not there or cannot be told from others, cl::Error if the
// devices cannot be listed.
cl::Device find_device(const DeviceInfo&);

}  // namespace clweave::device
