// SPDX-License-Identifier: Apache-2.0
// counts: counts the kept keys of a tile in registers.
#pragma once
#include "compaction/keys.cl"
#include "lib/vector_tile.cl"

// Counts the kept keys of each vector. Returns their sum.
uint count_vectors(const Tile* x, uint* counts) {
  uint all = 0;
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    counts[r] = 0;
#pragma unroll
    for (uint v = 0; v < VEC; ++v) counts[r] += keeps(x->at[r][v]) ? 1 : 0;
    all += counts[r];
  }
  return all;
}

#if SUBGROUP_OPS
// Returns the count of the tile, and in *subgroup_prefix that of the sub-groups before this one.
uint count_tile(const uint mine, __local uint* partials, uint* subgroup_prefix) {
  uint total;
  const uint subgroup_aggregate = subgroup_reduce(mine);
  if (subgroup_lane() == 0) partials[subgroup_id()] = subgroup_aggregate;
  barrier(CLK_LOCAL_MEM_FENCE);
  *subgroup_prefix = scan_subgroup_aggregates(partials, &total);
  return total;
}
#endif
