// SPDX-License-Identifier: Apache-2.0
// reading: the results files that a command was given.
#pragma once
#include <string>
#include <vector>

#include "results/results_set.hpp"

namespace clweave::commands {

// What a reader should know about the files, on stderr.
void tell_notes(const std::vector<std::string>&);

// The files that these names mean, as results_files, with its notes told. An archive of clweave run --share
// stands for the CSVs in it, which last until the process ends. Throws `io` for one that holds none.
std::vector<std::string> unpacked(const std::vector<std::string>& names);

// As read_results of what is unpacked, with its notes told; `io` where no row is of a device. It is there
// until the process ends: taking a million cases apart takes a second, for nothing.
const ResultsSet& read_with_notes(const std::vector<std::string>& files, const std::vector<Family>&);

// A page or a picture: the whole file or nothing of it, so that a full disk leaves no half of it. Makes its
// folder. Throws `io`, and as check_drawing.
void write_drawing(const std::string& path, const std::string& text);

// `usage` for a file that would be lost: it holds neither.
void check_drawing(const std::string& path);

}  // namespace clweave::commands
