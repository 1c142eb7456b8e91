// SPDX-License-Identifier: Apache-2.0
// progress: litmus tests of forward progress: work-groups and work-items that wait for each other, with a bound.
//
// Each writes how often it looked until it saw the other, or GAVE_UP after `most` times. Atomics of OpenCL 1.1 read the
// flags, because no compiler may keep their values in registers.
#include "lib/ticket.cl"
#ifdef EDITOR
#define GROUP 64
#elif !defined(GROUP)
#error "progress.cl needs GROUP from the host"
#endif

// Each work-group waits until the one at the same place from the end has begun. Of more than fit at once, all that begin
// first wait for some that have no room, in whatever direction a device begins them; waiting for a neighbour would be
// no test, as one whose neighbour has begun makes room.
__kernel void opposite_group(__global uint* restrict out, volatile __global uint* flags, volatile __global uint* tickets,
                         const uint set, const uint most) {
  if (get_local_id(0) != 0) return;
  const uint mine = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
  atomic_inc(tickets);
  atomic_xchg(flags + mine, set);
  out[mine] = looks_until_set(flags + groups - 1 - mine, set, most);
}

// Each work-item but the last of its work-group waits until the next one has gone on, which it may not where the
// work-items of a sub-group share an instruction pointer: those that have seen enough wait behind the loop.
__kernel void next_item(__global uint* restrict out, volatile __global uint* flags, volatile __global uint* tickets,
                        const uint set, const uint most) {
  const uint mine = (uint)get_global_id(0);
  atomic_inc(tickets);
  out[mine] = get_local_id(0) + 1 == GROUP ? 1u : looks_until_set(flags + mine + 1, set, most);
  atomic_xchg(flags + mine, set);
}
