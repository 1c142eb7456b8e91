// SPDX-License-Identifier: Apache-2.0
// queues: kernels that do next to nothing, and one that keeps the device busy.

// One item: a mark in a place of its own.
__kernel void mark(__global uint* restrict out, const uint place, const uint value) { out[place] = value; }

// A mark of each work-group, however many items it has.
__kernel void mark_groups(__global uint* restrict out, const uint value) {
  if (get_local_id(0) == 0) out[get_group_id(0)] = value + (uint)get_group_id(0);
}

// Each item alone with its register.
__kernel void compute(__global uint* restrict out, const uint seed, const uint trips) {
  uint x = seed + (uint)get_global_id(0);
  for (uint i = 0; i < trips; ++i) x = x * 1664525u + 1013904223u;
  out[get_global_id(0)] = x;
}
