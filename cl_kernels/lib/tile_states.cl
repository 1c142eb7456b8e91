// SPDX-License-Identifier: Apache-2.0
// tile_states: publishes what a work-group knows of its tile to the other work-groups of the launch, and assigns tiles.
//
// Each word of a state carries some bits of the value, a flag, and the epoch, all in one atomic access. The epoch is
// the number of the launch that wrote the word: it makes the states of earlier launches invalid. So no fence is needed
// between value and flag, and no launch clears what an earlier one left. A reader takes a state when all its words
// agree. (Merrill & Garland 2016 pack value and flag into one word; here a value may be larger.)
//
// STATE_BITS        width of a word: 64, or 32 where 64-bit atomics are missing
// PITCH             words from one state to the next; unless said otherwise those of a state
// SPIN_LIMIT        polls of a state that stays INVALID before something else is tried
// FAULT_RATE        fault injection: one publication in FAULT_RATE is lost; 0: none
// TILE_BY_GROUP_ID  1: acquire_one_tile gives a work-group the tile with the number of its group id
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

#define ELEMENT_WORDS ((uint)(sizeof(Element) / sizeof(uint)))

#if STATE_BITS == 64
typedef ulong Word;  // 32 bits of the value, 30 of the epoch, 2 of the flag
#define WORDS ELEMENT_WORDS
// Returns the bits of the value that word w of a state holds, above epoch and flag.
#define VALUE_FIELD(words, w) ((Word)(words)[w] << 32)
#define EPOCH_BITS 30
#define TICKET_BITS 32
#ifdef RELAXED_ACCESSES
#define STATE_LOAD(p) load_relaxed(p)  // many loads in flight, where atomic operations on a line queue up
#else
// Loads by adding zero atomically. A plain load races with the exchanges of other work-groups, and OpenCL C 1.2 has no
// atomic load. OpenCL C 3.0 has one, but it needs __opencl_c_atomic_scope_device to see what other work-groups write,
// which NVIDIA's compiler lacks.
#define STATE_LOAD(p) atom_add(p, (Word)0)
#endif
#define STATE_STORE(p, word) (void)atom_xchg(p, word)  // a plain store may queue behind the stores of a tile
#define STATE_TRY_STORE(p, old, word) (void)atom_cmpxchg(p, old, word)
#define STATE_ADD(p, increment) atom_add(p, increment)
#else
typedef uint Word;  // 16 bits of the value, 14 of the epoch, 2 of the flag
#define WORDS (2 * ELEMENT_WORDS)
#define VALUE_FIELD(words, w) ((words)[(w) / 2] >> (w) % 2 * 16 << 16)
#define EPOCH_BITS 14
#define TICKET_BITS 18
#define STATE_LOAD(p) atomic_add(p, (Word)0)
#define STATE_STORE(p, word) (void)atomic_xchg(p, word)
#define STATE_TRY_STORE(p, old, word) (void)atomic_cmpxchg(p, old, word)
#define STATE_ADD(p, increment) atomic_add(p, increment)
#endif
// Packs epoch and flag, by which a reader knows whether a word is of this launch.
#define TAG(epoch, flag) ((Word)(epoch) << 2 | (Word)(flag))
#define TAG_MASK (((Word)4 << EPOCH_BITS) - 1)
#ifndef PITCH
#define PITCH WORDS
#endif
#define CONTROL_WORDS 16  // before the states, so that the ticket counter and they share no cache line

typedef union {
  Element value;
  uint words[ELEMENT_WORDS];
} ElementWords;

volatile __global Word* state_of(volatile __global Word* states, const uint tile) {
  return states + CONTROL_WORDS + (size_t)tile * PITCH;
}

void publish(volatile __global Word* states, const uint tile, const uint epoch, const uint flag,
             const Element value) {
#if FAULT_RATE > 0
  if (((tile * 2654435761u + epoch * 40503u + flag) >> 7) % FAULT_RATE == 0) return;
#endif
  ElementWords split;
  split.value = value;
  volatile __global Word* state = state_of(states, tile);
  for (uint w = 0; w < WORDS; ++w) STATE_STORE(state + w, VALUE_FIELD(split.words, w) | TAG(epoch, flag));
}

#ifdef RELAXED_ACCESSES
// Brings a state's line into the cache for those who ask for it before it is published.
void prefetch_state(volatile __global Word* states, const uint tile) {
  const uint local_id = (uint)get_local_id(0);
  if (local_id < WORDS) prefetch_line(state_of(states, tile) + local_id);
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

// Returns the state's flag, or INVALID while its words do not agree on this epoch and one flag.
uint read_state(const State state, const uint epoch, Element* value) {
  const Word tag = state.at[0] & TAG_MASK;
  bool agrees = tag >> 2 == (Word)epoch;
  ElementWords split;
  for (uint w = 0; w < WORDS; ++w) {
    agrees = agrees && (state.at[w] & TAG_MASK) == tag;
#if STATE_BITS == 64
    split.words[w] = (uint)(state.at[w] >> 32);
#else
    split.words[w / 2] = w % 2 == 0 ? state.at[w] >> 16 : split.words[w / 2] | state.at[w] >> 16 << 16;
#endif
  }
  if (!agrees) return INVALID;
  *value = split.value;
  return (uint)(tag & 3);
}

uint poll(volatile __global Word* states, const uint tile, const uint epoch, Element* value) {
  return read_state(load_state(states, tile), epoch, value);
}

// Publishes the aggregate of another work-group's tile, unless a state of this epoch is there already.
void try_publish(volatile __global Word* states, const uint tile, const uint epoch, const Element value) {
  ElementWords split;
  split.value = value;
  volatile __global Word* state = state_of(states, tile);
  for (uint w = 0; w < WORDS; ++w) {
    const Word old = STATE_LOAD(state + w);
    if ((old & TAG_MASK) >> 2 != (Word)epoch)
      STATE_TRY_STORE(state + w, old, VALUE_FIELD(split.words, w) | TAG(epoch, AGGREGATE));
  }
}

// ---- Dynamic tile ids ------------------------------------------------------------------------------------------
//
// Atomic tickets assign the tiles: a work-group that has drawn one knows that all earlier tiles belong to work-groups
// that have started. The counter holds the epoch above the ticket. Whoever draws the last of the `num_tickets` of a
// launch resets the ticket and increments the epoch.

typedef struct {
  uint tile, epoch;
} Ticket;

// Writes tile and epoch to local memory, for the work-items behind the next barrier. Called by one of them.
void broadcast_ticket(volatile __global Word* states, const Word counter, const uint num_tickets,
                      __local uint* ticket) {
  const uint tile = (uint)(counter & (((Word)1 << TICKET_BITS) - 1));
  if (tile == num_tickets - 1) (void)STATE_ADD(states, ((Word)1 << TICKET_BITS) - (Word)num_tickets);
  ticket[0] = tile;
  ticket[1] = (uint)(counter >> TICKET_BITS & (((Word)1 << EPOCH_BITS) - 1));
}

void draw_ticket(volatile __global Word* states, const uint num_tickets, __local uint* ticket) {
  broadcast_ticket(states, STATE_ADD(states, (Word)1), num_tickets, ticket);
}

Ticket acquire_tile(volatile __global Word* states, const uint num_tickets, __local uint* ticket) {
  if (get_local_id(0) == 0) draw_ticket(states, num_tickets, ticket);
  barrier(CLK_LOCAL_MEM_FENCE);
  const Ticket mine = {ticket[0], ticket[1]};
  barrier(CLK_LOCAL_MEM_FENCE);
  return mine;
}

// Acquires the first, or only, tile of a work-group. With TILE_BY_GROUP_ID that is the tile of its group id, so that
// the elements can be loaded at once. The ticket then tells only the epoch, and is fetched while the elements are
// loaded: call broadcast_epoch, a barrier, and then receive_epoch, which completes `mine`.
//
// OpenCL promises no order of work-groups. Where they start in the order of their ids, all earlier tiles belong to
// work-groups that have started, as with tickets. Where they do not, a work-group that needs a late tile reduces it
// itself; the PTX variant spins SPIN_LIMIT times at most.
Ticket acquire_one_tile(volatile __global Word* states, const uint num_tickets, __local uint* ticket, Word* counter) {
  *counter = 0;
  if (!TILE_BY_GROUP_ID) return acquire_tile(states, num_tickets, ticket);
  if (get_local_id(0) == 0) *counter = STATE_ADD(states, (Word)1);
  Ticket mine;
  mine.tile = (uint)get_group_id(0);
  return mine;
}

void broadcast_epoch(volatile __global Word* states, const Word counter, const uint num_tickets,
                     __local uint* ticket) {
  if (TILE_BY_GROUP_ID && get_local_id(0) == 0) broadcast_ticket(states, counter, num_tickets, ticket);
}

void receive_epoch(Ticket* mine, const __local uint* ticket) {
  if (TILE_BY_GROUP_ID) mine->epoch = ticket[1];
}
