// SPDX-License-Identifier: Apache-2.0
// file_lock: one process at a time writes a file, or the files of a folder.
#pragma once
#include <string>

#include "base/namespaces.hpp"
#include "os/handle.hpp"

namespace clweave::os {

class FileLock {
 public:
  // Locks a file. Throws `usage` if another process holds it. Not held if there is no such file, it is not a
  // regular one, or its file system has no locks.
  explicit FileLock(const std::string& path);
  // Locks a folder whose files are replaced rather than written: waits for the process that holds it. Not
  // held in the same cases.
  static FileLock of_folder(const std::string& path);

  bool held() const { return static_cast<bool>(handle_); }

 private:
  FileLock() = default;
  [[noreturn]] static void refuse(const std::string& path);

  Handle handle_;
};

}  // namespace clweave::os
