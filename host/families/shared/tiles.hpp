// SPDX-License-Identifier: Apache-2.0
// tiles: what families that work tile by tile ask of a case, a device and a plan: the host's side of
// cl_kernels/lib/{tile_states,decoupled_look_back,streaming_store}.cl.
#pragma once
#include <functional>

#include "families/shared/subgroup.hpp"
#include "suite/axis.hpp"
#include "suite/case.hpp"
#include "suite/plan.hpp"

namespace clweave::families {

inline constexpr std::uint64_t bundle = 32;  // items that are counted together, where the device says no more

struct Tiles {
  SubgroupImpl lanes;
  bool halves;                 // words of a state have 32 bits, for 64 are not to be had
  bool waits = false;          // a group goes on only when others have published: the family says so
  bool is_persistent = false;  // a group goes on from tile to tile: the family says so
  std::uint64_t group, window, polls, drop, groups_per_unit;
  std::uint64_t tile = 0, tiles = 0;  // elements of a tile, and how many tiles: the family says so

  bool ptx() const { return lanes == SubgroupImpl::ptx; }
  // States that are looked at at once, where local memory holds them.
  std::uint64_t seen() const { return lanes == SubgroupImpl::portable ? window : 1; }
  std::uint64_t state_bits() const { return halves ? 32 : 64; }
  // Whether a group takes the tile of its own number, as acquire_one_tile of tile_states.cl has it.
  bool by_number(const DeviceInfo&) const;
};

// By the axes below; `one_item`: a group is one item, whatever axis group says.
Tiles tiles_of(const Case&, const DeviceInfo&, bool one_item);

// `unsupported`, with the reason, where the device cannot. `local_bytes` is what the kernels declare.
void need_tiles(const Tiles&, const DeviceInfo&, std::uint64_t local_bytes);

// For kernels whose group is one item that loops: `unsupported` on a device that counts the turns of all
// groups together, as llvmpipe does where there is a barrier, when its limit does not cover `turns` and the
// tiles' polls.
void need_turns(const DeviceInfo&, std::uint64_t turns, std::uint64_t tiles);

void define_states(Plan&, const Tiles&, const DeviceInfo&);  // what tile_states.cl and decoupled_look_back.cl ask for
// Tells NVIDIA's compiler what axis registers says; `unsupported` of others where that is not 0.
void limit_registers(Plan&, const Case&, const DeviceInfo&);
void define_streaming(Plan&, const DeviceInfo&, std::uint64_t bytes);  // past the caches where they hold less

// What lies in memory that a launch must not trust.
Buffer garbage(Plan& p, std::uint64_t seed, std::uint64_t bytes);

// `words` of tile states and the tickets before them, all filled in and all stamped by another launch than
// the next. The number of the launch is about to start from zero again, so that every run meets that, too.
// `rounds`: stamps of a launch.
Buffer stale_states(Plan& p, std::uint64_t seed, const Tiles&, std::uint64_t words, std::uint64_t rounds = 1);

// How the tiles are dealt: to a group each, or to groups that go on from tile to tile.
struct Dealt {
  std::uint64_t groups;
  std::uint32_t tiles, tickets;  // who goes on draws one ticket too many
};
Dealt one_each(const Tiles&);
Dealt going_on(const Tiles&, const DeviceInfo&, std::uint64_t groups_per_unit);

// Axes that such families have.
Axis window_axis(std::function<bool(const Case&)> heeded);
Axis chunk_axis(const std::string& of, const Values& kib, std::int64_t most_kib);
Axis registers_axis(const std::string& kernels, std::function<bool(const Case&)> when);
Axis spin_limit_axis(std::function<bool(const Case&)> when);
Axis state_axis();
Axis fault_rate_axis();

}  // namespace clweave::families
