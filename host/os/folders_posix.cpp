// SPDX-License-Identifier: Apache-2.0
#include "os/folders.hpp"

#include <cstdlib>

namespace clweave::os {

namespace fs = std::filesystem;

namespace {

fs::path folder_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

fs::path home_folder() { return folder_in("HOME"); }

fs::path cache_folder() {
  const fs::path given = folder_in("XDG_CACHE_HOME");
  return given.empty() ? home_folder() / ".cache" : given;
}

fs::path data_folder() {
  const fs::path given = folder_in("XDG_DATA_HOME");
  return given.is_absolute() ? given : home_folder() / ".local/share";
}

}  // namespace clweave::os
