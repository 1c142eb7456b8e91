// SPDX-License-Identifier: Apache-2.0
// prior: the spread between processes that nothing but chance explains, and what the cases of a session
// share.
//
// A single run does not show its own spread between processes, so that of repeated sessions stands for it
// (results/*/sessions-*.zip: preset quick, a process each, four in a row and a fifth half a day later, on the
// H200 on another board). On an H200 it depends on the time of a command: cases bound by the launch rate
// differ by an eighth, cases above 60 us by a few thousandths. On a CPU that others share they differ by a
// quarter, and one case in a hundred by a factor of two or more.
#pragma once
#include <string_view>

#include "base/stats.hpp"
#include "results/status.hpp"

namespace clweave::rows {

// The least variance that logarithms of times are taken to have, as a coarse clock makes them equal.
inline constexpr double least_variance = 1e-8;

// Returns the variance of the logarithm of an execution's time between processes, on a device of this type
// ("gpu", "cpu") by this timer. `command_s` is the execution's time over the number of its commands;
// `of_median` the variance of the logarithm of its median by its own samples, 0 if it is not known. A smooth
// curve: a time that its own noise moves has about the same spread wherever it falls. Types and timers that
// nobody has measured have that of a CPU.
Spread prior_spread(std::string_view device_type, Timer, double command_s, double of_median = 0);

// The part of the cases whose median differs by more between sessions than their own samples say, and by how
// much: contended atomics and round trips have several states a few percent apart, of which a process stays
// in one. A part of 0: not known.
struct RareSpread {
  double part = 0, sd = 0;
};
RareSpread rare_spread(std::string_view device_type, Timer, double command_s);

// The standard deviation of what all cases of a session share: its clock, its neighbours. Five sessions on
// the EPYC and the Xeon differ in common by 2.6, 4 and 2 %, four of one H200 by 0.02 % and a fifth of another
// by 0.15 %: but a GPU's clock obeys its cooling and its power limit, which those sessions did not reach.
inline constexpr double shared_by_session = 0.03;

// Returns a sentence about it for comparisons on such a device.
std::string_view prior_text(std::string_view device_type, Timer);

}  // namespace clweave::rows
