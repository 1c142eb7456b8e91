// SPDX-License-Identifier: Apache-2.0
// sam: scans in one pass by persistent work-groups that combine aggregates (Maleki, Yang, Burtscher 2016).
//
// Work-groups loop over the tiles. The prefix of a tile is that of the work-group's last tile, combined with the
// aggregates of that and of the tiles in between: no work-group waits for another's prefix, only for aggregates, and it
// publishes each aggregate before it waits for anything. Prefixes are published for work-groups that start late. States
// lie in a circular buffer, and their stamps count how often it has wrapped around in all launches. A work-group draws
// its next ticket before it publishes an aggregate, so that no work-group gets ahead far enough to overwrite a state
// that is still to be read.
//
// COMPONENTS        interleaved components of a tuple, each scanned by itself with states of its own
// ORDER             scans of a value, which stays in registers from one to the next
// PREFETCH          1: loads the next tile before the wait; 0: when this one is done, which leaves registers for more
//                   values
// UNROLL_ORDERS     1: unrolls the loop over orders
#ifdef EDITOR
#define COMPONENTS 1
#define ORDER 2
#define TUPLE 1
#define PREFETCH 1
#define UNROLL_ORDERS 1
#elif !defined(COMPONENTS) || !defined(ORDER) || !defined(PREFETCH) || !defined(UNROLL_ORDERS)
#error "sam.cl needs COMPONENTS, ORDER, PREFETCH and UNROLL_ORDERS from the host"
#endif
#include "scan/value_scan.cl"
#include "scan/components.cl"

typedef struct {
  volatile __global StateWord* states;
  uint log2_slots, wraps;  // how often a launch fills the buffer, at most
} CircularBuffer;

uint slots_of(const CircularBuffer buffer) { return 1u << buffer.log2_slots; }

// Returns where a buffer keeps the state of a tile and component.
uint place_of(const CircularBuffer buffer, const uint tile, const uint component) {
  return (tile & (slots_of(buffer) - 1)) * COMPONENTS + component;
}

// Returns what a state has in place of the epoch.
uint stamp_of(const CircularBuffer buffer, const uint tile, const uint epoch) {
  return (epoch * buffer.wraps + (tile >> buffer.log2_slots)) & (uint)(TAG_MASK >> 2);
}

// Returns one of the two buffers of each order: of aggregates, and of prefixes.
CircularBuffer buffer_of(const CircularBuffer first, const uint index) {
  CircularBuffer buffer = first;
  buffer.states += ((size_t)(index * COMPONENTS) << first.log2_slots) * STATE_WORDS;
  return buffer;
}

void publish_in(const CircularBuffer buffer, const uint tile, const uint epoch, const uint status, const Value value) {
  const uint component = (uint)get_local_id(0);
  if (component < COMPONENTS)
    publish(buffer.states, place_of(buffer, tile, component), stamp_of(buffer, tile, epoch), status, value);
}

// Combines this work-item's share of the aggregates of the tiles [first, last), all of them of one component.
#define AT_ONCE 4
Value share_between(const CircularBuffer buffer, const uint first, const uint last, const uint epoch) {
  const uint local_id = (uint)get_local_id(0), work_items = GROUP / COMPONENTS * COMPONENTS;
  const uint all = (last - first) * COMPONENTS;
  Value mine = identity();
  for (uint i = local_id < work_items ? local_id : all; i < all; i += AT_ONCE * work_items) {
    State loaded[AT_ONCE];
#pragma unroll
    for (uint a = 0; a < AT_ONCE; ++a) {  // all loads are in flight before the first is needed
      const uint at = i + a * work_items;
      if (at < all) loaded[a] = load_state(buffer.states, place_of(buffer, first + at / COMPONENTS, at % COMPONENTS));
    }
#pragma unroll
    for (uint a = 0; a < AT_ONCE; ++a) {
      const uint at = i + a * work_items, tile = first + at / COMPONENTS;
      if (at < all) {
        Value aggregate = identity();
        State state = loaded[a];
        for (uint spins = 1;
             read_state(state, stamp_of(buffer, tile, epoch), &aggregate) == STATUS_INVALID && spins < SPIN_LIMIT;
             ++spins)
          state = load_state(buffer.states, place_of(buffer, tile, at % COMPONENTS));
        mine = combine(mine, aggregate);
      }
    }
  }
  return mine;
}

// Returns the exclusive prefix of a work-group's first tile and a component, by a serial look-back, when the buffer has
// wrapped around.
Value late_look_back(const CircularBuffer aggregate_states, const CircularBuffer prefix_states, const TileTicket mine,
                     const uint component) {
  Value exclusive_prefix = identity();
  for (uint tile = mine.tile; tile-- > 0;) {
    const uint stamp = stamp_of(aggregate_states, tile, mine.epoch);
    const uint place = place_of(aggregate_states, tile, component);
    Value value = identity();
    if (poll(prefix_states.states, place, stamp, &value) != STATUS_INVALID) return combine(value, exclusive_prefix);
    for (uint spins = 0; spins < SPIN_LIMIT; ++spins) {
      if (poll(aggregate_states.states, place, stamp, &value) != STATUS_INVALID) break;
    }
    exclusive_prefix = combine(value, exclusive_prefix);
  }
  return combine(init(), exclusive_prefix);
}

// SCAN_MEMORY declares local memory. SCAN_TILE scans the tile by itself and returns its aggregate, REDUCE_BETWEEN
// returns the aggregate of the tiles [first, last), and APPLY_PREFIX combines the tile's exclusive prefix with its
// values. All three capture what SCAN_MEMORY declares, `vector_prefixes` and `start`, the component of the tile's
// first value. An aggregate goes to all work-items or, of several components, to the first lanes of each sub-group:
// one to each.
#if COMPONENTS == 1

#define SCAN_MEMORY \
  VECTOR_MEMORY;    \
  BETWEEN_MEMORY
#if SUBGROUP_OPS
#define BETWEEN_MEMORY __local Value between[GROUP_PARTIALS]
#else
#define BETWEEN_MEMORY __local Value* between = partials
#endif
#define SCAN_TILE(x) scan_tile(x, vector_prefixes, vectors, partials)
#define REDUCE_BETWEEN(buffer, first, last, epoch) reduce_between(buffer, first, last, epoch, between)
#define APPLY_PREFIX(x, tile_prefix) scan_vectors_from_prefixes(x, vector_prefixes, tile_prefix)
#define START_OF(tile) 0

Value scan_tile(const Tile* x, Value* vector_prefixes, __local Value* vectors, __local Value* partials) {
  Value vector_aggregates[VECTORS];
  reduce_vectors(x, vector_aggregates);
  return scan_vectors(vector_aggregates, vector_prefixes, vectors, partials);
}

Value reduce_between(const CircularBuffer buffer, const uint first, const uint last, const uint epoch,
                     __local Value* partials) {
  Value mine = share_between(buffer, first, last, epoch), total;
#if SUBGROUP_OPS
  mine = subgroup_reduce(mine);
  if (subgroup_lane() == 0) partials[subgroup_id()] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  (void)scan_subgroup_aggregates(partials, &total);
#else
  (void)scan_group(partials, mine, &total);
#endif
  return total;
}

#else

#define SCAN_MEMORY                                                    \
  __local Value vectors[COMPONENT_VALUES];                             \
  __local Value row_aggregates[MAX_SUBGROUPS * VECTORS * COMPONENTS];  \
  __local Value subgroup_aggregates[MAX_SUBGROUPS * COMPONENTS];       \
  __local Value between[BETWEEN];                                      \
  __local uint ticket[2]
#define SCAN_TILE(x) scan_components(x, vector_prefixes, start, vectors, row_aggregates, subgroup_aggregates)
#define REDUCE_BETWEEN(buffer, first, last, epoch) \
  reduce_components(share_between(buffer, first, last, epoch), between)
#define APPLY_PREFIX(x, tile_prefix) \
  apply_component_prefixes(x, combine(tile_prefix, vector_prefixes[0]), start, row_aggregates)
#define START_OF(tile) (uint)((ulong)(tile) * REGISTER_TILE % COMPONENTS)

#endif

WORK_GROUP_SIZE_ATTRIBUTE
__kernel void sam(__global Value* restrict out, volatile __global StateWord* states, __global const Value* restrict in,
                  const ulong n, const uint tiles, const uint num_tickets, const uint log2_slots, const uint wraps) {
  SCAN_MEMORY;
  const CircularBuffer first_buffer = {states, log2_slots, wraps};
  const uint local_id = (uint)get_local_id(0);
  TileTicket mine = acquire_tile(states, num_tickets, ticket);
  if (mine.tile >= tiles) return;
  Tile x;
  load_vectors(&x, in, n, mine.tile, identity());
  Value tile_prefix[ORDER];
  uint tiles_in_prefix = 0;  // tiles that `tile_prefix` is the aggregate of
  if (local_id == 0) draw_ticket(states, num_tickets, ticket);
  while (mine.tile < tiles) {
    TileTicket next = {tiles, 0};
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
      const CircularBuffer aggregate_states = buffer_of(first_buffer, 2 * k);
      const CircularBuffer prefix_states = buffer_of(first_buffer, 2 * k + 1);
      Value vector_prefixes[VECTORS];
      const Value total = SCAN_TILE(&x);
      if (k == 0) {
        next.tile = ticket[0];
        next.epoch = ticket[1];
      }
      publish_in(aggregate_states, mine.tile, mine.epoch, STATUS_AGGREGATE, total);
#if PREFETCH
      if (k == 0) load_vectors(&y, in, n, next.tile, identity());  // loads nothing behind the last tile
#endif
      // Reads the aggregates of all tiles before a work-group's first one, which are still in the buffer, unless it
      // starts late.
      const bool late = tiles_in_prefix == 0 && mine.tile >= slots_of(first_buffer) / 2;
      if (tiles_in_prefix == 0)
        tile_prefix[k] =
            late ? late_look_back(aggregate_states, prefix_states, mine, subgroup_lane() % COMPONENTS) : init();
      const Value between_tiles =
          REDUCE_BETWEEN(aggregate_states, late ? mine.tile : tiles_in_prefix, mine.tile, mine.epoch);
      tile_prefix[k] = combine(tile_prefix[k], between_tiles);
      APPLY_PREFIX(&x, tile_prefix[k]);
      tile_prefix[k] = combine(tile_prefix[k], total);
      publish_in(prefix_states, mine.tile, mine.epoch, STATUS_INCLUSIVE, tile_prefix[k]);
    }
    if (local_id == 0 && next.tile < tiles) draw_ticket(states, num_tickets, ticket);
    store_vectors(&x, out, n, mine.tile);
    tiles_in_prefix = mine.tile + 1;
#if PREFETCH
    x = y;
#else
    load_vectors(&x, in, n, next.tile, identity());
#endif
    mine = next;
  }
}
