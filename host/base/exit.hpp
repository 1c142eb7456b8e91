// exit: clweave's exit codes.
#pragma once
#include <array>
#include <utility>

#include "base/namespaces.hpp"

namespace clweave::base {

enum Exit {
  success = 0,
  case_failed = 1,
  bad_usage = 2,
  no_such_device = 3,
  slower = 4,
  io_failed = 5,
  to_be_drained = 6,
  interrupted = 130,
  pipe_closed = 141  // as shells report a program that SIGPIPE ended
};

inline constexpr std::array<std::pair<Exit, const char*>, 9> exit_meanings = {
    {{success, "Success."},
     {case_failed,
      "A case failed, or no device supports any that was asked for, and the rows say how; or tune found no "
      "configuration for something it searched."},
     {bad_usage, "Wrong usage; the message says what to type instead."},
     {no_such_device, "No OpenCL device, or none of that name."},
     {slower, "compare-runs --fail-on found a regression."},
     {io_failed, "A file or the output could not be written, or a file is no results file."},
     {to_be_drained, "fleet or health found a device to drain."},
     {interrupted, "Interrupted; run --resume continues."},
     {pipe_closed, "The reading end of the output pipe was closed."}}};

}  // namespace clweave::base
