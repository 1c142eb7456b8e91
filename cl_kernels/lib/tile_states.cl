// SPDX-License-Identifier: Apache-2.0
// tile_states: publishes what a work-group knows of its tile to the other work-groups of the launch, and assigns tiles.
//
// A tile state is one or more words in global memory. Each word carries some bits of the value, the status of the
// state, and the epoch, all written by one atomic access, so that no fence is needed between value and status. The
// epoch is the number of the launch that wrote the word. Readers compare it with their own, so that states of earlier
// launches count as STATUS_INVALID, and no launch clears what an earlier one left. A reader takes a state when all its
// words agree. (Merrill & Garland 2016 pack value and status into one word; here a value may be larger.)
//
// STATE_BITS        width of a word: 64, or 32 where 64-bit atomics are missing
// PITCH             words from one state to the next; unless said otherwise those of a state
// SPIN_LIMIT        polls of a state that stays STATUS_INVALID before something else is tried
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

// Status of a tile state: X, A and P in Merrill & Garland's article.
#define STATUS_INVALID 0u    // this launch has published nothing
#define STATUS_AGGREGATE 1u  // the value is the aggregate of the tile alone
#define STATUS_INCLUSIVE 2u     // the value is the tile's inclusive prefix: that of the tile and all before it

#define ELEMENT_WORDS ((uint)(sizeof(Element) / sizeof(uint)))

#if STATE_BITS == 64
typedef ulong StateWord;  // 32 bits of the value, 30 of the epoch, 2 of the status
#define STATE_WORDS ELEMENT_WORDS
// Returns the bits of the value that word w of a state holds, above epoch and status.
#define VALUE_FIELD(words, w) ((StateWord)(words)[w] << 32)
#define EPOCH_BITS 30
#define TICKET_BITS 32
#ifdef RELAXED_ACCESSES
#define STATE_LOAD(p) load_relaxed(p)  // many loads in flight, where atomic operations on a line queue up
#else
// Loads by adding zero atomically. A plain load races with the exchanges of other work-groups, and OpenCL C 1.2 has no
// atomic load. OpenCL C 3.0 has one, but it needs __opencl_c_atomic_scope_device to see what other work-groups write,
// which NVIDIA's compiler lacks.
#define STATE_LOAD(p) atom_add(p, (StateWord)0)
#endif
#define STATE_STORE(p, word) (void)atom_xchg(p, word)  // a plain store may queue behind the stores of a tile
#define STATE_TRY_STORE(p, old, word) (void)atom_cmpxchg(p, old, word)
#define STATE_ADD(p, increment) atom_add(p, increment)
#else
typedef uint StateWord;  // 16 bits of the value, 14 of the epoch, 2 of the status
#define STATE_WORDS (2 * ELEMENT_WORDS)
#define VALUE_FIELD(words, w) ((words)[(w) / 2] >> (w) % 2 * 16 << 16)
#define EPOCH_BITS 14
#define TICKET_BITS 18
#define STATE_LOAD(p) atomic_add(p, (StateWord)0)
#define STATE_STORE(p, word) (void)atomic_xchg(p, word)
#define STATE_TRY_STORE(p, old, word) (void)atomic_cmpxchg(p, old, word)
#define STATE_ADD(p, increment) atomic_add(p, increment)
#endif
// Packs epoch and status, by which a reader knows whether a word is of this launch.
#define TAG(epoch, status) ((StateWord)(epoch) << 2 | (StateWord)(status))
#define TAG_MASK (((StateWord)4 << EPOCH_BITS) - 1)
#ifndef PITCH
#define PITCH STATE_WORDS
#endif
#define CONTROL_WORDS 16  // before the states, so that the ticket counter and they share no cache line

typedef union {
  Element value;
  uint words[ELEMENT_WORDS];
} ElementWords;

volatile __global StateWord* state_of(volatile __global StateWord* states, const uint tile) {
  return states + CONTROL_WORDS + (size_t)tile * PITCH;
}

void publish(volatile __global StateWord* states, const uint tile, const uint epoch, const uint status,
             const Element value) {
#if FAULT_RATE > 0
  if (((tile * 2654435761u + epoch * 40503u + status) >> 7) % FAULT_RATE == 0) return;
#endif
  ElementWords split;
  split.value = value;
  volatile __global StateWord* state = state_of(states, tile);
  for (uint w = 0; w < STATE_WORDS; ++w) STATE_STORE(state + w, VALUE_FIELD(split.words, w) | TAG(epoch, status));
}

#ifdef RELAXED_ACCESSES
// Brings a state's line into the cache for those who ask for it before it is published.
void prefetch_state(volatile __global StateWord* states, const uint tile) {
  const uint local_id = (uint)get_local_id(0);
  if (local_id < STATE_WORDS) prefetch_line(state_of(states, tile) + local_id);
}
#endif

typedef struct {
  StateWord at[STATE_WORDS + STATE_WORDS % 2];
} State;

State load_state(volatile __global StateWord* states, const uint tile) {
  State state;
  volatile __global StateWord* words = state_of(states, tile);
#ifdef RELAXED_ACCESSES
  if (PITCH % 2 == 0) {
    for (uint w = 0; w < STATE_WORDS; w += 2) load_pair_relaxed(words + w, &state.at[w]);
    return state;
  }
#endif
  for (uint w = 0; w < STATE_WORDS; ++w) state.at[w] = STATE_LOAD(words + w);
  return state;
}

// Returns the state's status, and the value in *value; STATUS_INVALID while its words do not agree on this epoch and
// one status.
uint read_state(const State state, const uint epoch, Element* value) {
  const StateWord tag = state.at[0] & TAG_MASK;
  bool agrees = tag >> 2 == (StateWord)epoch;
  ElementWords split;
  for (uint w = 0; w < STATE_WORDS; ++w) {
    agrees = agrees && (state.at[w] & TAG_MASK) == tag;
#if STATE_BITS == 64
    split.words[w] = (uint)(state.at[w] >> 32);
#else
    split.words[w / 2] = w % 2 == 0 ? state.at[w] >> 16 : split.words[w / 2] | state.at[w] >> 16 << 16;
#endif
  }
  if (!agrees) return STATUS_INVALID;
  *value = split.value;
  return (uint)(tag & 3);
}

// Loads the state of a tile once, and reads it as read_state does.
uint poll(volatile __global StateWord* states, const uint tile, const uint epoch, Element* value) {
  return read_state(load_state(states, tile), epoch, value);
}

// Publishes the aggregate of another work-group's tile, unless a state of this epoch is there already.
void try_publish(volatile __global StateWord* states, const uint tile, const uint epoch, const Element value) {
  ElementWords split;
  split.value = value;
  volatile __global StateWord* state = state_of(states, tile);
  for (uint w = 0; w < STATE_WORDS; ++w) {
    const StateWord old = STATE_LOAD(state + w);
    if ((old & TAG_MASK) >> 2 != (StateWord)epoch)
      STATE_TRY_STORE(state + w, old, VALUE_FIELD(split.words, w) | TAG(epoch, STATUS_AGGREGATE));
  }
}

// ---- Dynamic tile ids ------------------------------------------------------------------------------------------
//
// An atomic counter, states[0], assigns the tiles: a work-group draws a ticket from it, the number of its tile, and
// knows that all earlier tiles belong to work-groups that have started. The counter holds the epoch above the ticket.
// Whoever draws the last of the `num_tickets` of a launch resets the ticket and increments the epoch.
//
// `ticket` is two words in local memory, by which one work-item passes its ticket to the others: ticket[0] is the tile,
// ticket[1] the epoch.

typedef struct {
  uint tile, epoch;
} TileTicket;

// Writes tile and epoch to `ticket`, for the work-items behind the next barrier. Called by one of them.
void broadcast_ticket(volatile __global StateWord* states, const StateWord counter, const uint num_tickets,
                      __local uint* ticket) {
  const uint tile = (uint)(counter & (((StateWord)1 << TICKET_BITS) - 1));
  if (tile == num_tickets - 1) (void)STATE_ADD(states, ((StateWord)1 << TICKET_BITS) - (StateWord)num_tickets);
  ticket[0] = tile;
  ticket[1] = (uint)(counter >> TICKET_BITS & (((StateWord)1 << EPOCH_BITS) - 1));
}

// Draws a ticket. Called by one work-item.
void draw_ticket(volatile __global StateWord* states, const uint num_tickets, __local uint* ticket) {
  broadcast_ticket(states, STATE_ADD(states, (StateWord)1), num_tickets, ticket);
}

// Draws a ticket and returns it to all work-items. All must call it.
TileTicket acquire_tile(volatile __global StateWord* states, const uint num_tickets, __local uint* ticket) {
  if (get_local_id(0) == 0) draw_ticket(states, num_tickets, ticket);
  barrier(CLK_LOCAL_MEM_FENCE);
  const TileTicket mine = {ticket[0], ticket[1]};
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
TileTicket acquire_one_tile(volatile __global StateWord* states, const uint num_tickets, __local uint* ticket,
                            StateWord* counter) {
  *counter = 0;
  if (!TILE_BY_GROUP_ID) return acquire_tile(states, num_tickets, ticket);
  if (get_local_id(0) == 0) *counter = STATE_ADD(states, (StateWord)1);
  TileTicket mine;
  mine.tile = (uint)get_group_id(0);
  return mine;
}

void broadcast_epoch(volatile __global StateWord* states, const StateWord counter, const uint num_tickets,
                     __local uint* ticket) {
  if (TILE_BY_GROUP_ID && get_local_id(0) == 0) broadcast_ticket(states, counter, num_tickets, ticket);
}

void receive_epoch(TileTicket* mine, const __local uint* ticket) {
  if (TILE_BY_GROUP_ID) mine->epoch = ticket[1];
}
