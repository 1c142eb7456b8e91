// SPDX-License-Identifier: Apache-2.0
// reading: the results files that a command was given.
#pragma once
#include <string>
#include <vector>

#include "results/results_set.hpp"

namespace clweave {

// What a reader should know about the files, on stderr.
void tell_notes(const std::vector<std::string>&);

// As read_results, with its notes told; `io` where no row is of a device. It is there until the process ends: taking a million cases apart
// takes a second, for nothing.
const ResultsSet& read_with_notes(const std::vector<std::string>& files, const std::vector<Family>&);

// The whole file or nothing of it: a full disk leaves no half of it. Makes its folder. Throws `io`.
void write_file(const std::string& path, const std::string& text);

}  // namespace clweave
