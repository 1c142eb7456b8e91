// SPDX-License-Identifier: Apache-2.0
// fingerprint: one card per device.
#include <fmt/format.h>
#include <unistd.h>

#include "answers/card.hpp"
#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/commands.hpp"

namespace clweave::commands {

int fingerprint(const Options& options) {
  const auto families = all_families();
  const auto records = records_of_files(options.files, families);
  std::vector<Card> cards;
  for (const auto& rows : device_rows(records)) cards.push_back(card_of(rows, families));
  if (cards.empty()) throw Error(Kind::io, fmt::format("no row in {}", fmt::join(options.files, ", ")));
  switch (options.format) {
    case Format::csv: fmt::print("{}", fingerprint_csv(cards)); break;
    case Format::json: fmt::print("{}", fingerprint_json(cards)); break;
    case Format::markdown: fmt::print("{}", fingerprint_markdown(cards)); break;
    case Format::text: fmt::print("{}", fingerprint_text(cards, screen_of(STDOUT_FILENO), options.show_rows));
  }
  return fine;
}

}  // namespace clweave::commands
