// SPDX-License-Identifier: Apache-2.0
// process: how this program begins others, and itself again. They begin as if nothing had been set before:
// whatever this process inherited, or a library in it has changed, is not theirs.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

struct Program {
  std::string file;                         // its path
  std::vector<std::string> words;           // from the name that it is given on
  std::vector<std::string> variables = {};  // "NAME=value", which extend and replace this process's
  rlim_t most_file_bytes = RLIM_INFINITY;   // of a file that it writes
};

// Starts a program in a session and process group of its own, without a terminal, which it could write to or
// be stopped by, with signals as they are by default, and with no descriptors but these: pairs of the number
// there and the one here. It is killed when the thread ends that started it, and before this process where
// memory runs out. Throws `io`, saying why.
pid_t start(const Program&, const std::vector<std::pair<int, int>>& descriptors);

// Returns the path of a program in PATH, or nothing.
std::string found_program(const std::string& name);

// Returns how this program is started once more, behind the loader if it was started so; words are to be
// added. Without /proc it is looked for by the name it was given. Throws `io` if it is not found.
Program this_program();

// Returns the file of this program, which is not that of a loader behind which it runs; empty if unknown.
std::filesystem::path program_file();

}  // namespace clweave::base
