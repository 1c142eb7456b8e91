// SPDX-License-Identifier: Apache-2.0
// serial_look_back: one work-item looks back over the tile states, one predecessor at a time.
#pragma once
#include "lib/tile_states.cl"

#define DONE (-2)   // all predecessors are in the prefix
#define FRONT (-1)  // before the first tile

// Looks back serially, as in Merrill & Garland 2016, from tile *position on, and combines what it reads in front of
// *exclusive_prefix. Sets *position to DONE when *exclusive_prefix is complete. Otherwise *position is a tile whose
// state stayed STATUS_INVALID for SPIN_LIMIT polls, and *exclusive_prefix is the aggregate of the tiles between
// it and the work-group's own.
void serial_look_back(volatile __global StateWord* states, const uint epoch, int* position,
                      Element* exclusive_prefix) {
  uint spins = 0;
  while (*position >= 0 && spins < SPIN_LIMIT) {
    Element value;
    const uint status = poll(states, (uint)*position, epoch, &value);
    ++spins;
    if (status == STATUS_INVALID) continue;
    spins = 0;
    *exclusive_prefix = combine(value, *exclusive_prefix);
    *position = status == STATUS_INCLUSIVE ? DONE : *position - 1;
  }
  if (*position == FRONT) {
    *exclusive_prefix = combine(init(), *exclusive_prefix);
    *position = DONE;
  }
}
