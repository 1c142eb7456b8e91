// SPDX-License-Identifier: Apache-2.0
// mock_devices: device descriptions for tests, each with a limitation.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "suite/device_info.hpp"

namespace clweave::suite {

inline constexpr std::int64_t mib = 1 << 20;

// Returns a device without limitations.
inline DeviceInfo roomy() {
  DeviceInfo device;
  device.name = "roomy";
  device.type = "gpu";
  device.memory_bytes = 65536 * mib;
  device.usable_bytes = 60000 * mib;
  device.max_alloc_bytes = 16384 * mib;
  device.local_bytes = device.constant_bytes = 65536;
  device.parameter_bytes = 4096;
  device.image_width = device.image_height = 16384;
  device.max_group = 1024;
  device.max_group_dims = {1024, 1024, 64};
  device.lockstep = 32;
  // Has both PTX and Intel's sub-groups.
  device.vendor = "NVIDIA";
  device.extensions = "cl_nv_pragma_unroll cl_nv_compiler_options cl_intel_subgroups cl_khr_priority_hints";
  device.fp64 = device.fp16 = device.int64_atomics = device.subgroups = device.local_is_dedicated = true;
  return device;
}

inline std::vector<DeviceInfo> mock_devices() {
  std::vector<DeviceInfo> devices = {roomy()};
  const auto add = [&](const char* name, const std::function<void(DeviceInfo&)>& change) {
    devices.push_back(roomy());
    devices.back().name = name;
    change(devices.back());
  };
  add("single precision", [](DeviceInfo& d) {
    d.fp64 = d.fp16 = d.int64_atomics = d.subgroups = false;
    d.lockstep = 0;
  });
  add("small groups", [](DeviceInfo& d) {
    d.max_group = 32;
    d.max_group_dims = {32, 32, 32};
    d.local_bytes = 16384;
  });
  add("flat groups", [](DeviceInfo& d) { d.max_group_dims = {1024, 1, 1}; });
  add("small memory", [](DeviceInfo& d) {
    d.memory_bytes = 96 * mib;
    d.usable_bytes = 80 * mib;
    d.max_alloc_bytes = 96 * mib;
  });
  add("no images", [](DeviceInfo& d) {
    d.image_width = d.image_height = 0;
    d.constant_bytes = d.parameter_bytes = 1024;
  });
  add("small buffers", [](DeviceInfo& d) { d.max_alloc_bytes = mib; });
  add("processor", [](DeviceInfo& d) {
    d.type = "cpu";
    d.max_group = 4096;
    d.max_group_dims = {4096, 4096, 4096};
    d.lockstep = 1;
    d.local_is_dedicated = false;
  });
  return devices;
}

}  // namespace clweave::suite
