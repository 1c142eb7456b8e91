// SPDX-License-Identifier: Apache-2.0
// three_phase: scans tiles, scans their aggregates, combines those with the tiles (Harris, Sengupta, Owens 2007).
#include "scan/scan_sums.cl"

// Scans each tile by itself and stores its aggregate.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_tiles(__global Element* restrict out, __global Element* restrict tile_aggregates,
                         __global const Element* restrict in, const ulong n) {
  TILE_MEMORY;
  Element x[ELEMENTS_PER_WORK_ITEM], total;
  load_tile(staged, in, n, get_group_id(0), identity(), x);
  const Element exclusive_in_group = scan_group(partials, reduce(x), &total);
  const Element tile_prefix = get_group_id(0) == 0 ? init() : identity();
  scan_elements(x, combine(tile_prefix, exclusive_in_group), EXCLUSIVE_SCAN);
  store_tile(staged, out, n, get_group_id(0), x);
  if (get_local_id(0) == 0) tile_aggregates[get_group_id(0)] = total;
}

// Combines each tile but the first with its exclusive prefix.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void add_carries(__global Element* restrict out, __global const Element* restrict tile_aggregates,
                          const ulong n) {
  const Element tile_prefix = tile_aggregates[get_group_id(0)];
  for (uint k = 0; k < ELEMENTS_PER_WORK_ITEM; ++k) {
    const ulong i = (get_group_id(0) + 1) * TILE + k * GROUP + get_local_id(0);  // the first tile needs none
    if (i < n) out[i] = combine(tile_prefix, out[i]);
  }
}
