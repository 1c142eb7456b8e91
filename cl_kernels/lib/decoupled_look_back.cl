// SPDX-License-Identifier: Apache-2.0
// decoupled_look_back: finds what precedes a tile by many work-items that inspect several predecessors per step.
//
// WINDOW            states inspected per step: by work-items without sub-group operations, by warps a multiple of 32;
//                   other sub-groups inspect as many as they have work-items
//
// After Merrill & Garland 2016, with the fallback of Smith, Levien & Owens 2025: a tile whose state stays INVALID is
// summed up here, so that nothing depends on the progress of other work-groups, but for NVIDIA's warps, which wait.
#pragma once
#include "lib/serial_look_back.cl"
#ifdef EDITOR
#define WINDOW 32
#elif !defined(WINDOW)
#error "decoupled_look_back.cl needs WINDOW from the host"
#endif

// Returns, to all work-items of the group, the sum of a tile of `items` elements per work-item: each algorithm
// defines its own. `table` is that of scan/pascal.cl.
Element fold_tile(__local Element* sums, __global const Key* restrict in, const ulong n, const ulong tile,
                  const uint items, __global const Value* restrict table);

#if SUBGROUP_PTX

// Looks back by one warp, WINDOW states at a time, a lane per state: the operator must commute. All lanes must call
// it, and all get the result.
Element warp_look_back(volatile __global Word* states, const Ticket mine) {
  const int lane = (int)get_local_id(0);
  Element after = identity();
  int position = (int)mine.tile - 1;
  for (uint spins = 0; spins < SPIN_LIMIT; ++spins) {
    State seen[WINDOW / SUBGROUP_SIZE];
#pragma unroll
    for (int w = 0; w < WINDOW / SUBGROUP_SIZE; ++w)  // all loads are in flight before the first is needed
      seen[w] = load_state(states, (uint)max(position - w * SUBGROUP_SIZE - lane, 0));
#pragma unroll
    for (int w = 0; w < WINDOW / SUBGROUP_SIZE; ++w) {
      const int at = position - lane;
      Element value = at == FRONT ? initial() : identity();
      const uint flag = at < 0 ? INCLUSIVE : read_state(seen[w], mine.epoch, &value);
      const uint inclusive = ballot(flag == INCLUSIVE);
      const uint needed = inclusive != 0 ? inclusive ^ (inclusive - 1) : ~0u;  // up to the first inclusive one
      if ((ballot(flag == INVALID) & needed) != 0) break;
      if ((needed >> lane & 1) != 0) after = combine(value, after);
      if (inclusive != 0) return subgroup_reduce_elements(after);
      position -= SUBGROUP_SIZE;
    }
  }
  return after;
}

// Returns what precedes the tile to all work-items, and publishes the tile's inclusive prefix.
Element parallel_look_back(volatile __global Word* states, const Ticket mine, const Element total,
                           __local Element* carried) {
  const uint lane = (uint)get_local_id(0);
  if (lane < SUBGROUP_SIZE) {
    const Element carry = warp_look_back(states, mine);
    if (lane == 0) {
      publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
      carried[0] = carry;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return carried[0];
}
#define LOOK_BACK(mine, total, items) parallel_look_back(states, mine, total, carried)
#define WINDOW_MEMORY __local Element carried[1]

#else

#if SUBGROUP_OPS

// Passes the first sub-group's result to the others.
typedef struct {
  Element carry;
  int position;
} Seen;
#define SEEN 1

// Looks back by the first sub-group, a state per lane. The sum of the tiles between *position and the own one is
// spread over the *after of all lanes. Ends as serial_look_back does.
void subgroup_look_back(volatile __global Word* states, const uint epoch, int* position, Element* after) {
  const uint lane = subgroup_lane();
  uint spins = 0;
  while (spins < SPIN_LIMIT) {
    const int at = *position - (int)lane;
    Element value = at == FRONT ? initial() : identity();
    const uint flag = at < 0 ? INCLUSIVE : poll(states, (uint)at, epoch, &value);
    const uint inclusive = subgroup_first(flag == INCLUSIVE), invalid = subgroup_first(flag == INVALID);
    const bool done = inclusive < invalid;
    const uint known = done ? inclusive + 1 : invalid;
    if (lane < known) *after = combine(value, *after);
    *position = done ? DONE : *position - (int)known;
    if (done) return;
    spins = known > 0 ? 0 : spins + 1;
  }
}

// Returns what precedes the tile to all work-items, and publishes the tile's inclusive prefix. The work-group sums up
// itself what stays INVALID. All work-items must call it.
Element parallel_look_back(volatile __global Word* states, const Ticket mine, const Element total,
                           __local Seen* seen, __local Element* sums, __global const Key* restrict in,
                           const ulong n, const uint items, __global const Value* restrict table) {
  Element after = identity();
  int position = (int)mine.tile - 1;
  while (true) {
    if (subgroup_id() == 0) {
      subgroup_look_back(states, mine.epoch, &position, &after);
      if (position == DONE) after = subgroup_reduce_elements(after);
      if (subgroup_lane() == 0) {
        if (position == DONE) publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(after, total));
        seen->carry = after;
        seen->position = position;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    position = seen->position;
    if (position == DONE) return seen->carry;
    const Element sum = fold_tile(sums, in, n, (ulong)position, items, table);
    if (item_id() == 0) {
      offer(states, (uint)position, mine.epoch, sum);
      after = combine(sum, after);
    }
    --position;
  }
}

#else

// Describes consecutive states: the sum of `length` tiles, and the flag of the last.
typedef struct {
  Element sum;
  uint length, flag;
} Seen;
#define SEEN WINDOW

// Joins two neighbours. The nearer one decides whether the farther one counts.
Seen merged(const Seen near, const Seen far) {
  Seen both = near;
  if (near.flag == AGGREGATE) {
    both.sum = combine(far.sum, near.sum);
    both.length = near.length + far.length;
    both.flag = far.flag;
  }
  return both;
}

// Looks back by WINDOW work-items, a state each, which reduce what they found in local memory. The work-group sums up
// itself what stays INVALID. All work-items must call it, and all get the result.
Element group_look_back(volatile __global Word* states, const Ticket mine, __local Seen* window,
                        __local Element* sums, __global const Key* restrict in, const ulong n,
                        const uint items, __global const Value* restrict table) {
  const uint lane = item_id();
  Element after = identity();
  int position = (int)mine.tile - 1;
  uint spins = 0;
  while (position != DONE) {  // each SPIN_LIMIT iterations step over a tile at least
    if (lane < WINDOW) {
      const int at = position - (int)lane;
      Seen one;
      one.sum = at == FRONT ? initial() : identity();
      one.length = 1;
      one.flag = at < 0 ? INCLUSIVE : poll(states, (uint)at, mine.epoch, &one.sum);
      if (one.flag == INVALID) one.length = 0;
      window[lane] = one;
    }
    for (uint distance = 1; distance < WINDOW; distance *= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (lane % (2 * distance) == 0 && lane + distance < WINDOW)
        window[lane] = merged(window[lane], window[lane + distance]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const Seen seen = window[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (seen.length > 0) after = combine(seen.sum, after);
    position = seen.flag == INCLUSIVE ? DONE : position - (int)seen.length;
    spins = seen.length > 0 ? 0 : spins + 1;
    if (spins == SPIN_LIMIT) {
      const Element sum = fold_tile(sums, in, n, (ulong)position, items, table);
      if (lane == 0) offer(states, (uint)position, mine.epoch, sum);
      after = combine(sum, after);
      --position;
      spins = 0;
    }
  }
  return after;
}

// Returns what precedes the tile to all work-items, and publishes the tile's inclusive prefix.
Element parallel_look_back(volatile __global Word* states, const Ticket mine, const Element total,
                           __local Seen* window, __local Element* sums, __global const Key* restrict in,
                           const ulong n, const uint items, __global const Value* restrict table) {
  const Element carry = group_look_back(states, mine, window, sums, in, n, items, table);
  if (item_id() == 0) publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
  return carry;
}

#endif  // SUBGROUP_OPS

#define LOOK_BACK(mine, total, items) parallel_look_back(states, mine, total, window, sums, in, n, items, 0)
#define WINDOW_MEMORY __local Seen window[SEEN]

#endif  // SUBGROUP_PTX
