// SPDX-License-Identifier: Apache-2.0
// read_results: the results files that a command was given, and the pages and pictures that it writes.
#pragma once
#include <string>
#include <vector>

#include "results/results_set.hpp"

namespace clweave::commands {

// Prints notes about the files to stderr.
void tell_notes(const std::vector<std::string>&);

// Expands names as results_files does and prints its notes. An archive of clweave run --share stands for its
// CSVs, which exist until the process ends. Loads kernel files and descriptions among the names, as load_own
// does. Throws `io` for an archive without any.
std::vector<std::string> unpacked(const std::vector<std::string>& names);

// Returns what to call an unpacked file: its archive, as it was typed, and its name there. Others keep
// theirs.
std::string name_as_typed(const std::string& file);

// Reads results. Families that nobody described are added to all_families() as far as their rows tell of
// them.
ResultsSet read_known(const std::vector<std::string>& files, Samples = Samples::ignored);

// Does so with the unpacked files and prints the notes. Throws `io` if no row is of a device. The set lives
// until the process ends: destroying a million cases would take a second.
const ResultsSet& read_with_notes(const std::vector<std::string>& files);

// Writes a page or a picture, whole or not at all, so that a full disk leaves no half of it. Makes its
// folder. Throws `io`, and as check_drawing.
void write_drawing(const std::string& path, const std::string& text);

// Throws `usage` for an existing file that is neither page nor picture, as it would be lost.
void check_drawing(const std::string& path);

}  // namespace clweave::commands
