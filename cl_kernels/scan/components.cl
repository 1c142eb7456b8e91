// SPDX-License-Identifier: Apache-2.0
// components: scans interleaved components, such as those of tuples, in a tile in registers, for sam.cl.
//
// Value i of the input belongs to component i % COMPONENTS. Values stay where they lie, interleaved, and are combined
// with the value COMPONENTS places before. Lane k of each sub-group, where k is below COMPONENTS, keeps the tile's
// prefix and aggregate of component k. `start` is the component of the tile's first value. Sub-groups of OpenCL may
// have fewer work-items than there are components, and are refused by the host.
#pragma once
#include "lib/vector_tile.cl"
#ifdef EDITOR
#ifndef COMPONENTS
#define COMPONENTS 2
#endif
#endif

#if COMPONENTS > 1

#define ROW_VALUES (SUBGROUP_SIZE * VEC)

// Returns the number of a sub-group's row among those of the tile.
uint row_of(const uint row) { return subgroup_id() * VECTORS + row; }

#if SUBGROUP_OPS

#define COMPONENT_VALUES 1  // not used
#define BETWEEN (MAX_SUBGROUPS * COMPONENTS)

// Returns the value `distance` places before value v of each work-item; anything where that lies before the row.
#define LANES_BACK(v, distance) (((distance) + VEC - 1 - (v)) / VEC)
Value from_before(const Value* vector, const uint v, const uint distance) {
  const uint back = LANES_BACK(v, distance);
  const Value value = vector[VEC * back + v - distance];
  return back > 0 ? subgroup_shuffle_up(value, back) : value;
}

// Scans each row by itself. Leaves the aggregates of its components in `row_aggregates`, by distance from the tile's
// first value.
void scan_row_components(Tile* x, __local Value* vectors, __local Value* row_aggregates) {
  const uint lane = subgroup_lane();
  (void)vectors;
  SUBGROUP_BARRIER();  // earlier readers of `row_aggregates` are done
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    Value below[VEC];
#pragma unroll
    for (uint d = COMPONENTS; d < ROW_VALUES; d *= 2) {
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
      if (at + COMPONENTS >= ROW_VALUES)
        row_aggregates[row_of(r) * COMPONENTS + (row_of(r) * ROW_VALUES + at) % COMPONENTS] = x->at[r][v];
    }
#if EXCLUSIVE_SCAN
#pragma unroll
    for (uint v = 0; v < VEC; ++v) below[v] = from_before(x->at[r], v, COMPONENTS);
#pragma unroll
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = lane >= LANES_BACK(v, COMPONENTS) ? below[v] : identity();
#endif
  }
  SUBGROUP_BARRIER();
}

#else

#define COMPONENT_VALUES PADDED(GROUP * VECTORS * VEC)
#define BETWEEN GROUP

// Does the same through local memory: a work-item takes a row's values of one component at a time.
void scan_row_components(Tile* x, __local Value* vectors, __local Value* row_aggregates) {
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) vectors[PADDED(place_of_vector(r) * VEC + v)] = x->at[r][v];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = subgroup_lane(); i < VECTORS * COMPONENTS; i += SUBGROUP_SIZE) {
    const uint row = row_of(i / COMPONENTS), first = i % COMPONENTS;
    Value aggregate = identity();
    for (uint at = first; at < ROW_VALUES; at += COMPONENTS) {
      const uint place = PADDED(row * ROW_VALUES + at);
      const Value next = combine(aggregate, vectors[place]);
      vectors[place] = EXCLUSIVE_SCAN ? aggregate : next;
      aggregate = next;
    }
    row_aggregates[row * COMPONENTS + (row * ROW_VALUES + first) % COMPONENTS] = aggregate;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) x->at[r][v] = vectors[PADDED(place_of_vector(r) * VEC + v)];
  }
}

#endif

// Returns how far a component's first value is from the tile's.
uint distance_of(const uint component, const uint start) { return (component + COMPONENTS - start) % COMPONENTS; }

// Scans each row by itself. Leaves its exclusive prefix in its sub-group in `row_aggregates`, and that of the
// sub-group in the tile in *subgroup_prefix. Returns the tile's aggregate.
Value scan_components(Tile* x, Value* subgroup_prefix, const uint start, __local Value* vectors,
                      __local Value* row_aggregates, __local Value* subgroup_aggregates) {
  const uint component = subgroup_lane(), subgroup = subgroup_id();
  scan_row_components(x, vectors, row_aggregates);
  if (component < COMPONENTS) {
    Value aggregate = identity();
    for (uint r = 0; r < VECTORS; ++r) {
      const uint at = row_of(r) * COMPONENTS + distance_of(component, start);
      const Value own = row_aggregates[at];
      row_aggregates[at] = aggregate;
      aggregate = combine(aggregate, own);
    }
    subgroup_aggregates[subgroup * COMPONENTS + component] = aggregate;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  Value total = identity();
  *subgroup_prefix = identity();
  if (component < COMPONENTS) {
    for (uint s = 0; s < GROUP / SUBGROUP_SIZE; ++s) {
      if (s == subgroup) *subgroup_prefix = total;
      total = combine(total, subgroup_aggregates[s * COMPONENTS + component]);
    }
  }
  return total;
}

// Returns the aggregate of a component over all work-items, of which work-item i has values of component i %
// COMPONENTS.
Value reduce_components(Value mine, __local Value* held) {
  const uint local_id = work_item_id(), component = subgroup_lane();
#if SUBGROUP_OPS
  Value total = identity();
#pragma unroll
  for (uint d = COMPONENTS; d < SUBGROUP_SIZE; d *= 2) {
    const Value below = subgroup_shuffle_up(mine, d);
    if (component >= d) mine = combine(below, mine);
  }
  if (component + COMPONENTS >= SUBGROUP_SIZE) held[subgroup_id() * COMPONENTS + local_id % COMPONENTS] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = 0; component < COMPONENTS && s < GROUP / SUBGROUP_SIZE; ++s)
    total = combine(total, held[s * COMPONENTS + component]);
  return total;
#else
  held[local_id] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint rows = GROUP / COMPONENTS; rows > 1; rows = (rows + 1) / 2) {
    const uint half_way = (rows + 1) / 2;
    if (local_id / COMPONENTS + half_way < rows)
      held[local_id] = combine(held[local_id], held[local_id + half_way * COMPONENTS]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return component < COMPONENTS ? held[component] : identity();
#endif
}

// Combines the exclusive prefix of the sub-group, of each component, with the sub-group's values.
void apply_component_prefixes(Tile* x, const Value prefix, const uint start, __local Value* row_aggregates) {
  const uint component = subgroup_lane();
  for (uint r = 0; component < COMPONENTS && r < VECTORS; ++r) {
    const uint at = row_of(r) * COMPONENTS + distance_of(component, start);
    row_aggregates[at] = combine(prefix, row_aggregates[at]);
  }
  SUBGROUP_BARRIER();
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      const uint at = row_of(r) * ROW_VALUES + component * VEC + v;
      x->at[r][v] = combine(row_aggregates[row_of(r) * COMPONENTS + at % COMPONENTS], x->at[r][v]);
    }
  }
}

#endif  // COMPONENTS > 1
