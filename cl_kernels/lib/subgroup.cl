// SPDX-License-Identifier: Apache-2.0
// subgroup: exchanges values between the work-items of a sub-group, by the implementation that the plan names.
//
// SUBGROUP_IMPL     file of the implementation: lib/subgroup_{portable,opencl,ptx,amd}.cl
// GROUP             work-items of a work-group
//
// All implementations define:
//   SUBGROUP_OPS           1: work-items exchange values without local memory
//   SUBGROUP_SHUFFLES      1: a work-item reads the registers of any other
//   SUBGROUP_PTX           1: a warp: 32 work-items and votes of 32 bits, whatever the device
//   SUBGROUP_SIZE_VARIES   1: the size is known only at run time, the last sub-group may be smaller than
//                          the others, and there may be more sub-groups than a sub-group has work-items
//   SUBGROUP_SIZE, SUBGROUPS, MAX_SUBGROUPS   work-items of a full sub-group; sub-groups of the work-group; an upper
//                          bound of their number that the compiler knows
//   work_item_id()         the local id, except that lib/subgroup_opencl.cl numbers by sub-group and lane
//   subgroup_lane(), subgroup_id(), subgroup_size(), SUBGROUP_BARRIER()
//   Where SUBGROUP_OPS is 1, and called by all work-items of the sub-group, which all get the results:
//     DEFINE_SUBGROUP_SCAN(NAME, COUNT, LANES)   defines NAME(mine, prefixes, totals): exclusive scans, and totals, of
//                          COUNT independent values; those of the lanes from LANES on are the identity
//     subgroup_reduce(x), subgroup_broadcast(x, lane)   `lane` is the same for all
//     subgroup_rank(yes, all)   how many lanes below say yes, and how many of all
//     subgroup_first(yes)       first lane that says yes; the number of lanes where none does
//   Where SUBGROUP_SHUFFLES is 1:
//     subgroup_shuffle(x, lane)          `lane` may differ
//     subgroup_shuffle_up(x, distance)   from the lane `distance` below; anything where there is none
//     ballot(yes)                        a bit mask: a bit per lane, set where it says yes
#pragma once
#include "lib/elements.cl"
#ifdef EDITOR
#define SUBGROUP_IMPL "lib/subgroup_portable.cl"
#endif
#include SUBGROUP_IMPL

#if SUBGROUP_SHUFFLES
// Turns an inclusive prefix into the exclusive one: by the inverse where the operator has one, else by a shuffle.
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
  return subgroup_lane() > 0 ? below : identity_value();
#endif
}
#endif

#if SUBGROUP_OPS

Element subgroup_reduce_elements(Element x) {
#if ELEMENT_VALUES > 1
#pragma unroll
  for (uint p = 0; p < ELEMENT_VALUES; ++p) x.at[p] = subgroup_reduce(x.at[p]);
  return x;
#else
  return subgroup_reduce(x);
#endif
}

DEFINE_SUBGROUP_SCAN(subgroup_scan_values, ELEMENT_VALUES, SUBGROUP_SIZE)
Element subgroup_scan_elements(const Element mine, Element* total) {
  Element prefix;
  subgroup_scan_values((const Value*)&mine, (Value*)&prefix, (Value*)total);
  return prefix;
}

#if !SUBGROUP_SIZE_VARIES
DEFINE_SUBGROUP_SCAN(scan_values_of_subgroups, ELEMENT_VALUES, SUBGROUPS)
#endif

// Returns the exclusive prefix of the sub-group, and in *total the aggregate of all. `partials` holds the aggregate of
// each sub-group and is complete.
#if SUBGROUP_PTX
Value scan_subgroup_aggregates(const __local Value* partials, Value* total) {
  const uint lane = subgroup_lane(), subgroup = subgroup_id();
  Value scanned = lane < SUBGROUPS ? partials[lane] : identity_value();
#pragma unroll
  for (uint d = 1; d < SUBGROUPS; d *= 2) scanned = with_below(scanned, d);
  *total = subgroup_broadcast(scanned, SUBGROUPS - 1);
  const Value prefix = subgroup_broadcast(scanned, subgroup > 0 ? subgroup - 1 : 0);
  return subgroup > 0 ? prefix : identity_value();
}
#else
Element scan_subgroup_aggregates(const __local Element* partials, Element* total) {
#if SUBGROUP_SIZE_VARIES
  Element prefix = identity(), all = identity();
  for (uint s = subgroup_lane(); s < SUBGROUPS; s += subgroup_size()) {
    const Element aggregate = partials[s];
    if (s < subgroup_id()) prefix = combine(prefix, aggregate);
    all = combine(all, aggregate);
  }
  *total = subgroup_reduce_elements(all);
  return subgroup_reduce_elements(prefix);
#else
  Element prefix, mine = subgroup_lane() < SUBGROUPS ? partials[subgroup_lane()] : identity();
  scan_values_of_subgroups((const Value*)&mine, (Value*)&prefix, (Value*)total);
#pragma unroll
  for (uint p = 0; p < ELEMENT_VALUES; ++p)
    ((Value*)&prefix)[p] = subgroup_broadcast(((Value*)&prefix)[p], subgroup_id());
  return prefix;
#endif
}
#endif

#endif  // SUBGROUP_OPS
