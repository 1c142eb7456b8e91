// SPDX-License-Identifier: Apache-2.0
// listing: what clweave devices, list and run --dry-run print.
#pragma once
#include <vector>

#include "report/report.hpp"
#include "suite/selection.hpp"

namespace clweave::commands {

Report devices_report(const std::vector<DeviceInfo>&);
Report families_report(const std::vector<Family>&);

// One line per job with launch shapes, memory and time estimates on this device, and the totals.
// `refines`: families may ask for more cases than these.
Report dry_run_report(const std::vector<Job>&, const DeviceInfo&, bool refines);

}  // namespace clweave::commands
