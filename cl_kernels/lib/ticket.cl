// SPDX-License-Identifier: Apache-2.0
// ticket: a litmus test of forward progress, for the family that reports it and before kernels that rely on it.
//
// GAVE_UP  what is written in place of a count of looks
#pragma once
#ifdef EDITOR
#define GAVE_UP 0xffffffffu
#elif !defined(GAVE_UP)
#error "ticket.cl needs GAVE_UP from the host"
#endif

uint looks_until_set(volatile __global uint* flag, const uint set, const uint most) {
  for (uint looks = 1; looks <= most; ++looks)
    if (atomic_or(flag, 0u) == set) return looks;
  return GAVE_UP;
}

// Each work-group waits for the one that drew the ticket before its own, as single-pass scans do: those before it have
// begun, so it is enough that whoever has begun goes on.
__kernel void ticket(__global uint* restrict out, volatile __global uint* flags, volatile __global uint* tickets,
                     const uint set, const uint most, const uint first_ticket) {
  if (get_local_id(0) != 0) return;
  const uint mine = atomic_inc(tickets) - first_ticket;
  out[mine] = mine == 0 ? 1u : looks_until_set(flags + mine - 1, set, most);
  atomic_xchg(flags + mine, set);
}
