// SPDX-License-Identifier: Apache-2.0
#include "os/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>

namespace clweave::os {

FileLock::FileLock(const std::string& path) {
  // Opening a pipe would wait for its other end.
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return;
  handle_ = Handle(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!handle_ || flock(handle_.descriptor(), LOCK_EX | LOCK_NB) == 0) return;
  const bool taken = errno == EWOULDBLOCK;
  handle_.close();
  if (taken) refuse(path);
}

FileLock FileLock::of_folder(const std::string& path) {
  FileLock lock;
  lock.handle_ = Handle(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (lock.handle_ && flock(lock.handle_.descriptor(), LOCK_EX) != 0) {
    if (errno != EINTR) lock.handle_.close();
  }
  return lock;
}

}  // namespace clweave::os
