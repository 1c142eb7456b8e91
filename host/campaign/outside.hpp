// SPDX-License-Identifier: Apache-2.0
// outside: what a campaign sees of the world beside its devices. Tests give it their own.
#pragma once
#include <functional>

#include "base/clock.hpp"
#include "base/interrupt.hpp"

namespace clweave {

struct Outside {
  std::function<int()> interrupts = clweave::interrupts;  // how often the user has asked to end
  std::function<double()> now = host_now;                 // seconds, never falling
};

}  // namespace clweave
