// SPDX-License-Identifier: Apache-2.0
// subgroup: exchanges values between the work-items of a sub-group, by the backend that the plan names.
//
// SUBGROUP_IMPL     file of the backend: lib/subgroup_{portable,opencl,ptx,amd}.cl
// GROUP             work-items of a work-group
//
// All backends define, the last part only where SUBGROUP_OPS or SUBGROUP_SHUFFLES is 1:
//   SUBGROUP_OPS           1: work-items exchange values without local memory
//   SUBGROUP_SHUFFLES      1: a work-item reads the registers of any other
//   SUBGROUP_PTX           1: a warp: 32 work-items and votes of 32 bits, whatever the device
//   SUBGROUP_SIZE_VARIES   1: there may be more sub-groups than one has work-items, and a smaller last one
//   SUBGROUP_SIZE, SUBGROUPS, MOST_SUBGROUPS   work-items of a full sub-group; sub-groups of the work-group; an upper
//                          bound of their number that the compiler knows
//   item_id(), subgroup_lane(), subgroup_id(), subgroup_items(), SUBGROUP_BARRIER()
//   OPS, which all work-items of the sub-group must call; a result for the sub-group goes to all of them:
//     DEFINE_SUBGROUP_SCAN(NAME, COUNT, ITEMS)   defines NAME(mine, before, totals): exclusive scans, and totals, of
//                          COUNT independent values; those of the lanes from ITEMS on are neutral
//     subgroup_reduce(x), subgroup_broadcast(x, lane)   `lane` is the same for all
//     subgroup_rank(yes, all)   how many lanes below say yes, and how many of all
//     subgroup_first(yes)       first lane that says yes; the number of lanes where none does
//   SHUFFLES:
//     subgroup_shuffle(x, lane)          `lane` may differ
//     subgroup_shuffle_up(x, distance)   from the lane `distance` below; anything where there is none
//     ballot(yes)                        a bit per lane
#pragma once
#include "lib/elements.cl"
#ifdef EDITOR
#define SUBGROUP_IMPL "lib/subgroup_portable.cl"
#endif
#include SUBGROUP_IMPL

#if SUBGROUP_SHUFFLES
// Returns the exclusive of an inclusive scan: by the inverse where the operator has one, else by a shuffle.
Value exclusive_of(const Value inclusive, const Value mine) {
#define INTEGER_uint 1
#define INTEGER_ulong 1
#if OP == SUM && JOIN(INTEGER_, VALUE)
  return inclusive - mine;
#elif OP == XOR
  return inclusive ^ mine;
#else
  const Value below = subgroup_shuffle_up(inclusive, 1);
  (void)mine;
  return subgroup_lane() > 0 ? below : neutral();
#endif
}
#endif

#if SUBGROUP_OPS

Element subgroup_reduce_elements(Element x) {
#if PARTS > 1
#pragma unroll
  for (uint p = 0; p < PARTS; ++p) x.at[p] = subgroup_reduce(x.at[p]);
  return x;
#else
  return subgroup_reduce(x);
#endif
}

DEFINE_SUBGROUP_SCAN(subgroup_scan_parts, PARTS, SUBGROUP_SIZE)
Element subgroup_scan_elements(const Element mine, Element* total) {
  Element before;
  subgroup_scan_parts((const Value*)&mine, (Value*)&before, (Value*)total);
  return before;
}

#if !SUBGROUP_SIZE_VARIES
DEFINE_SUBGROUP_SCAN(scan_parts_of_subgroups, PARTS, SUBGROUPS)
#endif

// Returns the sum of the sub-groups before this one, and the sum of all in *total. `sums` holds one element per
// sub-group and is complete.
#if SUBGROUP_PTX
Value scan_subgroup_sums(const __local Value* sums, Value* total) {
  const uint lane = subgroup_lane(), subgroup = subgroup_id();
  Value scanned = lane < SUBGROUPS ? sums[lane] : neutral();
#pragma unroll
  for (uint d = 1; d < SUBGROUPS; d *= 2) scanned = with_below(scanned, d);
  *total = subgroup_broadcast(scanned, SUBGROUPS - 1);
  const Value before = subgroup_broadcast(scanned, subgroup > 0 ? subgroup - 1 : 0);
  return subgroup > 0 ? before : neutral();
}
#else
Element scan_subgroup_sums(const __local Element* sums, Element* total) {
#if SUBGROUP_SIZE_VARIES
  Element before = identity(), all = identity();
  for (uint s = subgroup_lane(); s < SUBGROUPS; s += subgroup_items()) {
    const Element sum = sums[s];
    if (s < subgroup_id()) before = combine(before, sum);
    all = combine(all, sum);
  }
  *total = subgroup_reduce_elements(all);
  return subgroup_reduce_elements(before);
#else
  Element before, mine = subgroup_lane() < SUBGROUPS ? sums[subgroup_lane()] : identity();
  scan_parts_of_subgroups((const Value*)&mine, (Value*)&before, (Value*)total);
#pragma unroll
  for (uint p = 0; p < PARTS; ++p) ((Value*)&before)[p] = subgroup_broadcast(((Value*)&before)[p], subgroup_id());
  return before;
#endif
}
#endif

#endif  // SUBGROUP_OPS
