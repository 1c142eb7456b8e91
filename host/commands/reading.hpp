// SPDX-License-Identifier: Apache-2.0
// reading: the results files that a command was given.
#pragma once
#include <string>
#include <vector>

#include "results/results_set.hpp"

namespace clweave {

// As read_results; what a reader should know about the files goes to stderr.
ResultsSet read_with_notes(const std::vector<std::string>& files, const std::vector<Family>&);

}  // namespace clweave
