// SPDX-License-Identifier: Apache-2.0
// inspect: what a compiler makes of the program of a case.
#pragma once
#include <string>
#include <vector>

#include "compilers/target.hpp"
#include "device/driver_build.hpp"
#include "suite/selection.hpp"

namespace clweave::compilers {

// A kernel as the case launches it.
struct InspectedKernel {
  Kernel kernel;
  std::uint64_t group = 0;  // items; 0: the driver chooses
  std::uint64_t local = 0;  // bytes of its arguments in local memory
  std::string limited_by;   // what keeps more of it from running at once; empty: nothing
};

struct Inspected {
  std::string by;        // a target's name, or a device's
  std::string compiler;  // name and version
  std::string language;  // of the kernels' isa
  std::string unread;    // what to install to learn what is missing here
  std::string why;       // there is no program: the plan's reason, or the compiler lacks what it asks for
  Source source;         // as compiled
  Compiled compiled;     // its kernels are in `kernels`
  std::vector<InspectedKernel> kernels;  // that the case launches

  bool failed() const { return why.empty() && !compiled.ok; }
};

// Compiles a job for a target, whose compiler must be installed. `kernel_dir`: see source_of.
Inspected inspect(const Target&, const Job&, const std::string& kernel_dir);

// The same by the driver of a device; `build` asks it.
using AskDriver = std::function<DriverBuild(const Source&, const std::vector<std::string>& kernels)>;
Inspected inspect(const DeviceInfo&, const AskDriver& build, const Job&, const std::string& kernel_dir);

}  // namespace clweave::compilers
