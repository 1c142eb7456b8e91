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
  pipe_closed = 141  // as the shell has it of a program that SIGPIPE ended
};

inline constexpr std::array<std::pair<Exit, const char*>, 9> exit_meanings = {
    {{success, "All went well."},
     {case_failed, "A case failed, and its row says how; or tune found nothing of what it was to search."},
     {bad_usage, "The words of the command line; the message says what to type instead."},
     {no_such_device, "There is no OpenCL device, or none of that name."},
     {slower, "compare --fail-on found what it was to fail on."},
     {io_failed, "A file or the output could not be written, or a file is no results file."},
     {to_be_drained, "fleet or health found a card that is to be drained."},
     {interrupted, "Interrupted; run --resume goes on."},
     {pipe_closed, "The reader of the output went away."}}};

}  // namespace clweave::base
