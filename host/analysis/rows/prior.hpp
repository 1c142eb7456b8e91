// SPDX-License-Identifier: Apache-2.0
// prior: the spread between processes that nothing but chance explains.
//
// A single run does not show its own spread between processes, so that of repeated sessions stands for it
// (results/*/*-aa-*.csv: preset quick, a process each, four in a row and a fifth half a day later, on the
// H200 on another board). On an H200 it depends on the time of a command: cases bound by the launch rate
// differ by a sixth, cases above 50 us by a few thousandths. On a CPU that others share they differ by a
// quarter, and one case in a hundred by a factor of two or more.
#pragma once
#include <string_view>

#include "base/stats.hpp"
#include "results/status.hpp"

namespace clweave::rows {

// Returns the variance of the logarithm of an execution's time between processes, on a device of this type
// ("gpu", "cpu") by this timer. `command_s` is the execution's time over the number of its commands. Types
// and timers that nobody has measured have that of a CPU.
Spread prior_spread(std::string_view device_type, Timer, double command_s);

// Returns a sentence about it for comparisons on such a device.
std::string_view prior_text(std::string_view device_type, Timer);

}  // namespace clweave::rows
