// SPDX-License-Identifier: Apache-2.0
// tile_states: the memory behind cl_kernels/tile_states.cl, as earlier launches leave it.
#pragma once
#include "suite/family.hpp"

namespace clweave {

// What lies in memory that a launch must not trust.
Buffer garbage(Plan& p, std::uint64_t seed, std::uint64_t bytes);

// Words of tile states, the tickets' first, all filled in and all stamped by another launch than the next.
// The number of the launch is about to start from zero again, so that every run meets that, too. `rounds`:
// stamps of a launch. Words have 64 bits, or half of that.
Buffer stale_states(Plan& p, std::uint64_t seed, std::uint64_t words, std::uint64_t rounds, bool halves);

// For kernels whose group is one item that loops: `unsupported` on a device that counts the turns of all
// groups together, as llvmpipe does where there is a barrier, when its limit does not cover `turns` and the
// tiles' polls.
void need_turns(const DeviceInfo&, std::uint64_t turns, std::uint64_t tiles);

// Axes that every family with tile states has.
Axis window_axis();
Axis chunk_axis(std::int64_t kib);
Axis polls_axis();
Axis state_axis();
Axis drop_axis();

}  // namespace clweave
