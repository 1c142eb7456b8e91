// SPDX-License-Identifier: Apache-2.0
// environment: the clock and the user's interrupts, which tests replace.
#pragma once
#include <functional>

#include "os/clock.hpp"
#include "os/interrupt.hpp"

namespace clweave::campaign {

struct Environment {
  std::function<int()> interrupts = os::interrupts;  // how often the user has asked to end
  std::function<double()> now = host_now;            // seconds, never falling
};

}  // namespace clweave::campaign
