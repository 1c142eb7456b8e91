// SPDX-License-Identifier: Apache-2.0
#include "commands/reading.hpp"

#include <fmt/format.h>

namespace clweave {

ResultsSet read_with_notes(const std::vector<std::string>& files, const std::vector<Family>& families) {
  ResultsSet out = read_results(files, families);
  for (const auto& note : out.notes) fmt::print(stderr, "note: {}\n", note);
  return out;
}

}  // namespace clweave
