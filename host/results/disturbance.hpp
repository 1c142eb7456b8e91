// SPDX-License-Identifier: Apache-2.0
// disturbance: decides from a row's own columns whether the machine was quiet while it was measured.
#pragma once
#include <string>
#include <string_view>

#include "results/record.hpp"

namespace clweave::results {

// Returns how many of so many processors other processes may use before that counts as a disturbance.
double most_idle_cpus(double processors);
// Is the part of the processors' time that a hypervisor, or the cgroup's limit, may take before that does.
inline constexpr double most_taken = 0.15;
// Is how many pages the host may swap, a MiB, as a page now and then is no lack of memory.
inline constexpr double most_swapped_pages = 256;

// Returns those of the throttle reasons, joined by `;`, that heat or a failing power supply explains, and not
// a power cap, which a kernel may reach on a quiet machine; joined by ", ".
std::string heat_in(std::string_view throttle_reasons);

// Returns what disturbed the row, in a few words joined by `; `: other processes, the hypervisor, a limit of
// processor time, throttling by heat, swapping. Empty if nothing did, or if the row tells nothing. A slow
// canary alone is none: it cannot tell a neighbour from a lower clock, and is `throttled`.
std::string disturbance_of(const Record&);

// Returns whether its time may be any multiple of the true one: it was disturbed, or most samples were taken
// beside a slow canary.
bool is_slowed(const Record&);

}  // namespace clweave::results
