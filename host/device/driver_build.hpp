// SPDX-License-Identifier: Apache-2.0
// driver_build: compiles a program with a device's driver and reports what the driver says of its kernels.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "device/program.hpp"
#include "suite/device_info.hpp"

namespace clweave::device {

struct DriverBuild {
  // 0: the driver does not report it.
  struct Kernel {
    std::string name;
    std::int64_t group_limit = 0;
    std::int64_t width = 0;    // preferred multiple of the work-group size
    std::int64_t local = 0;    // bytes of local memory
    std::int64_t scratch = 0;  // bytes of private memory of a work-item
  };
  bool ok = false;
  std::string log;
  std::vector<Kernel> kernels;
  std::int64_t binary_bytes = 0;
  std::string ptx;  // the binary, with NVIDIA's driver
};

// Throws `device_lost`, and `launch` for failures other than the program's.
DriverBuild driver_build(const DeviceInfo&, const Source&, const std::vector<std::string>& kernels);

}  // namespace clweave::device
