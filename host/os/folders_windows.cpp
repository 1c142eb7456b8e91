// SPDX-License-Identifier: Apache-2.0
#include "os/folders.hpp"

#include "os/system_windows.hpp"

namespace clweave::os {

namespace fs = std::filesystem;

fs::path home_folder() { return variable(L"USERPROFILE"); }

fs::path cache_folder() {
  const fs::path local = variable(L"LOCALAPPDATA");
  return local.empty() ? home_folder() / "AppData" / "Local" : local;
}

fs::path data_folder() { return cache_folder(); }

}  // namespace clweave::os
