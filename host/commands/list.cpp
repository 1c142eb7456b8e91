// SPDX-License-Identifier: Apache-2.0
// list: the families, or the columns of a results file.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/commands.hpp"
#include "commands/listing.hpp"
#include "results/record.hpp"

namespace clweave::commands {

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

}  // namespace clweave::commands
