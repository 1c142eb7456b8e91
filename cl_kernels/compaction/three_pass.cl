// SPDX-License-Identifier: Apache-2.0
// three_pass: writes a flag per key, scans the flags, and scatters the kept keys (Harris, Sengupta, Owens 2007).
#include "compaction/keys.cl"
#include "lib/vector_tile.cl"
#include "scan/reduce_then_scan.cl"

// Writes 1 for each kept key, else 0.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void flags(__global uint* restrict flag, __global const Key* restrict in, const ulong n) {
  Tile x;
  load_vectors(&x, in, n, get_group_id(0), dropped());
  for (uint r = 0; r < VECTORS; ++r) {
    const ulong i = get_group_id(0) * (ulong)REGISTER_TILE + (ulong)place_of_vector(r) * VEC;
    for (uint v = 0; v < VEC; ++v) {
      if (i + v < n) flag[i + v] = keeps(x.at[r][v]) ? 1 : 0;
    }
  }
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scatter(__global Key* restrict out, __global uint* restrict index, __global uint* restrict count,
                      __global const uint* restrict ranks, __global const Key* restrict in, const ulong n) {
  Tile x;
  (void)index;
  load_vectors(&x, in, n, get_group_id(0), dropped());
  for (uint r = 0; r < VECTORS; ++r) {
    const ulong i = get_group_id(0) * (ulong)REGISTER_TILE + (ulong)place_of_vector(r) * VEC;
    for (uint v = 0; v < VEC; ++v) {
      if (i + v >= n) break;
      const bool kept = keeps(x.at[r][v]);
      const uint rank = ranks[i + v];
      if (kept) out[rank] = x.at[r][v];
#if INDEX
      if (kept) index[rank] = (uint)(i + v);
#endif
      if (i + v == n - 1) put_count(count, rank + (kept ? 1 : 0), n);
    }
  }
}
