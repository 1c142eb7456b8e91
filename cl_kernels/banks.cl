// SPDX-License-Identifier: Apache-2.0
// banks: reads words of local memory with bank conflicts, or without.
//
// GROUP, WORDS, STEP, LANES   work-items of a work-group, words of local memory (a power of two), words from one read
//                             to the next, work-items after which the addresses repeat
#ifdef EDITOR
#define GROUP 64
#define WORDS 4096
#define STEP 32
#define LANES 32
#elif !defined(GROUP) || !defined(WORDS) || !defined(STEP) || !defined(LANES)
#error "banks.cl needs GROUP, WORDS, STEP and LANES from the host"
#endif

// Advances all work-items by the same step, so that every read has the conflicts of the first.
__kernel void banks(__global uint* restrict out, __global const uint* restrict in, const uint stride,
                    const uint shift, const uint iterations) {
  __local uint words[WORDS];
  const uint lane = (uint)get_local_id(0);
  for (uint i = lane; i < WORDS; i += GROUP) words[i] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  uint at = (lane % LANES) * stride + (lane % 2u) * shift;
  uint sum = 0;
#pragma unroll 8
  for (uint i = 0; i < iterations; ++i) {
    sum += words[at & (WORDS - 1u)];
    at += STEP;
  }
  out[get_global_id(0)] = sum;
}
