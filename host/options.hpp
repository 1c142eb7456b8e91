// SPDX-License-Identifier: Apache-2.0
// options: the command line.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "suite.hpp"

namespace clweave {

enum class Command { devices, list, run };

struct Options {
  Command command = Command::run;
  bool json = false;                 // devices, list
  bool columns = false;              // list
  std::vector<std::string> devices;  // selectors; empty: every device
  Selection selection;
  std::string csv;  // empty: results/<device>/<UTC time>.csv, one file per device; "-": stdout
  std::string kernels;
  bool dry_run = false;
};

// Empty when there is nothing left to do (--help, --version): the text was printed. Throws `usage`.
std::optional<Options> parse_options(int argc, const char* const* argv);

}  // namespace clweave
