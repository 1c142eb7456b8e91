// SPDX-License-Identifier: Apache-2.0
// decoupled_look_back: finds what precedes a tile by many work-items that inspect several predecessors per step.
//
// WINDOW            states inspected per step: by work-items without sub-group operations, by warps a multiple of 32;
//                   other sub-groups inspect as many as they have work-items
//
// After Merrill & Garland 2016, with the fallback of Smith, Levien & Owens 2025: a tile whose state stays
// STATUS_INVALID is reduced here, so that no work-group needs the progress of another. The PTX variant has no fallback:
// it spins until the earlier tiles have published, and so needs the forward progress of their work-groups.
#pragma once
#include "lib/serial_look_back.cl"
#ifdef EDITOR
#define WINDOW 32
#elif !defined(WINDOW)
#error "decoupled_look_back.cl needs WINDOW from the host"
#endif

// Returns the aggregate of a tile to all work-items of the group. Each algorithm defines its own. `table` is that of
// scan/binomial.cl.
Element reduce_tile(__local Element* partials, __global const Key* restrict in, const ulong n, const ulong tile,
                    const uint elements_per_work_item, __global const Value* restrict table);

#if SUBGROUP_PTX

// Looks back by one warp, WINDOW states at a time, a lane per state: the operator must commute. All lanes must call
// it, and all get the result. After SPIN_LIMIT polls it gives up: the result is then wrong, which verification catches.
Element warp_look_back(volatile __global StateWord* states, const TileTicket mine) {
  const int local_id = (int)get_local_id(0);
  Element exclusive_prefix = identity();
  int position = (int)mine.tile - 1;
  for (uint spins = 0; spins < SPIN_LIMIT; ++spins) {
    State loaded[WINDOW / SUBGROUP_SIZE];
#pragma unroll
    for (int w = 0; w < WINDOW / SUBGROUP_SIZE; ++w)  // all loads are in flight before the first is needed
      loaded[w] = load_state(states, (uint)max(position - w * SUBGROUP_SIZE - local_id, 0));
#pragma unroll
    for (int w = 0; w < WINDOW / SUBGROUP_SIZE; ++w) {
      const int at = position - local_id;
      Element value = at == FRONT ? init() : identity();
      const uint status = at < 0 ? STATUS_INCLUSIVE : read_state(loaded[w], mine.epoch, &value);
      const uint prefixes = ballot(status == STATUS_INCLUSIVE);
      const uint needed = prefixes != 0 ? prefixes ^ (prefixes - 1) : ~0u;  // up to the nearest prefix
      if ((ballot(status == STATUS_INVALID) & needed) != 0) break;
      if ((needed >> local_id & 1) != 0) exclusive_prefix = combine(value, exclusive_prefix);
      if (prefixes != 0) return subgroup_reduce_elements(exclusive_prefix);
      position -= SUBGROUP_SIZE;
    }
  }
  return exclusive_prefix;
}

// Returns the tile's exclusive prefix to all work-items, and publishes its inclusive prefix.
Element parallel_look_back(volatile __global StateWord* states, const TileTicket mine, const Element total,
                           __local Element* shared_prefix) {
  const uint local_id = (uint)get_local_id(0);
  if (local_id < SUBGROUP_SIZE) {
    const Element exclusive_prefix = warp_look_back(states, mine);
    if (local_id == 0) {
      publish(states, mine.tile, mine.epoch, STATUS_INCLUSIVE, combine(exclusive_prefix, total));
      shared_prefix[0] = exclusive_prefix;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared_prefix[0];
}
// Captures `states` and what WINDOW_MEMORY declares.
#define LOOK_BACK(mine, total, elements_per_work_item) parallel_look_back(states, mine, total, shared_prefix)
// Declares local memory: `shared_prefix`.
#define WINDOW_MEMORY __local Element shared_prefix[1]

#else

#if SUBGROUP_OPS

// Passes the first sub-group's result to the others.
typedef struct {
  Element exclusive_prefix;
  int position;
} LookbackResult;
#define WINDOW_SLOTS 1

// Looks back by the first sub-group, a state per lane. Each lane combines what it read into its own *exclusive_prefix:
// the aggregate of those of all lanes is the result. Sets *position as serial_look_back does.
void subgroup_look_back(volatile __global StateWord* states, const uint epoch, int* position,
                        Element* exclusive_prefix) {
  const uint lane = subgroup_lane();
  uint spins = 0;
  while (spins < SPIN_LIMIT) {
    const int at = *position - (int)lane;
    Element value = at == FRONT ? init() : identity();
    const uint status = at < 0 ? STATUS_INCLUSIVE : poll(states, (uint)at, epoch, &value);
    const uint prefix = subgroup_first(status == STATUS_INCLUSIVE), invalid = subgroup_first(status == STATUS_INVALID);
    const bool done = prefix < invalid;
    const uint known = done ? prefix + 1 : invalid;
    if (lane < known) *exclusive_prefix = combine(value, *exclusive_prefix);
    *position = done ? DONE : *position - (int)known;
    if (done) return;
    spins = known > 0 ? 0 : spins + 1;
  }
}

// Returns the tile's exclusive prefix to all work-items, and publishes its inclusive prefix. The work-group reduces a
// tile whose state stays STATUS_INVALID itself. All work-items must call it.
Element parallel_look_back(volatile __global StateWord* states, const TileTicket mine, const Element total,
                           __local LookbackResult* result, __local Element* partials, __global const Key* restrict in,
                           const ulong n, const uint elements_per_work_item, __global const Value* restrict table) {
  Element exclusive_prefix = identity();
  int position = (int)mine.tile - 1;
  while (true) {
    if (subgroup_id() == 0) {
      subgroup_look_back(states, mine.epoch, &position, &exclusive_prefix);
      if (position == DONE) exclusive_prefix = subgroup_reduce_elements(exclusive_prefix);
      if (subgroup_lane() == 0) {
        if (position == DONE)
          publish(states, mine.tile, mine.epoch, STATUS_INCLUSIVE, combine(exclusive_prefix, total));
        result->exclusive_prefix = exclusive_prefix;
        result->position = position;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    position = result->position;
    if (position == DONE) return result->exclusive_prefix;
    const Element aggregate = reduce_tile(partials, in, n, (ulong)position, elements_per_work_item, table);
    if (work_item_id() == 0) {
      try_publish(states, (uint)position, mine.epoch, aggregate);
      exclusive_prefix = combine(aggregate, exclusive_prefix);
    }
    --position;
  }
}

#else

// Describes consecutive states: the aggregate of `length` tiles, and the status of the farthest.
typedef struct {
  Element aggregate;
  uint length, status;
} LookbackResult;
#define WINDOW_SLOTS WINDOW

// Joins two neighbours. The nearer one decides whether the farther one counts.
LookbackResult merged(const LookbackResult near, const LookbackResult far) {
  LookbackResult both = near;
  if (near.status == STATUS_AGGREGATE) {
    both.aggregate = combine(far.aggregate, near.aggregate);
    both.length = near.length + far.length;
    both.status = far.status;
  }
  return both;
}

// Looks back by WINDOW work-items, a state each, which reduce what they found in local memory. The work-group reduces
// a tile whose state stays STATUS_INVALID itself. All work-items must call it, and all get the result.
Element group_look_back(volatile __global StateWord* states, const TileTicket mine, __local LookbackResult* window,
                        __local Element* partials, __global const Key* restrict in, const ulong n,
                        const uint elements_per_work_item, __global const Value* restrict table) {
  const uint local_id = work_item_id();
  Element exclusive_prefix = identity();
  int position = (int)mine.tile - 1;
  uint spins = 0;
  while (position != DONE) {  // each SPIN_LIMIT iterations step over a tile at least
    if (local_id < WINDOW) {
      const int at = position - (int)local_id;
      LookbackResult result;
      result.aggregate = at == FRONT ? init() : identity();
      result.length = 1;
      result.status = at < 0 ? STATUS_INCLUSIVE : poll(states, (uint)at, mine.epoch, &result.aggregate);
      if (result.status == STATUS_INVALID) result.length = 0;
      window[local_id] = result;
    }
    for (uint distance = 1; distance < WINDOW; distance *= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (local_id % (2 * distance) == 0 && local_id + distance < WINDOW)
        window[local_id] = merged(window[local_id], window[local_id + distance]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const LookbackResult result = window[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (result.length > 0) exclusive_prefix = combine(result.aggregate, exclusive_prefix);
    position = result.status == STATUS_INCLUSIVE ? DONE : position - (int)result.length;
    spins = result.length > 0 ? 0 : spins + 1;
    if (spins == SPIN_LIMIT) {
      const Element aggregate = reduce_tile(partials, in, n, (ulong)position, elements_per_work_item, table);
      if (local_id == 0) try_publish(states, (uint)position, mine.epoch, aggregate);
      exclusive_prefix = combine(aggregate, exclusive_prefix);
      --position;
      spins = 0;
    }
  }
  return exclusive_prefix;
}

// Returns the tile's exclusive prefix to all work-items, and publishes its inclusive prefix.
Element parallel_look_back(volatile __global StateWord* states, const TileTicket mine, const Element total,
                           __local LookbackResult* window, __local Element* partials, __global const Key* restrict in,
                           const ulong n, const uint elements_per_work_item, __global const Value* restrict table) {
  const Element exclusive_prefix =
      group_look_back(states, mine, window, partials, in, n, elements_per_work_item, table);
  if (work_item_id() == 0) publish(states, mine.tile, mine.epoch, STATUS_INCLUSIVE, combine(exclusive_prefix, total));
  return exclusive_prefix;
}

#endif  // SUBGROUP_OPS

// Captures `states`, `partials`, `in`, `n`, and what WINDOW_MEMORY declares.
#define LOOK_BACK(mine, total, elements_per_work_item) \
  parallel_look_back(states, mine, total, window, partials, in, n, elements_per_work_item, 0)
// Declares local memory: `window`.
#define WINDOW_MEMORY __local LookbackResult window[WINDOW_SLOTS]

#endif  // SUBGROUP_PTX
