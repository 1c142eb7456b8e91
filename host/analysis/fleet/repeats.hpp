// SPDX-License-Identifier: Apache-2.0
// repeats: whether a device was slow often enough to blame it, and not a process that ran slow once.
//
// The chance that a process of a device runs slow in a family is taken from the other devices: the share of
// their processes that were slow where others of the same device and family were not. Where each device was
// measured once, a family that is slow on one device counts as such. That chance says how often all families
// that are slow on a device, in all its processes, would be by accident; and how often so many devices would
// be slow in one family, which then is no accident on any of them. A family that is slow in half of a
// device's processes or fewer is no reason to drain it, in however many families: a process may be slow as a
// whole.
#pragma once
#include "analysis/fleet/effects.hpp"
#include "analysis/fleet/fleet.hpp"

namespace clweave::fleet {

// Returns for each device named as slower whether its differences are beyond such accidents, in a fleet of so
// many; false for the others. Takes differences that are outliers, by family or case.
std::vector<bool> slow_for_good(const Effects&, const Fleet&, const FleetRules&);

// Returns the number of processes that a device was measured in, and in how many of these a family that it is
// named for was slow.
struct SlowProcesses {
  std::size_t slow = 0, all = 0;
};
SlowProcesses slow_processes(const Effects&, std::size_t device, const DeviceDifference&, double margin);

}  // namespace clweave::fleet
