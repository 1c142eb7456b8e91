// SPDX-License-Identifier: Apache-2.0
// beside: the baseline programs that are installed beside this one.
#pragma once
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "commands/options.hpp"

namespace clweave::commands {

// What they have of the work of these jobs on a device. One that cannot work with it is left out, with a word
// on stderr. Throws `usage` where none is installed.
std::vector<BaselineProgram> baselines_beside(const DeviceInfo&, const std::vector<Job>&,
                                              const MeasureOptions&, const std::function<void()>& tick);

}  // namespace clweave::commands
