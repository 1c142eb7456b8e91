// SPDX-License-Identifier: Apache-2.0
// tuple_look_back: publishes and finds what precedes a tile of interleaved tuples, with one value per component.
//
// SHARES            work-items with values of the tile, a multiple of TUPLE; work-item i has component i % TUPLE
// SHARE_VALUES      values of each of them
#pragma once
#if defined(EDITOR) && !defined(SHARES)
#define TUPLE 4
#define SHARES GROUP
#define SHARE_VALUES 4
#define ELEMENT_VALUES TUPLE
#define INPUT VALUE
#endif
#include "scan/warp_state.cl"

typedef const __local Value* TilePrefix;  // of each component

#if SUBGROUP_PTX

typedef Value Total;  // of the component subgroup_lane() % TUPLE

void publish_aggregate(volatile __global StateWord* states, const TileTicket mine, const Total total) {
  if (subgroup_id() == 0 && mine.tile > 0) publish_by_warp(states, mine.tile, mine.epoch, STATUS_AGGREGATE, total);
}

// Returns the tile's exclusive prefix of each component to all work-items, in `shared_prefix`, and publishes its
// inclusive prefix.
TilePrefix look_back_by_component(volatile __global StateWord* states, const TileTicket mine, const Total total,
                                  __local Value* shared_prefix) {
  if (subgroup_id() == 0) {
    const Value prefix = look_back_by_warp(states, mine);
    publish_by_warp(states, mine.tile, mine.epoch, STATUS_INCLUSIVE, combine_values(prefix, total));
    if (subgroup_lane() < TUPLE) shared_prefix[subgroup_lane()] = prefix;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared_prefix;
}
// Captures `states` and `shared_prefix`.
#define TILE_PREFIX_OF(mine, total) look_back_by_component(states, mine, total, shared_prefix)
#define LOOK_BACK_MEMORY

#else

typedef Element Total;

void publish_aggregate(volatile __global StateWord* states, const TileTicket mine, const Total total) {
  if (work_item_id() == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, STATUS_AGGREGATE, total);
}

// Scans the `share` of each work-item within its component, work_item_id() % TUPLE. Returns the exclusive prefix, and
// in *total the aggregate of each component.
Value scan_shares(__local Value* partials, const Value share, Element* total) {
  const uint local_id = work_item_id();
  Value mine = share;
  barrier(CLK_LOCAL_MEM_FENCE);  // earlier readers of `partials` are done
  partials[local_id] = mine;
  for (uint distance = TUPLE; distance < SHARES; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id >= distance) mine = combine_values(partials[local_id - distance], mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    partials[local_id] = mine;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint p = 0; p < TUPLE; ++p) total->at[p] = partials[SHARES - TUPLE + p];
  return local_id >= TUPLE ? partials[local_id - TUPLE] : identity_value();
}

Element reduce_tile(__local Element* partials, __global const Value* restrict in, const ulong n, const ulong tile,
                    const uint elements_per_work_item, __global const Value* restrict table) {
  (void)table;
  const ulong first = tile * SHARES * elements_per_work_item, end = min(first + SHARES * elements_per_work_item, n);
  Value mine = identity_value();
  for (ulong i = first + work_item_id(); work_item_id() < SHARES && i < end; i += SHARES)
    mine = combine_values(mine, in[i]);
  Element total;
  (void)scan_shares((__local Value*)partials, mine, &total);
  return total;
}

TilePrefix look_back_by_component(volatile __global StateWord* states, const TileTicket mine, const Total total,
                                  __local Value* shared_prefix, __local LookbackResult* window,
                                  __local Value* partials, __global const Value* restrict in, const ulong n) {
  const Element prefix =
      parallel_look_back(states, mine, total, window, (__local Element*)partials, in, n, SHARE_VALUES, 0);
  if (work_item_id() == 0) {
#pragma unroll
    for (uint p = 0; p < TUPLE; ++p) shared_prefix[p] = prefix.at[p];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared_prefix;
}
// Captures `states`, `shared_prefix`, `window`, `partials`, `in` and `n`.
#define TILE_PREFIX_OF(mine, total) look_back_by_component(states, mine, total, shared_prefix, window, partials, in, n)
#define LOOK_BACK_MEMORY WINDOW_MEMORY

#endif
