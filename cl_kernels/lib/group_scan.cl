// SPDX-License-Identifier: Apache-2.0
// group_scan: moves a tile between memory and the work-items of a work-group, and scans one element of each of them.
//
// ITEMS             elements of a work-item; a tile is GROUP * ITEMS elements
// REGISTERS_LIMITED   defined where the compiler is told how many registers a work-item may have
#pragma once
#include "lib/subgroup.cl"
#ifdef EDITOR
#define ITEMS 4
#endif
#define TILE (GROUP * ITEMS)

// Leaves the size of the work-group out where registers are limited: NVIDIA's compiler heeds no limit beside it.
#ifdef REGISTERS_LIMITED
#define KNOWN_GROUP
#else
#define KNOWN_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif

// Pads local memory, which has 32 banks of four bytes, against bank conflicts of work-items that each walk consecutive
// elements (Harris, Sengupta, Owens 2007).
#define PADDED(i) ((i) + (i) / 32)

// Reads a tile coalesced and hands each work-item ITEMS consecutive elements through local memory. `none` lies behind
// the last element.
void load_tile(__local Item* staged, __global const Item* restrict in, const ulong n, const ulong tile,
               const Item none, Item* x) {
  const uint lane = item_id();
  barrier(CLK_LOCAL_MEM_FENCE);  // earlier readers of `staged` are done
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint at = k * GROUP + lane;
    const ulong i = tile * TILE + at;
    staged[PADDED(at)] = i < n ? in[i] : none;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) x[k] = staged[PADDED(lane * ITEMS + k)];
}

// Writes a tile the same way.
void store_tile(__local Item* staged, __global Item* restrict out, const ulong n, const ulong tile,
                const Item* x) {
  const uint lane = item_id();
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) staged[PADDED(lane * ITEMS + k)] = x[k];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint at = k * GROUP + lane;
    const ulong i = tile * TILE + at;
    if (i < n) out[i] = staged[PADDED(at)];
  }
}

// Returns the sum of `mine` over the work-items before this one, and over all in *total. `sums` has room for two
// elements of each work-item.
Element scan_group(__local Element* sums, const Element mine, Element* total) {
#if SUBGROUP_OPS && !SUBGROUP_PTX  // shuffles took compaction's `hughes` 8 % longer than barriers on an H200
  Element of_subgroup;
  const Element before = subgroup_scan_elements(mine, &of_subgroup);
  barrier(CLK_LOCAL_MEM_FENCE);  // earlier readers of `sums` are done
  if (subgroup_lane() == 0) sums[subgroup_id()] = of_subgroup;
  barrier(CLK_LOCAL_MEM_FENCE);
  return combine(scan_subgroup_sums(sums, total), before);
#else  // Hillis and Steele (1986), in two halves that are read and written in turns
  const uint lane = item_id();
  __local Element* from = sums;
  __local Element* to = sums + GROUP;
  barrier(CLK_LOCAL_MEM_FENCE);
  from[lane] = mine;
  for (uint distance = 1; distance < GROUP; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    to[lane] = lane >= distance ? combine(from[lane - distance], from[lane]) : from[lane];
    __local Element* other = from;
    from = to;
    to = other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *total = from[GROUP - 1];
  return lane > 0 ? from[lane - 1] : identity();
#endif
}
