// SPDX-License-Identifier: Apache-2.0
// scan_sums: scans the aggregates of tiles by one work-group.
#pragma once
#include "scan/local_tile.cl"

// Scans the aggregates of the tiles [first, last) in place, starting from the inclusive prefix of the tile before.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_sums(__global Element* tile_aggregates, const ulong first, const ulong last) {
  TILE_MEMORY;
  Element prefix = first > 0 ? tile_aggregates[first - 1] : init();
  __global Element* own = tile_aggregates + first;
  for (ulong chunk = 0; chunk * TILE < last - first; ++chunk) {
    Element x[ELEMENTS_PER_WORK_ITEM], total;
    load_tile(staged, own, last - first, chunk, identity(), x);
    const Element exclusive_in_group = scan_group(partials, reduce(x), &total);
    scan_elements(x, combine(prefix, exclusive_in_group), 0);
    store_tile(staged, own, last - first, chunk, x);
    prefix = combine(prefix, total);
  }
}
