// SPDX-License-Identifier: Apache-2.0
// scan: prefix scans out[i] = in[0] op .. op in[i] (exclusive: INITIAL op in[0] op .. op in[i - 1]).
//
// Behind elements.cl, bundles.cl, group_scan.cl and, for what they need, rows.cl, tile_states.cl and look_back.cl. All set by
// host/families/scan.cpp:
// KERNEL_<NAME>     the rung of the ladder to compile; the others need not fit the device
// ORDER, TUPLE      of the scan
// REORDER           asked for
// AHEAD, UNROLL_ORDERS   see the kernels that need them

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

// The sum of a tile of `items` elements per item, in order.
Element fold_tile(__local Element* sums, __global const Element* restrict in, const ulong n, const ulong tile,
                  const uint items, __global const Value* restrict table) {
  (void)table;
  const ulong first = (tile * GROUP + own_item()) * items;
  Element mine = identity(), total;
  for (ulong i = first; i < min(first + items, n); ++i) mine = combine(mine, in[i]);
  (void)scan_group(sums, mine, &total);
  return total;
}

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

#ifdef REORDER
// Tuples apart: first the first values of all, then the second .. An item has a tuple, so that each line of memory is
// asked for by neighbours at once.
__kernel void gather_tuples(__global Value* restrict out, __global const Value* restrict in, const ulong length) {
  const ulong i = get_global_id(0);
  if (i >= length) return;
#pragma unroll
  for (uint slot = 0; slot < TUPLE; ++slot) out[slot * length + i] = in[i * TUPLE + slot];
}

// And back, without what the scan of all brought from the values before.
__kernel void spread_tuples(__global Value* restrict out, __global const Value* restrict in, const ulong length) {
  const ulong i = get_global_id(0);
  if (i >= length) return;
#pragma unroll
  for (uint slot = 0; slot < TUPLE; ++slot) {
    const Value x = in[slot * length + i];
    out[i * TUPLE + slot] = slot > 0 ? x - in[slot * length - 1] : x;
  }
}
#endif

#ifdef KERNEL_THREE_PHASE
// Scans each tile by itself.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_tiles(__global Element* restrict out, __global Element* restrict tile_sums,
                         __global const Element* restrict in, const ulong n) {
  TILE_MEMORY;
  Element x[ITEMS], total;
  load_tile(staged, in, n, get_group_id(0), identity(), x);
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
  load_tile(staged, in, n, first + get_group_id(0), identity(), x);
  scan_group(sums, fold(x), &total);
  if (get_local_id(0) == 0) tile_sums[first + get_group_id(0)] = total;
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_tiles_onto(__global Element* restrict out, __global const Element* restrict tile_sums,
                              __global const Element* restrict in, const ulong n, const ulong first) {
  TILE_MEMORY;
  const ulong tile = first + get_group_id(0);
  Element x[ITEMS], total;
  load_tile(staged, in, n, tile, identity(), x);
  const Element before = scan_group(sums, fold(x), &total);
  const Element carry = tile > 0 ? tile_sums[tile - 1] : initial();
  scan_items(x, combine(carry, before), EXCLUSIVE);
  store_tile(staged, out, n, tile, x);
}
#endif

#if defined(KERNEL_THREE_PHASE) || defined(KERNEL_REDUCE_THEN_SCAN) || defined(KERNEL_SCAN_SUMS)
// One group scans the sums of the tiles [first, last) onto the sum before them, in place.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_sums(__global Element* tile_sums, const ulong first, const ulong last) {
  TILE_MEMORY;
  Element carry = first > 0 ? tile_sums[first - 1] : initial();
  __global Element* own = tile_sums + first;
  for (ulong chunk = 0; chunk * TILE < last - first; ++chunk) {
    Element x[ITEMS], total;
    load_tile(staged, own, last - first, chunk, identity(), x);
    const Element before = scan_group(sums, fold(x), &total);
    scan_items(x, combine(carry, before), 0);
    store_tile(staged, own, last - first, chunk, x);
    carry = combine(carry, total);
  }
}
#endif

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
  load_tile(staged, in, n, mine.tile, identity(), x);
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
  load_tile(staged, in, n, mine.tile, identity(), x);
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
  load_tile(staged, in, n, mine.tile, identity(), x);
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
    const Element sum = fold_tile(sums, in, n, (ulong)at, ITEMS, 0);
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

#ifdef KERNEL_LOOKBACK_WIDE
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void lookback_wide(__global Element* restrict out, volatile __global Word* states,
                            __global const Element* restrict in, const ulong n, const uint tiles) {
  TILE_MEMORY;
  __local uint said[2];
  WINDOW_MEMORY;
  const Claim mine = claim(states, tiles, said);
  Element x[ITEMS], total;
  load_tile(staged, in, n, mine.tile, identity(), x);
  const Element before = scan_group(sums, fold(x), &total);
  if (get_local_id(0) == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
  const Element carry = LOOK_BACK(mine, total, ITEMS);
  scan_items(x, combine(carry, before), EXCLUSIVE);
  store_tile(staged, out, n, mine.tile, x);
}
#endif

// ---- Tiles in registers --------------------------------------------------------------------------------------

#if defined(KERNEL_REGISTER_TILE) || defined(KERNEL_PIPELINED) || defined(KERNEL_SAM)

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

void sum_rows(const Rows* x, Value* sums) {
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    sums[r] = x->at[r][0];
#pragma unroll
    for (uint v = 1; v < VEC; ++v) sums[r] = combine(sums[r], x->at[r][v]);
  }
}

#ifdef KERNEL_REGISTER_TILE
KNOWN_GROUP
__kernel void register_tile(__global Value* restrict out, volatile __global Word* states,
                            __global const Value* restrict in, const ulong n, const uint tiles) {
  ROW_MEMORY;
  WINDOW_MEMORY;
  Word drawn;
  Claim mine = claim_one(states, tiles, said, &drawn);
  Rows x;
  load_rows(&x, in, n, mine.tile, identity());
  hear_launch(states, drawn, tiles, said);
  Value row_sums[ROWS], before[ROWS];
  sum_rows(&x, row_sums);
  const Value total = scan_vectors(row_sums, before, vectors, sums);
  know_launch(&mine, said);
  if (get_local_id(0) == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
  apply_rows(&x, before, LOOK_BACK(mine, total, REGISTER_ITEMS));
  store_rows(&x, out, n, mine.tile);
}
#endif

#ifdef KERNEL_PIPELINED
// The sum is known and published before the scan begins, and the first bundle looks back while the others
// scan. AHEAD: a group goes on from tile to tile, and asks for the next one's elements before it waits.
KNOWN_GROUP
__kernel void pipelined(__global Value* restrict out, volatile __global Word* states,
                        __global const Value* restrict in, const ulong n, const uint tiles, const uint tickets) {
  ROW_MEMORY;
  WINDOW_MEMORY;
  const uint lane = (uint)get_local_id(0);
  (void)vectors;
  Word drawn;
  Claim mine = claim_one(states, tickets, said, &drawn);
  if (mine.tile >= tiles) return;
  Rows x;
  load_rows(&x, in, n, mine.tile, identity());
  hear_launch(states, drawn, tickets, said);
  while (mine.tile < tiles) {
    Value row_sums[ROWS], before[ROWS], total;
#if AHEAD
    if (lane == 0) draw(states, tickets, said);
#endif
    sum_rows(&x, row_sums);
#if BUNDLED
    Value own = row_sums[0];
#pragma unroll
    for (uint r = 1; r < ROWS; ++r) own = combine(own, row_sums[r]);
    own = sum_of_bundle(own);
    if (own_lane() == 0) sums[own_bundle()] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    const Value bundles = scan_bundles(sums, &total);
#else
    total = scan_vectors(row_sums, before, vectors, sums);
#endif
    know_launch(&mine, said);
    if (lane == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
#if AHEAD
    const Claim next = {said[0], said[1]};
    Rows y;
    load_rows(&y, in, n, next.tile, identity());  // behind the last tile there is nothing to load
#endif
#if BUNDLED
    if (own_bundle() > 0) (void)scan_rows(row_sums, before, bundles);
#endif
    const Value carry = LOOK_BACK(mine, total, REGISTER_ITEMS);
#if BUNDLED
    if (own_bundle() == 0) (void)scan_rows(row_sums, before, bundles);
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
// before its group waits for anything. Prefixes are published for groups that start late. States are a ring,
// whose stamps count the rounds of all launches. A group draws its next ticket before it publishes a sum, so
// that nobody gets ahead far enough to overwrite a state that is still to be read.
//
// STREAMS           of interleaved values, each scanned by itself: those of a tuple; each has its own sums
// AHEAD             1: the next tile's elements are asked for before the wait; 0: when this one is done, which
//                   leaves registers for more items
typedef struct {
  volatile __global Word* states;
  uint log2_slots, rounds;  // rounds of a launch
} Ring;

uint slots_of(const Ring ring) { return 1u << ring.log2_slots; }

// Where a ring keeps what a stream has in a tile.
uint place_of(const Ring ring, const uint tile, const uint stream) {
  return (tile & (slots_of(ring) - 1)) * STREAMS + stream;
}

uint stamp_of(const Ring ring, const uint tile, const uint epoch) {
  return (epoch * ring.rounds + (tile >> ring.log2_slots)) & (uint)(TAG_MASK >> 2);
}

// Each order has two rings: of sums, and of prefixes.
Ring ring_of(const Ring first, const uint index) {
  Ring ring = first;
  ring.states += ((size_t)(index * STREAMS) << first.log2_slots) * WORDS;
  return ring;
}

void publish_in(const Ring ring, const uint tile, const uint epoch, const uint flag, const Value value) {
  const uint stream = (uint)get_local_id(0);
  if (stream < STREAMS) publish(ring.states, place_of(ring, tile, stream), stamp_of(ring, tile, epoch), flag, value);
}

// This item's share of the sums of the tiles [first, last). All of an item are of one stream.
#define AT_ONCE 4
Value share_between(const Ring ring, const uint first, const uint last, const uint epoch) {
  const uint item = (uint)get_local_id(0), items = GROUP / STREAMS * STREAMS, all = (last - first) * STREAMS;
  Value mine = identity();
  for (uint i = item < items ? item : all; i < all; i += AT_ONCE * items) {
    State seen[AT_ONCE];
#pragma unroll
    for (uint a = 0; a < AT_ONCE; ++a) {  // all are on their way before the first is needed
      const uint at = i + a * items;
      if (at < all) seen[a] = load_state(ring.states, place_of(ring, first + at / STREAMS, at % STREAMS));
    }
#pragma unroll
    for (uint a = 0; a < AT_ONCE; ++a) {
      const uint at = i + a * items, tile = first + at / STREAMS;
      if (at < all) {
        Value sum = identity();
        State state = seen[a];
        for (uint polled = 1; read_state(state, stamp_of(ring, tile, epoch), &sum) == INVALID && polled < POLLS; ++polled)
          state = load_state(ring.states, place_of(ring, tile, at % STREAMS));
        mine = combine(mine, sum);
      }
    }
  }
  return mine;
}

// What precedes a group's first tile in a stream, for one that starts when the ring has turned.
Value look_back_late(const Ring sums, const Ring prefixes, const Claim mine, const uint stream) {
  Value after = identity();
  for (uint tile = mine.tile; tile-- > 0;) {
    const uint stamp = stamp_of(sums, tile, mine.epoch), place = place_of(sums, tile, stream);
    Value value = identity();
    if (poll(prefixes.states, place, stamp, &value) != INVALID) return combine(value, after);
    for (uint polled = 0; polled < POLLS; ++polled) {
      if (poll(sums.states, place, stamp, &value) != INVALID) break;
    }
    after = combine(value, after);
  }
  return combine(initial(), after);
}

// `start` is the stream of the tile's first value. scan_tile scans the tile by itself and returns its sum;
// sum_between returns the sum of the tiles [first, last); add_carry brings what precedes the tile to its
// values. Each for all items, or, of several streams, for the first items of each bundle: the stream's each.
#if STREAMS == 1

#define SCAN_MEMORY \
  ROW_MEMORY;       \
  BETWEEN_MEMORY
#if BUNDLED
#define BETWEEN_MEMORY __local Value between[SUMS]
#else
#define BETWEEN_MEMORY __local Value* between = sums
#endif
#define SCAN_TILE(x) scan_tile(x, before, vectors, sums)
#define SUM_BETWEEN(ring, first, last, epoch) sum_between(ring, first, last, epoch, between)
#define ADD_CARRY(x, carry) apply_rows(x, before, carry)
#define START_OF(tile) 0

Value scan_tile(const Rows* x, Value* before, __local Value* vectors, __local Value* sums) {
  Value row_sums[ROWS];
  sum_rows(x, row_sums);
  return scan_vectors(row_sums, before, vectors, sums);
}

Value sum_between(const Ring ring, const uint first, const uint last, const uint epoch, __local Value* sums) {
  Value mine = share_between(ring, first, last, epoch), total;
#if BUNDLED
  mine = sum_of_bundle(mine);
  if (own_lane() == 0) sums[own_bundle()] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  (void)scan_bundles(sums, &total);
#else
  (void)scan_group(sums, mine, &total);
#endif
  return total;
}

#else

#define SCAN_MEMORY                                                \
  __local Value vectors[HELD_STREAMS];                             \
  __local Value row_sums[MOST_BUNDLES * ROWS * STREAMS];           \
  __local Value bundle_sums[MOST_BUNDLES * STREAMS];               \
  __local Value between[BETWEEN];                                  \
  __local uint said[2]
#define SCAN_TILE(x) scan_streams(x, before, start, vectors, row_sums, bundle_sums)
#define SUM_BETWEEN(ring, first, last, epoch) \
  sum_of_streams(share_between(ring, first, last, epoch), between)
#define ADD_CARRY(x, carry) add_to_streams(x, combine(carry, before[0]), start, row_sums)
#define START_OF(tile) (uint)((ulong)(tile) * REGISTER_TILE % STREAMS)

#endif

KNOWN_GROUP
__kernel void sam(__global Value* restrict out, volatile __global Word* states, __global const Value* restrict in,
                  const ulong n, const uint tiles, const uint tickets, const uint log2_slots, const uint rounds) {
  SCAN_MEMORY;
  const Ring first_ring = {states, log2_slots, rounds};
  const uint lane = (uint)get_local_id(0);
  Claim mine = claim(states, tickets, said);
  if (mine.tile >= tiles) return;
  Rows x;
  load_rows(&x, in, n, mine.tile, identity());
  Value carry[ORDER];
  uint carried = 0;  // tiles that the carries hold
  if (lane == 0) draw(states, tickets, said);
  while (mine.tile < tiles) {
    Claim next = {tiles, 0};
    const uint start = START_OF(mine.tile);
    (void)start;
#if AHEAD
    Rows y;
#endif
#if UNROLL_ORDERS
#pragma unroll
#else
#pragma unroll 1
#endif
    for (uint k = 0; k < ORDER; ++k) {  // the values stay in registers from order to order
      const Ring sums_ring = ring_of(first_ring, 2 * k), prefixes = ring_of(first_ring, 2 * k + 1);
      Value before[ROWS];
      const Value total = SCAN_TILE(&x);
      if (k == 0) {
        next.tile = said[0];
        next.epoch = said[1];
      }
      publish_in(sums_ring, mine.tile, mine.epoch, AGGREGATE, total);
#if AHEAD
      if (k == 0) load_rows(&y, in, n, next.tile, identity());  // behind the last tile there is nothing to load
#endif
      // At a group's first tile, all sums that there are are still in the ring, unless it starts late.
      const bool late = carried == 0 && mine.tile >= slots_of(first_ring) / 2;
      if (carried == 0) carry[k] = late ? look_back_late(sums_ring, prefixes, mine, own_lane() % STREAMS) : initial();
      const Value between_tiles = SUM_BETWEEN(sums_ring, late ? mine.tile : carried, mine.tile, mine.epoch);
      carry[k] = combine(carry[k], between_tiles);
      ADD_CARRY(&x, carry[k]);
      carry[k] = combine(carry[k], total);
      publish_in(prefixes, mine.tile, mine.epoch, INCLUSIVE, carry[k]);
    }
    if (lane == 0 && next.tile < tiles) draw(states, tickets, said);
    store_rows(&x, out, n, mine.tile);
    carried = mine.tile + 1;
#if AHEAD
    x = y;
#else
    load_rows(&x, in, n, next.tile, identity());
#endif
    mine = next;
  }
}
#endif

#endif
