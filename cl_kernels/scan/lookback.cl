// SPDX-License-Identifier: Apache-2.0
// lookback: scans in one pass with decoupled look-back by one work-item (Merrill & Garland 2016).
#include "scan/single_pass_tile.cl"

// Publishes the aggregate, the sum of the tile alone, before it waits, so that later tiles need not wait for the
// inclusive prefix, the sum of all tiles up to this one (STATUS_INCLUSIVE).
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void lookback(__global Element* restrict out, volatile __global StateWord* states,
                       __global const Element* restrict in, const ulong n, const uint tiles) {
  SINGLE_PASS_MEMORY;
  const TileTicket mine = acquire_tile(states, tiles, ticket);
  Element x[ELEMENTS_PER_WORK_ITEM], total;
  load_tile(staged, in, n, mine.tile, identity(), x);
  const Element exclusive_in_group = scan_group(partials, reduce(x), &total);
  if (get_local_id(0) == 0) {
    if (mine.tile > 0) publish(states, mine.tile, mine.epoch, STATUS_AGGREGATE, total);
    Element exclusive_prefix = identity();
    int position = (int)mine.tile - 1;
    serial_look_back(states, mine.epoch, &position, &exclusive_prefix);
    publish(states, mine.tile, mine.epoch, STATUS_INCLUSIVE, combine(exclusive_prefix, total));
    shared_prefix[0] = exclusive_prefix;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  scan_elements(x, combine(shared_prefix[0], exclusive_in_group), EXCLUSIVE_SCAN);
  store_tile(staged, out, n, mine.tile, x);
}
