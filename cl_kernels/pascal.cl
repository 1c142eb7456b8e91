// SPDX-License-Identifier: Apache-2.0
// pascal: scans of higher orders and of tuples, all at once, with one exchange between tiles.
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
Element scan_states(__local Value* held, Element mine, __global const Value* restrict table, Element* total) {
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
Element scan_states(__local Value* held, Element mine, __global const Value* restrict table, Element* total) {
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
    (void)scan_states(held, fold(other), table, &sum);
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
  load_tile(staged, in, n, mine.tile, neutral(), x);
  const Element before = scan_states(held, fold(x), table, &total);
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
