// SPDX-License-Identifier: Apache-2.0
#include "commands/reading.hpp"

#include "base/tell.hpp"

namespace clweave {

void tell_notes(const std::vector<std::string>& notes) {
  for (const auto& note : notes) tell("note: {}\n", note);
}

ResultsSet read_with_notes(const std::vector<std::string>& files, const std::vector<Family>& families) {
  ResultsSet out = read_results(files, families);
  tell_notes(out.notes);
  return out;
}

}  // namespace clweave
