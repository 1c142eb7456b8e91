// SPDX-License-Identifier: Apache-2.0
// streams: scans STREAMS interleaved streams, such as the values of tuples, in a tile in registers, for sam.cl.
//
// Value i of everything belongs to stream i % STREAMS. A work-item holds as many values as it would of one stream, and
// values are combined at a distance: none moves to others of its stream. A sub-group's lanes below STREAMS keep the
// stream of that number: what precedes the tile in it, and the tile's sum. `start` is the stream of the tile's first
// value. Sub-groups of OpenCL may have fewer work-items than there are streams, and are refused by the host.
#pragma once
#include "lib/vector_tile.cl"
#ifdef EDITOR
#ifndef STREAMS
#define STREAMS 2
#endif
#endif

#if STREAMS > 1

#define ROW_VALUES (SUBGROUP_SIZE * VEC)

// Returns the number of a sub-group's row among those of the tile.
uint row_of(const uint row) { return subgroup_id() * VECTORS + row; }

#if SUBGROUP_OPS

#define STREAM_VALUES 1  // none
#define BETWEEN (MOST_SUBGROUPS * STREAMS)

// Returns the value `distance` places before value v of each work-item; anything where that lies before the row.
#define LANES_BACK(v, distance) (((distance) + VEC - 1 - (v)) / VEC)
Value from_before(const Value* vector, const uint v, const uint distance) {
  const uint back = LANES_BACK(v, distance);
  const Value value = vector[VEC * back + v - distance];
  return back > 0 ? subgroup_shuffle_up(value, back) : value;
}

// Scans each row by itself. Leaves the sums of its streams in `row_sums`, by distance from the tile's first value.
void scan_row_streams(Tile* x, __local Value* vectors, __local Value* row_sums) {
  const uint lane = subgroup_lane();
  (void)vectors;
  SUBGROUP_BARRIER();  // earlier readers of `row_sums` are done
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
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
  SUBGROUP_BARRIER();
}

#else

#define STREAM_VALUES PADDED(GROUP * VECTORS * VEC)
#define BETWEEN GROUP

// Does the same through local memory: a work-item takes a row's values of one stream at a time.
void scan_row_streams(Tile* x, __local Value* vectors, __local Value* row_sums) {
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) vectors[PADDED(place_of_vector(r) * VEC + v)] = x->at[r][v];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = subgroup_lane(); i < VECTORS * STREAMS; i += SUBGROUP_SIZE) {
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
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = vectors[PADDED(place_of_vector(r) * VEC + v)];
  }
}

#endif

// Returns how far a stream's first value is from the tile's.
uint distance_of(const uint stream, const uint start) { return (stream + STREAMS - start) % STREAMS; }

// Scans each row by itself. Leaves in `row_sums` what precedes it in its sub-group, and in *subgroups what precedes
// the sub-group in the tile. Returns the tile's sum.
Value scan_streams(Tile* x, Value* subgroups, const uint start, __local Value* vectors, __local Value* row_sums,
                   __local Value* subgroup_sums) {
  const uint stream = subgroup_lane(), subgroup = subgroup_id();
  scan_row_streams(x, vectors, row_sums);
  if (stream < STREAMS) {
    Value sum = identity();
    for (uint r = 0; r < VECTORS; ++r) {
      const uint at = row_of(r) * STREAMS + distance_of(stream, start);
      const Value own = row_sums[at];
      row_sums[at] = sum;
      sum = combine(sum, own);
    }
    subgroup_sums[subgroup * STREAMS + stream] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  Value total = identity();
  *subgroups = identity();
  if (stream < STREAMS) {
    for (uint s = 0; s < GROUP / SUBGROUP_SIZE; ++s) {
      if (s == subgroup) *subgroups = total;
      total = combine(total, subgroup_sums[s * STREAMS + stream]);
    }
  }
  return total;
}

// Returns the sum of a stream over all work-items; item i has values of stream i % STREAMS.
Value sum_of_streams(Value mine, __local Value* held) {
  const uint item = item_id(), stream = subgroup_lane();
#if SUBGROUP_OPS
  Value total = identity();
#pragma unroll
  for (uint d = STREAMS; d < SUBGROUP_SIZE; d *= 2) {
    const Value below = subgroup_shuffle_up(mine, d);
    if (stream >= d) mine = combine(below, mine);
  }
  if (stream + STREAMS >= SUBGROUP_SIZE) held[subgroup_id() * STREAMS + item % STREAMS] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = 0; stream < STREAMS && s < GROUP / SUBGROUP_SIZE; ++s)
    total = combine(total, held[s * STREAMS + stream]);
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

// Adds what precedes the sub-group in each stream to the sub-group's values.
void add_to_streams(Tile* x, const Value carry, const uint start, __local Value* row_sums) {
  const uint stream = subgroup_lane();
  for (uint r = 0; stream < STREAMS && r < VECTORS; ++r) {
    const uint at = row_of(r) * STREAMS + distance_of(stream, start);
    row_sums[at] = combine(carry, row_sums[at]);
  }
  SUBGROUP_BARRIER();
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const uint at = row_of(r) * ROW_VALUES + stream * VEC + v;
      x->at[r][v] = combine(row_sums[row_of(r) * STREAMS + at % STREAMS], x->at[r][v]);
    }
  }
}

#endif  // STREAMS > 1
