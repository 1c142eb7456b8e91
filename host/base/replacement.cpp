// SPDX-License-Identifier: Apache-2.0
#include "base/replacement.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/unseen_number.hpp"

namespace clweave::base {

Replacement::Replacement(const std::string& path, Links links)
    : target_(links == Links::followed ? behind_links(path) : path), part_(target_) {
  struct stat status = {};
  const bool exists = lstat(target_.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    fd_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail(errno);
    return;
  }
  constexpr int tries = 100;
  for (int i = 0; i < tries && fd_ < 0; ++i) {
    part_ = fmt::format("{}.{:08x}.part", target_, unseen_number());
    fd_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) fail(errno);
  // Where that is not allowed the new file has the usual permissions.
  if (exists && S_ISREG(status.st_mode) && fchmod(fd_, status.st_mode & 0777) != 0) errno = 0;
}

Replacement::~Replacement() {
  if (fd_ < 0) return;
  close(fd_);
  if (part_ != target_) unlink(part_.c_str());
}

void Replacement::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n >= 0)
      text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      fail(errno);
  }
}

void Replacement::commit() {
  // Some file systems report a full disk only here.
  const int closed = close(std::exchange(fd_, -1));
  if (closed == 0 || errno == EINTR) {
    if (part_ == target_ || std::rename(part_.c_str(), target_.c_str()) == 0) return;
  }
  const int error = errno;
  if (part_ != target_) unlink(part_.c_str());
  fail(error);
}

void Replacement::fail(int error) const {
  throw Error(ErrorCode::io,
              fmt::format("cannot write {}: {}", target_, std::generic_category().message(error)));
}

void replace_file(const std::string& path, std::string_view text, Links links) {
  Replacement file(path, links);
  file.write(text);
  file.commit();
}

}  // namespace clweave::base
