// SPDX-License-Identifier: Apache-2.0
// prefix_sections: learns section by section how many keys are kept before a tile (InK-Compact: Hughes et al. 2013).
//
// A section is 32 tiles. A tile waits for its predecessors in the section, and for the previous section's total, so
// that there are as many waits one after the other as sections, not as tiles.
#pragma once
#include "compaction/keys.cl"
#include "lib/group_scan.cl"
#include "lib/tile_states.cl"

#define SECTION 32
uint prefix_in_sections(volatile __global StateWord* states, const TileTicket mine, const uint total,
                        __local uint* partials) {
  const int local_id = (int)get_local_id(0), last = (int)mine.tile - 1;
  const int first = (int)(mine.tile / SECTION * SECTION) - 1;  // the last tile of the section before
  const int at = last - local_id;
  uint value = 0, all;
  for (uint spins = 0; at >= max(first, 0) && spins < SPIN_LIMIT; ++spins) {
    const uint status = poll(states, (uint)at, mine.epoch, &value);
    if (status == STATUS_INCLUSIVE || (status == STATUS_AGGREGATE && at > first)) break;
  }
  (void)scan_group(partials, value, &all);
  if (local_id == 0 && mine.tile % SECTION == SECTION - 1)
    publish(states, mine.tile, mine.epoch, STATUS_INCLUSIVE, all + total);
  return all;
}

#define BY_TILE_STATES 1
#define ORDERED 1
#define STATES volatile __global StateWord*
#define PUBLISHES_AGGREGATE(tile) ((tile) % SECTION != SECTION - 1)
#define PREFIX_MEMORY __local uint section_sums[2 * GROUP]
#define TILE_PREFIX_OF(mine, total) prefix_in_sections(states, mine, total, section_sums)
