// SPDX-License-Identifier: Apache-2.0
// baseline_programs: the baseline programs that are installed beside this one.
#pragma once
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "commands/options.hpp"

namespace clweave::commands {

// Returns the programs with their jobs that do the same work as these on a device. Leaves out those that
// cannot, and logs why. Throws `usage` if none is installed.
std::vector<BaselineProgram> baselines_beside(const DeviceInfo&, const std::vector<Job>&,
                                              const RunnerOptions&);

}  // namespace clweave::commands
