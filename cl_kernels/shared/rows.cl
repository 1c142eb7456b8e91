// SPDX-License-Identifier: Apache-2.0
// rows: tiles in registers.
//
// A bundle of 32 items holds ROWS rows of 32 vectors of VEC keys, one vector of each row per item: loads and
// stores are as wide as can be, and no key passes through local memory. The sum of each vector does, or
// goes through shuffles where PTX is there.

#define REGISTER_ITEMS (ROWS * VEC)
#define REGISTER_TILE (GROUP * REGISTER_ITEMS)

#if VEC == 1
typedef Key Vector;
#else
typedef JOIN(KEY, VEC) Vector;
#endif

typedef union {
  Vector row[ROWS];
  Key at[ROWS][VEC];
} Rows;

uint vector_of_row(const uint row) {
  const uint lane = (uint)get_local_id(0);
  return (lane / BUNDLE * ROWS + row) * BUNDLE + lane % BUNDLE;
}

// `none` lies behind the last element.
void load_rows(Rows* x, __global const Key* restrict in, const ulong n, const ulong tile, const Key none) {
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
      x->at[r][v] = i < n ? in[i] : none;
    }
  }
}

void store_rows(const Rows* x, __global Key* restrict out, const ulong n, const ulong tile) {
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

// From the sums of a tile's vectors to what precedes each of them in it; returns the tile's sum.
Value scan_vectors(const Value* row_sums, Value* before, __local Value* vectors, __local Value* sums) {
  Value total;
  (void)vectors;
  scan_rows(row_sums, before, identity());
  const uint lane = (uint)get_local_id(0);
  if (lane % BUNDLE == BUNDLE - 1) sums[lane / BUNDLE] = combine(before[ROWS - 1], row_sums[ROWS - 1]);
  barrier(CLK_LOCAL_MEM_FENCE);
  const Value bundles = scan_bundles(sums, &total);
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) before[r] = combine(bundles, before[r]);
  return total;
}

#else

// What the bundles before this one hold, and the total. `bundle_sums` is complete.
Value scan_bundles(const __local Value* bundle_sums, Value* total) {
  Value before = identity();
  *total = identity();
  for (uint b = 0; b < GROUP / BUNDLE; ++b) {
    if (b == (uint)get_local_id(0) / BUNDLE) before = *total;
    *total = combine(*total, bundle_sums[b]);
  }
  return before;
}

#define HELD_VECTORS PADDED(GROUP * ROWS)
#define SUMS (2 * GROUP)

// From the sums of a tile's vectors to what precedes each of them in it; returns the tile's sum.
Value scan_vectors(const Value* row_sums, Value* before, __local Value* vectors, __local Value* sums) {
  const uint lane = (uint)get_local_id(0);
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
