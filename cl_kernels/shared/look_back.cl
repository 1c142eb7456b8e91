// SPDX-License-Identifier: Apache-2.0
// look_back: what precedes a tile, found by many items at once.
//
// WINDOW            states looked at at once; with PTX a multiple of 32, by other bundles as many as they have items
// POLLS             how often a state that is not there yet is asked for before something else is tried
//
// But for NVIDIA's warps, which wait, nothing here depends on other groups' progress.

// The sum of a tile of `items` elements per item, in order, for all items of the group: the family has it.
// `table` is pascal's.
Element fold_tile(__local Element* sums, __global const Key* restrict in, const ulong n, const ulong tile,
                  const uint items, __global const Value* restrict table);

#if PTX

// The first bundle looks at WINDOW states at a time, each item at its own: order does not matter to what goes
// through shuffles. All its items must call it, and all get the result.
Element look_back_bundle(volatile __global Word* states, const Claim mine) {
  const int lane = (int)get_local_id(0);
  Element after = identity();
  int position = (int)mine.tile - 1;
  for (uint polled = 0; polled < POLLS; ++polled) {
    State seen[WINDOW / BUNDLE];
#pragma unroll
    for (int w = 0; w < WINDOW / BUNDLE; ++w)  // all are on their way before the first is needed
      seen[w] = load_state(states, (uint)max(position - w * BUNDLE - lane, 0));
#pragma unroll
    for (int w = 0; w < WINDOW / BUNDLE; ++w) {
      const int at = position - lane;
      Element value = at == FRONT ? initial() : identity();
      const uint flag = at < 0 ? INCLUSIVE : read_state(seen[w], mine.epoch, &value);
      const uint inclusive = ballot(flag == INCLUSIVE);
      const uint needed = inclusive != 0 ? inclusive ^ (inclusive - 1) : ~0u;  // up to the first inclusive one
      if ((ballot(flag == INVALID) & needed) != 0) break;
      if ((needed >> lane & 1) != 0) after = combine(value, after);
      if (inclusive != 0) return sum_elements(after);
      position -= BUNDLE;
    }
  }
  return after;
}

// What precedes the tile, for all items, and publishes what the tile ends with.
Element look_back_for_all(volatile __global Word* states, const Claim mine, const Element total,
                        __local Element* carried) {
  const uint lane = (uint)get_local_id(0);
  if (lane < BUNDLE) {
    const Element carry = look_back_bundle(states, mine);
    if (lane == 0) {
      publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
      carried[0] = carry;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return carried[0];
}
#define LOOK_BACK(mine, total, items) look_back_for_all(states, mine, total, carried)
#define WINDOW_MEMORY __local Element carried[1]

#else

#if BUNDLED

// What the first bundle tells the others.
typedef struct {
  Element carry;
  int position;
} Seen;
#define SEEN 1

// The first bundle walks back, each item at a state of its own: what lies between `*position` and the own tile is in
// the `*after` of all items together. Ends as walk_back does.
void walk_back_together(volatile __global Word* states, const uint epoch, int* position, Element* after) {
  const uint lane = own_lane();
  uint polled = 0;
  while (polled < POLLS) {
    const int at = *position - (int)lane;
    Element value = at == FRONT ? initial() : identity();
    const uint flag = at < 0 ? INCLUSIVE : poll(states, (uint)at, epoch, &value);
    const uint inclusive = first_of_bundle(flag == INCLUSIVE), invalid = first_of_bundle(flag == INVALID);
    const bool done = inclusive < invalid;
    const uint known = done ? inclusive + 1 : invalid;
    if (lane < known) *after = combine(value, *after);
    *position = done ? DONE : *position - (int)known;
    if (done) return;
    polled = known > 0 ? 0 : polled + 1;
  }
}

// What precedes the tile, for all items, and publishes what the tile ends with. What stays invalid the group computes
// itself. All items must call it.
Element look_back_for_all(volatile __global Word* states, const Claim mine, const Element total,
                          __local Seen* seen, __local Element* sums, __global const Key* restrict in,
                          const ulong n, const uint items, __global const Value* restrict table) {
  Element after = identity();
  int position = (int)mine.tile - 1;
  while (true) {
    if (own_bundle() == 0) {
      walk_back_together(states, mine.epoch, &position, &after);
      if (position == DONE) after = sum_elements(after);
      if (own_lane() == 0) {
        if (position == DONE) publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(after, total));
        seen->carry = after;
        seen->position = position;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    position = seen->position;
    if (position == DONE) return seen->carry;
    const Element sum = fold_tile(sums, in, n, (ulong)position, items, table);
    if (own_item() == 0) {
      offer(states, (uint)position, mine.epoch, sum);
      after = combine(sum, after);
    }
    --position;
  }
}

#else

// A stretch of states, as a reader sees it: the sum of `length` tiles, and what comes next.
typedef struct {
  Element sum;
  uint length, flag;
} Seen;
#define SEEN WINDOW

// The stretch nearer to the reader decides how far the two are one.
Seen merged(const Seen near, const Seen far) {
  Seen both = near;
  if (near.flag == AGGREGATE) {
    both.sum = combine(far.sum, near.sum);
    both.length = near.length + far.length;
    both.flag = far.flag;
  }
  return both;
}

// What precedes the tile. WINDOW items of the group ask for a state each; what stays invalid the group
// computes itself. All items must call it, and all get the result.
Element look_back_wide(volatile __global Word* states, const Claim mine, __local Seen* window,
                       __local Element* sums, __global const Key* restrict in, const ulong n,
                       const uint items, __global const Value* restrict table) {
  const uint lane = own_item();
  Element after = identity();
  int position = (int)mine.tile - 1;
  uint polled = 0;
  while (position != DONE) {  // POLLS turns at most before one steps over a tile
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
    polled = seen.length > 0 ? 0 : polled + 1;
    if (polled == POLLS) {
      const Element sum = fold_tile(sums, in, n, (ulong)position, items, table);
      if (lane == 0) offer(states, (uint)position, mine.epoch, sum);
      after = combine(sum, after);
      --position;
      polled = 0;
    }
  }
  return after;
}

// What precedes the tile, for all items, and publishes what the tile ends with.
Element look_back_for_all(volatile __global Word* states, const Claim mine, const Element total,
                          __local Seen* window, __local Element* sums, __global const Key* restrict in,
                          const ulong n, const uint items, __global const Value* restrict table) {
  const Element carry = look_back_wide(states, mine, window, sums, in, n, items, table);
  if (own_item() == 0) publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
  return carry;
}

#endif  // BUNDLED

#define LOOK_BACK(mine, total, items) look_back_for_all(states, mine, total, window, sums, in, n, items, 0)
#define WINDOW_MEMORY __local Seen window[SEEN]

#endif  // PTX
