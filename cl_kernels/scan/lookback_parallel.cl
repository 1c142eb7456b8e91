// SPDX-License-Identifier: Apache-2.0
// lookback_parallel: scans in one pass with decoupled look-back by many work-items (Merrill & Garland 2016).
#include "lib/decoupled_look_back.cl"
#include "scan/reduce_tile.cl"
#include "scan/local_tile.cl"

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void lookback_parallel(__global Element* restrict out, volatile __global StateWord* states,
                            __global const Element* restrict in, const ulong n, const uint tiles) {
  TILE_MEMORY;
  __local uint ticket[2];
  WINDOW_MEMORY;
  const TileTicket mine = acquire_tile(states, tiles, ticket);
  Element x[ELEMENTS_PER_WORK_ITEM], total;
  load_tile(staged, in, n, mine.tile, identity(), x);
  const Element exclusive_in_group = scan_group(partials, reduce(x), &total);
  if (get_local_id(0) == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, STATUS_AGGREGATE, total);
  const Element tile_prefix = LOOK_BACK(mine, total, ELEMENTS_PER_WORK_ITEM);
  scan_elements(x, combine(tile_prefix, exclusive_in_group), EXCLUSIVE_SCAN);
  store_tile(staged, out, n, mine.tile, x);
}
