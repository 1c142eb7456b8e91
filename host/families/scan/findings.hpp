// SPDX-License-Identifier: Apache-2.0
// findings: concludes SAM's gain as its authors measured it, and the gain of a single pass.
#pragma once
#include <vector>

#include "suite/device_info.hpp"
#include "suite/family.hpp"
#include "suite/outcome.hpp"

namespace clweave::families {

// Tells whether a case is an inclusive sum without fault injection.
bool is_plain_scan(const Case&);

std::vector<Finding> scan_findings(const std::vector<Outcome>&, const DeviceInfo&);

}  // namespace clweave::families
