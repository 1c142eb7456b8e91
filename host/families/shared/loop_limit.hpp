// SPDX-License-Identifier: Apache-2.0
// turns: what becomes of long loops.
#pragma once
#include <cstdint>
#include <string>

#include "suite/plan.hpp"

namespace clweave::families {

// Refuses more turns of loops, those of all groups together, than the device does before it leaves them
// without a word. `axis` is what to make smaller.
inline void need_turns(const DeviceInfo& device, std::uint64_t turns, const std::string& axis) {
  Plan::need(turns <= device.most_turns(), "the device leaves the loops of all groups after " +
                                               std::to_string(device.most_turns()) +
                                               " turns together: take a smaller " + axis);
}

}  // namespace clweave::families
