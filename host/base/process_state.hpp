// SPDX-License-Identifier: Apache-2.0
// process_state: what libraries may change of the process that loads them, and how it was.
#pragma once
#include <filesystem>

#include "base/namespaces.hpp"

namespace clweave::base {

class ProcessState {
 public:
  ProcessState();  // remembers the folder

  // Sets the folder to that one, and locale, rounding, denormals and blocked signals to their defaults.
  void restore() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace clweave::base
