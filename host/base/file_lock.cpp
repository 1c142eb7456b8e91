// SPDX-License-Identifier: Apache-2.0
#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.hpp"

namespace clweave::base {

FileLock::FileLock(const std::string& path) {
  // Opening a pipe would wait for its other end.
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) return;
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  const bool taken = errno == EWOULDBLOCK;
  close(std::exchange(fd_, -1));
  if (taken)
    throw Error(ErrorCode::usage, path +
                                      " is being written by another clweave: wait for its end, or choose "
                                      "another name");
}

FileLock FileLock::of_folder(const std::string& path) {
  FileLock lock;
  lock.fd_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (lock.fd_ >= 0 && flock(lock.fd_, LOCK_EX) != 0) {
    if (errno != EINTR) close(std::exchange(lock.fd_, -1));
  }
  return lock;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

}  // namespace clweave::base
