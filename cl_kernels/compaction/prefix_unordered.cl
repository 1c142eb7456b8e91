// SPDX-License-Identifier: Apache-2.0
// prefix_unordered: gives a tile the next free place of the output, by one atomic addition: tiles come in any order.
//
// STATE_BITS        64, or 32 where 64-bit atomics are missing
#pragma once
#include "compaction/keys.cl"
#ifdef EDITOR
#define STATE_BITS 64
#elif !defined(STATE_BITS)
#error "prefix_unordered.cl needs STATE_BITS from the host"
#endif

// Adds to a counter of kept keys and of work-groups that came. The last work-group resets it.
uint take_place(volatile __global uint* states, const uint total, __global uint* restrict count, const ulong n) {
#if STATE_BITS == 64
  volatile __global ulong* word = (volatile __global ulong*)states;
  const ulong found = atom_add(word, (ulong)1 << 32 | total);
  const uint came = (uint)(found >> 32), kept = (uint)found;
  if (came == get_num_groups(0) - 1) {
    put_count(count, kept + total, n);
    (void)atom_xchg(word, (ulong)0);
  }
#else
  const uint kept = atomic_add(&states[0], total);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (atomic_inc(&states[1]) == get_num_groups(0) - 1) {
    put_count(count, atomic_xchg(&states[0], 0u), n);
    (void)atomic_xchg(&states[1], 0u);
  }
#endif
  return kept;
}
uint take_place_for_all(volatile __global uint* states, const uint total, __global uint* restrict count, const ulong n,
                        __local uint* shared_prefix) {
  if (get_local_id(0) == 0) shared_prefix[0] = take_place(states, total, count, n);
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared_prefix[0];
}

#define BY_TILE_STATES 0
#define ORDERED 0
#define STATES volatile __global uint*
#define PREFIX_MEMORY __local uint shared_prefix[1]
#define TILE_PREFIX_OF(mine, total) take_place_for_all(states, total, count, n, shared_prefix)
