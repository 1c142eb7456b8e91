// SPDX-License-Identifier: Apache-2.0
#include "device/peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "device/enumerate.hpp"
#include "device/listing.hpp"

namespace clweave::device {

namespace {

std::function<void(const char*)> reporter_of(const OpenDevice& device) {
  return [&device](const char* what) { device.report_phase(what); };
}

}  // namespace

Pair::Pair(const OpenDevice& device, const DeviceInfo& other, const cl::Context& both)
    : own(device.info(), device.kernel_dir(), reporter_of(device), {}, both),
      peer(other, device.kernel_dir(), reporter_of(device), {}, both) {}

std::unique_ptr<Pair> open_pair(const OpenDevice& device, std::size_t distance) {
  std::vector<std::string> errors;  // of other platforms
  std::vector<DeviceInfo> devices = enumerate_devices(errors);
  const DeviceInfo& info = device.info();
  std::erase_if(devices, [&](const DeviceInfo& one) {
    return one.platform_index != info.platform_index || !one.duplicate_of.empty();
  });
  const auto own = std::ranges::find(devices, info.index(), &DeviceInfo::index);
  Plan::need(own != devices.end() && distance < devices.size(),
             fmt::format("the platform has {} device{}", devices.size(), devices.size() == 1 ? "" : "s"));
  const auto at = (static_cast<std::size_t>(own - devices.begin()) + distance) % devices.size();
  cl::Context both;
  try {
    both = cl::Context(std::vector<cl::Device>{device.device(), find_device(devices[at])});
  } catch (const cl::Error& error) {
    throw Error(ErrorCode::unsupported, fmt::format("the driver has no context of {} and {}: {}",
                                                    info.index(), devices[at].index(), cl_name(error.err())));
  }
  return std::make_unique<Pair>(device, devices[at], both);
}

}  // namespace clweave::device
