// SPDX-License-Identifier: Apache-2.0
// loader: opens OpenCL's library at the first call. A program that is linked with it would not start without
// the library, and could not explain why.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::device {

// Returns why OpenCL cannot be called at all: the system's message about libOpenCL.so.1. Empty if it can.
std::string why_no_opencl();

// Lists the .icd files that the library reads.
std::vector<std::filesystem::path> registered_drivers();

// Returns what a user may not open of what drivers of GPUs open, and what would help. `root`: of /dev.
std::vector<std::string> forbidden_nodes(const std::filesystem::path& root = "/");

// Returns the system's messages about those that name a library which cannot be opened. Loads the others.
std::vector<std::string> why_no_driver();

}  // namespace clweave::device
