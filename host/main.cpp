// SPDX-License-Identifier: Apache-2.0
// main: the command line -> one of the commands -> exit code.
#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/log.hpp"
#include "commands/command.hpp"

using namespace clweave::commands;

namespace {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage: return bad_usage;
    case ErrorCode::no_device: return no_such_device;
    case ErrorCode::io: return io_failed;
    case ErrorCode::closed: return pipe_closed;
    default: return case_failed;
  }
}

// A file that takes the number of a closed stdin, stdout or stderr would get what is meant for people. What
// is written to a closed output is lost as it is on a full one, and fails as there.
void open_standard_files() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) open("/dev/null", O_RDONLY);  // takes the lowest number
  }
}

int code_of(int argc, char** argv) {
  try {
    return run_command({argv + 1, argv + argc});
  } catch (const Error& error) {
    if (error.code != ErrorCode::closed) log_line("clweave: {}\n", error.what());
    return exit_code(error.code);
  } catch (const std::system_error& error) {
    // fmt's, for an output that takes no more.
    if (error.code().value() == EPIPE) return pipe_closed;
    log_line("clweave: {}\n", error.what());
    return io_failed;
  } catch (const std::exception& error) {
    log_line("clweave: {}\n", error.what());
    return case_failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_files();
  // A reader that has left and a file that may not grow come back as errors, and cost no row.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  // Ignored, as some parents leave it, it would make the system forget how child processes end.
  std::signal(SIGCHLD, SIG_DFL);
  const int code = code_of(argc, argv);
  if (std::fflush(stdout) == 0 || errno == EPIPE) return code;
  log_line("clweave: cannot write stdout: {}\n", std::generic_category().message(errno));
  return io_failed;
}
