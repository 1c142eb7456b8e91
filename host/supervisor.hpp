// SPDX-License-Identifier: Apache-2.0
// supervisor: a whole run: every case of every device and repetition becomes a row. It never calls OpenCL.
#pragma once
#include <string>
#include <vector>

#include "options.hpp"

namespace clweave {

// clweave's exit codes.
enum Exit {
  fine = 0,
  case_failed = 1,
  bad_usage = 2,
  no_such_device = 3,
  slower = 4,
  io_failed = 5,
  interrupted = 130
};

// `clweave run`. Returns an Exit; throws `usage`, `no_device` and `io`.
int supervise(Options, const std::vector<std::string>& arguments);

}  // namespace clweave
