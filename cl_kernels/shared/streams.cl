// SPDX-License-Identifier: Apache-2.0
// streams: scans of STREAMS interleaved streams, such as the values of tuples, in tiles of rows.cl: value i of
// everything belongs to stream i % STREAMS. An item holds as many values as it would of one stream, and sums
// are taken at a distance: no value moves to others of its stream.
//
// A bundle's items with a place below STREAMS keep the stream of that number: what precedes the tile in it, and
// the tile's sum. `start` is the stream of the tile's first value.

// Sub-groups, which may have fewer items than there are streams, do not come here.

#define ROW_VALUES (BUNDLE * VEC)

// The row of a bundle, among those of the tile.
uint row_of(const uint row) { return own_bundle() * ROWS + row; }

#if BUNDLED

#define HELD_STREAMS 1  // none
#define BETWEEN (MOST_BUNDLES * STREAMS)

// The value `distance` places before value v of each item; what lies before the row is no value of it.
#define LANES_BACK(v, distance) (((distance) + VEC - 1 - (v)) / VEC)
Value from_before(const Value* vector, const uint v, const uint distance) {
  const uint back = LANES_BACK(v, distance);
  const Value value = vector[VEC * back + v - distance];
  return back > 0 ? from_below(value, back) : value;
}

// Scans each row by itself; `row_sums` gets the sums of its streams, by the distance from the tile's first value.
void scan_row_streams(Rows* x, __local Value* vectors, __local Value* row_sums) {
  const uint lane = own_lane();
  (void)vectors;
  BUNDLE_BARRIER();  // whoever read `row_sums` before is done
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    Value below[VEC];
#pragma unroll
    for (uint d = STREAMS; d < ROW_VALUES; d *= 2) {
#pragma unroll
      for (uint v = 0; v < VEC; ++v) below[v] = from_before(x->at[r], v, d);
#pragma unroll
      for (uint v = 0; v < VEC; ++v) {
        if (lane >= LANES_BACK(v, d)) x->at[r][v] = combine(below[v], x->at[r][v]);
      }
    }
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const uint at = lane * VEC + v;
      if (at + STREAMS >= ROW_VALUES)
        row_sums[row_of(r) * STREAMS + (row_of(r) * ROW_VALUES + at) % STREAMS] = x->at[r][v];
    }
#if EXCLUSIVE
#pragma unroll
    for (uint v = 0; v < VEC; ++v) below[v] = from_before(x->at[r], v, STREAMS);
#pragma unroll
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = lane >= LANES_BACK(v, STREAMS) ? below[v] : identity();
#endif
  }
  BUNDLE_BARRIER();
}

#else

#define HELD_STREAMS PADDED(GROUP * ROWS * VEC)
#define BETWEEN GROUP

// The same through local memory: an item takes a row's values of one stream after the other.
void scan_row_streams(Rows* x, __local Value* vectors, __local Value* row_sums) {
  for (uint r = 0; r < ROWS; ++r) {
    for (uint v = 0; v < VEC; ++v) vectors[PADDED(vector_of_row(r) * VEC + v)] = x->at[r][v];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = own_lane(); i < ROWS * STREAMS; i += BUNDLE) {
    const uint row = row_of(i / STREAMS), first = i % STREAMS;
    Value sum = identity();
    for (uint at = first; at < ROW_VALUES; at += STREAMS) {
      const uint place = PADDED(row * ROW_VALUES + at);
      const Value next = combine(sum, vectors[place]);
      vectors[place] = EXCLUSIVE ? sum : next;
      sum = next;
    }
    row_sums[row * STREAMS + (row * ROW_VALUES + first) % STREAMS] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < ROWS; ++r) {
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = vectors[PADDED(vector_of_row(r) * VEC + v)];
  }
}

#endif

// How far a stream's first value is from the tile's.
uint distance_of(const uint stream, const uint start) { return (stream + STREAMS - start) % STREAMS; }

// Scans each row by itself, leaves in `row_sums` what precedes it in its bundle, and in `*bundles` what
// precedes the bundle in the tile. Returns the tile's sum.
Value scan_streams(Rows* x, Value* bundles, const uint start, __local Value* vectors, __local Value* row_sums,
                   __local Value* bundle_sums) {
  const uint stream = own_lane(), bundle = own_bundle();
  scan_row_streams(x, vectors, row_sums);
  if (stream < STREAMS) {
    Value sum = identity();
    for (uint r = 0; r < ROWS; ++r) {
      const uint at = row_of(r) * STREAMS + distance_of(stream, start);
      const Value own = row_sums[at];
      row_sums[at] = sum;
      sum = combine(sum, own);
    }
    bundle_sums[bundle * STREAMS + stream] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  Value total = identity();
  *bundles = identity();
  if (stream < STREAMS) {
    for (uint b = 0; b < GROUP / BUNDLE; ++b) {
      if (b == bundle) *bundles = total;
      total = combine(total, bundle_sums[b * STREAMS + stream]);
    }
  }
  return total;
}

// What all items hold of a stream; item i has values of stream i % STREAMS.
Value sum_of_streams(Value mine, __local Value* held) {
  const uint item = own_item(), stream = own_lane();
#if BUNDLED
  Value total = identity();
#pragma unroll
  for (uint d = STREAMS; d < BUNDLE; d *= 2) {
    const Value below = from_below(mine, d);
    if (stream >= d) mine = combine(below, mine);
  }
  if (stream + STREAMS >= BUNDLE) held[own_bundle() * STREAMS + item % STREAMS] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint b = 0; stream < STREAMS && b < GROUP / BUNDLE; ++b) total = combine(total, held[b * STREAMS + stream]);
  return total;
#else
  held[item] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint rows = GROUP / STREAMS; rows > 1; rows = (rows + 1) / 2) {
    const uint half_way = (rows + 1) / 2;
    if (item / STREAMS + half_way < rows) held[item] = combine(held[item], held[item + half_way * STREAMS]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return stream < STREAMS ? held[stream] : identity();
#endif
}

// Brings what precedes the bundle in each stream to the bundle's values.
void add_to_streams(Rows* x, const Value carry, const uint start, __local Value* row_sums) {
  const uint stream = own_lane();
  for (uint r = 0; stream < STREAMS && r < ROWS; ++r) {
    const uint at = row_of(r) * STREAMS + distance_of(stream, start);
    row_sums[at] = combine(carry, row_sums[at]);
  }
  BUNDLE_BARRIER();
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const uint at = row_of(r) * ROW_VALUES + stream * VEC + v;
      x->at[r][v] = combine(row_sums[row_of(r) * STREAMS + at % STREAMS], x->at[r][v]);
    }
  }
}
