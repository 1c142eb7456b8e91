// SPDX-License-Identifier: Apache-2.0
// prior: what one run a side may differ by although nothing changed.
//
// One run tells nothing of its own luck, so that of others stands for it: sessions of one program
// (results/*/*-aa-*.csv: of preset quick, a process each, four in a row and a fifth half a day later, of the
// H200 on another card). On an H200 the four differ by what a command takes: what is bound by the rate of
// launches by a sixth, what takes longer than 50 us by a few thousandths. On a CPU, where who runs beside
// whom is luck, by a quarter, and one case in a hundred by two and more.
#pragma once
#include <string_view>

#include "base/stats.hpp"
#include "results/status.hpp"

namespace clweave::rows {

// Of the logarithm of an execution's time between processes, on a device of this type ("gpu", "cpu"), by this
// timer; `command_s` is the execution's time over the number of its commands. A CPU's where nobody has
// measured it.
Spread prior_spread(std::string_view device_type, Timer, double command_s);

// The sentence that says so, for a comparison on such a device.
std::string_view prior_text(std::string_view device_type, Timer);

}  // namespace clweave::rows
