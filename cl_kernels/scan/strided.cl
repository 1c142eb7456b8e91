// SPDX-License-Identifier: Apache-2.0
// strided: scans interleaved tuples of any size in one pass with decoupled look-back (Merrill & Garland 2016).
//
// Value i of the input belongs to component i % TUPLE. A tile is SEGMENTS runs of whole tuples. A work-item has one
// component of one run, in registers: values that lie TUPLE places apart. They pass through local memory, some tuples
// of each run at a time, where neighbouring work-items access neighbouring values whatever TUPLE is. So a work-item has
// one sum, where binomial.cl has TUPLE of them, and a tile may be larger than local memory. Large tiles pay off: a
// tile's state has TUPLE sums, and every later tile that looks back reads all of them.
//
// TUPLE             components of a tuple, GROUP at most
// VEC               values of a vector of 16 bytes
// STAGE_VALUES      values of a work-item that are in local memory at a time: a multiple of VEC, which divides
//                   ELEMENTS_PER_WORK_ITEM
#ifdef EDITOR
#define TUPLE 3
#define ORDER 1
#define VEC 4
#define STAGE_VALUES 4
#elif !defined(TUPLE) || !defined(VEC) || !defined(STAGE_VALUES)
#error "strided.cl needs TUPLE, VEC and STAGE_VALUES from the host"
#endif
#define ELEMENT_VALUES TUPLE
#define INPUT VALUE
#include "lib/group_scan.cl"
#include "scan/tuple_layout.cl"
#define SEGMENTS (GROUP / TUPLE)
#define SHARES (SEGMENTS * TUPLE)
#define SHARE_VALUES ELEMENTS_PER_WORK_ITEM
#include "scan/tuple_look_back.cl"

#define TILE_VALUES (SHARES * SHARE_VALUES)
#define RUN (SHARE_VALUES * TUPLE)         // values of a run
#define STAGED_RUN (STAGE_VALUES * TUPLE)  // of them, in local memory at a time
#define STAGES (SHARE_VALUES / STAGE_VALUES)
#define VECTORS (SEGMENTS * STAGED_RUN / VEC)  // of a stage
#define COLUMNS (STAGE_VALUES / VEC)           // of them, of a work-item

// Places each run so that its first value lies in the bank behind the last component of the run before, as near as
// whole vectors allow: then the work-items of several runs access different banks.
#define BANKS (128 / VALUE_BYTES)
#define NEXT_BANK ((TUPLE + VEC - 1) / VEC * VEC)
#define RUN_PITCH (STAGED_RUN + (BANKS + NEXT_BANK % BANKS - STAGED_RUN % BANKS) % BANKS)

typedef JOIN(VALUE, VEC) Vector;

typedef union {
  Vector vector;
  Value at[VEC];
} Values;

// Returns where vector `v` of a stage lies in local memory, and where in the tile.
uint place_in_stage(const uint v) { return v * VEC / STAGED_RUN * RUN_PITCH + v * VEC % STAGED_RUN; }
uint place_in_tile(const uint v, const uint stage) {
  return v * VEC / STAGED_RUN * RUN + stage * STAGED_RUN + v * VEC % STAGED_RUN;
}

// Loads the tile coalesced, all of it at once, so that as many loads as possible are in flight.
void load_tile_vectors(Values* x, __global const Value* restrict in, const ulong n, const ulong first) {
#pragma unroll
  for (uint c = 0; c < STAGES * COLUMNS; ++c) {
    const uint v = min(c % COLUMNS * GROUP + work_item_id(), (uint)VECTORS - 1);
    const ulong at = first + place_in_tile(v, c / COLUMNS);
    if (first + TILE_VALUES <= n) {
      x[c].vector = *(__global const Vector*)(in + at);
    } else {
      for (uint k = 0; k < VEC; ++k) x[c].at[k] = at + k < n ? in[at + k] : identity_value();
    }
  }
}

// Puts a stage of the tile where work-items read their values of it.
void put_stage(__local Value* staged, const Values* x, const uint stage) {
#pragma unroll
  for (uint c = 0; c < COLUMNS; ++c) {
    const uint v = c * GROUP + work_item_id();
    if (v < VECTORS) *(__local Vector*)(staged + place_in_stage(v)) = x[stage * COLUMNS + c].vector;
  }
}

// Stores a stage coalesced.
void store_stage(const __local Value* staged, __global Value* restrict out, const ulong n, const ulong first,
                 const uint stage) {
  if (first + TILE_VALUES <= n) {
#pragma unroll
    for (uint c = 0; c < COLUMNS; ++c) {
      const uint v = c * GROUP + work_item_id();
      if (v < VECTORS)
        *(__global Vector*)(out + first + place_in_tile(v, stage)) =
            *(const __local Vector*)(staged + place_in_stage(v));
    }
  } else {
    for (uint v = work_item_id(); v < VECTORS; v += GROUP) {
      for (uint k = 0; k < VEC; ++k) {
        const ulong i = first + place_in_tile(v, stage) + k;
        if (i < n) out[i] = staged[place_in_stage(v) + k];
      }
    }
  }
}

// Returns the aggregate of the tile. Behind the next barrier, `shares` has the exclusive prefix of each share in it.
// `mine` is the work-item's own aggregate.
Total scan_aggregates(__local Value* shares, const Value mine) {
#if SUBGROUP_PTX
  Total total = identity_value();
  if (work_item_id() < SHARES) shares[work_item_id()] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (subgroup_id() == 0) {
    const uint component = own_value_index();
#pragma unroll
    for (uint s = 0; s < SEGMENTS; ++s) {
      const Value aggregate = shares[s * TUPLE + component];
      if (subgroup_lane() < TUPLE) shares[s * TUPLE + component] = total;
      total = combine_values(total, aggregate);
    }
  }
#else
  Total total;
  const Value before = scan_shares(shares, mine, &total);
  barrier(CLK_LOCAL_MEM_FENCE);  // neighbours have read their prefixes
  shares[work_item_id()] = before;
#endif
  return total;
}

WORK_GROUP_SIZE_ATTRIBUTE
__kernel void strided(__global Value* restrict out, volatile __global StateWord* states,
                      __global const Value* restrict in, const ulong n, const uint tiles) {
  __local Value __attribute__((aligned(16))) staged[SEGMENTS * RUN_PITCH];
  __local Value shares[GROUP];
  __local Value partials[GROUP];
  __local Value shared_prefix[TUPLE];
  __local uint ticket[2];
  LOOK_BACK_MEMORY;
  StateWord counter;
  TileTicket mine = acquire_one_tile(states, tiles, ticket, &counter);
  const ulong first = (ulong)mine.tile * TILE_VALUES;
  // Work-items without a share take a part of the first one, and write nothing.
  const bool has_share = work_item_id() < SHARES;
  const uint share = has_share ? work_item_id() : work_item_id() % TUPLE;
  __local Value* own = staged + share / TUPLE * RUN_PITCH + share % TUPLE;
  Values loaded[STAGES * COLUMNS];
  load_tile_vectors(loaded, in, n, first);
  broadcast_epoch(states, counter, tiles, ticket);
  Value x[SHARE_VALUES];
#pragma unroll
  for (uint stage = 0; stage < STAGES; ++stage) {
    put_stage(staged, loaded, stage);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint k = 0; k < STAGE_VALUES; ++k) x[stage * STAGE_VALUES + k] = own[k * TUPLE];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  receive_epoch(&mine, ticket);
  Value aggregate = identity_value();
#pragma unroll
  for (uint k = 0; k < SHARE_VALUES; ++k) {
    const Value next = combine_values(aggregate, x[k]);
    x[k] = EXCLUSIVE_SCAN ? aggregate : next;
    aggregate = next;
  }
  const Total total = scan_aggregates(shares, aggregate);
  publish_aggregate(states, mine, total);
  const TilePrefix tile_prefix = TILE_PREFIX_OF(mine, total);
  const Value prefix = combine_values(tile_prefix[share % TUPLE], shares[share]);
#pragma unroll
  for (uint stage = 0; stage < STAGES; ++stage) {
    if (stage > 0) barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint k = 0; k < STAGE_VALUES; ++k) {
      if (has_share) own[k * TUPLE] = combine_values(prefix, x[stage * STAGE_VALUES + k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store_stage(staged, out, n, first, stage);
  }
}
