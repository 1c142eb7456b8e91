// exit: clweave's exit codes.
#pragma once

namespace clweave {

enum Exit {
  fine = 0,
  case_failed = 1,
  bad_usage = 2,
  no_such_device = 3,
  slower = 4,
  io_failed = 5,
  to_be_drained = 6,
  interrupted = 130,
  pipe_closed = 141  // as the shell has it of a program that SIGPIPE ended
};

}  // namespace clweave
