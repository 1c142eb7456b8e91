// SPDX-License-Identifier: Apache-2.0
// kernel_caches: where drivers keep the programs that they have built.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::campaign {

struct KernelCache {
  std::string variable;  // that tells the driver another folder
  std::filesystem::path folder;
};

// Returns those of the drivers known, whether or not they are installed.
std::vector<KernelCache> kernel_caches();

// Returns those that cannot be written, with which some drivers have no device.
std::vector<KernelCache> unwritable_kernel_caches();

// Returns variables, "NAME=value", that put these caches into another folder.
std::vector<std::string> moved(const std::vector<KernelCache>&, const std::filesystem::path& folder);

}  // namespace clweave::campaign
