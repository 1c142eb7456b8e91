// SPDX-License-Identifier: Apache-2.0
// main: options -> one of the commands -> exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "claims.hpp"
#include "compare.hpp"
#include "fingerprint.hpp"
#include "listing.hpp"
#include "options.hpp"
#include "record.hpp"
#include "roofline.hpp"
#include "supervisor.hpp"
#include "terminal.hpp"
#include "tune.hpp"
#include "workbench.hpp"
#include "worker.hpp"

using namespace clweave;

namespace {

int devices(const Options& options) {
  const auto all = chosen_devices(*runner_of(options, {}), {});
  fmt::print("{}", options.format == Format::json ? devices_json(all)
                                                  : devices_table(all, wants_colour(STDOUT_FILENO)));
  return fine;
}

int list(const Options& options) {
  auto families = all_families();
  const auto& wanted = options.selection.families;
  select_jobs(families, options.selection);  // refuses unknown names
  if (!wanted.empty())
    std::erase_if(families,
                  [&](const Family& f) { return std::ranges::find(wanted, f.name) == wanted.end(); });
  if (options.columns) {
    fmt::print("{}", column_dictionary());
  } else {
    fmt::print("{}", options.format == Format::json ? families_json(families)
                                                    : families_table(families, wants_colour(STDOUT_FILENO)));
  }
  return fine;
}

int exit_code(Kind kind) {
  switch (kind) {
    case Kind::usage: return bad_usage;
    case Kind::no_device: return no_such_device;
    case Kind::io: return io_failed;
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
      case Command::devices: return devices(*options);
      case Command::list: return list(*options);
      case Command::run: return supervise(*options, arguments);
      case Command::tune: return tune(*options, arguments);
      case Command::roofline: return roofline(options->files, options->format == Format::csv);
      case Command::compare: return compare(options->compare);
      case Command::claims: return claims(*options);
      case Command::fingerprint: return fingerprint(*options);
      case Command::worker: return serve();
    }
  } catch (const Error& error) {
    fmt::print(stderr, "clweave: {}\n", error.what());
    return exit_code(error.kind);
  } catch (const std::exception& error) {
    fmt::print(stderr, "clweave: {}\n", error.what());
    return case_failed;
  }
  return fine;
}
