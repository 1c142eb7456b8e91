// SPDX-License-Identifier: Apache-2.0
// group_scan: moves a tile between memory and the work-items of a work-group, and scans one element of each of them.
//
// ELEMENTS_PER_WORK_ITEM   elements of a work-item; a tile has GROUP times as many
// REGISTERS_LIMITED   defined where the compiler is told how many registers a work-item may have
#pragma once
#include "lib/subgroup.cl"
#ifdef EDITOR
#define ELEMENTS_PER_WORK_ITEM 4
#endif
#define TILE (GROUP * ELEMENTS_PER_WORK_ITEM)

// States the size of the work-group, unless registers are limited: NVIDIA's compiler ignores a register limit where
// the size is known.
#ifdef REGISTERS_LIMITED
#define WORK_GROUP_SIZE_ATTRIBUTE
#else
#define WORK_GROUP_SIZE_ATTRIBUTE __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif

// Pads local memory, which has 32 banks of four bytes, against bank conflicts of work-items that each read consecutive
// elements (Harris, Sengupta, Owens 2007).
#define PADDED(i) ((i) + (i) / 32)

// Reads a tile coalesced and gives each work-item consecutive elements through local memory. `out_of_bounds_value`
// stands for what lies behind the last element.
void load_tile(__local Input* staged, __global const Input* restrict in, const ulong n, const ulong tile,
               const Input out_of_bounds_value, Input* x) {
  const uint local_id = work_item_id();
  barrier(CLK_LOCAL_MEM_FENCE);  // earlier readers of `staged` are done
#pragma unroll
  for (uint k = 0; k < ELEMENTS_PER_WORK_ITEM; ++k) {
    const uint at = k * GROUP + local_id;
    const ulong i = tile * TILE + at;
    staged[PADDED(at)] = i < n ? in[i] : out_of_bounds_value;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint k = 0; k < ELEMENTS_PER_WORK_ITEM; ++k) x[k] = staged[PADDED(local_id * ELEMENTS_PER_WORK_ITEM + k)];
}

// Writes a tile the same way.
void store_tile(__local Input* staged, __global Input* restrict out, const ulong n, const ulong tile,
                const Input* x) {
  const uint local_id = work_item_id();
#pragma unroll
  for (uint k = 0; k < ELEMENTS_PER_WORK_ITEM; ++k) staged[PADDED(local_id * ELEMENTS_PER_WORK_ITEM + k)] = x[k];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint k = 0; k < ELEMENTS_PER_WORK_ITEM; ++k) {
    const uint at = k * GROUP + local_id;
    const ulong i = tile * TILE + at;
    if (i < n) out[i] = staged[PADDED(at)];
  }
}

// Scans one element of each work-item. Returns its exclusive prefix in the work-group, and in *total the aggregate of
// all. `partials` has room for two elements of each work-item.
Element scan_group(__local Element* partials, const Element mine, Element* total) {
#if SUBGROUP_OPS && !SUBGROUP_PTX  // shuffles took compaction's `hughes` 8 % longer than barriers on an H200
  Element subgroup_aggregate;
  const Element prefix = subgroup_scan_elements(mine, &subgroup_aggregate);
  barrier(CLK_LOCAL_MEM_FENCE);  // earlier readers of `partials` are done
  if (subgroup_lane() == 0) partials[subgroup_id()] = subgroup_aggregate;
  barrier(CLK_LOCAL_MEM_FENCE);
  return combine(scan_subgroup_aggregates(partials, total), prefix);
#else  // Hillis and Steele (1986), in two halves that are read and written alternately
  const uint local_id = work_item_id();
  __local Element* from = partials;
  __local Element* to = partials + GROUP;
  barrier(CLK_LOCAL_MEM_FENCE);
  from[local_id] = mine;
  for (uint distance = 1; distance < GROUP; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    to[local_id] = local_id >= distance ? combine(from[local_id - distance], from[local_id]) : from[local_id];
    __local Element* other = from;
    from = to;
    to = other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *total = from[GROUP - 1];
  return local_id > 0 ? from[local_id - 1] : identity();
#endif
}
