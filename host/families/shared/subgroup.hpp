// SPDX-License-Identifier: Apache-2.0
// lanes: by what the items of a group tell each other what they have: the host's side of
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

// Axis `lanes`; `what` they do begins its meaning.
Axis subgroup_axis(const std::string& what);
SubgroupImpl subgroup_impl_of(const Case&);  // by the axis, which must not say `best`
std::string name_of(SubgroupImpl);           // as the axis has it

// The device's own, or portable, by what its driver says; whether they can be had, the compiler tells.
SubgroupImpl subgroup_impl_of(const DeviceInfo&);

// Defines SUBGROUP_IMPL and tells the compiler which language that takes: what it does not take, the device has not.
// `unsupported` where that is known before. `group`: items of a work-group.
void use_subgroup_impl(Plan&, SubgroupImpl, const DeviceInfo&, std::uint64_t group);

// Of the outcomes of portable lanes that count, at the size that most have, the same by the device's own:
// none where it has none, so that no preset grows by what a device lacks, nor on NVIDIA's, whose presets name
// them.
std::vector<Case> with_own_subgroup_impl(const std::vector<Outcome>&, const DeviceInfo&,
                                         const std::function<bool(const Case&)>& is_valid,
                                         const std::function<bool(const Case&)>& counts);

}  // namespace clweave::families
