// SPDX-License-Identifier: Apache-2.0
#include "commands/reading.hpp"

#include <deque>

#include "base/tell.hpp"

namespace clweave {

void tell_notes(const std::vector<std::string>& notes) {
  for (const auto& note : notes) tell("note: {}\n", note);
}

const ResultsSet& read_with_notes(const std::vector<std::string>& files,
                                  const std::vector<Family>& families) {
  static auto& kept = *new std::deque<ResultsSet>;
  const ResultsSet& out = kept.emplace_back(read_results(files, families));
  tell_notes(out.notes);
  return out;
}

}  // namespace clweave
