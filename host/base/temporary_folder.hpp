// SPDX-License-Identifier: Apache-2.0
// temporary_folder: a folder that is removed with its contents at the end.
#pragma once
#include <filesystem>

#include "base/namespaces.hpp"

namespace clweave::base {

// Creates an empty folder and removes it with its contents. Throws `io` if none can be created.
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
