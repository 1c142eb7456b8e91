// SPDX-License-Identifier: Apache-2.0
// main: the command line -> one of the commands -> exit code.
#include <fmt/format.h>

#include <cstdio>

#include "base/error.hpp"
#include "base/exit.hpp"
#include "commands/command.hpp"

using namespace clweave;

namespace {

int exit_code(Kind kind) {
  switch (kind) {
    case Kind::usage: return bad_usage;
    case Kind::no_device: return no_such_device;
    case Kind::io: return io_failed;
    case Kind::closed: return pipe_closed;
    default: return case_failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command({argv + 1, argv + argc});
  } catch (const Error& error) {
    if (error.kind != Kind::closed) fmt::print(stderr, "clweave: {}\n", error.what());
    return exit_code(error.kind);
  } catch (const std::exception& error) {
    fmt::print(stderr, "clweave: {}\n", error.what());
    return case_failed;
  }
}
