// SPDX-License-Identifier: Apache-2.0
// vector_tile: keeps a tile in registers, as vectors that are loaded and stored coalesced.
//
// VECTORS, VEC      vectors of a work-item, and keys of a vector
//
// A sub-group holds VECTORS rows of vectors, one vector of each row per work-item. No key passes through local memory;
// the aggregates of the vectors do, unless work-items of a sub-group exchange them.
#pragma once
#include "lib/group_scan.cl"
#ifdef EDITOR
#define VECTORS 4
#define VEC 4
#elif !defined(VECTORS) || !defined(VEC)
#error "vector_tile.cl needs VECTORS and VEC from the host"
#endif

#define REGISTER_ELEMENTS (VECTORS * VEC)
#define REGISTER_TILE (GROUP * REGISTER_ELEMENTS)

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
  return subgroup_id() * SUBGROUP_SIZE * VECTORS + r * subgroup_size() + subgroup_lane();
}

// Loads a tile; `out_of_bounds_value` stands for what lies behind the last key.
void load_vectors(Tile* x, __global const Key* restrict in, const ulong n, const ulong tile,
                  const Key out_of_bounds_value) {
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
      x->at[r][v] = i < n ? in[i] : out_of_bounds_value;
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

#if ELEMENT_VALUES == 1  // otherwise the algorithm scans the vectors itself

#if SUBGROUP_OPS

#define VECTOR_PARTIALS 1  // not used
#define GROUP_PARTIALS MAX_SUBGROUPS

DEFINE_SUBGROUP_SCAN(scan_vectors_of_subgroup, VECTORS, SUBGROUP_SIZE)

// Turns the aggregates of this work-item's vectors into their exclusive prefixes in the sub-group, which begin with
// `start`.
// Returns the inclusive prefix of the sub-group's last vector.
Value scan_rows(const Value* partials, Value* prefixes, const Value start) {
  Value totals[VECTORS], prefix = start;
  scan_vectors_of_subgroup(partials, prefixes, totals);
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    prefixes[r] = combine(prefix, prefixes[r]);
    prefix = combine(prefix, totals[r]);
  }
  return prefix;
}

// Turns the aggregates of the tile's vectors into their exclusive prefixes in it. Returns the tile's aggregate.
Value scan_vectors(const Value* vector_aggregates, Value* prefixes, __local Value* vectors, __local Value* partials) {
  Value total;
  (void)vectors;
  const Value subgroup_aggregate = scan_rows(vector_aggregates, prefixes, identity());
  if (subgroup_lane() == 0) partials[subgroup_id()] = subgroup_aggregate;
  barrier(CLK_LOCAL_MEM_FENCE);
  const Value subgroup_prefix = scan_subgroup_aggregates(partials, &total);
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) prefixes[r] = combine(subgroup_prefix, prefixes[r]);
  return total;
}

#else

// Returns the exclusive prefix of the sub-group, and in *total the aggregate of all. `subgroup_aggregates` is complete.
Value scan_subgroup_aggregates(const __local Value* subgroup_aggregates, Value* total) {
  Value prefix = identity();
  *total = identity();
  for (uint s = 0; s < GROUP / SUBGROUP_SIZE; ++s) {
    if (s == (uint)get_local_id(0) / SUBGROUP_SIZE) prefix = *total;
    *total = combine(*total, subgroup_aggregates[s]);
  }
  return prefix;
}

#define VECTOR_PARTIALS PADDED(GROUP * VECTORS)
#define GROUP_PARTIALS (2 * GROUP)

// Turns the aggregates of the tile's vectors into their exclusive prefixes in it. Returns the tile's aggregate.
Value scan_vectors(const Value* vector_aggregates, Value* prefixes, __local Value* vectors, __local Value* partials) {
  const uint local_id = (uint)get_local_id(0);
  for (uint r = 0; r < VECTORS; ++r) vectors[PADDED(place_of_vector(r))] = vector_aggregates[r];
  barrier(CLK_LOCAL_MEM_FENCE);
  Value mine = identity(), total;
  for (uint r = 0; r < VECTORS; ++r) mine = combine(mine, vectors[PADDED(local_id * VECTORS + r)]);
  Value prefix = scan_group(partials, mine, &total);
  for (uint r = 0; r < VECTORS; ++r) {
    const uint at = PADDED(local_id * VECTORS + r);
    const Value own = vectors[at];
    vectors[at] = prefix;
    prefix = combine(prefix, own);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < VECTORS; ++r) prefixes[r] = vectors[PADDED(place_of_vector(r))];
  return total;
}

#endif  // SUBGROUP_OPS

// Declares local memory: `vectors`, an aggregate per vector; `partials`, one per sub-group or work-item; and `ticket`,
// the tile that the work-group has drawn, and the epoch.
#define VECTOR_MEMORY                      \
  __local Value vectors[VECTOR_PARTIALS];  \
  __local Value partials[GROUP_PARTIALS];  \
  __local uint ticket[2]

#endif
