// SPDX-License-Identifier: Apache-2.0
// warp_state: looks back over states of several values, a value per lane; for NVIDIA's warps, and 32 values at most.
//
// STATES_PER_LANE   states of which a lane loads its value at a time
#pragma once
#include "lib/decoupled_look_back.cl"
#ifdef EDITOR
#define STATES_PER_LANE 1
#endif

#if SUBGROUP_PTX

// Lanes of a state: ELEMENT_VALUES rounded up to a power of two.
#if ELEMENT_VALUES <= 1
#define STATE_LANES 1
#elif ELEMENT_VALUES <= 2
#define STATE_LANES 2
#elif ELEMENT_VALUES <= 4
#define STATE_LANES 4
#elif ELEMENT_VALUES <= 8
#define STATE_LANES 8
#elif ELEMENT_VALUES <= 16
#define STATE_LANES 16
#else
#define STATE_LANES 32
#endif

// Returns which value of a state is this lane's. Lanes that are left over have the last one, too.
uint own_value_index(void) { return min(subgroup_lane() % STATE_LANES, ELEMENT_VALUES - 1u); }

#define VALUE_WORDS (VALUE_BYTES / 4)
typedef struct {
  StateWord at[VALUE_WORDS];
} LaneState;

LaneState load_lane_state(volatile __global StateWord* states, const uint tile) {
  LaneState state;
  volatile __global StateWord* words = state_of(states, tile) + own_value_index() * VALUE_WORDS;
#if VALUE_WORDS == 2
  load_pair_relaxed(words, state.at);
#else
  state.at[0] = load_relaxed(words);
#endif
  return state;
}

// Returns the status of the lane's value, or STATUS_INVALID while its words do not agree.
uint read_lane_state(const LaneState state, const uint epoch, Value* value) {
  Shuffled s;
  const StateWord tag = state.at[0] & TAG_MASK;
  bool agrees = tag >> 2 == (StateWord)epoch;
#pragma unroll
  for (uint w = 0; w < VALUE_WORDS; ++w) {
    agrees = agrees && (state.at[w] & TAG_MASK) == tag;
    s.words[w] = (uint)(state.at[w] >> 32);
  }
  if (!agrees) return STATUS_INVALID;
  *value = s.value;
  return (uint)(tag & 3);
}

// Publishes a state by all lanes of a warp together, and writes the padding behind it, too: a sector that is wholly
// written need not be read first.
void publish_by_warp(volatile __global StateWord* states, const uint tile, const uint epoch, const uint status,
                     const Value own) {
  const uint lane = subgroup_lane();
  Shuffled s;
  s.value = own;
#pragma unroll
  for (uint w = 0; w < VALUE_WORDS; ++w) {
    if (lane < PITCH / VALUE_WORDS)
      store_relaxed(state_of(states, tile) + lane * VALUE_WORDS + w, VALUE_FIELD(s.words, w) | TAG(epoch, status));
  }
}

#define TILE_LANES (STATE_LANES == 32 ? ~0u : (1u << STATE_LANES % 32) - 1)
// Returns, of the lanes that inspect one tile, the first where all of them vote yes.
uint where_all(uint lanes) {
#pragma unroll
  for (uint d = 1; d < STATE_LANES; d *= 2) lanes &= lanes >> d;
  return lanes & ~0u / TILE_LANES;
}

// Returns the tile's exclusive prefix of this lane's value. SUBGROUP_SIZE / STATE_LANES tiles are inspected together,
// and a lane loads its value of STATES_PER_LANE of them at a time. A state counts as published only when all its
// values are.
Value look_back_by_warp(volatile __global StateWord* states, const TileTicket mine) {
  const uint bit = 1u << subgroup_lane();
  const int back = (int)(subgroup_lane() / STATE_LANES);
  const int together = SUBGROUP_SIZE / STATE_LANES;
  Value exclusive_prefix = identity_value();
  int position = (int)mine.tile - 1;
  bool done = false;
  for (uint spins = 0; !done && spins < SPIN_LIMIT; ++spins) {
    LaneState loaded[STATES_PER_LANE];
#pragma unroll
    for (int w = 0; w < STATES_PER_LANE; ++w)  // all loads are in flight before the first is needed
      loaded[w] = load_lane_state(states, (uint)max(position - w * together - back, 0));
    bool there = true;
#pragma unroll
    for (int w = 0; w < STATES_PER_LANE; ++w) {
      const int at = position - back;
      Value value = at == FRONT && EXCLUSIVE_SCAN ? (Value)INITIAL : identity_value();
      const uint status = at < 0 ? STATUS_INCLUSIVE : read_lane_state(loaded[w], mine.epoch, &value);
      const uint inclusive = ballot(status == STATUS_INCLUSIVE), aggregate = ballot(status == STATUS_AGGREGATE);
      const uint whole = where_all(inclusive), first = whole & (0u - whole);
      const uint nearer = first - 1;  // all, where none is inclusive
      there = there && !done && (aggregate & nearer) == nearer;
      if (there) {
        if (((nearer | first * TILE_LANES) & bit) != 0) exclusive_prefix = combine_values(value, exclusive_prefix);
        done = whole != 0;
        position -= together;
      }
    }
  }
#pragma unroll
  for (uint d = STATE_LANES; d < SUBGROUP_SIZE; d *= 2)
    exclusive_prefix = combine_values(subgroup_shuffle(exclusive_prefix, subgroup_lane() ^ d), exclusive_prefix);
  return exclusive_prefix;
}

#endif
