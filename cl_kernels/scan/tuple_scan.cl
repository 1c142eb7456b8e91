// SPDX-License-Identifier: Apache-2.0
// tuple_scan: scans a tile in registers of interleaved tuples, with the functions of value_scan.cl.
//
// Value i of the input belongs to component i % TUPLE. TUPLE, a power of two, divides the values of a sub-group's row,
// so that lane i of every vector of a work-item holds the same component, in every row and tile. A tile's state has one
// value per component.
//
// TUPLE             components of a tuple
// REDUCE_BEFORE_SCAN   as in value_scan.cl
#pragma once
#ifdef EDITOR
#define TUPLE 4
#define ORDER 1
#endif
#define ELEMENT_VALUES TUPLE
#define INPUT VALUE
#include "lib/vector_tile.cl"
#include "scan/tuple_layout.cl"
#ifndef REDUCE_BEFORE_SCAN
#define REDUCE_BEFORE_SCAN 0
#endif

// A work-item holds HELD components; its neighbour holds the next ones, and work-items STEP apart hold the same.
#define HELD (TUPLE < VEC ? TUPLE : VEC)
#define STEP (TUPLE / HELD)

typedef struct {
  Value at[HELD];
} Held;

uint first_held(void) { return work_item_id() % STEP * HELD; }

#define SHARES GROUP
#define SHARE_VALUES REGISTER_ELEMENTS
#include "scan/tuple_look_back.cl"

// ---- Within a tile ---------------------------------------------------------------------------------------------

#if SUBGROUP_SHUFFLES

#define STAGED 1  // not used
typedef Held Progress;  // exclusive prefix of the sub-group in the tile

Held identities_held(void) {
  Held identities;
#pragma unroll
  for (uint h = 0; h < HELD; ++h) identities.at[h] = identity_value();
  return identities;
}

Held joined(const Held l, const Held r) {
  Held both;
#pragma unroll
  for (uint h = 0; h < HELD; ++h) both.at[h] = combine_values(l.at[h], r.at[h]);
  return both;
}

// Picks this work-item's components from those of all.
Held held_of(const __local Value* components) {
  Held held;
#pragma unroll
  for (uint h = 0; h < HELD; ++h) held.at[h] = components[first_held() + h];
  return held;
}

void add_to_vectors(Tile* x, const Held prefix) {
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = combine_values(prefix.at[v % HELD], x->at[r][v]);
  }
}

// Returns the value of the lane STEP below, and the identity to the first lanes.
Value from_before(const Value x) {
  const Value below = subgroup_shuffle_up(x, STEP);
  return subgroup_lane() >= STEP ? below : identity_value();
}

// Scans the sub-group's values, starting from `prefix`. Returns the inclusive prefix of the last ones.
Held scan_rows_by_component(Tile* x, Held prefix) {
  const uint lane = subgroup_lane();
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
    for (uint v = HELD; v < VEC; ++v) x->at[r][v] = combine_values(x->at[r][v - HELD], x->at[r][v]);
  }
  // Scans the last HELD places of a vector, which hold its aggregates; distance by distance, so that shuffles overlap.
#pragma unroll
  for (uint d = STEP; d < SUBGROUP_SIZE; d *= 2) {
#pragma unroll
    for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
      for (uint v = VEC - HELD; v < VEC; ++v) {
        const Value below = subgroup_shuffle_up(x->at[r][v], d);
        if (lane >= d) x->at[r][v] = combine_values(below, x->at[r][v]);
      }
    }
  }
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    Held row, row_prefix;
#pragma unroll
    for (uint h = 0; h < HELD; ++h) {
      const Value last = x->at[r][VEC - HELD + h];
      row.at[h] = subgroup_shuffle(last, SUBGROUP_SIZE - STEP + lane % STEP);
      row_prefix.at[h] = EXCLUSIVE_SCAN || HELD < VEC ? from_before(last) : identity_value();
    }
#pragma unroll
    for (uint v = 0; v < VEC - HELD; ++v) x->at[r][v] = combine_values(row_prefix.at[v % HELD], x->at[r][v]);
    if (EXCLUSIVE_SCAN) {
#pragma unroll
      for (uint v = VEC; v-- > HELD;) x->at[r][v] = x->at[r][v - HELD];
#pragma unroll
      for (uint v = 0; v < HELD; ++v) x->at[r][v] = row_prefix.at[v];
    }
#pragma unroll
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = combine_values(prefix.at[v % HELD], x->at[r][v]);
    prefix = joined(prefix, row);
  }
  return prefix;
}

Held reduce_rows_by_component(const Tile* x) {
  Held aggregate = identities_held();
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) aggregate.at[v % HELD] = combine_values(aggregate.at[v % HELD], x->at[r][v]);
  }
#pragma unroll
  for (uint d = STEP; d < SUBGROUP_SIZE; d *= 2) {
#pragma unroll
    for (uint h = 0; h < HELD; ++h)
      aggregate.at[h] = combine_values(aggregate.at[h], subgroup_shuffle(aggregate.at[h], subgroup_lane() ^ d));
  }
  return aggregate;
}

Total tile_aggregate(Tile* x, Progress* progress, __local Value* vectors, __local Value* partials) {
  (void)vectors;
#if REDUCE_BEFORE_SCAN
  const Held own = reduce_rows_by_component(x);
#else
  const Held own = scan_rows_by_component(x, identities_held());
#endif
  if (subgroup_lane() < STEP) {
#pragma unroll
    for (uint h = 0; h < HELD; ++h) partials[subgroup_id() * TUPLE + first_held() + h] = own.at[h];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *progress = identities_held();
  for (uint s = 0; s < subgroup_id(); ++s) *progress = joined(*progress, held_of(partials + s * TUPLE));
#if SUBGROUP_PTX
  Total total = identity_value();
  for (uint s = 0; s < SUBGROUPS; ++s) total = combine_values(total, partials[s * TUPLE + subgroup_lane() % TUPLE]);
#else
  Total total = identity();
  for (uint s = 0; s < SUBGROUPS; ++s) {
#pragma unroll
    for (uint p = 0; p < TUPLE; ++p) total.at[p] = combine_values(total.at[p], partials[s * TUPLE + p]);
  }
#endif
  return total;
}

void scan_during_look_back(Tile* x, Progress* progress) {
  (void)x;
  (void)progress;
#if REDUCE_BEFORE_SCAN
  if (subgroup_id() > 0) (void)scan_rows_by_component(x, *progress);
#endif
}

void apply_prefix(Tile* x, Progress* progress, const TilePrefix shared_prefix, __local Value* vectors) {
  const Held prefix = held_of(shared_prefix);
  (void)vectors;
#if REDUCE_BEFORE_SCAN
  (void)progress;
  if (subgroup_id() == 0)
    (void)scan_rows_by_component(x, prefix);
  else
    add_to_vectors(x, prefix);
#else
  add_to_vectors(x, joined(prefix, *progress));
#endif
}

#else

// Scans through local memory, where each work-item takes consecutive values of one component.
#define STAGED PADDED(REGISTER_TILE)
typedef Value Progress;  // exclusive prefix of the work-item in the tile

uint place_of_share(const uint k) {
  return PADDED((work_item_id() / TUPLE * REGISTER_ELEMENTS + k) * TUPLE + work_item_id() % TUPLE);
}

Total tile_aggregate(Tile* x, Progress* progress, __local Value* vectors, __local Value* partials) {
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) vectors[PADDED(place_of_vector(r) * VEC + v)] = x->at[r][v];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  Value mine = identity_value();
  Total total;
  for (uint k = 0; k < REGISTER_ELEMENTS; ++k) mine = combine_values(mine, vectors[place_of_share(k)]);
  *progress = scan_shares(partials, mine, &total);
  return total;
}

void scan_during_look_back(Tile* x, Progress* progress) {
  (void)x;
  (void)progress;
}

void apply_prefix(Tile* x, Progress* progress, const TilePrefix shared_prefix, __local Value* vectors) {
  Value prefix = combine_values(shared_prefix[work_item_id() % TUPLE], *progress);
  for (uint k = 0; k < REGISTER_ELEMENTS; ++k) {
    const uint at = place_of_share(k);
    const Value next = combine_values(prefix, vectors[at]);
    vectors[at] = EXCLUSIVE_SCAN ? prefix : next;
    prefix = next;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = vectors[PADDED(place_of_vector(r) * VEC + v)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

#endif

// Declares local memory: `vectors`, `partials`, `shared_prefix`, `ticket`, and what LOOK_BACK_MEMORY declares.
#define TILE_SCAN_MEMORY               \
  __local Value vectors[STAGED];       \
  __local Value partials[GROUP];       \
  __local Value shared_prefix[TUPLE];  \
  __local uint ticket[2];              \
  LOOK_BACK_MEMORY
