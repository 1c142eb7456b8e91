// SPDX-License-Identifier: Apache-2.0
// main: options -> one of the commands -> exit code.
#include <fmt/format.h>

#include <cstdio>

#include "base/error.hpp"
#include "base/exit.hpp"
#include "campaign/worker.hpp"
#include "commands/commands.hpp"

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
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const auto options = parse_options(arguments);
    if (!options) return fine;
    switch (options->command) {
      case Command::devices: return commands::devices(*options);
      case Command::list: return commands::list(*options);
      case Command::run: return commands::run(*options, arguments);
      case Command::tune: return commands::tune(*options, arguments);
      case Command::roofline: return commands::roofline(*options);
      case Command::compare: return commands::compare(*options);
      case Command::claims: return commands::claims(*options);
      case Command::fingerprint: return commands::fingerprint(*options);
      case Command::worker: return serve();
    }
  } catch (const Error& error) {
    if (error.kind == Kind::closed) return pipe_closed;  // nobody listens any more
    fmt::print(stderr, "clweave: {}\n", error.what());
    return exit_code(error.kind);
  } catch (const std::exception& error) {
    fmt::print(stderr, "clweave: {}\n", error.what());
    return case_failed;
  }
  return fine;
}
