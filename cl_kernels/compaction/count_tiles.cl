// SPDX-License-Identifier: Apache-2.0
// count_tiles: counts what each tile keeps, in a launch before that which moves the keys.
//
// MASKS             1: leaves a bit per key, too, so that the later launch reads only the vectors with a kept key
#pragma once
#include "compaction/counts.cl"
#ifdef EDITOR
#define MASKS 1
#elif !defined(MASKS)
#error "count_tiles.cl needs MASKS from the host"
#endif

#if MASKS
#define MASK_WORDS (REGISTER_TILE / 32)  // of a tile

#if SUBGROUP_PTX
// Reads bit `lane` of word (warp, row, place in the vector).
uint mask_of_vector(__global const uint* restrict masks, const uint row) {
  uint kept = 0;
#pragma unroll
  for (uint v = 0; v < VEC; ++v)
    kept |= (masks[subgroup_id() * REGISTER_ELEMENTS + row * VEC + v] >> subgroup_lane() & 1) << v;
  return kept;
}

void write_masks(const Tile* x, __global uint* restrict masks) {
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) {
      const uint votes = ballot(keeps(x->at[r][v]));
      if (subgroup_lane() == 0) masks[subgroup_id() * REGISTER_ELEMENTS + r * VEC + v] = votes;
    }
  }
}
#else
// Reads bits in the order of the keys, as sub-groups of two kernels may differ in size.
uint mask_of_vector(__global const uint* restrict masks, const uint row) {
  const uint first = place_of_vector(row) * VEC;
  return masks[first / 32] >> first % 32 & ((1u << VEC) - 1);
}

void write_masks(const Tile* x, __global uint* restrict masks, __local uint* held) {
  for (uint i = work_item_id(); i < MASK_WORDS; i += GROUP) held[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < VECTORS; ++r) {
    const uint first = place_of_vector(r) * VEC;
    uint kept = 0;
    for (uint v = 0; v < VEC; ++v) kept |= (keeps(x->at[r][v]) ? 1u : 0u) << v;
    if (kept != 0) (void)atomic_or(&held[first / 32], kept << first % 32);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = work_item_id(); i < MASK_WORDS; i += GROUP) masks[i] = held[i];
}
#endif
#endif

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void count_tiles(__global uint* restrict tile_aggregates, __global uint* restrict masks,
                          __global const Key* restrict in, const ulong n) {
  VECTOR_MEMORY;
  (void)ticket;
  Tile x;
  load_vectors(&x, in, n, get_group_id(0), dropped());
  uint counts[VECTORS], total;
  const uint mine = count_vectors(&x, counts);
#if MASKS
#if SUBGROUP_PTX
  write_masks(&x, masks + get_group_id(0) * MASK_WORDS);
#else
  __local uint held[MASK_WORDS];
  write_masks(&x, masks + get_group_id(0) * MASK_WORDS, held);
#endif
#else
  (void)masks;
#endif
  (void)vectors;
#if SUBGROUP_OPS
  uint subgroup_prefix;
  total = count_tile(mine, partials, &subgroup_prefix);
#else
  (void)scan_group(partials, mine, &total);
#endif
  if (get_local_id(0) == 0) tile_aggregates[get_group_id(0)] = total;
}

#if MASKS
// Reads only the vectors that hold a kept key.
void load_kept_vectors(Tile* x, __global const uint* restrict masks, __global const Key* restrict in, const ulong n) {
  const ulong first = (ulong)get_group_id(0) * REGISTER_TILE;
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    const uint kept = mask_of_vector(masks + get_group_id(0) * MASK_WORDS, r);
    const ulong i = first + (ulong)place_of_vector(r) * VEC;
    if (kept != 0 && i + VEC <= n) {
      x->vector[r] = *(__global const Vector*)(in + i);
    } else {
#pragma unroll
      for (uint v = 0; v < VEC; ++v) x->at[r][v] = (kept >> v & 1) != 0 ? in[i + v] : dropped();
    }
  }
}
#endif
