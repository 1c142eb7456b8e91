// SPDX-License-Identifier: Apache-2.0
// scan: prefix scans out[i] = in[0] op .. op in[i] (exclusive: INITIAL op in[0] op .. op in[i - 1]).
//
// All set by host/families/scan.cpp:
// KERNEL_<NAME>     the rung of the ladder to compile; the others need not fit the device
// T, U              element type, and the unsigned type of its width: integers wrap. U is T for floating types
// OP                1 sum, 2 max, 3 xor, 4 composition of affine maps x -> a x + b, each a pair of uint
// LEAST             identity of max
// EXCLUSIVE, INITIAL
// GROUP, ITEMS      items of a work-group and elements of an item; a tile is GROUP * ITEMS elements
// STATE_BITS        width of a word of tile state: 64, or 32 where 64-bit atomics are missing
// POLLS             how often a state that is not there yet is asked for before something else is tried
// DROP              fault injection: one publication in DROP is lost; 0: none
// VALUE_BYTES       4 or 8
// PARTS             values of an element: of a tuple, or all that pascal keeps; 1: a value is an element
// ORDER, TUPLE      of the scan
// REORDER, ENCODE   asked for
// ROWS, WINDOW, AHEAD, CHUNK   see the kernels that need them
// PTX               1: shuffles, votes and relaxed loads of NVIDIA's PTX; 0: OpenCL C 1.2 alone
#if !defined(T) || !defined(U) || !defined(OP) || !defined(GROUP) || !defined(ITEMS)
#error "scan.cl needs T, U, OP, GROUP, ITEMS and more: see host/families/scan.cpp"
#endif

#define SUM 1
#define MAX 2
#define XOR 3
#define AFFINE 4
#define TILE (GROUP * ITEMS)

// ---- Elements ------------------------------------------------------------------------------------------

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#if OP == MAX
#define VALUE T
#else
#define VALUE U  // signed sums wrap, too
#endif
typedef VALUE Value;

Value combine_values(const Value l, const Value r) {
#if OP == MAX
  return max(l, r);
#elif OP == XOR
  return l ^ r;
#else
  return l + r;
#endif
}

Value neutral(void) {
#if OP == MAX
  return LEAST;
#else
  return 0;
#endif
}

// An element is what is scanned, and what is known of a stretch of elements: a value, an affine map, a tuple.
#if OP == AFFINE
typedef uint2 Element;
#elif PARTS > 1
typedef struct {
  Value at[PARTS];
} Element;
#else
typedef Value Element;
#endif

// First `l`, then `r`. Affine maps do not commute: an implementation that swaps neighbours shows.
Element combine(const Element l, const Element r) {
#if OP == AFFINE
  return (uint2)(r.x * l.x, r.x * l.y + r.y);
#elif PARTS > 1
  Element both;
  for (uint p = 0; p < PARTS; ++p) both.at[p] = combine_values(l.at[p], r.at[p]);
  return both;
#else
  return combine_values(l, r);
#endif
}

Element element_of(const Value value) {
#if OP == AFFINE
  return (uint2)(1, value);
#elif PARTS > 1
  Element all;
  for (uint p = 0; p < PARTS; ++p) all.at[p] = value;
  return all;
#else
  return value;
#endif
}

Element identity(void) { return element_of(neutral()); }

// What comes before the first element.
Element initial(void) { return element_of(EXCLUSIVE ? (Value)INITIAL : neutral()); }

// ---- Tiles: GROUP items of ITEMS consecutive elements ----------------------------------------------------

#ifdef KERNEL_PASCAL
typedef Value Item;  // elements are what is known of many
#define NO_ITEM neutral()
#else
typedef Element Item;
#define NO_ITEM identity()
#endif

// Local memory has 32 banks of four bytes; without the gaps, items that walk consecutive elements meet in few.
#define PADDED(i) ((i) + (i) / 32)

// Neighbouring items read neighbouring addresses; consecutive elements then come out of local memory.
void load_tile(__local Item* staged, __global const Item* restrict in, const ulong n, const ulong tile,
                      Item* x) {
  const uint lane = (uint)get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);  // whoever read `staged` before is done
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint at = k * GROUP + lane;
    const ulong i = tile * TILE + at;
    staged[PADDED(at)] = i < n ? in[i] : NO_ITEM;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) x[k] = staged[PADDED(lane * ITEMS + k)];
}

// The way back.
void store_tile(__local Item* staged, __global Item* restrict out, const ulong n, const ulong tile,
                       const Item* x) {
  const uint lane = (uint)get_local_id(0);
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) staged[PADDED(lane * ITEMS + k)] = x[k];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint at = k * GROUP + lane;
    const ulong i = tile * TILE + at;
    if (i < n) out[i] = staged[PADDED(at)];
  }
}

#ifndef KERNEL_PASCAL

Element fold(const Element* x) {
  Element all = x[0];
  for (uint k = 1; k < ITEMS; ++k) all = combine(all, x[k]);
  return all;
}

// Scans x onto `before`, all that precedes x[0].
void scan_items(Element* x, Element before, const int exclusive) {
  for (uint k = 0; k < ITEMS; ++k) {
    const Element after = combine(before, x[k]);
    x[k] = exclusive ? before : after;
    before = after;
  }
}

// All that items before this one hold in `mine`, and the total of all (Hillis and Steele, in local memory).
Element scan_group(__local Element* sums, const Element mine, Element* total) {
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

// The sum of a tile of `items` elements per item, in order.
Element fold_tile(__local Element* sums, __global const Element* restrict in, const ulong n, const ulong tile,
                         const uint items) {
  const ulong first = (tile * GROUP + get_local_id(0)) * items;
  Element mine = identity(), total;
  for (ulong i = first; i < min(first + items, n); ++i) mine = combine(mine, in[i]);
  (void)scan_group(sums, mine, &total);
  return total;
}

#endif  // KERNEL_PASCAL

#define TILE_MEMORY                          \
  __local Element staged[PADDED(TILE)];      \
  __local Element sums[2 * GROUP]

// ---- Several launches: no group waits for another ---------------------------------------------------------

#ifdef KERNEL_HILLIS_STEELE
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

#ifdef ENCODE
// Delta coding: differences of differences, to the ORDER, with what lies a tuple before.
__kernel void encode(__global U* restrict out, __global const U* restrict in, const ulong n) {
  const ulong i = get_global_id(0);
  if (i >= n) return;
  U x[ORDER + 1];
  for (uint k = 0; k <= ORDER; ++k) x[k] = i >= k * TUPLE ? in[i - k * TUPLE] : 0;
  for (uint left = ORDER; left > 0; --left) {
    for (uint k = 0; k < left; ++k) x[k] -= x[k + 1];
  }
  out[i] = x[0];
}
#endif

#ifdef REORDER
// Tuples apart: first the first values of all, then the second .. Dimension 1 is the slot.
__kernel void gather_tuples(__global Value* restrict out, __global const Value* restrict in, const ulong length) {
  const ulong i = get_global_id(0), slot = get_global_id(1);
  if (i < length) out[slot * length + i] = in[i * TUPLE + slot];
}

// And back, without what the scan of all brought from the values before.
__kernel void spread_tuples(__global Value* restrict out, __global const Value* restrict in, const ulong length) {
  const ulong i = get_global_id(0), slot = get_global_id(1), at = slot * length + i;
  if (i >= length) return;
  out[i * TUPLE + slot] = slot > 0 ? in[at] - in[slot * length - 1] : in[at];
}
#endif

#ifdef KERNEL_THREE_PHASE
// Scans each tile by itself.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_tiles(__global Element* restrict out, __global Element* restrict tile_sums,
                         __global const Element* restrict in, const ulong n) {
  TILE_MEMORY;
  Element x[ITEMS], total;
  load_tile(staged, in, n, get_group_id(0), x);
  const Element before = scan_group(sums, fold(x), &total);
  const Element start = get_group_id(0) == 0 ? initial() : identity();
  scan_items(x, combine(start, before), EXCLUSIVE);
  store_tile(staged, out, n, get_group_id(0), x);
  if (get_local_id(0) == 0) tile_sums[get_group_id(0)] = total;
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void add_carries(__global Element* restrict out, __global const Element* restrict tile_sums, const ulong n) {
  const Element carry = tile_sums[get_group_id(0)];
  for (uint k = 0; k < ITEMS; ++k) {
    const ulong i = (get_group_id(0) + 1) * TILE + k * GROUP + get_local_id(0);  // the first tile needs none
    if (i < n) out[i] = combine(carry, out[i]);
  }
}
#endif

#ifdef KERNEL_REDUCE_THEN_SCAN
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
  scan_items(x, combine(carry, before), EXCLUSIVE);
  store_tile(staged, out, n, tile, x);
}
#endif

#if defined(KERNEL_THREE_PHASE) || defined(KERNEL_REDUCE_THEN_SCAN)
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
    scan_items(x, combine(carry, before), 0);
    store_tile(staged, own, last - first, chunk, x);
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

volatile __global Word* state_of(volatile __global Word* states, const uint tile) {
  return states + CONTROL_WORDS + (size_t)tile * WORDS;
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

typedef struct {
  Word at[WORDS];
} State;

State load_state(volatile __global Word* states, const uint tile) {
  State state;
  for (uint w = 0; w < WORDS; ++w) state.at[w] = STATE_LOAD(state_of(states, tile) + w);
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

// Tiles are dealt by tickets: whoever has one knows that all earlier tiles are in hands of groups that have
// started. The counter carries the number of the launch above the tickets, and the last ticket turns it over.
typedef struct {
  uint tile, epoch;
} Claim;

void draw(volatile __global Word* states, const uint tickets, __local uint* said) {
  const Word drawn = STATE_ADD(states, (Word)1);
  const uint ticket = (uint)(drawn & (((Word)1 << TICKET_BITS) - 1));
  if (ticket == tickets - 1) (void)STATE_ADD(states, ((Word)1 << TICKET_BITS) - (Word)tickets);
  said[0] = ticket;
  said[1] = (uint)(drawn >> TICKET_BITS & (((Word)1 << EPOCH_BITS) - 1));
}

Claim claim(volatile __global Word* states, const uint tickets, __local uint* said) {
  if (get_local_id(0) == 0) draw(states, tickets, said);
  barrier(CLK_LOCAL_MEM_FENCE);
  const Claim mine = {said[0], said[1]};
  barrier(CLK_LOCAL_MEM_FENCE);
  return mine;
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

// ---- One launch, tiles chained -----------------------------------------------------------------------------

#define CHAIN_MEMORY           \
  TILE_MEMORY;                 \
  __local uint said[2];        \
  __local Element carried[1]

#ifdef KERNEL_CHAINED
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
  scan_items(x, combine(carried[0], before), EXCLUSIVE);
  store_tile(staged, out, n, mine.tile, x);
}
#endif

#ifdef KERNEL_LOOKBACK
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
  scan_items(x, combine(carried[0], before), EXCLUSIVE);
  store_tile(staged, out, n, mine.tile, x);
}
#endif

#ifdef KERNEL_LOOKBACK_FALLBACK
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
  for (uint turn = 0; turn <= mine.tile; ++turn) {  // every turn but the last steps over a tile
    if (lane == 0) {
      walk_back(states, mine.epoch, POLLS, &position, &carry);
      blocked[0] = position;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int at = blocked[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at < 0) break;
    const Element sum = fold_tile(sums, in, n, (ulong)at, ITEMS);
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
  scan_items(x, combine(carried[0], before), EXCLUSIVE);
  store_tile(staged, out, n, mine.tile, x);
}
#endif

// ---- Bundles of 32 items that run in lock-step ---------------------------------------------------------------

#define BUNDLE 32

#if PTX

#define SHUFFLE(how, x, lane, clamp)                                                             \
  asm volatile("shfl.sync." how ".b32 %0, %1, %2, " clamp ", 0xffffffff;" : "=r"(x) : "r"(x), "r"(lane))

typedef union {
  Value value;
  uint pieces[VALUE_BYTES / 4];
} Shuffled;

Value from_below(const Value x, const uint distance) {
  Shuffled s;
  s.value = x;
  for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("up", s.pieces[p], distance, "0");
  return s.value;
}

Value from_lane(const Value x, const uint lane) {
  Shuffled s;
  s.value = x;
  for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("idx", s.pieces[p], lane, "31");
  return s.value;
}

Value sum_of_bundle(Value x) {
#pragma unroll
  for (uint d = 1; d < BUNDLE; d *= 2) {
    Shuffled s;
    s.value = x;
    for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("bfly", s.pieces[p], d, "31");
    x = combine_values(x, s.value);
  }
  return x;
}

uint ballot(const bool yes) {
  uint votes;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(votes) : "r"((uint)yes));
  return votes;
}

#endif  // PTX

#ifndef KERNEL_PASCAL

// ---- Wide look-back ----------------------------------------------------------------------------------------

// A stretch of states, as a reader sees it: the sum of `length` tiles, and what comes next.
typedef struct {
  Element sum;
  uint length, flag;
} Seen;

// The stretch nearer to the reader decides how far the two are one.
Seen joined(const Seen near, const Seen far) {
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
                              __local Element* sums, __global const Element* restrict in, const ulong n,
                              const uint items) {
  const uint lane = (uint)get_local_id(0);
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
        window[lane] = joined(window[lane], window[lane + distance]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const Seen seen = window[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (seen.length > 0) after = combine(seen.sum, after);
    position = seen.flag == INCLUSIVE ? DONE : position - (int)seen.length;
    polled = seen.length > 0 ? 0 : polled + 1;
    if (polled == POLLS) {
      const Element sum = fold_tile(sums, in, n, (ulong)position, items);
      if (lane == 0) offer(states, (uint)position, mine.epoch, sum);
      after = combine(sum, after);
      --position;
      polled = 0;
    }
  }
  return after;
}

#ifdef KERNEL_LOOKBACK_WIDE
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void lookback_wide(__global Element* restrict out, volatile __global Word* states,
                            __global const Element* restrict in, const ulong n, const uint tiles) {
  TILE_MEMORY;
  __local uint said[2];
  __local Seen window[WINDOW];
  const Claim mine = claim(states, tiles, said);
  Element x[ITEMS], total;
  load_tile(staged, in, n, mine.tile, x);
  const Element before = scan_group(sums, fold(x), &total);
  if (get_local_id(0) == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
  const Element carry = look_back_wide(states, mine, window, sums, in, n, ITEMS);
  if (get_local_id(0) == 0) publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
  scan_items(x, combine(carry, before), EXCLUSIVE);
  store_tile(staged, out, n, mine.tile, x);
}
#endif

#else

// ---- Higher orders and tuples at once ----------------------------------------------------------------------
//
// What is known of a stretch of m positions is, for each of TUPLE slots, the last value of the scans of orders
// 1 to ORDER from zero. A state S in front of the stretch b changes its ends to
//   b[k] + sum over j <= k of C(m + k - j - 1, k - j) S[j],
// so one exchange serves all orders, and slots do not meet at all. The binomial coefficients come as a table:
// for 0 .. GROUP times the positions of an item, then for 0 .. WINDOW times those of a tile.

typedef struct {
  Value at[ORDER];
} Weights;  // C(m + e - 1, e) for e = 0 .. ORDER - 1

Weights weights_of(__global const Value* restrict table, const uint row) {
  Weights w;
#if ORDER == 1
  w.at[0] = 1;
  (void)table;
  (void)row;
#else
#pragma unroll
  for (uint e = 0; e < ORDER; ++e) w.at[e] = table[row * ORDER + e];
#endif
  return w;
}

// Of a stretch as long as the two together.
Weights spanned(const Weights a, const Weights b) {
  Weights both;
#pragma unroll
  for (uint e = 0; e < ORDER; ++e) {
    both.at[e] = 0;
#pragma unroll
    for (uint i = 0; i <= e; ++i) both.at[e] += a.at[i] * b.at[e - i];
  }
  return both;
}

// What `r`, of the positions that `w` stands for, ends with after `l`.
Element joined(const Element l, const Element r, const Weights w) {
#if ORDER == 1
  (void)w;
  return combine(l, r);
#else
  Element both = r;
#pragma unroll
  for (uint slot = 0; slot < PARTS; slot += ORDER) {
#pragma unroll
    for (uint k = 0; k < ORDER; ++k) {
#pragma unroll
      for (uint j = 0; j <= k; ++j) both.at[slot + k] += w.at[k - j] * l.at[slot + j];
    }
  }
  return both;
#endif
}

// Scans one value into its slot; returns its place in the scan of the highest order.
Value advance(Element* state, const uint slot, Value x) {
#pragma unroll
  for (uint k = 0; k < ORDER; ++k) {
    x = combine_values(state->at[slot * ORDER + k], x);
    state->at[slot * ORDER + k] = x;
  }
  return x;
}

Element fold(const Value* x) {
  Element state = identity();
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) (void)advance(&state, k % TUPLE, x[k]);
  return state;
}

// Elements in local memory, the same part of all of them adjacent: neighbours meet in no bank.
void put(__local Value* held, const uint stride, const uint at, const Element element) {
#pragma unroll
  for (uint p = 0; p < PARTS; ++p) held[p * stride + at] = element.at[p];
}
Element get(__local const Value* held, const uint stride, const uint at) {
  Element element;
#pragma unroll
  for (uint p = 0; p < PARTS; ++p) element.at[p] = held[p * stride + at];
  return element;
}

#if PTX

Element element_from_below(const Element x, const uint distance) {
  Element below;
#pragma unroll
  for (uint p = 0; p < PARTS; ++p) below.at[p] = from_below(x.at[p], distance);
  return below;
}

// What the items before this one end with, and what all do.
Element scan_group(__local Value* held, Element mine, __global const Value* restrict table, Element* total) {
  const uint lane = (uint)get_local_id(0) % BUNDLE, bundle = (uint)get_local_id(0) / BUNDLE;
#pragma unroll
  for (uint distance = 1; distance < BUNDLE; distance *= 2) {
    const Element below = element_from_below(mine, distance);
    if (lane >= distance) mine = joined(below, mine, weights_of(table, distance));
  }
  const Element below = element_from_below(mine, 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == BUNDLE - 1) put(held, GROUP / BUNDLE, bundle, mine);
  barrier(CLK_LOCAL_MEM_FENCE);
  const Weights across = weights_of(table, BUNDLE);
  Element before = identity();
  *total = identity();
  for (uint b = 0; b < GROUP / BUNDLE; ++b) {
    if (b == bundle) before = *total;
    *total = joined(*total, get(held, GROUP / BUNDLE, b), across);
  }
  return lane > 0 ? joined(before, below, weights_of(table, lane)) : before;
}

// What precedes the tile, for all items, by the first bundle: each item carries one state over the tiles
// between, and what is left is a sum.
Element look_back(volatile __global Word* states, const Claim mine, __local Value* held, __local uint* ends,
                         __global const Value* restrict table, __global const Value* restrict in, const ulong n) {
  const uint lane = (uint)get_local_id(0);
  __global const Value* tiles_table = table + (GROUP + 1) * ORDER;
  (void)ends;
  (void)in;
  (void)n;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane < BUNDLE) {
    Element after = identity();
    Weights span = weights_of(tiles_table, 0);
    int position = (int)mine.tile - 1;
    for (uint polled = 0; polled < POLLS && position != DONE; ++polled) {
      const int at = position - (int)lane;
      Element value = at == FRONT ? initial() : identity();
      const uint flag = at < 0 ? INCLUSIVE : poll(states, (uint)at, mine.epoch, &value);
      const uint inclusive = ballot(flag == INCLUSIVE);
      const uint needed = inclusive != 0 ? inclusive ^ (inclusive - 1) : ~0u;  // up to the first inclusive one
      if ((ballot(flag == INVALID) & needed) != 0) continue;
      Element seen = (needed >> lane & 1) != 0 ? joined(value, identity(), weights_of(tiles_table, lane)) : identity();
#pragma unroll
      for (uint p = 0; p < PARTS; ++p) seen.at[p] = sum_of_bundle(seen.at[p]);
      after = joined(seen, after, span);
      span = spanned(span, weights_of(tiles_table, BUNDLE));
      position = inclusive != 0 ? DONE : position - BUNDLE;
    }
    if (lane == 0) put(held, 1, 0, after);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return get(held, 1, 0);
}

#else

// What the items before this one end with, and what all do.
Element scan_group(__local Value* held, Element mine, __global const Value* restrict table, Element* total) {
  const uint lane = (uint)get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  put(held, GROUP, lane, mine);
  for (uint distance = 1; distance < GROUP; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane >= distance) mine = joined(get(held, GROUP, lane - distance), mine, weights_of(table, distance));
    barrier(CLK_LOCAL_MEM_FENCE);
    put(held, GROUP, lane, mine);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *total = get(held, GROUP, GROUP - 1);
  return lane > 0 ? get(held, GROUP, lane - 1) : identity();
}

// What precedes the tile, for all items. WINDOW of them ask for a state each, carry it over the tiles between,
// and what is left is a sum; what stays invalid the group computes itself.
Element look_back(volatile __global Word* states, const Claim mine, __local Value* held, __local uint* ends,
                         __global const Value* restrict table, __global const Value* restrict in, const ulong n) {
  const uint lane = (uint)get_local_id(0);
  __global const Value* tiles_table = table + (GROUP + 1) * ORDER;
  Element after = identity();
  Weights span = weights_of(tiles_table, 0);
  int position = (int)mine.tile - 1;
  uint polled = 0;
  while (position != DONE) {  // POLLS turns at most before one steps over a tile
    if (lane < 2) ends[lane] = WINDOW + lane;  // the first invalid state; one behind the first inclusive
    barrier(CLK_LOCAL_MEM_FENCE);
    const int at = position - (int)lane;
    Element value = at == FRONT ? initial() : identity();
    if (lane < WINDOW) {
      const uint flag = at < 0 ? INCLUSIVE : poll(states, (uint)at, mine.epoch, &value);
      if (flag == INVALID) (void)atomic_min(&ends[0], lane);
      if (flag == INCLUSIVE) (void)atomic_min(&ends[1], lane + 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool found = ends[1] <= ends[0];
    const uint taken = min(ends[0], ends[1]);
    if (lane < WINDOW)
      put(held, WINDOW, lane, lane < taken ? joined(value, identity(), weights_of(tiles_table, lane)) : identity());
    for (uint distance = WINDOW / 2; distance > 0; distance /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (lane < distance)
        put(held, WINDOW, lane, combine(get(held, WINDOW, lane + distance), get(held, WINDOW, lane)));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const Element seen = get(held, WINDOW, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    after = joined(seen, after, span);
    span = spanned(span, weights_of(tiles_table, min(taken, (uint)WINDOW)));
    position = found ? DONE : position - (int)taken;
    polled = taken > 0 ? 0 : polled + 1;
    if (polled < POLLS) continue;
    Value other[ITEMS];
#pragma unroll
    for (uint k = 0; k < ITEMS; ++k) {
      const ulong i = (ulong)position * TILE + lane * ITEMS + k;
      other[k] = i < n ? in[i] : neutral();
    }
    Element sum;
    (void)scan_group(held, fold(other), table, &sum);
    if (lane == 0) offer(states, (uint)position, mine.epoch, sum);
    after = joined(sum, after, span);
    span = spanned(span, weights_of(tiles_table, 1));
    --position;
    polled = 0;
  }
  return after;
}

#endif  // PTX

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void pascal(__global Value* restrict out, volatile __global Word* states, __global const Value* restrict in,
                     __global const Value* restrict table, const ulong n, const uint tiles) {
  __local Value staged[PADDED(TILE)];
  __local Value held[GROUP * PARTS];
  __local uint said[2], ends[2];
  const uint lane = (uint)get_local_id(0);
  const Claim mine = claim(states, tiles, said);
  Value x[ITEMS];
  Element total;
  load_tile(staged, in, n, mine.tile, x);
  const Element before = scan_group(held, fold(x), table, &total);
  if (lane == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
  const Element carry = look_back(states, mine, held, ends, table, in, n);
  if (lane == 0) publish(states, mine.tile, mine.epoch, INCLUSIVE, joined(carry, total, weights_of(table, GROUP)));
  Element state = joined(carry, before, weights_of(table, lane));
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const Value last = state.at[k % TUPLE * ORDER + ORDER - 1];
    const Value next = advance(&state, k % TUPLE, x[k]);
    x[k] = EXCLUSIVE ? last : next;
  }
  store_tile(staged, out, n, mine.tile, x);
}

#endif  // KERNEL_PASCAL

#endif  // STATE_BITS

// ---- Tiles in registers --------------------------------------------------------------------------------------
//
// A bundle of 32 items holds ROWS rows of 32 vectors of 16 bytes, one vector of each row per item: loads and
// stores are as wide as can be, and no element passes through local memory. The sum of each vector does, or
// goes through shuffles where PTX is there.

#ifdef ROWS

#define VEC (16 / VALUE_BYTES)
#if VALUE_BYTES == 4
typedef JOIN(VALUE, 4) Vector;
#else
typedef JOIN(VALUE, 2) Vector;
#endif
#define REGISTER_ITEMS (ROWS * VEC)
#define REGISTER_TILE (GROUP * REGISTER_ITEMS)

typedef union {
  Vector row[ROWS];
  Value at[ROWS][VEC];
} Rows;

uint vector_of_row(const uint row) {
  const uint lane = (uint)get_local_id(0);
  return (lane / BUNDLE * ROWS + row) * BUNDLE + lane % BUNDLE;
}

void load_rows(Rows* x, __global const Value* restrict in, const ulong n, const ulong tile) {
  const ulong first = tile * REGISTER_TILE;
  if (first + REGISTER_TILE <= n) {
    __global const Vector* vectors = (__global const Vector*)(in + first);
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) x->row[r] = vectors[vector_of_row(r)];
    return;
  }
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const ulong i = first + vector_of_row(r) * VEC + v;
      x->at[r][v] = i < n ? in[i] : identity();
    }
  }
}

// Scans every row onto what precedes it in the tile, and the tile onto `carry`.
void apply_rows(Rows* x, const Value* before, const Value carry) {
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    Value sum = combine(carry, before[r]);
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const Value next = combine(sum, x->at[r][v]);
      x->at[r][v] = EXCLUSIVE ? sum : next;
      sum = next;
    }
  }
}

void store_rows(const Rows* x, __global Value* restrict out, const ulong n, const ulong tile) {
  const ulong first = tile * REGISTER_TILE;
  if (first + REGISTER_TILE <= n) {
    __global Vector* vectors = (__global Vector*)(out + first);
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) vectors[vector_of_row(r)] = x->row[r];
    return;
  }
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const ulong i = first + vector_of_row(r) * VEC + v;
      if (i < n) out[i] = x->at[r][v];
    }
  }
}

void sum_rows(const Rows* x, Value* sums) {
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    sums[r] = x->at[r][0];
#pragma unroll
    for (uint v = 1; v < VEC; ++v) sums[r] = combine(sums[r], x->at[r][v]);
  }
}

#if PTX

#define HELD_VECTORS 1  // none
#define SUMS BUNDLE

// From the sums of this item's vectors to what precedes each of them in the bundle.
void scan_rows(const Value* sums, Value* before, const Value start) {
  const uint lane = (uint)get_local_id(0) % BUNDLE;
  Value scanned[ROWS];
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) scanned[r] = sums[r];
#pragma unroll
  for (uint d = 1; d < BUNDLE; d *= 2) {
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {  // rows do not depend on each other: their shuffles overlap
      const Value below = from_below(scanned[r], d);
      if (lane >= d) scanned[r] = combine(below, scanned[r]);
    }
  }
  Value carry = start;
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    const Value below = from_below(scanned[r], 1);
    before[r] = lane > 0 ? combine(carry, below) : carry;
    carry = combine(carry, from_lane(scanned[r], BUNDLE - 1));
  }
}

// What the bundles before this one hold, and the total. `bundle_sums` is complete.
Value scan_bundles(const __local Value* bundle_sums, Value* total) {
  const uint lane = (uint)get_local_id(0) % BUNDLE;
  Value scanned = lane < GROUP / BUNDLE ? bundle_sums[lane] : identity();
#pragma unroll
  for (uint d = 1; d < GROUP / BUNDLE; d *= 2) {
    const Value below = from_below(scanned, d);
    if (lane >= d) scanned = combine(below, scanned);
  }
  *total = from_lane(scanned, GROUP / BUNDLE - 1);
  const uint bundle = (uint)get_local_id(0) / BUNDLE;
  const Value before = from_lane(scanned, bundle > 0 ? bundle - 1 : 0);
  return bundle > 0 ? before : identity();
}

// From a tile's vectors to what precedes each of them in it; returns the tile's sum.
Value scan_vectors(const Rows* x, Value* before, __local Value* vectors, __local Value* sums) {
  Value row_sums[ROWS], total;
  (void)vectors;
  sum_rows(x, row_sums);
  scan_rows(row_sums, before, identity());
  const uint lane = (uint)get_local_id(0);
  if (lane % BUNDLE == BUNDLE - 1) sums[lane / BUNDLE] = combine(before[ROWS - 1], row_sums[ROWS - 1]);
  barrier(CLK_LOCAL_MEM_FENCE);
  const Value bundles = scan_bundles(sums, &total);
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) before[r] = combine(bundles, before[r]);
  return total;
}

// The first bundle looks at WINDOW states at a time. All its items must call it, and all get the result.
Value look_back_bundle(volatile __global Word* states, const Claim mine) {
  const int lane = (int)get_local_id(0);
  Value after = identity();
  int position = (int)mine.tile - 1;
  for (uint polled = 0; polled < POLLS; ++polled) {
    State seen[WINDOW / BUNDLE];
#pragma unroll
    for (int w = 0; w < WINDOW / BUNDLE; ++w)  // all are on their way before the first is needed
      seen[w] = load_state(states, (uint)max(position - w * BUNDLE - lane, 0));
    for (int w = 0; w < WINDOW / BUNDLE; ++w) {
      const int at = position - lane;
      Value value = at == FRONT ? initial() : identity();
      const uint flag = at < 0 ? INCLUSIVE : read_state(seen[w], mine.epoch, &value);
      const uint inclusive = ballot(flag == INCLUSIVE);
      const uint needed = inclusive != 0 ? inclusive ^ (inclusive - 1) : ~0u;  // up to the first inclusive one
      if ((ballot(flag == INVALID) & needed) != 0) break;
      after = combine(sum_of_bundle((needed >> lane & 1) != 0 ? value : identity()), after);
      if (inclusive != 0) return after;
      position -= BUNDLE;
    }
  }
  return after;
}

#else

#define HELD_VECTORS PADDED(GROUP * ROWS)
#define SUMS (2 * GROUP)

// From a tile's vectors to what precedes each of them in it; returns the tile's sum.
Value scan_vectors(const Rows* x, Value* before, __local Value* vectors, __local Value* sums) {
  const uint lane = (uint)get_local_id(0);
  Value row_sums[ROWS];
  sum_rows(x, row_sums);
  for (uint r = 0; r < ROWS; ++r) vectors[PADDED(vector_of_row(r))] = row_sums[r];
  barrier(CLK_LOCAL_MEM_FENCE);
  Value mine = identity(), total;
  for (uint r = 0; r < ROWS; ++r) mine = combine(mine, vectors[PADDED(lane * ROWS + r)]);
  Value carry = scan_group(sums, mine, &total);
  for (uint r = 0; r < ROWS; ++r) {
    const uint at = PADDED(lane * ROWS + r);
    const Value own = vectors[at];
    vectors[at] = carry;
    carry = combine(carry, own);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < ROWS; ++r) before[r] = vectors[PADDED(vector_of_row(r))];
  return total;
}

#endif  // PTX

#define ROW_MEMORY                      \
  __local Value vectors[HELD_VECTORS];  \
  __local Value sums[SUMS];             \
  __local uint said[2]

// What precedes the tile, for all items, and publishes what the tile ends with.
#if PTX
Value look_back_for_all(volatile __global Word* states, const Claim mine, const Value total,
                               __local Value* carried) {
  const uint lane = (uint)get_local_id(0);
  if (lane < BUNDLE) {
    const Value carry = look_back_bundle(states, mine);
    if (lane == 0) {
      publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
      carried[0] = carry;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return carried[0];
}
#define LOOK_BACK(mine, total) look_back_for_all(states, mine, total, carried)
#define WINDOW_MEMORY __local Value carried[1]
#else
Value look_back_for_all(volatile __global Word* states, const Claim mine, const Value total,
                               __local Seen* window, __local Value* sums, __global const Value* restrict in,
                               const ulong n) {
  const Value carry = look_back_wide(states, mine, window, sums, in, n, REGISTER_ITEMS);
  if (get_local_id(0) == 0) publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));
  return carry;
}
#define LOOK_BACK(mine, total) look_back_for_all(states, mine, total, window, sums, in, n)
#define WINDOW_MEMORY __local Seen window[WINDOW]
#endif

#ifdef KERNEL_REGISTER_TILE
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void register_tile(__global Value* restrict out, volatile __global Word* states,
                            __global const Value* restrict in, const ulong n, const uint tiles) {
  ROW_MEMORY;
  WINDOW_MEMORY;
  const Claim mine = claim(states, tiles, said);
  Rows x;
  load_rows(&x, in, n, mine.tile);
  Value before[ROWS];
  const Value total = scan_vectors(&x, before, vectors, sums);
  if (get_local_id(0) == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
  apply_rows(&x, before, LOOK_BACK(mine, total));
  store_rows(&x, out, n, mine.tile);
}
#endif

#ifdef KERNEL_PIPELINED
// The sum is known and published before the scan begins, and the first bundle looks back while the others
// scan. AHEAD: a group goes on from tile to tile, and asks for the next one's elements before it waits.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void pipelined(__global Value* restrict out, volatile __global Word* states,
                        __global const Value* restrict in, const ulong n, const uint tiles, const uint tickets) {
  ROW_MEMORY;
  WINDOW_MEMORY;
  const uint lane = (uint)get_local_id(0);
  Claim mine = claim(states, tickets, said);
  if (mine.tile >= tiles) return;
  Rows x;
  load_rows(&x, in, n, mine.tile);
  while (mine.tile < tiles) {
    Value before[ROWS], total;
#if AHEAD
    if (lane == 0) draw(states, tickets, said);
#endif
#if PTX
    Value row_sums[ROWS];
    sum_rows(&x, row_sums);
    Value own = row_sums[0];
#pragma unroll
    for (uint r = 1; r < ROWS; ++r) own = combine(own, row_sums[r]);
    own = sum_of_bundle(own);
    if (lane % BUNDLE == 0) sums[lane / BUNDLE] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    const Value bundles = scan_bundles(sums, &total);
#else
    total = scan_vectors(&x, before, vectors, sums);
#endif
    if (lane == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
#if AHEAD
    const Claim next = {said[0], said[1]};
    Rows y;
    load_rows(&y, in, n, next.tile);  // behind the last tile there is nothing to load
#endif
#if PTX
    if (lane >= BUNDLE) scan_rows(row_sums, before, bundles);
#endif
    const Value carry = LOOK_BACK(mine, total);
#if PTX
    if (lane < BUNDLE) scan_rows(row_sums, before, bundles);
#endif
    apply_rows(&x, before, carry);
    store_rows(&x, out, n, mine.tile);
#if AHEAD
    x = y;
    mine = next;
#else
    mine.tile = tiles;
#endif
  }
}
#endif

#ifdef KERNEL_SAM
// Groups go on from tile to tile. What precedes a tile is what preceded the group's last one, and the sums of
// that and of the tiles in between: no group waits for another's prefix, only for sums, and each sum is out
// before its group waits for anything. Prefixes are published for groups that start late. States are a ring; their stamps count the
// rounds of all launches. A group draws its next ticket before it publishes a sum, so that nobody gets ahead
// far enough to overwrite a state that is still to be read.
uint stamp_of(const uint tile, const uint epoch, const uint log2_slots, const uint rounds) {
  return (epoch * rounds + (tile >> log2_slots)) & (uint)(TAG_MASK >> 2);
}

// The sum of the tiles [first, last), for all items of the group.
Value sum_between(volatile __global Word* states, const uint first, const uint last, const uint epoch,
                         const uint log2_slots, const uint rounds, __local Value* sums) {
  Value mine = identity(), total;
  for (uint tile = first + (uint)get_local_id(0); tile < last; tile += GROUP) {
    Value sum = identity();
    for (uint polled = 0; polled < POLLS; ++polled) {
      if (poll(states, tile & ((1u << log2_slots) - 1), stamp_of(tile, epoch, log2_slots, rounds), &sum) != INVALID) break;
    }
    mine = combine(mine, sum);
  }
#if PTX
  mine = sum_of_bundle(mine);
  if (get_local_id(0) % BUNDLE == 0) sums[get_local_id(0) / BUNDLE] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  (void)scan_bundles(sums, &total);
#else
  (void)scan_group(sums, mine, &total);
#endif
  return total;
}

// What precedes a group's first tile, found by one item.
Value look_back_once(volatile __global Word* sums, volatile __global Word* prefixes, const Claim mine,
                            const uint log2_slots, const uint rounds) {
  Value after = identity();
  for (uint tile = mine.tile; tile-- > 0;) {
    const uint stamp = stamp_of(tile, mine.epoch, log2_slots, rounds);
    Value value = identity();
    if (poll(prefixes, tile & ((1u << log2_slots) - 1), stamp, &value) != INVALID) return combine(value, after);
    for (uint polled = 0; polled < POLLS; ++polled) {
      if (poll(sums, tile & ((1u << log2_slots) - 1), stamp, &value) != INVALID) break;
    }
    after = combine(value, after);
  }
  return combine(initial(), after);
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void sam(__global Value* restrict out, volatile __global Word* states, __global const Value* restrict in,
                  const ulong n, const uint tiles, const uint tickets, const uint log2_slots, const uint rounds) {
  ROW_MEMORY;
  __local Value between[SUMS];
  const uint lane = (uint)get_local_id(0);
  Claim mine = claim(states, tickets, said);
  if (mine.tile >= tiles) return;
  Rows x;
  load_rows(&x, in, n, mine.tile);
  Value carry[ORDER];
  uint carried = 0;  // tiles that the carries hold
  if (lane == 0) draw(states, tickets, said);
  while (mine.tile < tiles) {
    Claim next = {tiles, 0};
    Rows y;
    const uint slot = mine.tile & ((1u << log2_slots) - 1), stamp = stamp_of(mine.tile, mine.epoch, log2_slots, rounds);
#pragma unroll
    for (uint k = 0; k < ORDER; ++k) {  // the values stay in registers from order to order
      volatile __global Word* ring = states + ((size_t)(2 * k) << log2_slots) * WORDS;
      volatile __global Word* prefixes = ring + ((size_t)1 << log2_slots) * WORDS;
      Value before[ROWS];
      const Value total = scan_vectors(&x, before, vectors, sums);
      if (k == 0) {
        next.tile = said[0];
        next.epoch = said[1];
      }
      if (lane == 0) publish(ring, slot, stamp, AGGREGATE, total);
      if (k == 0) load_rows(&y, in, n, next.tile);  // behind the last tile there is nothing to load
      if (carried > 0) {
        carry[k] = combine(carry[k], sum_between(ring, carried, mine.tile, mine.epoch, log2_slots, rounds, between));
      } else {
        if (lane == 0) between[0] = look_back_once(ring, prefixes, mine, log2_slots, rounds);
        barrier(CLK_LOCAL_MEM_FENCE);
        carry[k] = between[0];
      }
      apply_rows(&x, before, carry[k]);
      carry[k] = combine(carry[k], total);
      if (lane == 0) publish(prefixes, slot, stamp, INCLUSIVE, carry[k]);
    }
    if (lane == 0 && next.tile < tiles) draw(states, tickets, said);
    store_rows(&x, out, n, mine.tile);
    carried = mine.tile + 1;
    x = y;
    mine = next;
  }
}
#endif

#endif  // ROWS

// ---- For processors ----------------------------------------------------------------------------------------

#ifdef KERNEL_CPU
// A group is one item, a tile CHUNK elements that stay in its core's cache between the two passes: one adds
// them up, the other scans vectors of 16.
typedef JOIN(VALUE, 16) Wide;

Wide combine_wide(const Wide l, const Wide r) {
#if OP == SUM
  return l + r;
#elif OP == MAX
  return max(l, r);
#else
  return l ^ r;
#endif
}

Value fold_chunk(__global const Value* restrict in, const ulong first, const ulong last) {
  Wide wide = (Wide)(identity());
  ulong i = first;
  for (; i + 16 <= last; i += 16) wide = combine_wide(wide, vload16(0, in + i));
  union {
    Wide wide;
    Value at[16];
  } sums;
  sums.wide = wide;
  Value all = identity();
  for (uint k = 0; k < 16; ++k) all = combine(all, sums.at[k]);
  for (; i < last; ++i) all = combine(all, in[i]);
  return all;
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void cpu(__global Value* restrict out, volatile __global Word* states, __global const Value* restrict in,
                  const ulong n, const uint tiles) {
  __local uint said[2];
  const Claim mine = claim(states, tiles, said);
  const ulong first = (ulong)mine.tile * CHUNK, last = min(first + CHUNK, n);
  const Value total = fold_chunk(in, first, last);
  if (mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
  Value carry = identity();
  int position = (int)mine.tile - 1;
  walk_back(states, mine.epoch, POLLS, &position, &carry);
  while (position != DONE) {
    const ulong other = (ulong)position * CHUNK;
    const Value sum = fold_chunk(in, other, other + CHUNK);
    offer(states, (uint)position, mine.epoch, sum);
    carry = combine(sum, carry);
    --position;
    walk_back(states, mine.epoch, POLLS, &position, &carry);
  }
  publish(states, mine.tile, mine.epoch, INCLUSIVE, combine(carry, total));

  const Value none = identity();
  ulong i = first;
  for (; i + 16 <= last; i += 16) {
    Wide x = vload16(0, in + i);
    x = combine_wide((Wide)(none, x.s0123, x.s456789ab, x.scde), x);
    x = combine_wide((Wide)(none, none, x.s0123, x.s4567, x.s89ab, x.scd), x);
    x = combine_wide((Wide)(none, none, none, none, x.s01234567, x.s89ab), x);
    x = combine_wide((Wide)(none, none, none, none, none, none, none, none, x.s01234567), x);
    x = combine_wide((Wide)(carry), x);
    vstore16(EXCLUSIVE ? (Wide)(carry, x.s0123, x.s456789ab, x.scde) : x, 0, out + i);
    carry = x.sf;
  }
  for (; i < last; ++i) {
    const Value next = combine(carry, in[i]);
    out[i] = EXCLUSIVE ? carry : next;
    carry = next;
  }
}
#endif
