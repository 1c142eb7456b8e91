// SPDX-License-Identifier: Apache-2.0
// branch_divergence: diverges into PATHS distinct dependent chains, `granularity` neighbouring work-items each.
//
// PATHS                   1, 2, 4 .. 64
// MULTIPLIER, INCREMENT   of the chains' linear steps
#ifdef EDITOR
#define PATHS 64
#define MULTIPLIER 1664525u
#define INCREMENT 1013904223u
#elif !defined(PATHS) || !defined(MULTIPLIER) || !defined(INCREMENT)
#error "branch_divergence.cl needs PATHS, MULTIPLIER and INCREMENT from the host"
#endif

// Gives every path its own immediates and its own loop, so that no compiler can turn the switch into a choice of
// operands; the xor of the shifted value keeps the linear steps from being folded.
#define STEP(p) ((x ^ (x >> (7 + (p) % 5))) * (MULTIPLIER + 8u * (p)) + (INCREMENT + 2u * (p)))
#define PATH(p) for (uint i = 0; i < iterations; ++i) x = STEP(p)
#define ARM(p) case p: PATH(p); break
#define ARMS4(p) ARM(p); ARM(p + 1u); ARM(p + 2u); ARM(p + 3u)
#define ARMS16(p) ARMS4(p); ARMS4(p + 4u); ARMS4(p + 8u); ARMS4(p + 12u)

__kernel void branch_divergence(__global uint* restrict out, __global const uint* restrict in, const uint n,
                                const uint iterations, const uint granularity) {
  const uint item = (uint)get_global_id(0);
  if (item >= n) return;
  uint x = in[item];
#if PATHS == 1
  (void)granularity;
  PATH(0u);
#else
  switch (item / granularity % PATHS) {
    ARM(0u);
    ARM(1u);
#if PATHS >= 4
    ARM(2u);
    ARM(3u);
#endif
#if PATHS >= 8
    ARMS4(4u);
#endif
#if PATHS >= 16
    ARMS4(8u);
    ARMS4(12u);
#endif
#if PATHS >= 32
    ARMS16(16u);
#endif
#if PATHS >= 64
    ARMS16(32u);
    ARMS16(48u);
#endif
    default: break;
  }
#endif
  out[item] = x;
}
