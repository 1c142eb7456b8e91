// SPDX-License-Identifier: Apache-2.0
// tuple_scan: scans a tile in registers whose elements are tuples as they lie, with the functions of value_scan.cl.
//
// Value i of everything belongs to stream i % TUPLE. TUPLE, a power of two, divides the values of a sub-group's row,
// and so each place of a work-item's vectors belongs to one stream, whatever row or tile it is of. A tile's state is
// an element: a value of each stream.
//
// TUPLE             values of a tuple
// SUM_FIRST         as in value_scan.cl
#pragma once
#ifdef EDITOR
#define TUPLE 4
#define ORDER 1
#endif
#define PARTS TUPLE
#define ITEM VALUE
#include "lib/vector_tile.cl"
#include "scan/around.cl"
#include "scan/state_parts.cl"
#ifndef SUM_FIRST
#define SUM_FIRST 0
#endif

// A work-item holds HELD streams, the next one the next, and work-items STEP apart the same.
#define HELD (TUPLE < VEC ? TUPLE : VEC)
#define STEP (TUPLE / HELD)

typedef struct {
  Value at[HELD];
} Held;

uint first_held(void) { return item_id() % STEP * HELD; }

typedef const __local Value* Carry;  // of each stream

// ---- Between tiles ---------------------------------------------------------------------------------------------

#if SUBGROUP_PTX

typedef Value Total;  // of the stream subgroup_lane() % TUPLE

void publish_aggregate(volatile __global Word* states, const Ticket mine, const Total total) {
  if (subgroup_id() == 0 && mine.tile > 0) publish_parts(states, mine.tile, mine.epoch, AGGREGATE, total);
}

// Returns, in `carried`, what precedes the tile in each stream, to all work-items, and publishes the inclusive prefix.
Carry look_back_in_streams(volatile __global Word* states, const Ticket mine, const Total total,
                           __local Value* carried) {
  if (subgroup_id() == 0) {
    const Value carry = look_back_parts(states, mine);
    publish_parts(states, mine.tile, mine.epoch, INCLUSIVE, combine_values(carry, total));
    if (subgroup_lane() < TUPLE) carried[subgroup_lane()] = carry;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return carried;
}
#define CARRY_OF(mine, total) look_back_in_streams(states, mine, total, carried)
#define SEEN_MEMORY

#else

typedef Element Total;

void publish_aggregate(volatile __global Word* states, const Ticket mine, const Total total) {
  if (item_id() == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
}

// Returns what the work-items before this one hold of the stream item_id() % TUPLE, of which it has `share`, and in
// *total what all have of each stream.
Value scan_shares(__local Value* sums, const Value share, Element* total) {
  const uint item = item_id();
  Value mine = share;
  barrier(CLK_LOCAL_MEM_FENCE);  // earlier readers of `sums` are done
  sums[item] = mine;
  for (uint distance = TUPLE; distance < GROUP; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= distance) mine = combine_values(sums[item - distance], mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[item] = mine;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint p = 0; p < TUPLE; ++p) total->at[p] = sums[GROUP - TUPLE + p];
  return item >= TUPLE ? sums[item - TUPLE] : neutral();
}

Element fold_tile(__local Element* sums, __global const Value* restrict in, const ulong n, const ulong tile,
                  const uint items, __global const Value* restrict table) {
  (void)table;
  const ulong first = tile * GROUP * items;
  Value mine = neutral();
  for (ulong i = first + item_id(); i < min(first + GROUP * items, n); i += GROUP) mine = combine_values(mine, in[i]);
  Element total;
  (void)scan_shares((__local Value*)sums, mine, &total);
  return total;
}

Carry look_back_in_streams(volatile __global Word* states, const Ticket mine, const Total total,
                           __local Value* carried, __local Seen* window, __local Value* sums,
                           __global const Value* restrict in, const ulong n) {
  const Element carry =
      parallel_look_back(states, mine, total, window, (__local Element*)sums, in, n, REGISTER_ITEMS, 0);
  if (item_id() == 0) {
#pragma unroll
    for (uint p = 0; p < TUPLE; ++p) carried[p] = carry.at[p];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return carried;
}
#define CARRY_OF(mine, total) look_back_in_streams(states, mine, total, carried, window, sums, in, n)
#define SEEN_MEMORY WINDOW_MEMORY

#endif

// ---- Within a tile ---------------------------------------------------------------------------------------------

#if SUBGROUP_SHUFFLES

#define STAGED 1  // none
typedef Held Progress;  // what the sub-groups before this one hold

Held nothing(void) {
  Held none;
#pragma unroll
  for (uint h = 0; h < HELD; ++h) none.at[h] = neutral();
  return none;
}

Held joined(const Held l, const Held r) {
  Held both;
#pragma unroll
  for (uint h = 0; h < HELD; ++h) both.at[h] = combine_values(l.at[h], r.at[h]);
  return both;
}

// Picks this work-item's streams from a list of all.
Held held_of(const __local Value* streams) {
  Held held;
#pragma unroll
  for (uint h = 0; h < HELD; ++h) held.at[h] = streams[first_held() + h];
  return held;
}

void add_to_vectors(Tile* x, const Held carry) {
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = combine_values(carry.at[v % HELD], x->at[r][v]);
  }
}

// Returns what the lane STEP below has, and nothing to the first lanes.
Value from_before(const Value x) {
  const Value below = subgroup_shuffle_up(x, STEP);
  return subgroup_lane() >= STEP ? below : neutral();
}

// Scans the sub-group's values onto `carry`. Returns what they end with.
Held scan_rows_of_streams(Tile* x, Held carry) {
  const uint lane = subgroup_lane();
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
    for (uint v = HELD; v < VEC; ++v) x->at[r][v] = combine_values(x->at[r][v - HELD], x->at[r][v]);
  }
  // Scans the last HELD places of a vector, which hold its sums; distance by distance, so that shuffles overlap.
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
    Held row, before;
#pragma unroll
    for (uint h = 0; h < HELD; ++h) {
      const Value last = x->at[r][VEC - HELD + h];
      row.at[h] = subgroup_shuffle(last, SUBGROUP_SIZE - STEP + lane % STEP);
      before.at[h] = EXCLUSIVE || HELD < VEC ? from_before(last) : neutral();
    }
#pragma unroll
    for (uint v = 0; v < VEC - HELD; ++v) x->at[r][v] = combine_values(before.at[v % HELD], x->at[r][v]);
    if (EXCLUSIVE) {
#pragma unroll
      for (uint v = VEC; v-- > HELD;) x->at[r][v] = x->at[r][v - HELD];
#pragma unroll
      for (uint v = 0; v < HELD; ++v) x->at[r][v] = before.at[v];
    }
#pragma unroll
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = combine_values(carry.at[v % HELD], x->at[r][v]);
    carry = joined(carry, row);
  }
  return carry;
}

Held sum_rows_of_streams(const Tile* x) {
  Held sum = nothing();
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) sum.at[v % HELD] = combine_values(sum.at[v % HELD], x->at[r][v]);
  }
#pragma unroll
  for (uint d = STEP; d < SUBGROUP_SIZE; d *= 2) {
#pragma unroll
    for (uint h = 0; h < HELD; ++h)
      sum.at[h] = combine_values(sum.at[h], subgroup_shuffle(sum.at[h], subgroup_lane() ^ d));
  }
  return sum;
}

Total begin_tile(Tile* x, Progress* progress, __local Value* vectors, __local Value* sums) {
  (void)vectors;
#if SUM_FIRST
  const Held own = sum_rows_of_streams(x);
#else
  const Held own = scan_rows_of_streams(x, nothing());
#endif
  if (subgroup_lane() < STEP) {
#pragma unroll
    for (uint h = 0; h < HELD; ++h) sums[subgroup_id() * TUPLE + first_held() + h] = own.at[h];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *progress = nothing();
  for (uint s = 0; s < subgroup_id(); ++s) *progress = joined(*progress, held_of(sums + s * TUPLE));
#if SUBGROUP_PTX
  Total total = neutral();
  for (uint s = 0; s < SUBGROUPS; ++s) total = combine_values(total, sums[s * TUPLE + subgroup_lane() % TUPLE]);
#else
  Total total = identity();
  for (uint s = 0; s < SUBGROUPS; ++s) {
#pragma unroll
    for (uint p = 0; p < TUPLE; ++p) total.at[p] = combine_values(total.at[p], sums[s * TUPLE + p]);
  }
#endif
  return total;
}

void continue_tile(Tile* x, Progress* progress) {
  (void)x;
  (void)progress;
#if SUM_FIRST
  if (subgroup_id() > 0) (void)scan_rows_of_streams(x, *progress);
#endif
}

void finish_tile(Tile* x, Progress* progress, const Carry carried, __local Value* vectors) {
  const Held carry = held_of(carried);
  (void)vectors;
#if SUM_FIRST
  (void)progress;
  if (subgroup_id() == 0)
    (void)scan_rows_of_streams(x, carry);
  else
    add_to_vectors(x, carry);
#else
  add_to_vectors(x, joined(carry, *progress));
#endif
}

#else

// Scans through local memory, where each work-item takes consecutive values of one stream.
#define STAGED PADDED(REGISTER_TILE)
typedef Value Progress;  // what the work-items before this one hold

uint place_of_share(const uint k) {
  return PADDED((item_id() / TUPLE * REGISTER_ITEMS + k) * TUPLE + item_id() % TUPLE);
}

Total begin_tile(Tile* x, Progress* progress, __local Value* vectors, __local Value* sums) {
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) vectors[PADDED(place_of_vector(r) * VEC + v)] = x->at[r][v];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  Value mine = neutral();
  Total total;
  for (uint k = 0; k < REGISTER_ITEMS; ++k) mine = combine_values(mine, vectors[place_of_share(k)]);
  *progress = scan_shares(sums, mine, &total);
  return total;
}

void continue_tile(Tile* x, Progress* progress) {
  (void)x;
  (void)progress;
}

void finish_tile(Tile* x, Progress* progress, const Carry carried, __local Value* vectors) {
  Value sum = combine_values(carried[item_id() % TUPLE], *progress);
  for (uint k = 0; k < REGISTER_ITEMS; ++k) {
    const uint at = place_of_share(k);
    const Value next = combine_values(sum, vectors[at]);
    vectors[at] = EXCLUSIVE ? sum : next;
    sum = next;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = vectors[PADDED(place_of_vector(r) * VEC + v)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

#endif

#define TILE_SCAN_MEMORY          \
  __local Value vectors[STAGED];  \
  __local Value sums[GROUP];      \
  __local Value carried[TUPLE];   \
  __local uint ticket[2];         \
  SEEN_MEMORY
