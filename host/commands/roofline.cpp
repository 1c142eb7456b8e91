// SPDX-License-Identifier: Apache-2.0
// roofline: every kernel of results files under the ceilings measured with it.
#include <fmt/format.h>
#include <unistd.h>

#include "answers/roofline.hpp"
#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/commands.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

int roofline(const Options& options) {
  const auto& files = options.files;
  const bool csv = options.format == Format::csv;
  const auto records = records_of_files(files, all_families());
  const auto all = rooflines_of(records);
  if (all.empty())
    throw Error(Kind::io, "no row with a time in " + fmt::format("{}", fmt::join(files, ", ")));
  for (std::size_t i = 0; i < all.size(); ++i)
    fmt::print("{}", csv ? roofline_csv(all[i], i == 0) : roofline_text(all[i], screen_of(STDOUT_FILENO)));
  return fine;
}

}  // namespace clweave::commands
