// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/handle.hpp"

namespace clweave::os {

namespace {

std::error_code error_now() { return {errno, std::generic_category()}; }

std::error_code write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {  // another program may have made a shared stdout non-blocking
      pollfd ready{descriptor, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return error_now();
    }
  }
  return {};
}

struct stat status_of(int descriptor) {
  struct stat out = {};
  fstat(descriptor, &out);
  return out;
}

// Returns whether the path names what is open.
bool same_file(const struct stat& open, const std::string& path) {
  struct stat there = {};
  return stat(path.c_str(), &there) == 0 && there.st_ino == open.st_ino && there.st_dev == open.st_dev;
}

int flags_of(OutputFile::Mode mode) {
  switch (mode) {
    case OutputFile::Mode::append: return O_RDWR | O_CREAT | O_APPEND;
    case OutputFile::Mode::extend: return O_WRONLY | O_CREAT | O_APPEND;
    case OutputFile::Mode::truncate: return O_WRONLY | O_CREAT | O_APPEND | O_TRUNC;
    case OutputFile::Mode::fresh: return O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    case OutputFile::Mode::existing: break;
  }
  return O_WRONLY;
}

}  // namespace

// On Linux the descriptor is gone whatever close returns, so EINTR is neither repeated nor a failure.
std::error_code Handle::close() {
  if (value_ == none || ::close(static_cast<int>(std::exchange(value_, none))) == 0 || errno == EINTR)
    return {};
  return error_now();
}

// No retry on EINTR: opening a pipe that nobody reads would block for ever.
OutputFile::OutputFile(const std::string& path, Mode mode, std::error_code& error)
    : handle_(::open(path.c_str(), flags_of(mode) | O_CLOEXEC, 0666)) {
  if (!handle_) error = error_now();
}

OutputFile OutputFile::of_stdout(std::error_code& error) {
  OutputFile out;
  out.handle_ = Handle(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!out) error = error_now();
  return out;
}

std::error_code OutputFile::write(std::string_view text) const {
  return write_all(handle_.descriptor(), text);
}

void OutputFile::set_permissions(std::filesystem::perms permissions) const {
  [[maybe_unused]] const int set = fchmod(handle_.descriptor(), static_cast<mode_t>(permissions));
}

std::int64_t OutputFile::size() const { return status_of(handle_.descriptor()).st_size; }

bool OutputFile::is_regular() const { return S_ISREG(status_of(handle_.descriptor()).st_mode); }

bool OutputFile::ends_with(char wanted) const {
  char last = 0;
  return pread(handle_.descriptor(), &last, 1, size() - 1) == 1 && last == wanted;
}

bool OutputFile::is_at(const std::string& path) const {
  return same_file(status_of(handle_.descriptor()), path);
}

std::error_code write_to(std::FILE* out, std::string_view text) { return write_all(fileno(out), text); }

bool goes_to(std::FILE* out, const std::string& path) {
  struct stat open = {};
  return fstat(fileno(out), &open) == 0 && !S_ISCHR(open.st_mode) && same_file(open, path);
}

std::FILE* open_to_read(const std::string& path) { return std::fopen(path.c_str(), "rbe"); }

std::optional<std::string> first_bytes(const std::string& path, std::size_t most, std::error_code& error) {
  const Handle file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out(most, '\0');
  const ssize_t size = file ? read(file.descriptor(), out.data(), most) : -1;
  if (size < 0) {
    error = error_now();
    return {};
  }
  out.resize(static_cast<std::size_t>(size));
  return out;
}

}  // namespace clweave::os
