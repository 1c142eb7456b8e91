// SPDX-License-Identifier: Apache-2.0
// plan: plans a scan on a device.
#pragma once
#include "suite/case.hpp"
#include "suite/device_info.hpp"
#include "suite/plan.hpp"

namespace clweave::families {

Plan scan_plan(const Case&, const DeviceInfo&);

}  // namespace clweave::families
