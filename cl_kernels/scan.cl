// SPDX-License-Identifier: Apache-2.0
// scan: prefix scans out[i] = in[0] op .. op in[i] (exclusive: INITIAL op in[0] op .. op in[i - 1]).
//
// All set by host/families/scan.cpp:
// KERNEL_<name>     the rung of the ladder to compile; the others need not fit the device
// T, U              element type, and the unsigned type of its width: integers wrap. U is T for floating types
// OP                1 sum, 2 max, 3 xor, 4 composition of affine maps x -> a x + b, each a pair of uint
// LEAST             identity of max
// EXCLUSIVE, INITIAL
// GROUP, ITEMS      items of a work-group and elements of an item; a tile is GROUP * ITEMS elements
// STATE_BITS        width of a word of tile state: 64, or 32 where 64-bit atomics are missing
// POLLS             how often a state that is not there yet is asked for before something else is tried
// DROP              fault injection: one publication in DROP is lost; 0: none
#if !defined(T) || !defined(U) || !defined(OP) || !defined(GROUP) || !defined(ITEMS)
#error "scan.cl needs T, U, OP, GROUP, ITEMS and more: see host/families/scan.cpp"
#endif

#define SUM 1
#define MAX 2
#define XOR 3
#define AFFINE 4
#define TILE (GROUP * ITEMS)

// ---- Elements ------------------------------------------------------------------------------------------

#if OP == MAX
typedef T Value;
#else
typedef U Value;  // signed sums wrap, too
#endif

#if OP == AFFINE
typedef uint2 Element;
#else
typedef Value Element;
#endif

// First `l`, then `r`. Affine maps do not commute: an implementation that swaps neighbours shows.
inline Element combine(const Element l, const Element r) {
#if OP == SUM
  return l + r;
#elif OP == MAX
  return max(l, r);
#elif OP == XOR
  return l ^ r;
#else
  return (uint2)(r.x * l.x, r.x * l.y + r.y);
#endif
}

inline Element identity(void) {
#if OP == MAX
  return LEAST;
#elif OP == AFFINE
  return (uint2)(1, 0);
#else
  return 0;
#endif
}

// What comes before the first element.
inline Element initial(void) {
#if EXCLUSIVE && OP != AFFINE
  return (Element)INITIAL;
#else
  return identity();
#endif
}

// ---- Tiles: GROUP items of ITEMS consecutive elements ----------------------------------------------------

// Local memory has 32 banks of four bytes; without the gaps, items that walk consecutive elements meet in few.
#define PADDED(i) ((i) + (i) / 32)

// Neighbouring items read neighbouring addresses; consecutive elements then come out of local memory.
inline void load_tile(__local Element* staged, __global const Element* restrict in, const ulong n, const ulong tile,
                      Element* x) {
  const uint lane = (uint)get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);  // whoever read `staged` before is done
  for (uint k = 0; k < ITEMS; ++k) {
    const uint at = k * GROUP + lane;
    const ulong i = tile * TILE + at;
    staged[PADDED(at)] = i < n ? in[i] : identity();
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < ITEMS; ++k) x[k] = staged[PADDED(lane * ITEMS + k)];
}

inline Element fold(const Element* x) {
  Element all = x[0];
  for (uint k = 1; k < ITEMS; ++k) all = combine(all, x[k]);
  return all;
}

// Scans x onto `before`, all that precedes x[0], and stores it as load_tile loaded it.
inline void store_tile(__local Element* staged, __global Element* restrict out, const ulong n, const ulong tile,
                       const Element* x, Element before, const int exclusive) {
  const uint lane = (uint)get_local_id(0);
  for (uint k = 0; k < ITEMS; ++k) {
    const Element after = combine(before, x[k]);
    staged[PADDED(lane * ITEMS + k)] = exclusive ? before : after;
    before = after;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < ITEMS; ++k) {
    const uint at = k * GROUP + lane;
    const ulong i = tile * TILE + at;
    if (i < n) out[i] = staged[PADDED(at)];
  }
}

// All that items before this one hold in `mine`, and the total of all (Hillis and Steele, in local memory).
inline Element scan_group(__local Element* sums, const Element mine, Element* total) {
  const uint lane = (uint)get_local_id(0);
  __local Element* from = sums;
  __local Element* to = sums + GROUP;
  barrier(CLK_LOCAL_MEM_FENCE);
  from[lane] = mine;
  for (uint distance = 1; distance < GROUP; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    to[lane] = lane >= distance ? combine(from[lane - distance], from[lane]) : from[lane];
    __local Element* other = from;
    from = to;
    to = other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *total = from[GROUP - 1];
  return lane > 0 ? from[lane - 1] : identity();
}

#define TILE_MEMORY                          \
  __local Element staged[PADDED(TILE)];      \
  __local Element sums[2 * GROUP]

// ---- Several launches: no group waits for another ---------------------------------------------------------

#ifdef KERNEL_hillis_steele
// One of log2(n) passes over everything.
__kernel void hillis_steele(__global Element* restrict out, __global const Element* restrict in, const ulong n,
                            const ulong distance, const uint first) {
  const ulong i = get_global_id(0);
  if (i >= n) return;
  if (EXCLUSIVE && first) {  // of the elements moved up by one
    const Element mine = i > 0 ? in[i - 1] : initial();
    const Element left = i > 1 ? in[i - 2] : initial();
    out[i] = i > 0 ? combine(left, mine) : mine;
    return;
  }
  out[i] = i >= distance ? combine(in[i - distance], in[i]) : in[i];
}
#endif

#ifdef KERNEL_three_phase
// Scans each tile by itself.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_tiles(__global Element* restrict out, __global Element* restrict tile_sums,
                         __global const Element* restrict in, const ulong n) {
  TILE_MEMORY;
  Element x[ITEMS], total;
  load_tile(staged, in, n, get_group_id(0), x);
  const Element before = scan_group(sums, fold(x), &total);
  store_tile(staged, out, n, get_group_id(0), x, before, EXCLUSIVE);
  if (get_local_id(0) == 0) tile_sums[get_group_id(0)] = total;
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void add_carries(__global Element* restrict out, __global const Element* restrict tile_sums, const ulong n) {
  const Element carry = get_group_id(0) > 0 ? tile_sums[get_group_id(0) - 1] : initial();
  for (uint k = 0; k < ITEMS; ++k) {
    const ulong i = get_group_id(0) * TILE + k * GROUP + get_local_id(0);
    if (i < n) out[i] = combine(carry, out[i]);
  }
}
#endif

#ifdef KERNEL_reduce_then_scan
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void reduce_tiles(__global Element* restrict tile_sums, __global const Element* restrict in, const ulong n,
                           const ulong first) {
  TILE_MEMORY;
  Element x[ITEMS], total;
  load_tile(staged, in, n, first + get_group_id(0), x);
  scan_group(sums, fold(x), &total);
  if (get_local_id(0) == 0) tile_sums[first + get_group_id(0)] = total;
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_tiles_onto(__global Element* restrict out, __global const Element* restrict tile_sums,
                              __global const Element* restrict in, const ulong n, const ulong first) {
  TILE_MEMORY;
  const ulong tile = first + get_group_id(0);
  Element x[ITEMS], total;
  load_tile(staged, in, n, tile, x);
  const Element before = scan_group(sums, fold(x), &total);
  const Element carry = tile > 0 ? tile_sums[tile - 1] : initial();
  store_tile(staged, out, n, tile, x, combine(carry, before), EXCLUSIVE);
}
#endif

#if defined(KERNEL_three_phase) || defined(KERNEL_reduce_then_scan)
// One group scans the sums of the tiles [first, last) onto the sum before them, in place.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_sums(__global Element* tile_sums, const ulong first, const ulong last) {
  TILE_MEMORY;
  Element carry = first > 0 ? tile_sums[first - 1] : initial();
  __global Element* own = tile_sums + first;
  for (ulong chunk = 0; chunk * TILE < last - first; ++chunk) {
    Element x[ITEMS], total;
    load_tile(staged, own, last - first, chunk, x);
    const Element before = scan_group(sums, fold(x), &total);
    store_tile(staged, own, last - first, chunk, x, combine(carry, before), 0);
    carry = combine(carry, total);
  }
}
#endif

// ---- Tile states: how groups of one launch tell each other what they found --------------------------------
//
// A state is a few words, each of which carries its own proof: a part of the value, a flag, and the number of
// the launch that wrote it, in one atomic transaction. So no fence is needed between value and flag, and no
// launch clears what an earlier one left. The reader takes a state when all its words agree.

#if defined(STATE_BITS)

#define INVALID 0u
#define AGGREGATE 1u  // of the tile alone
#define INCLUSIVE 2u  // of the tile and all before it

#define PIECES ((uint)(sizeof(Element) / sizeof(uint)))

#if STATE_BITS == 64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
typedef ulong Word;  // 32 bits of the value, 30 of the launch, 2 of the flag
#define WORDS PIECES
#define PART(pieces, w) ((Word)(pieces)[w] << 32)
#define EPOCH_BITS 30
#define TICKET_BITS 32
#define STATE_LOAD(p) atom_add(p, (Word)0)
#define STATE_STORE(p, word) (void)atom_xchg(p, word)
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
#define CONTROL_WORDS 16  // before the states, so that tickets and states share no cache line

typedef union {
  Element value;
  uint pieces[PIECES];
} Parts;

inline volatile __global Word* state_of(volatile __global Word* states, const uint tile) {
  return states + CONTROL_WORDS + (size_t)tile * WORDS;
}

inline void publish(volatile __global Word* states, const uint tile, const uint epoch, const uint flag,
                    const Element value) {
#if DROP > 0
  if (((tile * 2654435761u + epoch * 40503u + flag) >> 7) % DROP == 0) return;
#endif
  Parts parts;
  parts.value = value;
  volatile __global Word* state = state_of(states, tile);
  for (uint w = 0; w < WORDS; ++w) STATE_STORE(state + w, PART(parts.pieces, w) | TAG(epoch, flag));
}

// The tile's flag, or INVALID while its words do not agree on this launch and one flag.
inline uint poll(volatile __global Word* states, const uint tile, const uint epoch, Element* value) {
  volatile __global Word* state = state_of(states, tile);
  Parts parts;
  for (uint p = 0; p < PIECES; ++p) parts.pieces[p] = 0;
  Word tag = 0;
  for (uint w = 0; w < WORDS; ++w) {
    const Word word = STATE_LOAD(state + w);
    if (w == 0) tag = word & TAG_MASK;
    if ((word & TAG_MASK) != tag || tag >> 2 != (Word)epoch) return INVALID;
#if STATE_BITS == 64
    parts.pieces[w] = (uint)(word >> 32);
#else
    parts.pieces[w / 2] |= word >> 16 << w % 2 * 16;
#endif
  }
  *value = parts.value;
  return (uint)(tag & 3);
}

// Publishes another group's aggregate, unless that group was faster.
inline void offer(volatile __global Word* states, const uint tile, const uint epoch, const Element value) {
  Parts parts;
  parts.value = value;
  volatile __global Word* state = state_of(states, tile);
  for (uint w = 0; w < WORDS; ++w) {
    const Word old = STATE_LOAD(state + w);
    if ((old & TAG_MASK) >> 2 != (Word)epoch) STATE_OFFER(state + w, old, PART(parts.pieces, w) | TAG(epoch, AGGREGATE));
  }
}

// Tiles are dealt by tickets: whoever has one knows that all earlier tiles are in hands of groups that have
// started. The counter carries the number of the launch above the tickets, and the last ticket turns it over.
typedef struct {
  uint tile, epoch;
} Claim;

inline Claim claim(volatile __global Word* states, const uint tickets, __local uint* said) {
  if (get_local_id(0) == 0) {
    const Word drawn = STATE_ADD(states, (Word)1);
    const uint ticket = (uint)(drawn & (((Word)1 << TICKET_BITS) - 1));
    if (ticket == tickets - 1) (void)STATE_ADD(states, ((Word)1 << TICKET_BITS) - (Word)tickets);
    said[0] = ticket;
    said[1] = (uint)(drawn >> TICKET_BITS & (((Word)1 << EPOCH_BITS) - 1));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const Claim mine = {said[0], said[1]};
  barrier(CLK_LOCAL_MEM_FENCE);
  return mine;
}

// One item walks back over the states: what lies between `*position` and the own tile is in `*after`. Ends in
// front of a state that stays invalid for `polls` polls, or at DONE.
#define DONE (-2)
#define FRONT (-1)
inline void walk_back(volatile __global Word* states, const uint epoch, const uint polls, int* position,
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

// ---- One launch, tiles chained -----------------------------------------------------------------------------

#define CHAIN_MEMORY           \
  TILE_MEMORY;                 \
  __local uint said[2];        \
  __local Element carried[1]

#ifdef KERNEL_chained
// Every tile waits for the inclusive prefix of the one before it.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void chained(__global Element* restrict out, volatile __global Word* states,
                      __global const Element* restrict in, const ulong n, const uint tiles) {
  CHAIN_MEMORY;
  const Claim mine = claim(states, tiles, said);
  Element x[ITEMS], total;
  load_tile(staged, in, n, mine.tile, x);
  const Element before = scan_group(sums, fold(x), &total);
  if (get_local_id(0) == 0) {
    Element carry = initial();
    for (uint polled = 0; mine.tile > 0 && polled < POLLS; ++polled) {
      if (poll(states, mine.tile - 1, mine.epoch, &carry) == INCLUSIVE) break;
    }
    publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
    carried[0] = carry;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  store_tile(staged, out, n, mine.tile, x, combine(carried[0], before), EXCLUSIVE);
}
#endif

#ifdef KERNEL_lookback
// The aggregate is published before the wait, so that later tiles need not wait for this one's prefix.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void lookback(__global Element* restrict out, volatile __global Word* states,
                       __global const Element* restrict in, const ulong n, const uint tiles) {
  CHAIN_MEMORY;
  const Claim mine = claim(states, tiles, said);
  Element x[ITEMS], total;
  load_tile(staged, in, n, mine.tile, x);
  const Element before = scan_group(sums, fold(x), &total);
  if (get_local_id(0) == 0) {
    if (mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
    Element carry = identity();
    int position = (int)mine.tile - 1;
    walk_back(states, mine.epoch, POLLS, &position, &carry);
    publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
    carried[0] = carry;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  store_tile(staged, out, n, mine.tile, x, combine(carried[0], before), EXCLUSIVE);
}
#endif

#ifdef KERNEL_lookback_fallback
// Where a state stays invalid, the group computes that tile's aggregate itself: nothing is waited for that
// another group must do, so no promise of progress is needed.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void lookback_fallback(__global Element* restrict out, volatile __global Word* states,
                                __global const Element* restrict in, const ulong n, const uint tiles) {
  CHAIN_MEMORY;
  __local int blocked[1];
  const uint lane = (uint)get_local_id(0);
  const Claim mine = claim(states, tiles, said);
  Element x[ITEMS], total;
  load_tile(staged, in, n, mine.tile, x);
  const Element before = scan_group(sums, fold(x), &total);
  if (lane == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);

  Element carry = identity();
  int position = (int)mine.tile - 1;
  for (;;) {  // ends: every turn but the last steps over a tile
    if (lane == 0) {
      walk_back(states, mine.epoch, POLLS, &position, &carry);
      blocked[0] = position;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int at = blocked[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at < 0) break;
    Element other[ITEMS], sum;
    load_tile(staged, in, n, (ulong)at, other);
    scan_group(sums, fold(other), &sum);
    if (lane == 0) {
      offer(states, (uint)at, mine.epoch, sum);
      carry = combine(sum, carry);
      position = at - 1;
    }
  }
  if (lane == 0) {
    publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
    carried[0] = carry;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  store_tile(staged, out, n, mine.tile, x, combine(carried[0], before), EXCLUSIVE);
}
#endif

#endif  // STATE_BITS
