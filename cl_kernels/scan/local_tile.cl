// SPDX-License-Identifier: Apache-2.0
// local_tile: scans the consecutive elements of a work-item, which it has by way of local memory.
#pragma once
#include "lib/group_scan.cl"
#include "scan/around.cl"

Element fold(const Element* x) {
  Element all = x[0];
  for (uint k = 1; k < ITEMS; ++k) all = combine(all, x[k]);
  return all;
}

// Scans x onto `before`, the sum of all that precedes x[0].
void scan_items(Element* x, Element before, const int exclusive) {
  for (uint k = 0; k < ITEMS; ++k) {
    const Element after = combine(before, x[k]);
    x[k] = exclusive ? before : after;
    before = after;
  }
}

#define TILE_MEMORY                          \
  __local Element staged[PADDED(TILE)];      \
  __local Element sums[2 * GROUP]
