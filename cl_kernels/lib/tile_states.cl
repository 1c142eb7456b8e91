// SPDX-License-Identifier: Apache-2.0
// tile_states: publishes what a work-group knows of its tile to the other work-groups of the launch, and assigns tiles.
//
// Each word of a state carries a part of the value, a flag, and the number of the launch that wrote it, all in one
// atomic access. So no fence is needed between value and flag, and no launch clears what an earlier one left. A
// reader takes a state when all its words agree. (Merrill & Garland 2016 pack value and flag into one word; here a
// value may be larger.)
//
// STATE_BITS        width of a word: 64, or 32 where 64-bit atomics are missing
// PITCH             words from one state to the next; unless said otherwise those of a state
// SPIN_LIMIT        polls of a state that stays INVALID before something else is tried
// FAULT_RATE        fault injection: one publication in FAULT_RATE is lost; 0: none
// TILE_BY_GROUP_ID  1: acquire_one_tile gives a work-group the tile of its own number
#pragma once
#include "lib/subgroup.cl"
#ifdef EDITOR
#define STATE_BITS 64
#define SPIN_LIMIT 64
#define FAULT_RATE 0
#define TILE_BY_GROUP_ID 0
#elif !defined(STATE_BITS) || !defined(SPIN_LIMIT) || !defined(FAULT_RATE) || !defined(TILE_BY_GROUP_ID)
#error "tile_states.cl needs STATE_BITS, SPIN_LIMIT, FAULT_RATE and TILE_BY_GROUP_ID from the host"
#endif

#define INVALID 0u
#define AGGREGATE 1u  // of the tile alone
#define INCLUSIVE 2u  // of the tile and all before it

#define PIECES ((uint)(sizeof(Element) / sizeof(uint)))

#if STATE_BITS == 64
typedef ulong Word;  // 32 bits of the value, 30 of the launch, 2 of the flag
#define WORDS PIECES
#define PART(pieces, w) ((Word)(pieces)[w] << 32)
#define EPOCH_BITS 30
#define TICKET_BITS 32
#ifdef RELAXED_ACCESSES
#define STATE_LOAD(p) load_relaxed(p)  // many loads in flight, where atomic operations on a line queue up
#else
// Loads by an atomic addition: a plain load beside others' exchanges is a race, OpenCL C 1.2 has no other, and that of
// 3.0 sees other work-groups only with __opencl_c_atomic_scope_device, which NVIDIA's compiler lacks.
#define STATE_LOAD(p) atom_add(p, (Word)0)
#endif
#define STATE_STORE(p, word) (void)atom_xchg(p, word)  // a plain store may wait behind those of a tile
#define STATE_OFFER(p, old, word) (void)atom_cmpxchg(p, old, word)
#define STATE_ADD(p, increment) atom_add(p, increment)
#else
typedef uint Word;  // 16 bits of the value, 14 of the launch, 2 of the flag
#define WORDS (2 * PIECES)
#define PART(pieces, w) ((pieces)[(w) / 2] >> (w) % 2 * 16 << 16)
#define EPOCH_BITS 14
#define TICKET_BITS 18
#define STATE_LOAD(p) atomic_add(p, (Word)0)
#define STATE_STORE(p, word) (void)atomic_xchg(p, word)
#define STATE_OFFER(p, old, word) (void)atomic_cmpxchg(p, old, word)
#define STATE_ADD(p, increment) atomic_add(p, increment)
#endif
#define TAG(epoch, flag) ((Word)(epoch) << 2 | (Word)(flag))
#define TAG_MASK (((Word)4 << EPOCH_BITS) - 1)
#ifndef PITCH
#define PITCH WORDS
#endif
#define CONTROL_WORDS 16  // before the states, so that the ticket counter and they share no cache line

typedef union {
  Element value;
  uint pieces[PIECES];
} Parts;

volatile __global Word* state_of(volatile __global Word* states, const uint tile) {
  return states + CONTROL_WORDS + (size_t)tile * PITCH;
}

void publish(volatile __global Word* states, const uint tile, const uint epoch, const uint flag,
             const Element value) {
#if FAULT_RATE > 0
  if (((tile * 2654435761u + epoch * 40503u + flag) >> 7) % FAULT_RATE == 0) return;
#endif
  Parts parts;
  parts.value = value;
  volatile __global Word* state = state_of(states, tile);
  for (uint w = 0; w < WORDS; ++w) STATE_STORE(state + w, PART(parts.pieces, w) | TAG(epoch, flag));
}

#ifdef RELAXED_ACCESSES
// Brings a state's line into the cache for those who ask for it before it is published.
void prefetch_state(volatile __global Word* states, const uint tile) {
  const uint lane = (uint)get_local_id(0);
  if (lane < WORDS) prefetch_line(state_of(states, tile) + lane);
}
#endif

typedef struct {
  Word at[WORDS + WORDS % 2];
} State;

State load_state(volatile __global Word* states, const uint tile) {
  State state;
  volatile __global Word* words = state_of(states, tile);
#ifdef RELAXED_ACCESSES
  if (PITCH % 2 == 0) {
    for (uint w = 0; w < WORDS; w += 2) load_pair_relaxed(words + w, &state.at[w]);
    return state;
  }
#endif
  for (uint w = 0; w < WORDS; ++w) state.at[w] = STATE_LOAD(words + w);
  return state;
}

// Returns the state's flag, or INVALID while its words do not agree on this launch and one flag.
uint read_state(const State state, const uint epoch, Element* value) {
  const Word tag = state.at[0] & TAG_MASK;
  bool agrees = tag >> 2 == (Word)epoch;
  Parts parts;
  for (uint w = 0; w < WORDS; ++w) {
    agrees = agrees && (state.at[w] & TAG_MASK) == tag;
#if STATE_BITS == 64
    parts.pieces[w] = (uint)(state.at[w] >> 32);
#else
    parts.pieces[w / 2] = w % 2 == 0 ? state.at[w] >> 16 : parts.pieces[w / 2] | state.at[w] >> 16 << 16;
#endif
  }
  if (!agrees) return INVALID;
  *value = parts.value;
  return (uint)(tag & 3);
}

uint poll(volatile __global Word* states, const uint tile, const uint epoch, Element* value) {
  return read_state(load_state(states, tile), epoch, value);
}

// Publishes another work-group's aggregate, unless that work-group was faster.
void offer(volatile __global Word* states, const uint tile, const uint epoch, const Element value) {
  Parts parts;
  parts.value = value;
  volatile __global Word* state = state_of(states, tile);
  for (uint w = 0; w < WORDS; ++w) {
    const Word old = STATE_LOAD(state + w);
    if ((old & TAG_MASK) >> 2 != (Word)epoch)
      STATE_OFFER(state + w, old, PART(parts.pieces, w) | TAG(epoch, AGGREGATE));
  }
}

// ---- Dynamic tile ids ------------------------------------------------------------------------------------------
//
// Atomic tickets assign the tiles: whoever has one knows that all earlier tiles are assigned to work-groups that have
// started. The counter holds the number of the launch, the epoch, above the tickets, and the last ticket increments
// it.

typedef struct {
  uint tile, epoch;
} Ticket;

// Writes tile and epoch to local memory, for the work-items behind the next barrier. Called by one of them.
void broadcast_ticket(volatile __global Word* states, const Word counter, const uint tickets, __local uint* ticket) {
  const uint tile = (uint)(counter & (((Word)1 << TICKET_BITS) - 1));
  if (tile == tickets - 1) (void)STATE_ADD(states, ((Word)1 << TICKET_BITS) - (Word)tickets);
  ticket[0] = tile;
  ticket[1] = (uint)(counter >> TICKET_BITS & (((Word)1 << EPOCH_BITS) - 1));
}

void draw_ticket(volatile __global Word* states, const uint tickets, __local uint* ticket) {
  broadcast_ticket(states, STATE_ADD(states, (Word)1), tickets, ticket);
}

Ticket acquire_tile(volatile __global Word* states, const uint tickets, __local uint* ticket) {
  if (get_local_id(0) == 0) draw_ticket(states, tickets, ticket);
  barrier(CLK_LOCAL_MEM_FENCE);
  const Ticket mine = {ticket[0], ticket[1]};
  barrier(CLK_LOCAL_MEM_FENCE);
  return mine;
}

// Acquires the first, or only, tile of a work-group. TILE_BY_GROUP_ID takes the work-group's own number, so that the
// elements can be loaded at once; the ticket, which then tells the epoch alone, is fetched together with them:
// broadcast_epoch waits for it, and behind the next barrier receive_epoch completes `mine`. OpenCL promises no order
// of work-groups. Where they start in order, the tiles before are in hands of work-groups that have started, as with
// tickets; where they do not, whoever needs a late tile computes it, and NVIDIA's warps, which wait, spin SPIN_LIMIT
// times at most.
Ticket acquire_one_tile(volatile __global Word* states, const uint tickets, __local uint* ticket, Word* counter) {
  *counter = 0;
  if (!TILE_BY_GROUP_ID) return acquire_tile(states, tickets, ticket);
  if (get_local_id(0) == 0) *counter = STATE_ADD(states, (Word)1);
  Ticket mine;
  mine.tile = (uint)get_group_id(0);
  return mine;
}

void broadcast_epoch(volatile __global Word* states, const Word counter, const uint tickets, __local uint* ticket) {
  if (TILE_BY_GROUP_ID && get_local_id(0) == 0) broadcast_ticket(states, counter, tickets, ticket);
}

void receive_epoch(Ticket* mine, const __local uint* ticket) {
  if (TILE_BY_GROUP_ID) mine->epoch = ticket[1];
}
