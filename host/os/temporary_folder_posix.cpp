// SPDX-License-Identifier: Apache-2.0
#include "os/temporary_folder.hpp"

#include <cstdlib>
#include <string>

namespace clweave::os {

std::filesystem::path TemporaryFolder::new_folder(const std::filesystem::path& place) {
  std::error_code none;
  std::string path = (std::filesystem::absolute(place, none) / "clweave-XXXXXX").string();
  return mkdtemp(path.data()) == nullptr ? "" : path;
}

}  // namespace clweave::os
