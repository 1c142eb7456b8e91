// SPDX-License-Identifier: Apache-2.0
// binomial: scans higher orders and tuples all at once, with one exchange between tiles, by binomial coefficients.
//
// The state of a run of values is, for each of TUPLE components, the last value of the scans of orders 1 to ORDER from
// zero: a polynomial s[0] + s[1] z + .. modulo z^ORDER. m zeros behind the run multiply it by (1 - z)^-m, whose
// coefficients are the binomial coefficients C(m + e - 1, e), and m zeros less by (1 - z)^m. So states that are moved
// back to where a tile, or the whole input, begins add up like the aggregates of a plain scan, and one multiplication
// moves what precedes a run to where the run begins. Components do not interact.
//
// ORDER, TUPLE      of the scan
// VEC               values of a vector of 16 bytes, which divides ELEMENTS_PER_WORK_ITEM
//
// `table` holds a column per work-item, of the coefficients that move its state back to where the tile begins and
// those that move one from there to it; then a row per tile, of the same between the tile and the start of the input.
#ifdef EDITOR
#define ORDER 2
#define TUPLE 2
#define VEC 4
#elif !defined(ORDER) || !defined(TUPLE) || !defined(VEC)
#error "binomial.cl needs ORDER, TUPLE and VEC from the host"
#endif
#define ELEMENT_VALUES (ORDER * TUPLE)
#define INPUT Value
#include "lib/group_scan.cl"
#include "scan/tuple_layout.cl"
#include "scan/warp_state.cl"

#define COLUMNS (ELEMENTS_PER_WORK_ITEM / VEC)
#define STRIDE (COLUMNS | 1)  // odd: work-items that each read their own vectors have no bank conflicts

typedef JOIN(VALUE, VEC) Vector;

typedef union {
  Vector vector;
  Value at[VEC];
} Values;

typedef struct {
  Value at[ORDER];
} Weights;  // the first is 1

Weights work_item_weights(__global const Value* restrict table, const uint way) {
  Weights w;
  w.at[0] = 1;
#pragma unroll
  for (uint e = 1; e < ORDER; ++e) w.at[e] = table[(way * ORDER + e) * GROUP + work_item_id()];
  return w;
}
#define BACK 0
#define ONWARD 1

#if SUBGROUP_PTX
typedef Value Place;  // each lane of the first warp has a coefficient of the tile's row

Place place_of(__global const Value* restrict table, const uint tile) {
#if ORDER > 1
  const uint local_id = (uint)get_local_id(0);
  if (local_id < 2 * ORDER) return table[2 * ORDER * ((size_t)GROUP + tile) + local_id];
#endif
  return 0;
}
#else
typedef __global const Value* Place;

Place place_of(__global const Value* restrict table, const uint tile) {
  return table + 2 * ORDER * ((size_t)GROUP + tile);
}

Weights tile_weights(const Place place, const uint way) {
  Weights w;
  w.at[0] = 1;
#pragma unroll
  for (uint e = 1; e < ORDER; ++e) w.at[e] = place[way * ORDER + e];
  return w;
}
#endif

Element moved(const Element state, const Weights w) {
#if ORDER == 1
  (void)w;
  return state;
#else
  Element there = state;
#pragma unroll
  for (uint first = 0; first < ELEMENT_VALUES; first += ORDER) {
#pragma unroll
    for (uint k = 1; k < ORDER; ++k) {
#pragma unroll
      for (uint j = 0; j < k; ++j) there.at[first + k] += w.at[k - j] * state.at[first + j];
    }
  }
  return there;
#endif
}

// Scans one value of a component. Returns its value in the scan of the highest order.
Value advance(Element* state, const uint component, Value x) {
#pragma unroll
  for (uint k = 0; k < ORDER; ++k) {
    x = combine_values(state->at[component * ORDER + k], x);
    state->at[component * ORDER + k] = x;
  }
  return x;
}

// ---- The tile, in local memory ---------------------------------------------------------------------------------

// Returns the number, in global memory, of a vector that this work-item loads: coalesced, and where there are
// sub-groups of one's own, so that a barrier of the sub-group is enough.
uint vector_of(const uint column) {
#if SUBGROUP_OPS
  return subgroup_id() * SUBGROUP_SIZE * COLUMNS + column * subgroup_size() + subgroup_lane();
#else
  return column * GROUP + work_item_id();
#endif
}
#define STAGED(v) ((v) / COLUMNS * STRIDE + (v) % COLUMNS)

void load_vectors(__local Vector* staged, __global const Value* restrict in, const ulong n, const ulong tile) {
  const ulong first = tile * TILE;
  if (first + TILE <= n) {
    __global const Vector* vectors = (__global const Vector*)(in + first);
    Vector x[COLUMNS];
#pragma unroll
    for (uint c = 0; c < COLUMNS; ++c) x[c] = vectors[vector_of(c)];
#pragma unroll
    for (uint c = 0; c < COLUMNS; ++c) staged[STAGED(vector_of(c))] = x[c];
  } else {
    for (uint c = 0; c < COLUMNS; ++c) {
      Values x;
#pragma unroll
      for (uint v = 0; v < VEC; ++v) {
        const ulong i = first + vector_of(c) * VEC + v;
        x.at[v] = i < n ? in[i] : identity_value();
      }
      staged[STAGED(vector_of(c))] = x.vector;
    }
  }
  SUBGROUP_BARRIER();
}

void store_vectors(__local const Vector* staged, __global Value* restrict out, const ulong n, const ulong tile) {
  const ulong first = tile * TILE;
  SUBGROUP_BARRIER();
  if (first + TILE <= n) {
    __global Vector* vectors = (__global Vector*)(out + first);
#pragma unroll
    for (uint c = 0; c < COLUMNS; ++c) vectors[vector_of(c)] = staged[STAGED(vector_of(c))];
  } else {
    for (uint c = 0; c < COLUMNS; ++c) {
      Values x;
      x.vector = staged[STAGED(vector_of(c))];
#pragma unroll
      for (uint v = 0; v < VEC; ++v) {
        const ulong i = first + vector_of(c) * VEC + v;
        if (i < n) out[i] = x.at[v];
      }
    }
  }
}

// Returns the state of the work-item's own values.
Element reduce(__local const Vector* own) {
  Element state = identity();
#pragma unroll
  for (uint c = 0; c < COLUMNS; ++c) {
    Values x;
    x.vector = own[c];
#pragma unroll
    for (uint v = 0; v < VEC; ++v) (void)advance(&state, (c * VEC + v) % TUPLE, x.at[v]);
  }
  return state;
}

void scan_vectors(__local Vector* own, Element state) {
#pragma unroll
  for (uint c = 0; c < COLUMNS; ++c) {
    Values x;
    x.vector = own[c];
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const uint component = (c * VEC + v) % TUPLE;
      const Value last = state.at[component * ORDER + ORDER - 1];
      const Value next = advance(&state, component, x.at[v]);
      x.at[v] = EXCLUSIVE_SCAN ? last : next;
    }
    own[c] = x.vector;
  }
}

// ---- What precedes a work-item -------------------------------------------------------------------------------------

// Keep elements in local memory, the same value of all of them adjacent, against bank conflicts.
void put(__local Value* held, const uint stride, const uint at, const Element element) {
#pragma unroll
  for (uint p = 0; p < ELEMENT_VALUES; ++p) held[p * stride + at] = element.at[p];
}
Element get(__local const Value* held, const uint stride, const uint at) {
  Element element;
#pragma unroll
  for (uint p = 0; p < ELEMENT_VALUES; ++p) element.at[p] = held[p * stride + at];
  return element;
}

#if SUBGROUP_PTX

// MEMORY declares local memory: `held`. PRECEDE captures it and the names of the kernel.
#define MEMORY __local Element held[SUBGROUPS]
#define PRECEDE(state) precede(states, mine, ticket, state, held, place)
#define WILL_PUBLISH(tile) prefetch_state(states, tile)

// Moves a state of which each lane of the first warp has its own value.
Value moved_value(const Value state, const Place place, const uint way) {
  Value there = state;
  const uint k = own_value_index() % ORDER;
#pragma unroll
  for (uint d = 1; d < ORDER; ++d) {
    const Value w = subgroup_broadcast(place, way * ORDER + d), below = subgroup_shuffle_up(state, d);
    if (k >= d) there += w * below;
  }
  return there;
}

// Returns the exclusive prefix of the lane, and in *all of the last lane the aggregate of all.
Element scan_in_warp(const Element mine, Element* all) {
  Element exclusive_in_warp;
  *all = mine;
#pragma unroll
  for (uint d = 1; d < SUBGROUP_SIZE; d *= 2) {
#pragma unroll
    for (uint p = 0; p < ELEMENT_VALUES; ++p) all->at[p] = with_below(all->at[p], d);
  }
#pragma unroll
  for (uint p = 0; p < ELEMENT_VALUES; ++p) exclusive_in_warp.at[p] = exclusive_of(all->at[p], mine.at[p]);
  return exclusive_in_warp;
}

// Returns the exclusive prefix of the work-item. The first warp scans the aggregates of all warps and looks back.
Element precede(volatile __global StateWord* states, TileTicket acquired, const __local uint* ticket,
                const Element mine, __local Element* held, const Place place) {
  Element all;
  const Element exclusive_in_warp = scan_in_warp(mine, &all);
  if (subgroup_lane() == SUBGROUP_SIZE - 1) held[subgroup_id()] = all;
  barrier(CLK_LOCAL_MEM_FENCE);
  receive_epoch(&acquired, ticket);
  if (subgroup_id() == 0) {
    const uint value_index = own_value_index();
    Value total = identity_value();
#pragma unroll
    for (uint s = 0; s < SUBGROUPS; ++s) total = combine_values(total, held[s].at[value_index]);
    total = moved_value(total, place, BACK);
    if (acquired.tile > 0) publish_by_warp(states, acquired.tile, acquired.epoch, STATUS_AGGREGATE, total);
    const Value tile_prefix = look_back_by_warp(states, acquired);
    publish_by_warp(states, acquired.tile, acquired.epoch, STATUS_INCLUSIVE, combine_values(tile_prefix, total));
    Value here = moved_value(tile_prefix, place, ONWARD);
#pragma unroll
    for (uint s = 0; s < SUBGROUPS; ++s) {
      const Value aggregate = held[s].at[value_index];
      if (subgroup_lane() < ELEMENT_VALUES) held[s].at[value_index] = here;
      here = combine_values(here, aggregate);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return combine(held[subgroup_id()], exclusive_in_warp);
}

#else

// MEMORY declares local memory: `held` and `window`. PRECEDE captures them and the names of the kernel.
#define HELD GROUP
#define MEMORY                                \
  __local Value held[HELD * ELEMENT_VALUES];  \
  WINDOW_MEMORY
#define PRECEDE(state) precede(states, mine, ticket, state, held, place, window, table, in, n)
#define WILL_PUBLISH(tile)

// Returns the exclusive prefix of the work-item in the tile, and in *total the aggregate of all.
Element scan_states(__local Value* held, Element mine, Element* total) {
#if SUBGROUP_OPS
  return scan_group((__local Element*)held, mine, total);
#else
  const uint local_id = work_item_id();
  barrier(CLK_LOCAL_MEM_FENCE);
  put(held, GROUP, local_id, mine);
  for (uint distance = 1; distance < GROUP; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id >= distance) mine = combine(get(held, GROUP, local_id - distance), mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    put(held, GROUP, local_id, mine);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *total = get(held, GROUP, GROUP - 1);
  return local_id > 0 ? get(held, GROUP, local_id - 1) : identity();
#endif
}

Element precede(volatile __global StateWord* states, TileTicket acquired, const __local uint* ticket,
                const Element mine, __local Value* held, const Place place, __local LookbackResult* window,
                __global const Value* restrict table, __global const Value* restrict in, const ulong n) {
  Element total;
  const Element exclusive_in_group = scan_states(held, mine, &total);
  total = moved(total, tile_weights(place, BACK));
  receive_epoch(&acquired, ticket);
  if (work_item_id() == 0 && acquired.tile > 0) publish(states, acquired.tile, acquired.epoch, STATUS_AGGREGATE, total);
  const Element tile_prefix =
      parallel_look_back(states, acquired, total, window, (__local Element*)held, in, n, ELEMENTS_PER_WORK_ITEM, table);
  return combine(moved(tile_prefix, tile_weights(place, ONWARD)), exclusive_in_group);
}

// Returns a tile's state, moved back to where the input begins.
Element reduce_tile(__local Element* partials, __global const Value* restrict in, const ulong n, const ulong tile,
                    const uint elements_per_work_item, __global const Value* restrict table) {
  const ulong first = (tile * GROUP + work_item_id()) * elements_per_work_item;
  Element mine = identity(), total;
#pragma unroll
  for (uint k = 0; k < ELEMENTS_PER_WORK_ITEM; ++k)
    (void)advance(&mine, k % TUPLE, first + k < n ? in[first + k] : identity_value());
  (void)scan_states((__local Value*)partials, moved(mine, work_item_weights(table, BACK)), &total);
  return moved(total, tile_weights(place_of(table, (uint)tile), BACK));
}

#endif  // PTX

WORK_GROUP_SIZE_ATTRIBUTE
__kernel void binomial(__global Value* restrict out, volatile __global StateWord* states,
                       __global const Value* restrict in, __global const Value* restrict table, const ulong n,
                       const uint tiles) {
  __local Vector staged[GROUP * STRIDE];
  MEMORY;
  __local uint ticket[2];
  __local Vector* own = staged + work_item_id() * STRIDE;
  StateWord counter;
  const TileTicket mine = acquire_one_tile(states, tiles, ticket, &counter);
  const Place place = place_of(table, mine.tile);  // is loaded together with the values
  WILL_PUBLISH(mine.tile);
  load_vectors(staged, in, n, mine.tile);
  broadcast_epoch(states, counter, tiles, ticket);
  // Loads weights before what they weigh is known.
  const Weights back = work_item_weights(table, BACK);
  const Element state = moved(reduce(own), back);
  const Weights onward = work_item_weights(table, ONWARD);
  const Element exclusive_prefix = PRECEDE(state);
  scan_vectors(own, moved(exclusive_prefix, onward));
  store_vectors(staged, out, n, mine.tile);
}
