// SPDX-License-Identifier: Apache-2.0
// address_chase: chases pointers by loads alone: a node holds the address of the next, so that no step computes one.
//
// NODES   words of the cycle in local memory
#ifndef NODES
#define NODES 1024
#endif

// Replaces offsets by addresses, by one work-group. The word behind the `nodes`, which are `apart` words of 64 bits
// from each other, holds the address that the offsets were last added to, so that nothing is done a second time.
__kernel void link(__global ulong* chain, const ulong nodes, const uint apart) {
  __global ulong* linked_to = chain + nodes * apart;
  const ulong address = (ulong)(uintptr_t)chain, shift = address - *linked_to;
  if (shift == 0) return;
  for (ulong i = get_local_id(0); i < nodes; i += get_local_size(0)) chain[i * apart] += shift;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) *linked_to = address;
}

#define HOP at = *(__global const ulong*)(uintptr_t)at

// Continues where the launch before it ended, as chase in latency.cl does; places are in words of 32 bits.
__kernel void chase(__global uint* restrict out, __global const ulong* chain, __global uint* restrict place,
                    const uint iterations) {
  const ulong first = (ulong)(uintptr_t)chain;
  const uint from = place[0];
  ulong at = first + 4 * (ulong)from;
  for (uint i = 0; i < iterations / 8; ++i) {
    HOP;
    HOP;
    HOP;
    HOP;
    HOP;
    HOP;
    HOP;
    HOP;
  }
  for (uint i = 0; i < iterations % 8; ++i) HOP;
  const uint to = (uint)((at - first) / 4);
  place[0] = to;
  out[0] = from;
  out[1] = to;
}

// Adds no more than the constant start of the array to an offset in bytes, which instructions do by themselves.
#define LOCAL_HOP at = *(__local const uint*)((__local const char*)cycle + at)

__kernel void chase_local(__global uint* restrict out, __global const uint* restrict next, const uint iterations) {
  __local uint cycle[NODES];
  for (uint i = (uint)get_local_id(0); i < NODES; i += (uint)get_local_size(0)) cycle[i] = 4 * next[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    uint at = 0;
    for (uint i = 0; i < iterations / 8; ++i) {
      LOCAL_HOP;
      LOCAL_HOP;
      LOCAL_HOP;
      LOCAL_HOP;
      LOCAL_HOP;
      LOCAL_HOP;
      LOCAL_HOP;
      LOCAL_HOP;
    }
    for (uint i = 0; i < iterations % 8; ++i) LOCAL_HOP;
    out[0] = at / 4;
  }
}
