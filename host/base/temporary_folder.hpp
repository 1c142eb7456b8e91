// SPDX-License-Identifier: Apache-2.0
// temporary_folder: a place for files that nobody needs afterwards.
#pragma once
#include <filesystem>

#include "base/namespaces.hpp"

namespace clweave::base {

// Empty at first, gone with all that it holds at the end. Throws `io` where none can be made.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace clweave::base
