// SPDX-License-Identifier: Apache-2.0
// reduce_tile: reduces a tile that another work-group is late with.
#pragma once
#include "lib/group_scan.cl"

// Returns the tile's aggregate to all work-items. Each reduces consecutive elements, as operators may not commute.
Element reduce_tile(__local Element* partials, __global const Element* restrict in, const ulong n, const ulong tile,
                    const uint elements_per_work_item, __global const Value* restrict table) {
  (void)table;
  const ulong first = (tile * GROUP + work_item_id()) * elements_per_work_item;
  Element mine = identity(), total;
  for (ulong i = first; i < min(first + elements_per_work_item, n); ++i) mine = combine(mine, in[i]);
  (void)scan_group(partials, mine, &total);
  return total;
}
