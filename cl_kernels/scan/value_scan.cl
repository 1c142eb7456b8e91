// SPDX-License-Identifier: Apache-2.0
// value_scan: scans a tile in registers whose elements are values; tuple_scan.cl has the same functions for tuples.
//
// SUM_FIRST         1: begin_tile sums up alone, and the scan overlaps the look-back of the first sub-group; else 0
#pragma once
#include "lib/decoupled_look_back.cl"
#include "lib/vector_tile.cl"
#include "scan/around.cl"
#include "scan/fold_tile.cl"
#ifndef SUM_FIRST
#define SUM_FIRST 0
#endif

void sum_vectors(const Tile* x, Value* sums) {
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    sums[r] = x->at[r][0];
#pragma unroll
    for (uint v = 1; v < VEC; ++v) sums[r] = combine(sums[r], x->at[r][v]);
  }
}

// Scans every vector onto what precedes it in the tile, and the tile onto `carry`.
void apply_vectors(Tile* x, const Value* before, const Value carry) {
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    Value sum = combine(carry, before[r]);
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const Value next = combine(sum, x->at[r][v]);
      x->at[r][v] = EXCLUSIVE ? sum : next;
      sum = next;
    }
  }
}

typedef Value Total;
typedef Value Carry;
typedef struct {
  Value vector_sums[VECTORS], before[VECTORS];
  Value subgroups;  // what the sub-groups before this one hold
} Progress;

// Returns the tile's sum.
Total begin_tile(const Tile* x, Progress* progress, __local Value* vectors, __local Value* sums) {
  sum_vectors(x, progress->vector_sums);
#if SUM_FIRST && SUBGROUP_OPS
  Total total;
  Value own = progress->vector_sums[0];
  (void)vectors;
#pragma unroll
  for (uint r = 1; r < VECTORS; ++r) own = combine(own, progress->vector_sums[r]);
  own = subgroup_reduce(own);
  if (subgroup_lane() == 0) sums[subgroup_id()] = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  progress->subgroups = scan_subgroup_sums(sums, &total);
  return total;
#else
  return scan_vectors(progress->vector_sums, progress->before, vectors, sums);
#endif
}

void publish_aggregate(volatile __global Word* states, const Ticket mine, const Total total) {
  if (get_local_id(0) == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
}

// Scans what does not need the carry, while the first sub-group looks back.
void continue_tile(Tile* x, Progress* progress) {
  (void)x;
  (void)progress;
#if SUM_FIRST && SUBGROUP_OPS
  if (subgroup_id() > 0) (void)scan_rows(progress->vector_sums, progress->before, progress->subgroups);
#endif
}

void finish_tile(Tile* x, Progress* progress, const Carry carry, __local Value* vectors) {
  (void)vectors;
#if SUM_FIRST && SUBGROUP_OPS
  if (subgroup_id() == 0) (void)scan_rows(progress->vector_sums, progress->before, progress->subgroups);
#endif
  apply_vectors(x, progress->before, carry);
}

#define CARRY_OF(mine, total) LOOK_BACK(mine, total, REGISTER_ITEMS)
#define TILE_SCAN_MEMORY \
  VECTOR_MEMORY;         \
  WINDOW_MEMORY
