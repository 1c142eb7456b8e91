// SPDX-License-Identifier: Apache-2.0
// tuples: scans of tuples as they lie, in tiles of rows.cl, with one exchange between tiles.
//
// Value i of everything belongs to stream i % TUPLE. TUPLE, a power of two, divides what a row of a bundle holds, and so
// each place of an item's vectors belongs to one stream, whatever row or tile it is of. A tile's state is an element: a
// value of each stream.
//
// Behind rows.cl, look_back.cl and parts.cl. AHEAD, of pipelined: as in scan.cl

// An item holds HELD streams, the next item the next ones, and items STEP apart the same.
#define HELD (TUPLE < VEC ? TUPLE : VEC)
#define STEP (TUPLE / HELD)

typedef struct {
  Value at[HELD];
} Held;

uint first_held(void) { return own_item() % STEP * HELD; }

// ---- Between tiles ---------------------------------------------------------------------------------------------

#if PTX

typedef Value Total;  // of the stream own_lane() % TUPLE

void publish_aggregate(volatile __global Word* states, const Claim mine, const Total total) {
  if (own_bundle() == 0 && mine.tile > 0) publish_parts(states, mine.tile, mine.epoch, AGGREGATE, total);
}

// Leaves in `carried` what precedes the tile in each stream, for all items, and publishes what the tile ends with.
void look_back_in_streams(volatile __global Word* states, const Claim mine, const Total total,
                          __local Value* carried) {
  if (own_bundle() == 0) {
    const Value carry = look_back_parts(states, mine);
    publish_parts(states, mine.tile, mine.epoch, INCLUSIVE, combine_values(carry, total));
    if (own_lane() < TUPLE) carried[own_lane()] = carry;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
#define LOOK_BACK_IN_STREAMS(mine, total) look_back_in_streams(states, mine, total, carried)
#define SEEN_MEMORY

#else

typedef Element Total;

void publish_aggregate(volatile __global Word* states, const Claim mine, const Total total) {
  if (own_item() == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
}

// From an item's share of the stream own_item() % TUPLE to what the items before it have of it; and of all streams what
// all items have.
Value scan_shares(__local Value* sums, const Value share, Element* total) {
  const uint item = own_item();
  Value mine = share;
  barrier(CLK_LOCAL_MEM_FENCE);  // whoever read `sums` before is done
  sums[item] = mine;
  for (uint distance = TUPLE; distance < GROUP; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= distance) mine = combine_values(sums[item - distance], mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[item] = mine;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint p = 0; p < TUPLE; ++p) total->at[p] = sums[GROUP - TUPLE + p];
  return item >= TUPLE ? sums[item - TUPLE] : neutral();
}

Element fold_tile(__local Element* sums, __global const Value* restrict in, const ulong n, const ulong tile,
                  const uint items, __global const Value* restrict table) {
  (void)table;
  const ulong first = tile * GROUP * items;
  Value mine = neutral();
  for (ulong i = first + own_item(); i < min(first + GROUP * items, n); i += GROUP) mine = combine_values(mine, in[i]);
  Element total;
  (void)scan_shares((__local Value*)sums, mine, &total);
  return total;
}

void look_back_in_streams(volatile __global Word* states, const Claim mine, const Total total,
                          __local Value* carried, __local Seen* window, __local Value* sums,
                          __global const Value* restrict in, const ulong n) {
  const Element carry =
      look_back_for_all(states, mine, total, window, (__local Element*)sums, in, n, REGISTER_ITEMS, 0);
  if (own_item() == 0) {
#pragma unroll
    for (uint p = 0; p < TUPLE; ++p) carried[p] = carry.at[p];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
#define LOOK_BACK_IN_STREAMS(mine, total) look_back_in_streams(states, mine, total, carried, window, sums, in, n)
#define SEEN_MEMORY WINDOW_MEMORY

#endif

// ---- Within a tile ---------------------------------------------------------------------------------------------

// add_up knows the tile's sum, and returns what go_on and finish need. Then go_on does what can be done before what
// precedes the tile is known, and finish the rest.

#if PTX || AMD

#define STAGED 1  // none
typedef Held Start;  // what the bundles before this one have

Start nothing(void) {
  Start none;
#pragma unroll
  for (uint h = 0; h < HELD; ++h) none.at[h] = neutral();
  return none;
}

Start joined(const Start l, const Start r) {
  Start both;
#pragma unroll
  for (uint h = 0; h < HELD; ++h) both.at[h] = combine_values(l.at[h], r.at[h]);
  return both;
}

// Of a list of all streams' values those of this item.
Held held_of(const __local Value* streams) {
  Held held;
#pragma unroll
  for (uint h = 0; h < HELD; ++h) held.at[h] = streams[first_held() + h];
  return held;
}

void add_to_rows(Rows* x, const Held carry) {
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = combine_values(carry.at[v % HELD], x->at[r][v]);
  }
}

// What items of the bundle from STEP on have in an item STEP below, and the first ones nothing.
Value from_before(const Value x) {
  const Value below = from_below(x, STEP);
  return own_lane() >= STEP ? below : neutral();
}

// Scans the bundle's values onto `carry`; returns what they end with.
Held scan_rows_of_streams(Rows* x, Held carry) {
  const uint lane = own_lane();
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
#pragma unroll
    for (uint v = HELD; v < VEC; ++v) x->at[r][v] = combine_values(x->at[r][v - HELD], x->at[r][v]);
  }
  // The last HELD places of a vector have the item's sums. Of one distance after the other, so that exchanges overlap.
#pragma unroll
  for (uint d = STEP; d < BUNDLE; d *= 2) {
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
#pragma unroll
      for (uint v = VEC - HELD; v < VEC; ++v) {
        const Value below = from_below(x->at[r][v], d);
        if (lane >= d) x->at[r][v] = combine_values(below, x->at[r][v]);
      }
    }
  }
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    Held row, before;
#pragma unroll
    for (uint h = 0; h < HELD; ++h) {
      const Value last = x->at[r][VEC - HELD + h];
      row.at[h] = from_item(last, BUNDLE - STEP + lane % STEP);
      before.at[h] = EXCLUSIVE || HELD < VEC ? from_before(last) : neutral();
    }
#pragma unroll
    for (uint v = 0; v < VEC - HELD; ++v) x->at[r][v] = combine_values(before.at[v % HELD], x->at[r][v]);
    if (EXCLUSIVE) {
#pragma unroll
      for (uint v = VEC; v-- > HELD;) x->at[r][v] = x->at[r][v - HELD];
#pragma unroll
      for (uint v = 0; v < HELD; ++v) x->at[r][v] = before.at[v];
    }
#pragma unroll
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = combine_values(carry.at[v % HELD], x->at[r][v]);
    carry = joined(carry, row);
  }
  return carry;
}

Held sum_rows_of_streams(const Rows* x) {
  Held sum = nothing();
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) sum.at[v % HELD] = combine_values(sum.at[v % HELD], x->at[r][v]);
  }
#pragma unroll
  for (uint d = STEP; d < BUNDLE; d *= 2) {
#pragma unroll
    for (uint h = 0; h < HELD; ++h) sum.at[h] = combine_values(sum.at[h], from_item(sum.at[h], own_lane() ^ d));
  }
  return sum;
}

Start add_up(Rows* x, __local Value* staged, __local Value* sums, Total* total) {
  (void)staged;
#ifdef KERNEL_PIPELINED
  const Held own = sum_rows_of_streams(x);
#else
  const Held own = scan_rows_of_streams(x, nothing());
#endif
  if (own_lane() < STEP) {
#pragma unroll
    for (uint h = 0; h < HELD; ++h) sums[own_bundle() * TUPLE + first_held() + h] = own.at[h];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  Start before = nothing();
  for (uint b = 0; b < own_bundle(); ++b) before = joined(before, held_of(sums + b * TUPLE));
#if PTX
  *total = neutral();
  for (uint b = 0; b < BUNDLES; ++b) *total = combine_values(*total, sums[b * TUPLE + own_lane() % TUPLE]);
#else
  *total = identity();
  for (uint b = 0; b < BUNDLES; ++b) {
#pragma unroll
    for (uint p = 0; p < TUPLE; ++p) total->at[p] = combine_values(total->at[p], sums[b * TUPLE + p]);
  }
#endif
  return before;
}

// The first bundle has to look back, for which the others wait.
void go_on(Rows* x, const Start start) {
#ifdef KERNEL_PIPELINED
  if (own_bundle() > 0) (void)scan_rows_of_streams(x, start);
#endif
}

void finish(Rows* x, const Start start, const __local Value* carried, __local Value* staged) {
  const Held carry = held_of(carried);
  (void)staged;
#ifdef KERNEL_PIPELINED
  if (own_bundle() == 0)
    (void)scan_rows_of_streams(x, carry);
  else
    add_to_rows(x, carry);
#else
  add_to_rows(x, joined(carry, start));
#endif
}

#else

// Through local memory, each item takes its share of one stream's values, which are in order.
#define STAGED PADDED(REGISTER_TILE)
typedef Value Start;  // what the items before this one have

uint place_of_share(const uint k) {
  return PADDED((own_item() / TUPLE * REGISTER_ITEMS + k) * TUPLE + own_item() % TUPLE);
}

Start add_up(Rows* x, __local Value* staged, __local Value* sums, Total* total) {
  for (uint r = 0; r < ROWS; ++r) {
    for (uint v = 0; v < VEC; ++v) staged[PADDED(vector_of_row(r) * VEC + v)] = x->at[r][v];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  Value mine = neutral();
  for (uint k = 0; k < REGISTER_ITEMS; ++k) mine = combine_values(mine, staged[place_of_share(k)]);
  return scan_shares(sums, mine, total);
}

void go_on(Rows* x, const Start start) {
  (void)x;
  (void)start;
}

void finish(Rows* x, const Start start, const __local Value* carried, __local Value* staged) {
  Value sum = combine_values(carried[own_item() % TUPLE], start);
  for (uint k = 0; k < REGISTER_ITEMS; ++k) {
    const uint at = place_of_share(k);
    const Value next = combine_values(sum, staged[at]);
    staged[at] = EXCLUSIVE ? sum : next;
    sum = next;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < ROWS; ++r) {
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = staged[PADDED(vector_of_row(r) * VEC + v)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

#endif

#define TUPLE_MEMORY              \
  __local Value staged[STAGED];   \
  __local Value sums[GROUP];      \
  __local Value carried[TUPLE];   \
  __local uint said[2];           \
  SEEN_MEMORY

#ifdef KERNEL_REGISTER_TILE
KNOWN_GROUP
__kernel void register_tile(__global Value* restrict out, volatile __global Word* states,
                            __global const Value* restrict in, const ulong n, const uint tiles) {
  TUPLE_MEMORY;
  Word drawn;
  Claim mine = claim_one(states, tiles, said, &drawn);
  Rows x;
  Total total;
  load_rows(&x, in, n, mine.tile, neutral());
  hear_launch(states, drawn, tiles, said);
  const Start start = add_up(&x, staged, sums, &total);
  know_launch(&mine, said);
  publish_aggregate(states, mine, total);
  go_on(&x, start);
  LOOK_BACK_IN_STREAMS(mine, total);
  finish(&x, start, carried, staged);
  store_rows(&x, out, n, mine.tile);
}
#endif

#ifdef KERNEL_PIPELINED
KNOWN_GROUP
__kernel void pipelined(__global Value* restrict out, volatile __global Word* states,
                        __global const Value* restrict in, const ulong n, const uint tiles, const uint tickets) {
  TUPLE_MEMORY;
  Word drawn;
  Claim mine = claim_one(states, tickets, said, &drawn);
  if (mine.tile >= tiles) return;
  Rows x;
  load_rows(&x, in, n, mine.tile, neutral());
  hear_launch(states, drawn, tickets, said);
  while (mine.tile < tiles) {
    Total total;
#if AHEAD
    if (own_item() == 0) draw(states, tickets, said);
#endif
    const Start start = add_up(&x, staged, sums, &total);
    know_launch(&mine, said);
    publish_aggregate(states, mine, total);
#if AHEAD
    const Claim next = {said[0], said[1]};
    Rows y;
    load_rows(&y, in, n, next.tile, neutral());  // behind the last tile there is nothing to load
#endif
    go_on(&x, start);
    LOOK_BACK_IN_STREAMS(mine, total);
    finish(&x, start, carried, staged);
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
