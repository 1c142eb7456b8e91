// SPDX-License-Identifier: Apache-2.0
// lookback_fallback: scans in one pass with decoupled look-back and fallback (Smith, Levien, Owens 2025).
#include "scan/single_pass_tile.cl"
#include "scan/reduce_tile.cl"

// Reduces the tile of a state that stays STATUS_INVALID: no work-group waits for another, so no guarantee of forward
// progress is needed.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void lookback_fallback(__global Element* restrict out, volatile __global StateWord* states,
                                __global const Element* restrict in, const ulong n, const uint tiles) {
  SINGLE_PASS_MEMORY;
  __local int blocked[1];
  const uint local_id = (uint)get_local_id(0);
  const TileTicket mine = acquire_tile(states, tiles, ticket);
  Element x[ELEMENTS_PER_WORK_ITEM], total;
  load_tile(staged, in, n, mine.tile, identity(), x);
  const Element exclusive_in_group = scan_group(partials, reduce(x), &total);
  if (local_id == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, STATUS_AGGREGATE, total);

  Element exclusive_prefix = identity();
  int position = (int)mine.tile - 1;
  for (uint step = 0; step <= mine.tile; ++step) {  // every step but the last passes a tile
    if (local_id == 0) {
      serial_look_back(states, mine.epoch, &position, &exclusive_prefix);
      blocked[0] = position;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int at = blocked[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at < 0) break;
    const Element aggregate = reduce_tile(partials, in, n, (ulong)at, ELEMENTS_PER_WORK_ITEM, 0);
    if (local_id == 0) {
      try_publish(states, (uint)at, mine.epoch, aggregate);
      exclusive_prefix = combine(aggregate, exclusive_prefix);
      position = at - 1;
    }
  }
  if (local_id == 0) {
    publish(states, mine.tile, mine.epoch, STATUS_INCLUSIVE, combine(exclusive_prefix, total));
    shared_prefix[0] = exclusive_prefix;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  scan_elements(x, combine(shared_prefix[0], exclusive_in_group), EXCLUSIVE_SCAN);
  store_tile(staged, out, n, mine.tile, x);
}
