// SPDX-License-Identifier: Apache-2.0
// fold_tile: sums up a tile that another work-group is late with.
#pragma once
#include "lib/group_scan.cl"

// Returns the sum of a tile of `items` elements per work-item, each work-item's consecutive, as operators may not
// commute.
Element fold_tile(__local Element* sums, __global const Element* restrict in, const ulong n, const ulong tile,
                  const uint items, __global const Value* restrict table) {
  (void)table;
  const ulong first = (tile * GROUP + item_id()) * items;
  Element mine = identity(), total;
  for (ulong i = first; i < min(first + items, n); ++i) mine = combine(mine, in[i]);
  (void)scan_group(sums, mine, &total);
  return total;
}
