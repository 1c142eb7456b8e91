// SPDX-License-Identifier: Apache-2.0
// subgroup_opencl: sub-groups as OpenCL (cl_khr_subgroups, cl_intel_subgroups) has them.
//
// Their size is not known before the kernel runs, and the last one of a work-group may be smaller. No rule says which
// work-items form one, so work-items are numbered by sub-group and lane, not by get_local_id.
#pragma once
#include "lib/elements.cl"
#ifdef EDITOR
#define GROUP 256
#endif
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif

#define SUBGROUP_OPS 1
#define SUBGROUP_SHUFFLES 0
#define SUBGROUP_PTX 0
#define SUBGROUP_SIZE_VARIES 1

#define SUBGROUP_SIZE get_max_sub_group_size()
#define SUBGROUPS get_num_sub_groups()
#define MAX_SUBGROUPS GROUP
uint subgroup_lane(void) { return get_sub_group_local_id(); }
uint subgroup_id(void) { return get_sub_group_id(); }
uint subgroup_size(void) { return get_sub_group_size(); }
uint work_item_id(void) { return subgroup_id() * SUBGROUP_SIZE + subgroup_lane(); }
#define SUBGROUP_BARRIER() sub_group_barrier(CLK_LOCAL_MEM_FENCE)

#if OP == SUM
#define subgroup_reduce sub_group_reduce_add
#define subgroup_scan_exclusive sub_group_scan_exclusive_add
#elif OP == MIN
#define subgroup_reduce sub_group_reduce_min
#define subgroup_scan_exclusive sub_group_scan_exclusive_min
#else
#define subgroup_reduce sub_group_reduce_max
#define subgroup_scan_exclusive sub_group_scan_exclusive_max
#endif
#define subgroup_broadcast sub_group_broadcast

Value subgroup_scan_value(const Value x, Value* total) {
  const Value prefix = subgroup_scan_exclusive(x);
  *total = subgroup_broadcast(combine_values(prefix, x), subgroup_size() - 1);
  return prefix;
}
#define DEFINE_SUBGROUP_SCAN(NAME, COUNT, LANES)                                                              \
  void NAME(const Value* mine, Value* prefixes, Value* totals) {                                                \
    _Pragma("unroll") for (uint k = 0; k < COUNT; ++k) prefixes[k] = subgroup_scan_value(mine[k], &totals[k]);  \
  }

uint subgroup_rank(const bool yes, uint* all) {
  const uint prefix = sub_group_scan_exclusive_add((uint)yes);
  *all = sub_group_broadcast(prefix + yes, subgroup_size() - 1);
  return prefix;
}

uint subgroup_first(const bool yes) { return sub_group_reduce_min(yes ? subgroup_lane() : subgroup_size()); }
