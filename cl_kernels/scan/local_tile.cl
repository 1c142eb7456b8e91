// SPDX-License-Identifier: Apache-2.0
// local_tile: scans a tile whose work-items each have consecutive elements, loaded through local memory.
#pragma once
#include "lib/group_scan.cl"
#include "scan/tuple_layout.cl"

Element reduce(const Element* x) {
  Element aggregate = x[0];
  for (uint k = 1; k < ELEMENTS_PER_WORK_ITEM; ++k) aggregate = combine(aggregate, x[k]);
  return aggregate;
}

// Scans x, starting from `prefix`, the exclusive prefix of x[0].
void scan_elements(Element* x, Element prefix, const int exclusive) {
  for (uint k = 0; k < ELEMENTS_PER_WORK_ITEM; ++k) {
    const Element inclusive = combine(prefix, x[k]);
    x[k] = exclusive ? prefix : inclusive;
    prefix = inclusive;
  }
}

// Declares local memory: `staged`, a tile on its way between global memory and the work-items' registers, and
// `partials`, two elements per work-item, in which scan_group scans one aggregate per work-item.
#define TILE_MEMORY                          \
  __local Element staged[PADDED(TILE)];      \
  __local Element partials[2 * GROUP]
