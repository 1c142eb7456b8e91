// SPDX-License-Identifier: Apache-2.0
// tlb: chases pointers through few words that lie far apart, each in a page of its own.
//
// GROUP   work-items of a work-group
#ifdef EDITOR
#define GROUP 1
#elif !defined(GROUP)
#error "tlb.cl needs GROUP from the host"
#endif

// Leaves where it came to for the next launch, so that many launches walk through all pages that one would
// not get through. Volatile loads go past the L1 cache of NVIDIA's devices, which holds virtual addresses and
// needs no TLB.
__kernel void chase(__global uint* restrict out, const volatile __global uint* next,
                    __global uint* restrict place, const uint iterations) {
  const uint from = place[0];
  uint at = from;
  for (uint i = 0; i < iterations / 8; ++i) {
    at = next[at];
    at = next[at];
    at = next[at];
    at = next[at];
    at = next[at];
    at = next[at];
    at = next[at];
    at = next[at];
  }
  for (uint i = 0; i < iterations % 8; ++i) at = next[at];
  place[0] = at;
  out[0] = from;
  out[1] = at;
}
