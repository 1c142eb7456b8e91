// SPDX-License-Identifier: Apache-2.0
#include "os/temporary_folder.hpp"

#include "base/error.hpp"

namespace clweave::os {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  // TMPDIR may name a folder that does not exist.
  std::error_code none;
  for (const fs::path& place : {fs::temp_directory_path(none), fs::path("/tmp"), fs::path(".")}) {
    path_ = new_folder(place);
    if (!path_.empty()) return;
  }
  throw Error(ErrorCode::io, "cannot make a temporary folder: set TMPDIR to one that can be written");
}

TemporaryFolder::TemporaryFolder(const fs::path& place) : path_(new_folder(place)) {
  if (path_.empty()) throw Error(ErrorCode::io, "cannot make a folder in " + place.string());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace clweave::os
