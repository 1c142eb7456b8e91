// SPDX-License-Identifier: Apache-2.0
// second_driver: PoCL on the host's processor beside the device that is measured, so that what a reference
// kernel computes does not depend on one driver alone.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "device/cl.hpp"
#include "device/program.hpp"
#include "suite/device_info.hpp"

namespace clweave::device {

class SecondDriver {
 public:
  // Returns null where there is no PoCL, or it is what is measured.
  static std::unique_ptr<SecondDriver> beside(const DeviceInfo& measured);

  // Builds a program, once per distinct source and options. Throws cl::Error.
  const cl::Program& build(const Source&);

  const cl::Context& context() const { return context_; }
  const cl::CommandQueue& queue() const { return queue_; }
  const std::string& name() const { return name_; }  // "PoCL 3.1"

 private:
  SecondDriver(cl::Device device, std::string name);

  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::string name_;
  std::map<std::string, cl::Program> built_;  // by hash
};

}  // namespace clweave::device
