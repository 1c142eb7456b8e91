// SPDX-License-Identifier: Apache-2.0
// failures: which devices of a fleet are to blame for cases that fail.
//
// A case that fails on one device, or on up to a quarter of them, and is right on the others is those
// devices' fault, unless the devices it fails on have a driver of their own. If it fails on more, nobody can
// tell whether its kernel, the driver or the devices are at fault, unless a baseline has it right by that
// driver.
#pragma once
#include "analysis/fleet/fleet.hpp"

namespace clweave::fleet {

// Adds the failures that are devices' faults, and notes about the others; sets the verdicts.
void blame_for_failures(Fleet&, const ResultsSet* baseline);

}  // namespace clweave::fleet
