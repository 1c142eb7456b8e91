// SPDX-License-Identifier: Apache-2.0
// value_scan: scans a tile in registers whose elements are single values; tuple_scan.cl does the same for tuples.
//
// REDUCE_BEFORE_SCAN   1: tile_aggregate only reduces, and the scan overlaps the look-back of the first sub-group;
//                   0: it scans, too
#pragma once
#include "lib/decoupled_look_back.cl"
#include "lib/vector_tile.cl"
#include "scan/tuple_layout.cl"
#include "scan/reduce_tile.cl"
#ifndef REDUCE_BEFORE_SCAN
#define REDUCE_BEFORE_SCAN 0
#endif

void reduce_vectors(const Tile* x, Value* partials) {
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    partials[r] = x->at[r][0];
#pragma unroll
    for (uint v = 1; v < VEC; ++v) partials[r] = combine(partials[r], x->at[r][v]);
  }
}

// Scans every vector, starting from its exclusive prefix in the tile combined with `tile_prefix`, that of the tile.
void scan_vectors_from_prefixes(Tile* x, const Value* prefixes, const Value tile_prefix) {
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    Value prefix = combine(tile_prefix, prefixes[r]);
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const Value next = combine(prefix, x->at[r][v]);
      x->at[r][v] = EXCLUSIVE_SCAN ? prefix : next;
      prefix = next;
    }
  }
}

typedef Value Total;
typedef Value TilePrefix;
typedef struct {
  Value vector_aggregates[VECTORS], prefixes[VECTORS];
  Value subgroup_prefix;  // exclusive prefix of the sub-group in the tile
} Progress;

// Returns the tile's aggregate, and leaves in *progress what the functions below need.
Total tile_aggregate(const Tile* x, Progress* progress, __local Value* vectors, __local Value* partials) {
  reduce_vectors(x, progress->vector_aggregates);
#if REDUCE_BEFORE_SCAN && SUBGROUP_OPS
  Total total;
  Value own = progress->vector_aggregates[0];
  (void)vectors;
#pragma unroll
  for (uint r = 1; r < VECTORS; ++r) own = combine(own, progress->vector_aggregates[r]);
  own = subgroup_reduce(own);
  if (subgroup_lane() == 0) partials[subgroup_id()] = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  progress->subgroup_prefix = scan_subgroup_aggregates(partials, &total);
  return total;
#else
  return scan_vectors(progress->vector_aggregates, progress->prefixes, vectors, partials);
#endif
}

void publish_aggregate(volatile __global StateWord* states, const TileTicket mine, const Total total) {
  if (get_local_id(0) == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, STATUS_AGGREGATE, total);
}

// Scans what does not need the tile's prefix, while the first sub-group looks back.
void scan_during_look_back(Tile* x, Progress* progress) {
  (void)x;
  (void)progress;
#if REDUCE_BEFORE_SCAN && SUBGROUP_OPS
  if (subgroup_id() > 0) (void)scan_rows(progress->vector_aggregates, progress->prefixes, progress->subgroup_prefix);
#endif
}

// Completes the scan of the tile, given its exclusive prefix.
void apply_prefix(Tile* x, Progress* progress, const TilePrefix tile_prefix, __local Value* vectors) {
  (void)vectors;
#if REDUCE_BEFORE_SCAN && SUBGROUP_OPS
  if (subgroup_id() == 0) (void)scan_rows(progress->vector_aggregates, progress->prefixes, progress->subgroup_prefix);
#endif
  scan_vectors_from_prefixes(x, progress->prefixes, tile_prefix);
}

#define TILE_PREFIX_OF(mine, total) LOOK_BACK(mine, total, REGISTER_ELEMENTS)
// Declares local memory, as VECTOR_MEMORY and WINDOW_MEMORY do.
#define TILE_SCAN_MEMORY \
  VECTOR_MEMORY;         \
  WINDOW_MEMORY
