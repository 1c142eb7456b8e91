// SPDX-License-Identifier: Apache-2.0
// carry_look_back: learns by decoupled look-back how many keys are kept before a tile (Merrill & Garland 2016).
#pragma once
#include "compaction/keys.cl"
#include "lib/decoupled_look_back.cl"
#include "lib/group_scan.cl"

// Counts by neighbouring work-items on neighbouring keys: a sum may take them in any order.
Element fold_tile(__local Element* sums, __global const Key* restrict in, const ulong n, const ulong tile,
                  const uint items, __global const Value* restrict table) {
  (void)table;
  uint mine = 0, total;
  for (uint k = 0; k < items; ++k) {
    const ulong i = (tile * items + k) * GROUP + get_local_id(0);
    if (i < n) mine += keeps(in[i]) ? 1 : 0;
  }
  (void)scan_group(sums, mine, &total);
  return total;
}

#define CHAINED 1
#define ORDERED 1
#define STATES volatile __global Word*
#define PUBLISHES_AGGREGATE(tile) ((tile) > 0)
#define CARRY_MEMORY WINDOW_MEMORY
#define CARRY_OF(mine, total) LOOK_BACK(mine, total, REGISTER_ITEMS)
