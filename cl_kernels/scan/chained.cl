// SPDX-License-Identifier: Apache-2.0
// chained: scans in one pass; each tile waits for the inclusive prefix of the one before (Yan, Long, Zhang 2013).
#include "scan/single_pass_tile.cl"

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void chained(__global Element* restrict out, volatile __global StateWord* states,
                      __global const Element* restrict in, const ulong n, const uint tiles) {
  SINGLE_PASS_MEMORY;
  const TileTicket mine = acquire_tile(states, tiles, ticket);
  Element x[ELEMENTS_PER_WORK_ITEM], total;
  load_tile(staged, in, n, mine.tile, identity(), x);
  const Element exclusive_in_group = scan_group(partials, reduce(x), &total);
  if (get_local_id(0) == 0) {
    Element tile_prefix = init();
    for (uint spins = 0; mine.tile > 0 && spins < SPIN_LIMIT; ++spins) {
      if (poll(states, mine.tile - 1, mine.epoch, &tile_prefix) == STATUS_INCLUSIVE) break;
    }
    publish(states, mine.tile, mine.epoch, STATUS_INCLUSIVE, combine(tile_prefix, total));
    shared_prefix[0] = tile_prefix;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  scan_elements(x, combine(shared_prefix[0], exclusive_in_group), EXCLUSIVE_SCAN);
  store_tile(staged, out, n, mine.tile, x);
}
