// SPDX-License-Identifier: Apache-2.0
// sam: scans in one pass by persistent work-groups that add up sums in between (Maleki, Yang, Burtscher 2016).
//
// Work-groups loop over the tiles. What precedes a tile is what preceded the work-group's last one, plus the sums of
// that and of the tiles in between: no work-group waits for another's prefix, only for sums, and it publishes each
// sum before it waits for anything. Prefixes are published for work-groups that start late. States are a ring, whose
// stamps count the rounds of all launches. A work-group draws its next ticket before it publishes a sum, so that
// nobody gets ahead far enough to overwrite a state that is still to be read.
//
// STREAMS           interleaved streams, each scanned by itself with sums of its own: those of a tuple
// ORDER             scans of a value, which stays in registers from one to the next
// PREFETCH          1: loads the next tile before the wait; 0: when this one is done, which leaves registers for more
//                   values
// UNROLL_ORDERS     1: unrolls the loop over orders
#ifdef EDITOR
#define STREAMS 1
#define ORDER 2
#define TUPLE 1
#define PREFETCH 1
#define UNROLL_ORDERS 1
#elif !defined(STREAMS) || !defined(ORDER) || !defined(PREFETCH) || !defined(UNROLL_ORDERS)
#error "sam.cl needs STREAMS, ORDER, PREFETCH and UNROLL_ORDERS from the host"
#endif
#include "scan/value_scan.cl"
#include "scan/streams.cl"

typedef struct {
  volatile __global Word* states;
  uint log2_slots, rounds;  // rounds of a launch
} Ring;

uint slots_of(const Ring ring) { return 1u << ring.log2_slots; }

// Returns where a ring keeps a stream's state of a tile.
uint place_of(const Ring ring, const uint tile, const uint stream) {
  return (tile & (slots_of(ring) - 1)) * STREAMS + stream;
}

uint stamp_of(const Ring ring, const uint tile, const uint epoch) {
  return (epoch * ring.rounds + (tile >> ring.log2_slots)) & (uint)(TAG_MASK >> 2);
}

// Returns one of the two rings of each order: of sums, and of prefixes.
Ring ring_of(const Ring first, const uint index) {
  Ring ring = first;
  ring.states += ((size_t)(index * STREAMS) << first.log2_slots) * WORDS;
  return ring;
}

void publish_in(const Ring ring, const uint tile, const uint epoch, const uint flag, const Value value) {
  const uint stream = (uint)get_local_id(0);
  if (stream < STREAMS) publish(ring.states, place_of(ring, tile, stream), stamp_of(ring, tile, epoch), flag, value);
}

// Returns this work-item's share of the sums of the tiles [first, last), all of them of one stream.
#define AT_ONCE 4
Value share_between(const Ring ring, const uint first, const uint last, const uint epoch) {
  const uint item = (uint)get_local_id(0), items = GROUP / STREAMS * STREAMS, all = (last - first) * STREAMS;
  Value mine = identity();
  for (uint i = item < items ? item : all; i < all; i += AT_ONCE * items) {
    State seen[AT_ONCE];
#pragma unroll
    for (uint a = 0; a < AT_ONCE; ++a) {  // all loads are in flight before the first is needed
      const uint at = i + a * items;
      if (at < all) seen[a] = load_state(ring.states, place_of(ring, first + at / STREAMS, at % STREAMS));
    }
#pragma unroll
    for (uint a = 0; a < AT_ONCE; ++a) {
      const uint at = i + a * items, tile = first + at / STREAMS;
      if (at < all) {
        Value sum = identity();
        State state = seen[a];
        for (uint spins = 1;
             read_state(state, stamp_of(ring, tile, epoch), &sum) == INVALID && spins < SPIN_LIMIT; ++spins)
          state = load_state(ring.states, place_of(ring, tile, at % STREAMS));
        mine = combine(mine, sum);
      }
    }
  }
  return mine;
}

// Returns what precedes a work-group's first tile in a stream, by a serial look-back, when the ring has wrapped
// around.
Value look_back_late(const Ring sums, const Ring prefixes, const Ticket mine, const uint stream) {
  Value after = identity();
  for (uint tile = mine.tile; tile-- > 0;) {
    const uint stamp = stamp_of(sums, tile, mine.epoch), place = place_of(sums, tile, stream);
    Value value = identity();
    if (poll(prefixes.states, place, stamp, &value) != INVALID) return combine(value, after);
    for (uint spins = 0; spins < SPIN_LIMIT; ++spins) {
      if (poll(sums.states, place, stamp, &value) != INVALID) break;
    }
    after = combine(value, after);
  }
  return combine(initial(), after);
}

// SCAN_TILE scans the tile by itself and returns its sum, SUM_BETWEEN the sum of the tiles [first, last), and
// ADD_CARRY adds what precedes the tile to its values. Each sum goes to all work-items or, of several streams, to the
// first lanes of each sub-group: a stream's to each. `start` is the stream of the tile's first value.
#if STREAMS == 1

#define SCAN_MEMORY \
  VECTOR_MEMORY;    \
  BETWEEN_MEMORY
#if SUBGROUP_OPS
#define BETWEEN_MEMORY __local Value between[SUMS]
#else
#define BETWEEN_MEMORY __local Value* between = sums
#endif
#define SCAN_TILE(x) scan_tile(x, before, vectors, sums)
#define SUM_BETWEEN(ring, first, last, epoch) sum_between(ring, first, last, epoch, between)
#define ADD_CARRY(x, carry) apply_vectors(x, before, carry)
#define START_OF(tile) 0

Value scan_tile(const Tile* x, Value* before, __local Value* vectors, __local Value* sums) {
  Value vector_sums[VECTORS];
  sum_vectors(x, vector_sums);
  return scan_vectors(vector_sums, before, vectors, sums);
}

Value sum_between(const Ring ring, const uint first, const uint last, const uint epoch, __local Value* sums) {
  Value mine = share_between(ring, first, last, epoch), total;
#if SUBGROUP_OPS
  mine = subgroup_reduce(mine);
  if (subgroup_lane() == 0) sums[subgroup_id()] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  (void)scan_subgroup_sums(sums, &total);
#else
  (void)scan_group(sums, mine, &total);
#endif
  return total;
}

#else

#define SCAN_MEMORY                                            \
  __local Value vectors[STREAM_VALUES];                        \
  __local Value row_sums[MOST_SUBGROUPS * VECTORS * STREAMS];  \
  __local Value subgroup_sums[MOST_SUBGROUPS * STREAMS];       \
  __local Value between[BETWEEN];                              \
  __local uint ticket[2]
#define SCAN_TILE(x) scan_streams(x, before, start, vectors, row_sums, subgroup_sums)
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
  Ticket mine = acquire_tile(states, tickets, ticket);
  if (mine.tile >= tiles) return;
  Tile x;
  load_vectors(&x, in, n, mine.tile, identity());
  Value carry[ORDER];
  uint carried = 0;  // tiles that the carries hold
  if (lane == 0) draw_ticket(states, tickets, ticket);
  while (mine.tile < tiles) {
    Ticket next = {tiles, 0};
    const uint start = START_OF(mine.tile);
    (void)start;
#if PREFETCH
    Tile y;
#endif
#if UNROLL_ORDERS
#pragma unroll
#else
#pragma unroll 1
#endif
    for (uint k = 0; k < ORDER; ++k) {  // the values stay in registers from order to order
      const Ring sums_ring = ring_of(first_ring, 2 * k), prefixes = ring_of(first_ring, 2 * k + 1);
      Value before[VECTORS];
      const Value total = SCAN_TILE(&x);
      if (k == 0) {
        next.tile = ticket[0];
        next.epoch = ticket[1];
      }
      publish_in(sums_ring, mine.tile, mine.epoch, AGGREGATE, total);
#if PREFETCH
      if (k == 0) load_vectors(&y, in, n, next.tile, identity());  // loads nothing behind the last tile
#endif
      // Reads all sums before a work-group's first tile, which are still in the ring, unless it starts late.
      const bool late = carried == 0 && mine.tile >= slots_of(first_ring) / 2;
      if (carried == 0)
        carry[k] = late ? look_back_late(sums_ring, prefixes, mine, subgroup_lane() % STREAMS) : initial();
      const Value between_tiles = SUM_BETWEEN(sums_ring, late ? mine.tile : carried, mine.tile, mine.epoch);
      carry[k] = combine(carry[k], between_tiles);
      ADD_CARRY(&x, carry[k]);
      carry[k] = combine(carry[k], total);
      publish_in(prefixes, mine.tile, mine.epoch, INCLUSIVE, carry[k]);
    }
    if (lane == 0 && next.tile < tiles) draw_ticket(states, tickets, ticket);
    store_vectors(&x, out, n, mine.tile);
    carried = mine.tile + 1;
#if PREFETCH
    x = y;
#else
    load_vectors(&x, in, n, next.tile, identity());
#endif
    mine = next;
  }
}
