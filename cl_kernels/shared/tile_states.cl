// SPDX-License-Identifier: Apache-2.0
// tile_states: how groups of one launch tell each other what they found.
//
// A state is a few words, each of which carries its own proof: a part of the value, a flag, and the number of
// the launch that wrote it, in one atomic transaction. So no fence is needed between value and flag, and no
// launch clears what an earlier one left. The reader takes a state when all its words agree.
//
// STATE_BITS        width of a word of tile state: 64, or 32 where 64-bit atomics are missing
// PITCH             words from one state to the next; as many as there are, unless the family says more
// DROP              fault injection: one publication in DROP is lost; 0: none
// BY_NUMBER         1: claim_one gives a group the tile of its own number, and the ticket tells the launch alone

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
#if PTX
Word load_relaxed(volatile __global Word* p) {
  Word word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(p) : "memory");
  return word;
}
void load_pair_relaxed(volatile __global Word* p, Word* pair) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(pair[0]), "=l"(pair[1]) : "l"(p) : "memory");
}
void store_relaxed(volatile __global Word* p, const Word word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(p), "l"(word) : "memory");
}
// Many at once, where atomic operations on a line queue up.
#define STATE_LOAD(p) load_relaxed(p)
#else
// A plain load beside others' exchanges is a race, and OpenCL C 1.2 has no other; that of 3.0 sees other groups only
// with __opencl_c_atomic_scope_device, which NVIDIA's compiler has not.
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
#define CONTROL_WORDS 16  // before the states, so that tickets and states share no cache line

typedef union {
  Element value;
  uint pieces[PIECES];
} Parts;

volatile __global Word* state_of(volatile __global Word* states, const uint tile) {
  return states + CONTROL_WORDS + (size_t)tile * PITCH;
}

void publish(volatile __global Word* states, const uint tile, const uint epoch, const uint flag,
             const Element value) {
#if DROP > 0
  if (((tile * 2654435761u + epoch * 40503u + flag) >> 7) % DROP == 0) return;
#endif
  Parts parts;
  parts.value = value;
  volatile __global Word* state = state_of(states, tile);
  for (uint w = 0; w < WORDS; ++w) STATE_STORE(state + w, PART(parts.pieces, w) | TAG(epoch, flag));
}

#if PTX
// So that whoever asks for a state before it is published finds its line in the cache.
void prefetch_state(volatile __global Word* states, const uint tile) {
  const uint lane = (uint)get_local_id(0);
  if (lane < WORDS) asm volatile("prefetch.global.L2 [%0];" : : "l"(state_of(states, tile) + lane));
}
#endif

typedef struct {
  Word at[WORDS + WORDS % 2];
} State;

State load_state(volatile __global Word* states, const uint tile) {
  State state;
  volatile __global Word* words = state_of(states, tile);
#if PTX
  if (PITCH % 2 == 0) {
    for (uint w = 0; w < WORDS; w += 2) load_pair_relaxed(words + w, &state.at[w]);
    return state;
  }
#endif
  for (uint w = 0; w < WORDS; ++w) state.at[w] = STATE_LOAD(words + w);
  return state;
}

// A state's flag, or INVALID while its words do not agree on this launch and one flag.
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

// Publishes another group's aggregate, unless that group was faster.
void offer(volatile __global Word* states, const uint tile, const uint epoch, const Element value) {
  Parts parts;
  parts.value = value;
  volatile __global Word* state = state_of(states, tile);
  for (uint w = 0; w < WORDS; ++w) {
    const Word old = STATE_LOAD(state + w);
    if ((old & TAG_MASK) >> 2 != (Word)epoch) STATE_OFFER(state + w, old, PART(parts.pieces, w) | TAG(epoch, AGGREGATE));
  }
}

// Tickets deal tiles: whoever has one knows that all earlier tiles are in hands of groups that have started. The
// counter carries the number of the launch above the tickets, and the last ticket turns it over.
typedef struct {
  uint tile, epoch;
} Claim;

void tell(volatile __global Word* states, const Word drawn, const uint tickets, __local uint* said) {
  const uint ticket = (uint)(drawn & (((Word)1 << TICKET_BITS) - 1));
  if (ticket == tickets - 1) (void)STATE_ADD(states, ((Word)1 << TICKET_BITS) - (Word)tickets);
  said[0] = ticket;
  said[1] = (uint)(drawn >> TICKET_BITS & (((Word)1 << EPOCH_BITS) - 1));
}

void draw(volatile __global Word* states, const uint tickets, __local uint* said) {
  tell(states, STATE_ADD(states, (Word)1), tickets, said);
}

Claim claim(volatile __global Word* states, const uint tickets, __local uint* said) {
  if (get_local_id(0) == 0) draw(states, tickets, said);
  barrier(CLK_LOCAL_MEM_FENCE);
  const Claim mine = {said[0], said[1]};
  barrier(CLK_LOCAL_MEM_FENCE);
  return mine;
}

// The claim of a group that has one tile. BY_NUMBER: it is the tile of the group's own number, so that the elements can
// be asked for at once; the ticket, which then tells the launch alone, is on its way together with them. hear_launch
// waits for it, and behind the next barrier know_launch completes the claim. OpenCL promises no order of groups. Where
// they start in that of their numbers, the tiles before are in hands of groups that have started, as by tickets; where
// they do not, whoever needs a late tile computes it, and NVIDIA's warps, which wait, do so POLLS times at most.
Claim claim_one(volatile __global Word* states, const uint tickets, __local uint* said, Word* drawn) {
  *drawn = 0;
  if (!BY_NUMBER) return claim(states, tickets, said);
  if (get_local_id(0) == 0) *drawn = STATE_ADD(states, (Word)1);
  Claim mine;
  mine.tile = (uint)get_group_id(0);
  return mine;
}

void hear_launch(volatile __global Word* states, const Word drawn, const uint tickets, __local uint* said) {
  if (BY_NUMBER && get_local_id(0) == 0) tell(states, drawn, tickets, said);
}

void know_launch(Claim* mine, const __local uint* said) {
  if (BY_NUMBER) mine->epoch = said[1];
}

// One item walks back over the states: what lies between `*position` and the own tile is in `*after`. Ends in
// front of a state that stays invalid for `polls` polls, or at DONE.
#define DONE (-2)
#define FRONT (-1)
void walk_back(volatile __global Word* states, const uint epoch, const uint polls, int* position,
               Element* after) {
  uint polled = 0;
  while (*position >= 0 && polled < polls) {
    Element value;
    const uint flag = poll(states, (uint)*position, epoch, &value);
    ++polled;
    if (flag == INVALID) continue;
    polled = 0;
    *after = combine(value, *after);
    *position = flag == INCLUSIVE ? DONE : *position - 1;
  }
  if (*position == FRONT) {
    *after = combine(initial(), *after);
    *position = DONE;
  }
}
