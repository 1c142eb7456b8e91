// SPDX-License-Identifier: Apache-2.0
// main: the command line -> one of the commands -> exit code.
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/log.hpp"
#include "commands/command.hpp"
#include "os/process_state.hpp"

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
  prepare_process();
  const int code = code_of(argc, argv);
  if (std::fflush(stdout) == 0 || errno == EPIPE) return code;
  log_line("clweave: cannot write stdout: {}\n", std::generic_category().message(errno));
  return io_failed;
}
