// SPDX-License-Identifier: Apache-2.0
// loop_limit: devices that leave long loops.
#pragma once
#include <cstdint>
#include <string>

#include "suite/plan.hpp"

namespace clweave::families {

// Throws `unsupported` if these iterations of a kernel's loops are more than those after which the device
// silently leaves them. `axis` names what to make smaller.
inline void require_iterations(const DeviceInfo& device, std::uint64_t iterations, const std::string& axis) {
  Plan::need(iterations <= device.most_turns(), "the device leaves a kernel's loops after " +
                                                    std::to_string(device.most_turns()) +
                                                    " iterations: use a smaller " + axis);
}

}  // namespace clweave::families
