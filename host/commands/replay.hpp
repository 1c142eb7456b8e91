// SPDX-License-Identifier: Apache-2.0
// replay: the row of a results file as a job again, measured as it was then.
#pragma once
#include <string>
#include <vector>

#include "commands/options.hpp"
#include "results/record.hpp"
#include "suite/selection.hpp"

namespace clweave::commands {

struct Replay {
  Job job;
  MeasureOptions options;  // those that the row was made with, on its device, in one run that goes to stdout
};

// The case of a row, whose later axes are there (add_later_axes). `where` names the row in messages. Throws
// `usage` for a row that this clweave cannot run.
Job job_of(const Record&, const std::vector<Family>&, const std::string& where);

// And with what its command asked for. Throws `io` where that cannot be read.
Replay replay_of(const Record&, const std::vector<Family>&, const std::string& where);

// The same for the row of `case_id`, in today's or in its own words, in the file of `given.replay`. What
// `given` says of the device, the file and the dry run stays.
Replay replay_of(const MeasureOptions& given, const std::vector<Family>&);

}  // namespace clweave::commands
