// SPDX-License-Identifier: Apache-2.0
// three_phase: scans each tile, scans the tiles' sums, and adds those to the tiles (Harris, Sengupta, Owens 2007).
#include "scan/scan_sums.cl"

// Scans each tile by itself.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_tiles(__global Element* restrict out, __global Element* restrict tile_sums,
                         __global const Element* restrict in, const ulong n) {
  TILE_MEMORY;
  Element x[ITEMS], total;
  load_tile(staged, in, n, get_group_id(0), identity(), x);
  const Element before = scan_group(sums, fold(x), &total);
  const Element start = get_group_id(0) == 0 ? initial() : identity();
  scan_items(x, combine(start, before), EXCLUSIVE);
  store_tile(staged, out, n, get_group_id(0), x);
  if (get_local_id(0) == 0) tile_sums[get_group_id(0)] = total;
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void add_carries(__global Element* restrict out, __global const Element* restrict tile_sums, const ulong n) {
  const Element carry = tile_sums[get_group_id(0)];
  for (uint k = 0; k < ITEMS; ++k) {
    const ulong i = (get_group_id(0) + 1) * TILE + k * GROUP + get_local_id(0);  // the first tile needs none
    if (i < n) out[i] = combine(carry, out[i]);
  }
}
