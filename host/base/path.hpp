// SPDX-License-Identifier: Apache-2.0
// path: which file a name means.
#pragma once
#include <filesystem>
#include <string>

#include "base/namespaces.hpp"

namespace clweave::base {

// The file behind symbolic links, there or not, so that what replaces it leaves the links, and what stands
// beside it is the same by every name. Devices and pipes keep the name they were given.
inline std::string behind_links(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (fs::exists(path, none) && !fs::is_regular_file(path, none)) return path;
  constexpr int most_links = 40;  // as the system follows
  fs::path file = path;
  for (int links = 0; links < most_links && fs::is_symlink(file, none); ++links)
    file = file.parent_path() / fs::read_symlink(file, none);
  return file.string();
}

}  // namespace clweave::base
