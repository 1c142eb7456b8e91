// SPDX-License-Identifier: Apache-2.0
// loader: opens OpenCL's library at the first call. A program that is linked with it would not start without
// the library, and could not explain why.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::device {

// Returns why OpenCL cannot be called at all: the system's message about the library. Empty if it can.
std::string why_no_opencl();

// Returns whether the library has a function: one older than a driver lacks some that its devices could do.
bool has_function(const char* name);

// Returns the system's messages about registered drivers that name a library which cannot be opened. Loads
// the others.
std::vector<std::string> why_no_driver();

}  // namespace clweave::device
