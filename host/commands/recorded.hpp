// SPDX-License-Identifier: Apache-2.0
// recorded: what the command that a results file records may decide when its run is resumed or a row
// replayed.
//
// The file may be a stranger's. It decides which cases of which devices are measured and how they are
// sampled, and the label. It never names code or a file: what is read (--kernels, FILE.cl, --claims-file,
// --store) and what is written (--csv, --report, --share, --emit-sources) is said on the command line of
// today.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "commands/options.hpp"

namespace clweave::commands {

struct RecordedCommand {
  MeasureOptions options;  // without those that name files and folders
  // These by their name, "--kernels", with the value; empty where it had none.
  std::map<std::string, std::string> files;
};

// Parses the column `command`. `where` names the row in messages. Throws `io` unless it is a list of words.
std::vector<std::string> command_words(const std::string& cell, const std::string& where);

// Throws `io` if the words are no command of clweave run or tune.
RecordedCommand recorded_command(const std::vector<std::string>& words, const std::string& where);

// Takes the code, `--kernels` and users' own kernel files, from today's command line, and adds the families
// of these. Throws `usage`, with what to type, if the recorded command had such a word and today's has not.
void take_kernels(RecordedCommand&, const MeasureOptions& today, const std::string& where);

// Also takes what else is read, for a run that goes on. Throws `usage`, too, for an option that the recorded
// command had not, as the cases before would be other ones.
void take_inputs(RecordedCommand&, const MeasureOptions& today, const std::string& where);

// Returns the words that --resume needs beside its file to read and write what this run does, each with a
// space before it.
std::string files_again(const MeasureOptions&);

}  // namespace clweave::commands
