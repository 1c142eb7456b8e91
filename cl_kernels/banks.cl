// SPDX-License-Identifier: Apache-2.0
// banks: items of a group read words of local memory that lie in one bank, or do not.
//
// GROUP, WORDS, STEP, LANES   set by host/families/banks.cpp: items of a work-group, words of local memory (a power
//                             of two), words from one read to the next, items after which the addresses repeat
#if !defined(GROUP) || !defined(WORDS) || !defined(STEP) || !defined(LANES)
#error "banks.cl needs GROUP, WORDS, STEP and LANES: see host/families/banks.cpp"
#endif

// All items go on by as much, so whoever met at the first read meets at each.
__kernel void banks(__global uint* restrict out, __global const uint* restrict in, const uint stride,
                    const uint shift, const uint trips) {
  __local uint words[WORDS];
  const uint lane = (uint)get_local_id(0);
  for (uint i = lane; i < WORDS; i += GROUP) words[i] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  uint at = (lane % LANES) * stride + (lane % 2u) * shift;
  uint sum = 0;
#pragma unroll 8
  for (uint i = 0; i < trips; ++i) {
    sum += words[at & (WORDS - 1u)];
    at += STEP;
  }
  out[get_global_id(0)] = sum;
}
