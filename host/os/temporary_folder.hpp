// SPDX-License-Identifier: Apache-2.0
// temporary_folder: a folder that is removed with its contents at the end.
#pragma once
#include <filesystem>

#include "base/namespaces.hpp"

namespace clweave::os {

// Creates an empty folder and removes it with its contents. Throws `io` if none can be created.
class TemporaryFolder {
 public:
  TemporaryFolder();
  explicit TemporaryFolder(const std::filesystem::path& place);  // in that folder
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  // Returns the path of a new folder that only this user may read; empty if it cannot be made.
  static std::filesystem::path new_folder(const std::filesystem::path& place);

  std::filesystem::path path_;
};

}  // namespace clweave::os
