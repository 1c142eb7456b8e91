// SPDX-License-Identifier: Apache-2.0
// work_groups: concludes which work-group size suits a kernel, and how much the size matters.
#pragma once
#include <vector>

#include "suite/outcome.hpp"

namespace clweave::families {

// Appends best_group, the size of the fastest, and group_plateau, the largest over the smallest size within 5
// % of it without a slower one between. The outcomes differ in their axis `group` alone; nothing is told from
// fewer than four sizes.
void add_group_findings(std::vector<Finding>&, const std::vector<const Outcome*>&);

}  // namespace clweave::families
