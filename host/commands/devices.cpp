// SPDX-License-Identifier: Apache-2.0
// devices: every OpenCL device.
#include <fmt/format.h>
#include <unistd.h>

#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/commands.hpp"
#include "commands/listing.hpp"
#include "commands/measuring.hpp"

namespace clweave::commands {

int devices(const Options& options) {
  const auto all = chosen_devices(*runner_of(options, {}), {});
  fmt::print("{}", options.format == Format::json ? devices_json(all)
                                                  : devices_table(all, wants_colour(STDOUT_FILENO)));
  return fine;
}

}  // namespace clweave::commands
