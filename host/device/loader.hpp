// SPDX-License-Identifier: Apache-2.0
// loader: OpenCL's library, opened when it is first called: a program that is linked with it would not even
// start where there is none, and says nothing that helps.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::device {

// Why OpenCL cannot be called at all: what the system says of libOpenCL.so.1. Empty where it can.
std::string why_no_opencl();

// The .icd files that the library reads.
std::vector<std::filesystem::path> registered_drivers();

// Of those that name a library which cannot be opened, what the system says. Loads the others.
std::vector<std::string> why_no_driver();

}  // namespace clweave::device
