// SPDX-License-Identifier: Apache-2.0
// glance: the screen of a run of preset glance: what a device can do, beside its measured and theoretical
// peaks.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "analysis/rows/device_rows.hpp"
#include "report/table.hpp"
#include "suite/family.hpp"

namespace clweave::profile {

// Returns the ids of the preset's cases.
std::set<std::string> glance_ids(const std::vector<Family>&);

// Returns whether all cases of a device are of these ids, or their tuned configurations.
bool is_of_glance(const DeviceResults&, const std::set<std::string>& ids);

// Has a line for each headline of the device profile (TraitSpec::headline) that was measured, and for the
// best row of each family that the report's overview names (View::headline).
Table glance_table(const DeviceRows&, const std::vector<Family>&);

}  // namespace clweave::profile
