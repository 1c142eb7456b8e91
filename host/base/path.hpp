// SPDX-License-Identifier: Apache-2.0
// path: symbolic links.
#pragma once
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/namespaces.hpp"

namespace clweave::base {

// Resolves symbolic links, even to a file that does not exist: replacing the file then keeps the links, and
// files beside it are the same by every name. Devices and pipes keep their name.
inline std::string behind_links(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (fs::exists(path, none) && !fs::is_regular_file(path, none)) return path;
  constexpr int most_links = 40;  // Linux's limit
  fs::path file = path;
  for (int links = 0; links < most_links && fs::is_symlink(file, none); ++links)
    file = file.parent_path() / fs::read_symlink(file, none);
  return file.string();
}

// Refuses a link at a name that we make up, such as X.samples.csv beside X.csv: whoever put it there would
// choose what is written. Throws `usage`.
inline void refuse_link(const std::string& path) {
  std::error_code none;
  if (std::filesystem::is_symlink(path, none))
    throw Error(ErrorCode::usage,
                path + " is a link, which leads elsewhere: remove it, or choose another name");
}

}  // namespace clweave::base
