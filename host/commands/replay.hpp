// SPDX-License-Identifier: Apache-2.0
// replay: makes a row of a results file a job again, measured with the options of then.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "commands/options.hpp"
#include "results/record.hpp"
#include "suite/selection.hpp"

namespace clweave::commands {

struct Replay {
  Job job;
  MeasureOptions options;         // of the row's command, for its device alone, and one repetition
  std::optional<Record> made_by;  // the row, if it was made with kernels of a folder
};

// Makes a row whose later axes are filled in (add_later_axes) a job. Throws `usage` for a row that this
// clweave cannot run.
Job job_of(const Record&, const std::vector<Family>&, const std::string& where);

// Does so with what the row's command may decide (recorded.hpp); the device, if one is named, files and the
// dry run are those of `today`. Throws as recorded_command and take_kernels do.
Replay replay_of(const Record&, const std::vector<Family>&, const MeasureOptions& today,
                 const std::string& where);

// Throws `usage` if the kernels of the folder are not those that made the row of this device. Says nothing of
// a row without a hash.
void check_kernels(const Record&, const Job&, const DeviceInfo&, const std::string& kernels);

// Makes the row of `given.replay_case`, in today's or in its own words, in the file `given.replay` a job.
Replay replay_of(const MeasureOptions& given, const std::vector<Family>&);

}  // namespace clweave::commands
