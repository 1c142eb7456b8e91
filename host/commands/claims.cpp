// SPDX-License-Identifier: Apache-2.0
// claims: holds the published claims against results files.
#include <fmt/format.h>
#include <unistd.h>

#include "answers/claims.hpp"
#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/commands.hpp"

namespace clweave::commands {

int claims(const Options& options) {
  const auto families = all_families();
  const auto all = chosen_claims(load_claims(options.claims_file), options.claims);
  const auto records = records_of_files(options.files, families);
  std::vector<DeviceRulings> devices;
  for (const auto& rows : device_rows(records)) {
    auto& device = devices.emplace_back(DeviceRulings{rows.device, rows.name(), {}});
    for (const auto& claim : all) device.rulings.push_back(ruling_of(claim, rows, families));
  }
  if (devices.empty()) throw Error(Kind::io, fmt::format("no row in {}", fmt::join(options.files, ", ")));
  switch (options.format) {
    case Format::csv: fmt::print("{}", claims_csv(devices)); break;
    case Format::json: fmt::print("{}", claims_json(devices)); break;
    case Format::markdown: fmt::print("{}", claims_markdown(devices)); break;
    case Format::text: fmt::print("{}", claims_text(devices, screen_of(STDOUT_FILENO), options.show_rows));
  }
  return fine;
}

}  // namespace clweave::commands
