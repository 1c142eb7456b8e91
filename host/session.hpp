// SPDX-License-Identifier: Apache-2.0
// session: one opened device: its queue, the programs built so far, and whether its timer is believed.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "cl.hpp"
#include "device.hpp"
#include "program.hpp"
#include "timer.hpp"

namespace clweave {

class Session {
 public:
  // Opens the device with the indices of `info`. Throws `launch` or `no_device` when it cannot be opened.
  Session(DeviceInfo info, std::string kernel_dir);

  struct Built {
    cl::Program program;
    double build_s;
  };
  // Built once per distinct source and options. Throws `build` with options and log.
  const Built& build(const Source&);

  const DeviceInfo& info() const { return info_; }
  const std::string& kernel_dir() const { return kernel_dir_; }
  const cl::Device& device() const { return device_; }
  const cl::Context& context() const { return context_; }
  cl::CommandQueue& queue() { return queue_; }
  const TimerCertificate& timer() const { return timer_; }

 private:
  TimerCertificate certify_timer();

  DeviceInfo info_;
  std::string kernel_dir_;
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::map<std::string, Built> built_;  // by fingerprint
  TimerCertificate timer_;
};

// Start and end of one command by the device's clock, in nanoseconds. `touched` is false when the driver
// says success without writing them.
struct Stamps {
  bool touched;
  std::uint64_t start, end;
  double seconds() const { return 1e-9 * (static_cast<double>(end) - static_cast<double>(start)); }
};
Stamps stamps_of(const cl::Event&);

double host_now();  // seconds of a monotonic clock

}  // namespace clweave
