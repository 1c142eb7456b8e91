// SPDX-License-Identifier: Apache-2.0
// fingerprint: one card per device.
#include "commands/fingerprint.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "answers/card.hpp"
#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/command.hpp"

namespace clweave::commands {

int fingerprint(const FingerprintOptions& options) {
  const auto families = all_families();
  const auto records = records_of_files(options.files, families);
  std::vector<Card> cards;
  for (const auto& rows : device_rows(records)) cards.push_back(card_of(rows, families));
  if (cards.empty()) throw Error(Kind::io, fmt::format("no row in {}", fmt::join(options.files, ", ")));
  put(STDOUT_FILENO, options.format == "csv"    ? fingerprint_csv(cards)
                     : options.format == "json" ? fingerprint_json(cards)
                     : options.format == "markdown"
                         ? fingerprint_markdown(cards)
                         : fingerprint_text(cards, screen_of(STDOUT_FILENO), options.rows));
  return fine;
}

Command fingerprint(CLI::App& app) {
  auto options = std::make_shared<FingerprintOptions>();
  auto* command = app.add_subcommand(
      "fingerprint", "What results files tell of each device: widths, latencies, rates, what to ask of it");
  add_files(*command, options->files);
  add_formats(*command, options->format);
  command->add_flag("--rows", options->rows, "Show which rows each number comes from");
  return {command, [options](const auto&) { return fingerprint(*options); }};
}

}  // namespace clweave::commands
