// SPDX-License-Identifier: Apache-2.0
// scan_sums: scans the sums of tiles by one work-group.
#pragma once
#include "scan/local_tile.cl"

// Scans the sums of the tiles [first, last) in place, onto the sum before them.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_sums(__global Element* tile_sums, const ulong first, const ulong last) {
  TILE_MEMORY;
  Element carry = first > 0 ? tile_sums[first - 1] : initial();
  __global Element* own = tile_sums + first;
  for (ulong chunk = 0; chunk * TILE < last - first; ++chunk) {
    Element x[ITEMS], total;
    load_tile(staged, own, last - first, chunk, identity(), x);
    const Element before = scan_group(sums, fold(x), &total);
    scan_items(x, combine(carry, before), 0);
    store_tile(staged, own, last - first, chunk, x);
    carry = combine(carry, total);
  }
}
