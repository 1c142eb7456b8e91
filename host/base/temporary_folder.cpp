// SPDX-License-Identifier: Apache-2.0
#include "base/temporary_folder.hpp"

#include <cstdlib>
#include <string>

#include "base/error.hpp"

namespace clweave::base {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  // TMPDIR may name a folder that does not exist.
  std::error_code none;
  for (const fs::path& place : {fs::temp_directory_path(none), fs::path("/tmp"), fs::path(".")}) {
    std::string path = (fs::absolute(place, none) / "clweave-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) continue;
    path_ = path;
    return;
  }
  throw Error(ErrorCode::io, "cannot make a temporary folder: set TMPDIR to one that can be written");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace clweave::base
