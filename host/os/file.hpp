// SPDX-License-Identifier: Apache-2.0
// file: a file that is written without a buffer: what was written survives a crash of this process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/namespaces.hpp"
#include "os/handle.hpp"

namespace clweave::os {

// A file or pipe to write. What fails says why by its error, as the functions of <filesystem> do.
class OutputFile {
 public:
  enum class Mode {
    append,    // creates it where there is none; its end can be read, too
    extend,    // the same without reading
    truncate,  // empties or creates it
    fresh,     // creates it; refuses one that exists, and a link
    existing   // creates none; writes from the beginning
  };

  OutputFile() = default;
  // In the first three modes each text goes to the end, also if other processes write there.
  OutputFile(const std::string& path, Mode, std::error_code& error);
  // A copy of stdout: closing it does not close the program's.
  static OutputFile of_stdout(std::error_code& error);

  explicit operator bool() const { return static_cast<bool>(handle_); }

  // Writes the whole text, at once if the system takes it so.
  std::error_code write(std::string_view text) const;
  std::error_code close() { return handle_.close(); }
  // Does nothing where that is not allowed.
  void set_permissions(std::filesystem::perms) const;

  // Return 0 and no if the system does not tell.
  std::int64_t size() const;
  bool is_regular() const;
  bool ends_with(char last) const;
  // Returns whether the path still names this file.
  bool is_at(const std::string& path) const;

 private:
  Handle handle_;
};

// Writes the whole text to an output of this program, past its buffer.
std::error_code write_to(std::FILE*, std::string_view text);

// Returns whether an output goes to the file or pipe of this path. No terminal, nor another device such as
// /dev/null, counts.
bool goes_to(std::FILE*, const std::string& path);

// Opens a file to read its bytes, not for child processes; null, and errno, if it cannot be.
std::FILE* open_to_read(const std::string& path);

// Reads the beginning of a file at once, as of a sensor; empty if it cannot be read.
std::optional<std::string> first_bytes(const std::string& path, std::size_t most, std::error_code& error);

}  // namespace clweave::os
