// SPDX-License-Identifier: Apache-2.0
// search_values: values of launch parameters that auto-tuning tries, within the device's limits
// (Axis::search_values).
#pragma once
#include <functional>

#include "suite/axis.hpp"
#include "suite/case.hpp"
#include "suite/device_info.hpp"

namespace clweave::families {

using Worth = std::function<Values(const Case&, const DeviceInfo&)>;

// Returns work-group sizes 32, 64, 96, 128, 192 .. up to the device's maximum: powers of two and their
// midpoints.
Values group_sizes(const Case&, const DeviceInfo&);

// Returns numbers of work-groups: 1, 2, 4 .. 128 per compute unit that the driver reports.
Values groups_by_unit(const Case&, const DeviceInfo&);

// Makes a function that returns all values if the kernel uses the axis, else only the first, its default.
Worth where(std::function<bool(const Case&)> heeded, Values values);

}  // namespace clweave::families
