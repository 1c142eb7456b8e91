// SPDX-License-Identifier: Apache-2.0
// subgroup_portable: sub-groups of 32 consecutive work-items that exchange values through local memory alone.
#pragma once
#ifdef EDITOR
#define GROUP 256
#endif

#define SUBGROUP_OPS 0
#define SUBGROUP_SHUFFLES 0
#define SUBGROUP_PTX 0
#define SUBGROUP_SIZE_VARIES 0

#define SUBGROUP_SIZE 32
#define SUBGROUPS (GROUP / SUBGROUP_SIZE)
#define MAX_SUBGROUPS (GROUP / 32)
uint work_item_id(void) { return (uint)get_local_id(0); }
uint subgroup_lane(void) { return work_item_id() % SUBGROUP_SIZE; }
uint subgroup_id(void) { return work_item_id() / SUBGROUP_SIZE; }
uint subgroup_size(void) { return SUBGROUP_SIZE; }
#define SUBGROUP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
