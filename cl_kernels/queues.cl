// SPDX-License-Identifier: Apache-2.0
// queues: marks that a kernel ran, or keeps the device busy.
#include "lib/generator.cl"

// Marks a place, by one work-item.
__kernel void mark(__global uint* restrict out, const uint place, const uint value) { out[place] = value; }

// Marks a place per work-group, however many work-items it has.
__kernel void mark_groups(__global uint* restrict out, const uint value) {
  if (get_local_id(0) == 0) out[get_group_id(0)] = value + (uint)get_group_id(0);
}
