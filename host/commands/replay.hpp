// SPDX-License-Identifier: Apache-2.0
// replay: makes a row of a results file a job again, measured with the options of then.
#pragma once
#include <string>
#include <vector>

#include "commands/options.hpp"
#include "results/record.hpp"
#include "suite/selection.hpp"

namespace clweave::commands {

struct Replay {
  Job job;
  MeasureOptions options;  // those of the row's command, for its device alone, one repetition and stdout
};

// Parses the column `command`. `where` names the row in messages. Throws `io` unless it is a list of words.
std::vector<std::string> command_words(const std::string& cell, const std::string& where);

// Makes a row whose later axes are filled in (add_later_axes) a job. Throws `usage` for a row that this
// clweave cannot run.
Job job_of(const Record&, const std::vector<Family>&, const std::string& where);

// Does so with the options of the row's command. Throws `io` if that cannot be parsed.
Replay replay_of(const Record&, const std::vector<Family>&, const std::string& where);

// Does so for the row of `given.replay_case`, in today's or in its own words, in the file `given.replay`. The
// device, the output file and the dry run are those of `given`.
Replay replay_of(const MeasureOptions& given, const std::vector<Family>&);

}  // namespace clweave::commands
