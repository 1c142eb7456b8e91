// SPDX-License-Identifier: Apache-2.0
// rows: tiles in registers.
//
// A bundle holds ROWS rows of vectors of VEC keys, one vector of each row per item: loads and stores are as wide as
// can be, and no key passes through local memory. The sum of each vector does, unless items of a bundle tell each
// other.

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
  return own_bundle() * BUNDLE * ROWS + row * bundle_items() + own_lane();
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

#if PARTS == 1  // what is known of a stretch of keys is a value; otherwise the family scans them

#if BUNDLED

#define HELD_VECTORS 1  // none
#define SUMS MOST_BUNDLES

DEFINE_SCAN(scan_vectors_of_bundle, ROWS, BUNDLE)

// From the sums of this item's vectors to what precedes each of them in the bundle, onto `start`; returns what the
// bundle ends with.
Value scan_rows(const Value* sums, Value* before, const Value start) {
  Value totals[ROWS], carry = start;
  scan_vectors_of_bundle(sums, before, totals);
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    before[r] = combine(carry, before[r]);
    carry = combine(carry, totals[r]);
  }
  return carry;
}

// From the sums of a tile's vectors to what precedes each of them in it; returns the tile's sum.
Value scan_vectors(const Value* row_sums, Value* before, __local Value* vectors, __local Value* sums) {
  Value total;
  (void)vectors;
  const Value of_bundle = scan_rows(row_sums, before, identity());
  if (own_lane() == 0) sums[own_bundle()] = of_bundle;
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

#endif  // BUNDLED

#define ROW_MEMORY                      \
  __local Value vectors[HELD_VECTORS];  \
  __local Value sums[SUMS];             \
  __local uint said[2]

#endif
