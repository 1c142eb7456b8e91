// SPDX-License-Identifier: Apache-2.0
#include "os/file_lock.hpp"

#include <chrono>
#include <filesystem>
#include <thread>

#include "os/system_windows.hpp"

namespace clweave::os {

namespace {

Handle open_file(const std::string& path, DWORD access, DWORD share, DWORD create, DWORD flags) {
  return owned(CreateFileW(wide(path).c_str(), access, share, nullptr, create, flags, nullptr));
}

}  // namespace

FileLock::FileLock(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return;
  handle_ = open_file(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                      OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL);
  if (!handle_) return;
  // Others may not read or write what is locked: a byte that no file reaches.
  OVERLAPPED beyond{};
  beyond.OffsetHigh = 0x7FFFFFFF;
  if (LockFileEx(system_handle(handle_), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                 &beyond) != 0)
    return;
  const bool taken = GetLastError() == ERROR_LOCK_VIOLATION || GetLastError() == ERROR_IO_PENDING;
  handle_.close();
  if (taken) refuse(path);
}

// Folders have no locks here: a file in it that one process may have open, and that goes with it.
FileLock FileLock::of_folder(const std::string& path) {
  FileLock lock;
  const std::string name = (std::filesystem::path(path) / ".clweave.lock").string();
  for (;;) {
    lock.handle_ =
        open_file(name, GENERIC_WRITE, 0, OPEN_ALWAYS, FILE_ATTRIBUTE_HIDDEN | FILE_FLAG_DELETE_ON_CLOSE);
    if (lock.handle_) return lock;
    if (GetLastError() != ERROR_SHARING_VIOLATION && GetLastError() != ERROR_DELETE_PENDING) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace clweave::os
