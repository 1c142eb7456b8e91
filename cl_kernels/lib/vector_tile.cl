// SPDX-License-Identifier: Apache-2.0
// vector_tile: keeps a tile in registers, as vectors that are loaded and stored coalesced.
//
// VECTORS, VEC      vectors of a work-item, and keys of a vector
//
// A sub-group holds VECTORS rows of vectors, one vector of each row per work-item. No key passes through local memory;
// the sums of the vectors do, unless work-items of a sub-group exchange them.
#pragma once
#include "lib/group_scan.cl"
#ifdef EDITOR
#define VECTORS 4
#define VEC 4
#elif !defined(VECTORS) || !defined(VEC)
#error "vector_tile.cl needs VECTORS and VEC from the host"
#endif

#define REGISTER_ITEMS (VECTORS * VEC)
#define REGISTER_TILE (GROUP * REGISTER_ITEMS)

#if VEC == 1
typedef Key Vector;
#else
typedef JOIN(KEY, VEC) Vector;
#endif

typedef union {
  Vector vector[VECTORS];
  Key at[VECTORS][VEC];
} Tile;

// Returns where in the tile, counted in vectors, this work-item's vector of row `r` is.
uint place_of_vector(const uint r) {
  return subgroup_id() * SUBGROUP_SIZE * VECTORS + r * subgroup_items() + subgroup_lane();
}

// `none` lies behind the last key.
void load_vectors(Tile* x, __global const Key* restrict in, const ulong n, const ulong tile, const Key none) {
  const ulong first = tile * REGISTER_TILE;
  if (first + REGISTER_TILE <= n) {
    __global const Vector* vectors = (__global const Vector*)(in + first);
#pragma unroll
    for (uint r = 0; r < VECTORS; ++r) x->vector[r] = vectors[place_of_vector(r)];
    return;
  }
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const ulong i = first + place_of_vector(r) * VEC + v;
      x->at[r][v] = i < n ? in[i] : none;
    }
  }
}

void store_vectors(const Tile* x, __global Key* restrict out, const ulong n, const ulong tile) {
  const ulong first = tile * REGISTER_TILE;
  if (first + REGISTER_TILE <= n) {
    __global Vector* vectors = (__global Vector*)(out + first);
#pragma unroll
    for (uint r = 0; r < VECTORS; ++r) vectors[place_of_vector(r)] = x->vector[r];
    return;
  }
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const ulong i = first + place_of_vector(r) * VEC + v;
      if (i < n) out[i] = x->at[r][v];
    }
  }
}

#if PARTS == 1  // otherwise the algorithm scans the vectors itself

#if SUBGROUP_OPS

#define VECTOR_SUMS 1  // none
#define SUMS MOST_SUBGROUPS

DEFINE_SUBGROUP_SCAN(scan_vectors_of_subgroup, VECTORS, SUBGROUP_SIZE)

// Turns the sums of this work-item's vectors into what precedes each of them in the sub-group, onto `start`. Returns
// what the sub-group ends with.
Value scan_rows(const Value* sums, Value* before, const Value start) {
  Value totals[VECTORS], carry = start;
  scan_vectors_of_subgroup(sums, before, totals);
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    before[r] = combine(carry, before[r]);
    carry = combine(carry, totals[r]);
  }
  return carry;
}

// Turns the sums of the tile's vectors into what precedes each of them in it. Returns the tile's sum.
Value scan_vectors(const Value* vector_sums, Value* before, __local Value* vectors, __local Value* sums) {
  Value total;
  (void)vectors;
  const Value of_subgroup = scan_rows(vector_sums, before, identity());
  if (subgroup_lane() == 0) sums[subgroup_id()] = of_subgroup;
  barrier(CLK_LOCAL_MEM_FENCE);
  const Value subgroups = scan_subgroup_sums(sums, &total);
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) before[r] = combine(subgroups, before[r]);
  return total;
}

#else

// Returns the sum of the sub-groups before this one, and that of all in *total. `subgroup_sums` is complete.
Value scan_subgroup_sums(const __local Value* subgroup_sums, Value* total) {
  Value before = identity();
  *total = identity();
  for (uint s = 0; s < GROUP / SUBGROUP_SIZE; ++s) {
    if (s == (uint)get_local_id(0) / SUBGROUP_SIZE) before = *total;
    *total = combine(*total, subgroup_sums[s]);
  }
  return before;
}

#define VECTOR_SUMS PADDED(GROUP * VECTORS)
#define SUMS (2 * GROUP)

// Turns the sums of the tile's vectors into what precedes each of them in it. Returns the tile's sum.
Value scan_vectors(const Value* vector_sums, Value* before, __local Value* vectors, __local Value* sums) {
  const uint lane = (uint)get_local_id(0);
  for (uint r = 0; r < VECTORS; ++r) vectors[PADDED(place_of_vector(r))] = vector_sums[r];
  barrier(CLK_LOCAL_MEM_FENCE);
  Value mine = identity(), total;
  for (uint r = 0; r < VECTORS; ++r) mine = combine(mine, vectors[PADDED(lane * VECTORS + r)]);
  Value carry = scan_group(sums, mine, &total);
  for (uint r = 0; r < VECTORS; ++r) {
    const uint at = PADDED(lane * VECTORS + r);
    const Value own = vectors[at];
    vectors[at] = carry;
    carry = combine(carry, own);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < VECTORS; ++r) before[r] = vectors[PADDED(place_of_vector(r))];
  return total;
}

#endif  // SUBGROUP_OPS

#define VECTOR_MEMORY                   \
  __local Value vectors[VECTOR_SUMS];   \
  __local Value sums[SUMS];             \
  __local uint ticket[2]

#endif
