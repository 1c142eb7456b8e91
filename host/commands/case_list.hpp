// SPDX-License-Identifier: Apache-2.0
// case_list: the reports of clweave devices, list and run --dry-run.
#pragma once
#include <vector>

#include "report/report.hpp"
#include "suite/selection.hpp"

namespace clweave::commands {

Report devices_report(const std::vector<DeviceInfo>&);
// Lists a family a line, or `in_full` its axes with their values.
Report families_report(const std::vector<Family>&, bool in_full);

// Lists one line per job with its launch configuration and estimates of memory and time on this device, and
// totals. `refines` says that families may ask for more cases.
Report dry_run_report(const std::vector<Job>&, const DeviceInfo&, bool refines);

}  // namespace clweave::commands
