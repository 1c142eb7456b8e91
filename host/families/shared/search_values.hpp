// SPDX-License-Identifier: Apache-2.0
// worth_trying: the values of launch parameters that a search tries, from what the device launches at most
// (Axis::worth).
#pragma once
#include <functional>

#include "suite/axis.hpp"
#include "suite/case.hpp"
#include "suite/device_info.hpp"

namespace clweave::families {

using Worth = std::function<Values(const Case&, const DeviceInfo&)>;

// Work-groups of 32, 64, 96, 128, 192 .. items, up to the most that the device launches: powers of two, and
// what lies between them.
Values group_sizes(const Case&, const DeviceInfo&);

// So many groups, for each compute unit that the driver counts: 1, 2, 4 .. 128 each.
Values groups_by_unit(const Case&, const DeviceInfo&);

// All of these where the kernel heeds the axis, else the first, its default, alone.
Worth where(std::function<bool(const Case&)> heeded, Values values);

}  // namespace clweave::families
