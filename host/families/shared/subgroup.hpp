// SPDX-License-Identifier: Apache-2.0
// subgroup: selects the sub-group implementation, by which work-items exchange values: the host's side of
// cl_kernels/lib/subgroup_*.cl.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "suite/axis.hpp"
#include "suite/case.hpp"
#include "suite/outcome.hpp"
#include "suite/plan.hpp"

namespace clweave::families {

enum class SubgroupImpl { portable, ptx, opencl, amd };

// Makes axis `subgroup_impl`, whose meaning begins with `what`.
Axis subgroup_axis(const std::string& what);
// Reads the axis, whose value must not be `best`.
SubgroupImpl subgroup_impl_of(const Case&);
// Returns the value of the axis.
std::string name_of(SubgroupImpl);

// Returns the implementation of the device's vendor, or portable, by what the driver reports. Whether it
// works, only the compiler can tell.
SubgroupImpl subgroup_impl_of(const DeviceInfo&);

// Defines SUBGROUP_IMPL and chooses the language that it needs. Throws `unsupported` if the device is known
// to lack it; otherwise a failed compilation tells. `group`: work-items of a work-group.
void use_subgroup_impl(Plan&, SubgroupImpl, const DeviceInfo&, std::uint64_t group);

// Repeats the portable outcomes that count, at the size that most have, with the device's own implementation.
// Returns nothing for a device without one, so that no preset grows by cases that it cannot run, nor for
// NVIDIA's, whose cases the presets name.
std::vector<Case> with_own_subgroup_impl(const std::vector<Outcome>&, const DeviceInfo&,
                                         const std::function<bool(const Case&)>& is_valid,
                                         const std::function<bool(const Case&)>& counts);

}  // namespace clweave::families
