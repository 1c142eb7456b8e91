// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include <algorithm>
#include <cerrno>

#include "os/system_windows.hpp"

namespace clweave::os {

namespace {

std::error_code write_all(HANDLE out, std::string_view text) {
  constexpr std::size_t most = std::size_t{1} << 30;
  while (!text.empty()) {
    DWORD written = 0;
    if (WriteFile(out, text.data(), static_cast<DWORD>(std::min(text.size(), most)), &written, nullptr) ==
        0) {
      // A reader that has left, as POSIX names it.
      if (GetLastError() == ERROR_NO_DATA || GetLastError() == ERROR_BROKEN_PIPE)
        return {EPIPE, std::generic_category()};
      return error_now();
    }
    text.remove_prefix(written);
  }
  return {};
}

bool same_file(HANDLE open, const std::string& path) {
  const Handle there =
      owned(CreateFileW(wide(path).c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                        nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  BY_HANDLE_FILE_INFORMATION one{}, other{};
  return there && GetFileInformationByHandle(open, &one) != 0 &&
         GetFileInformationByHandle(system_handle(there), &other) != 0 &&
         one.dwVolumeSerialNumber == other.dwVolumeSerialNumber &&
         one.nFileIndexHigh == other.nFileIndexHigh && one.nFileIndexLow == other.nFileIndexLow;
}

HANDLE opened(const std::string& path, OutputFile::Mode mode) {
  // Writing with FILE_APPEND_DATA alone each text goes to the end.
  DWORD access = FILE_APPEND_DATA | FILE_READ_ATTRIBUTES | SYNCHRONIZE, create = OPEN_ALWAYS;
  switch (mode) {
    case OutputFile::Mode::append: access |= GENERIC_READ; break;
    case OutputFile::Mode::extend: break;
    case OutputFile::Mode::truncate: create = CREATE_ALWAYS; break;
    case OutputFile::Mode::fresh: create = CREATE_NEW; break;
    case OutputFile::Mode::existing:
      access = GENERIC_WRITE;
      create = OPEN_EXISTING;
      break;
  }
  return CreateFileW(wide(path).c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                     nullptr, create, FILE_ATTRIBUTE_NORMAL, nullptr);
}

}  // namespace

std::error_code Handle::close() {
  if (value_ == none || CloseHandle(reinterpret_cast<HANDLE>(std::exchange(value_, none))) != 0) return {};
  return error_now();
}

OutputFile::OutputFile(const std::string& path, Mode mode, std::error_code& error)
    : handle_(owned(opened(path, mode))) {
  if (!handle_) error = error_now();
}

OutputFile OutputFile::of_stdout(std::error_code& error) {
  OutputFile out;
  HANDLE copy = INVALID_HANDLE_VALUE;
  if (DuplicateHandle(GetCurrentProcess(), GetStdHandle(STD_OUTPUT_HANDLE), GetCurrentProcess(), &copy, 0,
                      FALSE, DUPLICATE_SAME_ACCESS) == 0)
    error = error_now();
  else
    out.handle_ = owned(copy);
  return out;
}

std::error_code OutputFile::write(std::string_view text) const {
  return write_all(system_handle(handle_), text);
}

// A new file has the rights of its folder, which is what its user expects.
void OutputFile::set_permissions(std::filesystem::perms) const {}

std::int64_t OutputFile::size() const {
  LARGE_INTEGER size{};
  return GetFileSizeEx(system_handle(handle_), &size) != 0 ? size.QuadPart : 0;
}

bool OutputFile::is_regular() const { return GetFileType(system_handle(handle_)) == FILE_TYPE_DISK; }

bool OutputFile::ends_with(char wanted) const {
  char last = 0;
  DWORD got = 0;
  OVERLAPPED at{};
  LARGE_INTEGER place{};
  place.QuadPart = size() - 1;
  if (place.QuadPart < 0) return false;
  at.Offset = place.LowPart;
  at.OffsetHigh = static_cast<DWORD>(place.HighPart);
  return ReadFile(system_handle(handle_), &last, 1, &got, &at) != 0 && got == 1 && last == wanted;
}

bool OutputFile::is_at(const std::string& path) const { return same_file(system_handle(handle_), path); }

std::error_code write_to(std::FILE* out, std::string_view text) {
  return write_all(system_handle(out), text);
}

bool goes_to(std::FILE* out, const std::string& path) {
  return GetFileType(system_handle(out)) != FILE_TYPE_CHAR && same_file(system_handle(out), path);
}

// N: child processes do not get it.
std::FILE* open_to_read(const std::string& path) { return _wfopen(wide(path).c_str(), L"rbN"); }

std::optional<std::string> first_bytes(const std::string& path, std::size_t most, std::error_code& error) {
  const Handle file = owned(CreateFileW(wide(path).c_str(), GENERIC_READ,
                                        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                        OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  std::string out(most, '\0');
  DWORD got = 0;
  if (!file || ReadFile(system_handle(file), out.data(), static_cast<DWORD>(most), &got, nullptr) == 0) {
    error = error_now();
    return {};
  }
  out.resize(got);
  return out;
}

}  // namespace clweave::os
