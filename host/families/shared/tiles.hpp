// SPDX-License-Identifier: Apache-2.0
// tiles: plans kernels that work tile by tile: the host's side of
// cl_kernels/lib/{tile_states,decoupled_look_back,streaming_store}.cl.
#pragma once
#include <functional>

#include "families/shared/subgroup.hpp"
#include "suite/axis.hpp"
#include "suite/case.hpp"
#include "suite/plan.hpp"

namespace clweave::families {

// Fixes the sub-group size of subgroup_portable.cl, which is also that of NVIDIA's warps.
inline constexpr std::uint64_t subgroup_size = 32;

// Holds how a launch divides its elements into tiles. `tiles_of` sets what axes tell; families set the rest.
struct Tiles {
  SubgroupImpl subgroup_impl = SubgroupImpl::portable;
  bool half_width = false;              // words of a tile state have 32 bits instead of 64
  bool needs_forward_progress = false;  // work-groups wait for the states of others, without a fallback
  bool is_persistent = false;           // work-groups loop over many tiles
  std::uint64_t group = 0, window = 0, spin_limit = 0, fault_rate = 0, groups_per_cu = 0;
  std::uint64_t tile = 0, tiles = 0;  // elements of a tile; number of tiles

  bool ptx() const { return subgroup_impl == SubgroupImpl::ptx; }
  // Returns how many tile states of a look-back window lie in local memory: other sub-groups keep theirs in
  // registers.
  std::uint64_t states_in_local_memory() const {
    return subgroup_impl == SubgroupImpl::portable ? window : 1;
  }
  std::uint64_t state_bits() const { return half_width ? 32 : 64; }
  // Tells whether a work-group takes the tile of its own number: TILE_BY_GROUP_ID of tile_states.cl.
  bool tile_by_group_id(const DeviceInfo&) const;
};

// Reads the axes below. `one_work_item`: a work-group is one work-item, whatever axis group says.
Tiles tiles_of(const Case&, const DeviceInfo&, bool one_work_item);

// Throws `unsupported` if the device cannot run the kernels, which declare `local_bytes` of local memory.
void require_tiles(const Tiles&, const DeviceInfo&, std::uint64_t local_bytes);

// Throws `unsupported` if loops of so many `iterations`, and the polls of the tile states, exceed the
// device's limit. Meant for kernels of one work-item per work-group: llvmpipe adds up the iterations of all
// work-groups where there is a barrier.
void require_iterations(const DeviceInfo&, std::uint64_t iterations, std::uint64_t tiles);

// Defines the macros of tile_states.cl and decoupled_look_back.cl, and says what progress the kernels need.
void define_states(Plan&, const Tiles&, const DeviceInfo&);
// Passes axis registers to NVIDIA's compiler. Throws `unsupported` for others, unless it is 0.
void limit_registers(Plan&, const Case&, const DeviceInfo&);
// Makes streaming_store.cl use non-temporal stores if `bytes` exceed the caches.
void define_streaming(Plan&, const DeviceInfo&, std::uint64_t bytes);

// Allocates scratch memory with random content, so that a kernel that reads before it writes fails its check.
Buffer random_scratch(Plan& p, std::uint64_t seed, std::uint64_t bytes);

// Allocates the tickets and `words` of tile states. Every state looks published, but by an earlier launch, so
// that a kernel which ignores the epoch fails its check. The epoch is about to wrap around, so that every run
// tests that, too. `wraps`: epochs that a launch uses, as a circular buffer of states wraps around.
Buffer states_of_old_epochs(Plan& p, std::uint64_t seed, const Tiles&, std::uint64_t words,
                            std::uint64_t wraps = 1);

// Assigns tiles to work-groups: one each, or many to each of a few persistent ones.
struct TileAssignment {
  std::uint64_t groups;
  std::uint32_t tiles, tickets;  // a persistent work-group draws one ticket beyond its last tile
};
TileAssignment one_tile_per_group(const Tiles&);
TileAssignment persistent_groups(const Tiles&, const DeviceInfo&, std::uint64_t groups_per_cu);

// Make the axes that such families share.
Axis window_axis(std::function<bool(const Case&)> when);
Axis chunk_axis(const std::string& of, const Values& kib, std::int64_t most_kib);
Axis registers_axis(const std::string& kernels, std::function<bool(const Case&)> when);
Axis spin_limit_axis(const std::string& kernels, std::function<bool(const Case&)> when);
Axis state_axis();
Axis fault_rate_axis();

}  // namespace clweave::families
