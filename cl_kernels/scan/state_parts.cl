// SPDX-License-Identifier: Apache-2.0
// state_parts: looks back over states of several parts, a part per lane; for NVIDIA's warps, and 32 parts at most.
//
// PARTS_AT_ONCE     parts that a lane loads at a time
#pragma once
#include "lib/decoupled_look_back.cl"
#ifdef EDITOR
#define PARTS_AT_ONCE 1
#endif

#if SUBGROUP_PTX

// Lanes of a state: PARTS rounded up to a power of two.
#if PARTS <= 1
#define STATE_LANES 1
#elif PARTS <= 2
#define STATE_LANES 2
#elif PARTS <= 4
#define STATE_LANES 4
#elif PARTS <= 8
#define STATE_LANES 8
#elif PARTS <= 16
#define STATE_LANES 16
#else
#define STATE_LANES 32
#endif

// Returns the part of a state that is this lane's. Lanes that are left over have the last one, too.
uint own_part(void) { return min(subgroup_lane() % STATE_LANES, PARTS - 1u); }

#define VALUE_WORDS (VALUE_BYTES / 4)
typedef struct {
  Word at[VALUE_WORDS];
} Part;

Part load_part(volatile __global Word* states, const uint tile) {
  Part part;
  volatile __global Word* words = state_of(states, tile) + own_part() * VALUE_WORDS;
#if VALUE_WORDS == 2
  load_pair_relaxed(words, part.at);
#else
  part.at[0] = load_relaxed(words);
#endif
  return part;
}

// Returns the part's flag, or INVALID while its words do not agree.
uint read_part(const Part part, const uint epoch, Value* value) {
  Shuffled s;
  const Word tag = part.at[0] & TAG_MASK;
  bool agrees = tag >> 2 == (Word)epoch;
#pragma unroll
  for (uint w = 0; w < VALUE_WORDS; ++w) {
    agrees = agrees && (part.at[w] & TAG_MASK) == tag;
    s.pieces[w] = (uint)(part.at[w] >> 32);
  }
  if (!agrees) return INVALID;
  *value = s.value;
  return (uint)(tag & 3);
}

// Publishes a state by all lanes of a warp together, and writes the gap behind it, too: of a sector that is wholly
// written nothing has to be read.
void publish_parts(volatile __global Word* states, const uint tile, const uint epoch, const uint flag,
                   const Value own) {
  const uint lane = subgroup_lane();
  Shuffled s;
  s.value = own;
#pragma unroll
  for (uint w = 0; w < VALUE_WORDS; ++w) {
    if (lane < PITCH / VALUE_WORDS)
      store_relaxed(state_of(states, tile) + lane * VALUE_WORDS + w, PART(s.pieces, w) | TAG(epoch, flag));
  }
}

#define TILE_LANES (STATE_LANES == 32 ? ~0u : (1u << STATE_LANES % 32) - 1)
// Returns, of the lanes that inspect one tile, the first where all of them vote yes.
uint where_all(uint lanes) {
#pragma unroll
  for (uint d = 1; d < STATE_LANES; d *= 2) lanes &= lanes >> d;
  return lanes & ~0u / TILE_LANES;
}

// Returns what precedes the tile in this lane's part. A lane loads PARTS_AT_ONCE parts at a time, and SUBGROUP_SIZE /
// STATE_LANES tiles are inspected together. All parts look back as one: a tile whose prefix is not there in all of
// them counts as not there, as its other parts are on their way.
Value look_back_parts(volatile __global Word* states, const Ticket mine) {
  const uint bit = 1u << subgroup_lane();
  const int back = (int)(subgroup_lane() / STATE_LANES);
  const int together = SUBGROUP_SIZE / STATE_LANES;
  Value after = neutral();
  int position = (int)mine.tile - 1;
  bool done = false;
  for (uint spins = 0; !done && spins < SPIN_LIMIT; ++spins) {
    Part seen[PARTS_AT_ONCE];
#pragma unroll
    for (int w = 0; w < PARTS_AT_ONCE; ++w)  // all loads are in flight before the first is needed
      seen[w] = load_part(states, (uint)max(position - w * together - back, 0));
    bool there = true;
#pragma unroll
    for (int w = 0; w < PARTS_AT_ONCE; ++w) {
      const int at = position - back;
      Value value = at == FRONT && EXCLUSIVE ? (Value)INITIAL : neutral();
      const uint flag = at < 0 ? INCLUSIVE : read_part(seen[w], mine.epoch, &value);
      const uint inclusive = ballot(flag == INCLUSIVE), aggregate = ballot(flag == AGGREGATE);
      const uint whole = where_all(inclusive), first = whole & (0u - whole);
      const uint nearer = first - 1;  // all, where none is inclusive
      there = there && !done && (aggregate & nearer) == nearer;
      if (there) {
        if (((nearer | first * TILE_LANES) & bit) != 0) after = combine_values(value, after);
        done = whole != 0;
        position -= together;
      }
    }
  }
#pragma unroll
  for (uint d = STATE_LANES; d < SUBGROUP_SIZE; d *= 2)
    after = combine_values(subgroup_shuffle(after, subgroup_lane() ^ d), after);
  return after;
}

#endif
