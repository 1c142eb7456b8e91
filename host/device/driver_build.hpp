// SPDX-License-Identifier: Apache-2.0
// driver_build: what the compiler of a device's driver makes of a program, and says of its kernels.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "device/program.hpp"
#include "suite/device_info.hpp"

namespace clweave::device {

struct DriverBuild {
  // 0: the driver does not say.
  struct Kernel {
    std::string name;
    std::int64_t group_limit = 0;
    std::int64_t width = 0;    // what the size of groups had better be a multiple of
    std::int64_t local = 0;    // bytes of local memory
    std::int64_t scratch = 0;  // bytes of an item's own memory
  };
  bool ok = false;
  std::string log;
  std::vector<Kernel> kernels;
  std::int64_t binary_bytes = 0;
  std::string ptx;  // the binary, of NVIDIA's driver
};

// Throws `no_device`, and `launch` for what is wrong beside the program.
DriverBuild driver_build(const DeviceInfo&, const Source&, const std::vector<std::string>& kernels);

}  // namespace clweave::device
