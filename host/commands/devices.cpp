// SPDX-License-Identifier: Apache-2.0
// devices: prints every OpenCL device.
#include <CLI/CLI.hpp>

#include "commands/case_list.hpp"
#include "commands/command.hpp"
#include "commands/open_devices.hpp"

namespace clweave::commands {

Command devices(CLI::App& app) {
  auto format = std::make_shared<std::string>("text");
  auto* command =
      app.add_subcommand("devices", "Show every OpenCL device, and which entries are the same hardware");
  add_formats(*command, *format);
  return {command, [format](const auto&) {
            return print(devices_report(listed_devices(*runner_of({}, {}))), *format);
          }};
}

}  // namespace clweave::commands
