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
// Returns the count of the tile, and of the sub-groups before this one in *subgroups.
uint count_tile(const uint mine, __local uint* sums, uint* subgroups) {
  uint total;
  const uint of_subgroup = subgroup_reduce(mine);
  if (subgroup_lane() == 0) sums[subgroup_id()] = of_subgroup;
  barrier(CLK_LOCAL_MEM_FENCE);
  *subgroups = scan_subgroup_sums(sums, &total);
  return total;
}
#endif
