// SPDX-License-Identifier: Apache-2.0
// drivers: where this system has OpenCL's library, its drivers and NVIDIA's NVML, and what to do without.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::os {

// Return the names by which these libraries are opened.
std::string opencl_library();
std::string nvml_library();

// Lists what OpenCL's library reads for its drivers: .icd files; on Windows the drivers' own libraries.
std::vector<std::filesystem::path> registered_drivers();
// Returns the library that one of these stands for; empty if it names none.
std::string library_of_driver(const std::filesystem::path& registered);

// Returns what a user may not open of what drivers of GPUs open, and what would help. `root`: of /dev.
std::vector<std::string> forbidden_nodes(const std::filesystem::path& root = "/");

// Says what to install where there is no device.
const char* how_to_install_opencl();

// Lists environment variables that say where things are, for the help: name and meaning.
std::vector<std::pair<const char*, const char*>> place_variables();

}  // namespace clweave::os
