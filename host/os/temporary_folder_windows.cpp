// SPDX-License-Identifier: Apache-2.0
#include "os/temporary_folder.hpp"

#include <fmt/format.h>

#include "os/unseen_number.hpp"

namespace clweave::os {

// The user's folder of temporary files, and what is in it, has their rights alone.
std::filesystem::path TemporaryFolder::new_folder(const std::filesystem::path& place) {
  std::error_code failed;
  constexpr int tries = 100;
  for (int i = 0; i < tries && !failed; ++i) {
    auto path = std::filesystem::absolute(place, failed) / fmt::format("clweave-{:08x}", unseen_number());
    if (!failed && std::filesystem::create_directory(path, failed)) return path;
  }
  return {};
}

}  // namespace clweave::os
