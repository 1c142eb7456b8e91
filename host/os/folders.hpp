// SPDX-License-Identifier: Apache-2.0
// folders: where a user's files are.
#pragma once
#include <filesystem>

#include "base/namespaces.hpp"

namespace clweave::os {

// Return empty paths, or relative ones, where the environment does not tell.
std::filesystem::path home_folder();
std::filesystem::path cache_folder();  // what programs can make again
std::filesystem::path data_folder();   // what they keep

}  // namespace clweave::os
