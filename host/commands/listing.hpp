// SPDX-License-Identifier: Apache-2.0
// listing: what clweave devices, list and run --dry-run print.
#pragma once
#include <string>
#include <vector>

#include "suite/selection.hpp"

namespace clweave {

std::string devices_table(const std::vector<DeviceInfo>&, bool colour);
std::string devices_json(const std::vector<DeviceInfo>&);
std::string families_table(const std::vector<Family>&, bool colour);
std::string families_json(const std::vector<Family>&);

// One line per job with launch shapes, memory and time estimates on this device, and the totals.
std::string dry_run_table(const std::vector<Job>&, const DeviceInfo&, bool colour);

}  // namespace clweave
