// SPDX-License-Identifier: Apache-2.0
// quick_copy: copies to and fro for some milliseconds, to tell what a device moves at most where no peak was
// measured. No two copies in turn are equal, so that a driver that leaves out a launch equal to the last one
// cannot.
#pragma once
#include <cstdint>
#include <map>

#include "device/cl.hpp"

namespace clweave::device {

class QuickCopy {
 public:
  // Uses kernel `move` of the program. Throws cl::Error, as all functions do.
  QuickCopy(cl::Context, cl::CommandQueue, const cl::Program&);

  // Returns the rate in bytes per second, read and written ones, of the faster of a kernel and the driver's
  // copy in two buffers of `bytes` together, at most 256 MiB. Measures each size once. By the host's clock.
  double rate(std::uint64_t bytes);

 private:
  double seconds(bool by_kernel, std::uint64_t each, int copies);

  cl::Context context_;
  cl::CommandQueue queue_;
  cl::Kernel kernels_[2];  // there and back, as setting an argument takes time
  cl::Buffer buffers_[2];
  std::map<std::uint64_t, double> known_;  // by bytes of a buffer
};

}  // namespace clweave::device
