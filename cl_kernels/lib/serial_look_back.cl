// SPDX-License-Identifier: Apache-2.0
// serial_look_back: one work-item looks back over the tile states, one predecessor at a time.
#pragma once
#include "lib/tile_states.cl"

#define DONE (-2)   // all predecessors are summed up
#define FRONT (-1)  // before the first tile

// Looks back by decoupled look-back (Merrill & Garland 2016), serially. On return *after holds the sum of the tiles
// between *position and the own one. Ends at DONE, or at a state that stays INVALID for SPIN_LIMIT polls.
void serial_look_back(volatile __global Word* states, const uint epoch, int* position, Element* after) {
  uint spins = 0;
  while (*position >= 0 && spins < SPIN_LIMIT) {
    Element value;
    const uint flag = poll(states, (uint)*position, epoch, &value);
    ++spins;
    if (flag == INVALID) continue;
    spins = 0;
    *after = combine(value, *after);
    *position = flag == INCLUSIVE ? DONE : *position - 1;
  }
  if (*position == FRONT) {
    *after = combine(initial(), *after);
    *position = DONE;
  }
}
