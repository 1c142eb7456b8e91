// SPDX-License-Identifier: Apache-2.0
// process_state: what this process inherits, and what libraries change of it.
#pragma once
#include <filesystem>

#include "base/namespaces.hpp"

namespace clweave::os {

// Prepares main: a closed stdin, stdout or stderr becomes one that takes nothing, so that no other file gets
// its number; a reader that has left, or a file that may not grow, is an error of the write; and the ends of
// child processes are told, though some parents leave them ignored.
void prepare_process();

class ProcessState {
 public:
  ProcessState();  // remembers the folder

  // Sets the folder to that one, and locale, rounding, denormals and blocked signals to their defaults.
  void restore() const;

 private:
  static void unblock_signals();  // of this thread

  std::filesystem::path folder_;
};

}  // namespace clweave::os
