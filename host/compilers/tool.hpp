// SPDX-License-Identifier: Apache-2.0
// tool: programs that are not ours: a compiler, a disassembler.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::compilers {

using Texts = std::vector<std::string>;

struct Ran {
  int status = 127;    // as a shell has it
  std::string output;  // both streams

  bool ok() const { return status == 0; }
};

struct ToolLimits {
  double seconds = 300;
  std::uint64_t file_bytes = std::uint64_t{1} << 26;  // of each file that it writes, `log` too
};

// Waits for the end. `words` begin with the program, which is looked for in PATH; `log` is where it writes.
// A program that exceeds the limits is killed, as it is when this one ends: `output` says so. One that did
// not end in time is not run again.
Ran run_tool(const Texts& words, const std::filesystem::path& log, const ToolLimits& limits = {});

// The first match of the pattern's group in what the program prints; empty where there is none.
std::string first_match(const Texts& words, const std::string& pattern);

// Returns all bytes of a file, none if it does not exist.
std::string bytes_of(const std::filesystem::path&);

// The file of this extension; of several any, empty where there is none.
std::filesystem::path file_in(const std::filesystem::path& folder, const std::string& extension);

}  // namespace clweave::compilers
