// SPDX-License-Identifier: Apache-2.0
// findings: what the measured scans say: SAM as its authors measured it, and what a single pass gains.
#pragma once
#include <vector>

#include "suite/device_info.hpp"
#include "suite/family.hpp"
#include "suite/outcome.hpp"

namespace clweave::families {

// Tells whether a case is a sum as everybody computes it.
bool is_plain_scan(const Case&);

std::vector<Finding> scan_findings(const std::vector<Outcome>&, const DeviceInfo&);

}  // namespace clweave::families
