// SPDX-License-Identifier: Apache-2.0
// prefix_look_back: learns by decoupled look-back how many keys are kept before a tile (Merrill & Garland 2016).
#pragma once
#include "compaction/keys.cl"
#include "lib/decoupled_look_back.cl"
#include "lib/group_scan.cl"

// Returns how many keys of a tile are kept. Neighbouring work-items count neighbouring keys, as integer sums may be
// reordered.
Element reduce_tile(__local Element* partials, __global const Key* restrict in, const ulong n, const ulong tile,
                    const uint elements_per_work_item, __global const Value* restrict table) {
  (void)table;
  uint mine = 0, total;
  for (uint k = 0; k < elements_per_work_item; ++k) {
    const ulong i = (tile * elements_per_work_item + k) * GROUP + get_local_id(0);
    if (i < n) mine += keeps(in[i]) ? 1 : 0;
  }
  (void)scan_group(partials, mine, &total);
  return total;
}

#define BY_TILE_STATES 1
#define ORDERED 1
#define STATES volatile __global StateWord*
#define PUBLISHES_AGGREGATE(tile) ((tile) > 0)
#define PREFIX_MEMORY WINDOW_MEMORY
#define TILE_PREFIX_OF(mine, total) LOOK_BACK(mine, total, REGISTER_ELEMENTS)
