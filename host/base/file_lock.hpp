// SPDX-License-Identifier: Apache-2.0
// file_lock: one process at a time writes a file.
#pragma once
#include <string>

namespace clweave {

class FileLock {
 public:
  // Throws `usage` when another process holds it. Not held: there is no such file, it is no ordinary one, or
  // its file system knows no locks.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool held() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace clweave
