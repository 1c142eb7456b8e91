// SPDX-License-Identifier: Apache-2.0
// lookback_fallback: scans in one pass with decoupled look-back and fallback (Smith, Levien, Owens 2025).
#include "scan/chained_tile.cl"
#include "scan/fold_tile.cl"

// Sums up the tile of a state that stays INVALID: nothing waits for another work-group, so no guarantee of forward
// progress is needed.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void lookback_fallback(__global Element* restrict out, volatile __global Word* states,
                                __global const Element* restrict in, const ulong n, const uint tiles) {
  CHAIN_MEMORY;
  __local int blocked[1];
  const uint lane = (uint)get_local_id(0);
  const Ticket mine = acquire_tile(states, tiles, ticket);
  Element x[ITEMS], total;
  load_tile(staged, in, n, mine.tile, identity(), x);
  const Element before = scan_group(sums, fold(x), &total);
  if (lane == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);

  Element carry = identity();
  int position = (int)mine.tile - 1;
  for (uint step = 0; step <= mine.tile; ++step) {  // every step but the last passes a tile
    if (lane == 0) {
      serial_look_back(states, mine.epoch, &position, &carry);
      blocked[0] = position;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int at = blocked[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at < 0) break;
    const Element sum = fold_tile(sums, in, n, (ulong)at, ITEMS, 0);
    if (lane == 0) {
      offer(states, (uint)at, mine.epoch, sum);
      carry = combine(sum, carry);
      position = at - 1;
    }
  }
  if (lane == 0) {
    publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
    carried[0] = carry;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  scan_items(x, combine(carried[0], before), EXCLUSIVE);
  store_tile(staged, out, n, mine.tile, x);
}
