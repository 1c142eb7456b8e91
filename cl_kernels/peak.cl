// SPDX-License-Identifier: Apache-2.0
// peak: measures peaks by the plainest kernels that move and compute as much as a device can.
//
// RUN                consecutive vectors per work-item, of local_read per iteration
// SPREAD, TURN       of reread alone: odd numbers that scatter its walk
// FACTOR             of the kernels that only write: an odd number
// T, V               element type of the arithmetic kernel, and T or a vector of it; of local_read a vector
// STREAMING          1: of copy_stream_run and write_stream_run alone
#ifdef EDITOR
#define RUN 4
#define SPREAD 5
#define TURN 3
#define FACTOR 7u
#define T float
#define V float4
#elif !defined(RUN) || !defined(T) || !defined(V)
#error "peak.cl needs RUN, T and V from the host"
#endif
#include "lib/streaming_store.cl"

// Copies one vector per work-item, coalesced.
__kernel void copy(__global uint4* restrict out, __global const uint4* restrict in) {
  out[get_global_id(0)] = in[get_global_id(0)];
}

// Copies RUN consecutive wide vectors per work-item: suits a processor, whose work-items are loops on a core.
__kernel void copy_run(__global uint16* restrict out, __global const uint16* restrict in) {
  const size_t first = get_global_id(0) * RUN;
  for (uint i = 0; i < RUN; ++i) out[first + i] = in[first + i];
}

// Copies with stores that bypass the caches.
#if STREAMING
__kernel void copy_stream_run(__global uint16* restrict out, __global const uint16* restrict in) {
  const size_t first = get_global_id(0) * RUN;
  for (uint i = 0; i < RUN; ++i) STORE(&out[first + i], in[first + i]);
}
#endif

// Reads RUN vectors per work-item that lie a whole launch apart: coalesced.
__kernel void read(__global uint4* restrict out, __global const uint4* restrict in) {
  const size_t item = get_global_id(0), items = get_global_size(0);
  uint4 folded = (uint4)(0);
  for (uint i = 0; i < RUN; ++i) folded ^= in[item + i * items];
  out[item] = folded;
}

// Reads a tile of RUN vectors per work-item and stores one vector per work-group: read bandwidth without writes.
// Work-groups have a power of two work-items.
__kernel void read_tile(__global uint4* restrict out, __global const uint4* restrict in, __local uint4* of_items) {
  const size_t lane = get_local_id(0), size = get_local_size(0);
  __global const uint4* tile = in + get_group_id(0) * size * RUN + lane;
  uint4 folded = (uint4)(0);
#pragma unroll
  for (uint i = 0; i < RUN; ++i) folded ^= tile[i * size];
  of_items[lane] = folded;
  for (size_t apart = size / 2; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < apart) of_items[lane] ^= of_items[lane + apart];
  }
  if (lane == 0) out[get_group_id(0)] = of_items[0];
}

// Reads RUN consecutive wide vectors per work-item.
__kernel void read_run(__global uint16* restrict out, __global const uint16* restrict in) {
  const size_t item = get_global_id(0), first = item * RUN;
  uint16 folded = (uint16)(0);
  for (uint i = 0; i < RUN; ++i) folded ^= in[first + i];
  out[item] = folded;
}

// Stores words that differ everywhere, and between seeds by `key`, so that no compression of memory helps.
#ifdef FACTOR
uint4 words_4(const size_t vector, const uint key) {
  return (4 * (uint)vector + (uint4)(0, 1, 2, 3)) * FACTOR ^ key;
}
uint16 words_16(const size_t vector, const uint key) {
  return (16 * (uint)vector + (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)) * FACTOR ^ key;
}

// Writes one vector per work-item, coalesced.
__kernel void write(__global uint4* restrict out, const uint key) {
  out[get_global_id(0)] = words_4(get_global_id(0), key);
}

// Writes RUN vectors per work-item that lie a work-group's width apart: coalesced.
__kernel void write_tile(__global uint4* restrict out, const uint key) {
  const size_t size = get_local_size(0), first = get_group_id(0) * size * RUN + get_local_id(0);
#pragma unroll
  for (uint i = 0; i < RUN; ++i) out[first + i * size] = words_4(first + i * size, key);
}

// Writes RUN consecutive wide vectors per work-item.
__kernel void write_run(__global uint16* restrict out, const uint key) {
  const size_t first = get_global_id(0) * RUN;
  for (uint i = 0; i < RUN; ++i) out[first + i] = words_16(first + i, key);
}

// Writes them with stores that bypass the caches.
#if STREAMING
__kernel void write_stream_run(__global uint16* restrict out, const uint key) {
  const size_t first = get_global_id(0) * RUN;
  for (uint i = 0; i < RUN; ++i) STORE(&out[first + i], words_16(first + i, key));
}
#endif
#endif

// Reads RUN vectors per work-item of a working set of `mask` + 1 blocks, a vector per work-item each. Work-groups
// walk the blocks in different orders, so that caches of single compute units help little.
#if defined(SPREAD) && defined(TURN)
__kernel void reread(__global uint4* restrict out, __global const uint4* restrict in, const uint mask) {
  const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
  const size_t lane = get_local_id(0), width = get_local_size(0);
  uint4 folded = (uint4)(0);
  for (uint k = 0; k < RUN; ++k) {
    const uint block = ((group + k * groups) * SPREAD + k * TURN) & mask;
    folded ^= in[block * width + lane];
  }
  out[get_global_id(0)] = folded;
}

// Does the same by one work-item per work-group, with wide vectors.
__kernel void reread_run(__global uint16* restrict out, __global const uint16* restrict in, const uint mask) {
  const uint group = (uint)get_global_id(0), groups = (uint)get_global_size(0);
  uint16 folded = (uint16)(0);
  for (uint k = 0; k < RUN; ++k) {
    __global const uint16* block = in + (size_t)(((group + k * groups) * SPREAD + k * TURN) & mask) * 64;
    for (uint i = 0; i < 64; ++i) folded ^= block[i];
  }
  out[group] = folded;
}
#endif

// Sums vectors of local memory, RUN per iteration, neighbours reading neighbouring ones. `words` holds the `mask` + 1
// vectors of `in`, from another one on in each work-group, and the first RUN of them once more, so that an iteration
// need not wrap around.
__kernel void local_read(__global V* restrict out, __global const V* restrict in, __local V* words, const uint mask,
                         const uint iterations) {
  const uint lane = (uint)get_local_id(0), group = (uint)get_group_id(0);
  for (uint i = lane; i < mask + 1 + RUN; i += (uint)get_local_size(0)) words[i] = in[(group + i) & mask];
  barrier(CLK_LOCAL_MEM_FENCE);
  V sum = (V)(0);
  for (uint i = 0; i < iterations; ++i) {
    __local const V* run = words + ((lane + i * RUN) & mask);
#pragma unroll
    for (uint k = 0; k < RUN; ++k) sum += run[k];
  }
  out[get_global_id(0)] = sum;
}

// Computes eight independent chains per work-item, which hides latency, 16 steps per iteration, so that the loop does
// not count. `scale` and `shift` are arguments, as a compiler that knew them would fold the chain.
#define STEP(x) x = x * scale + shift
#define STEPS STEP(a); STEP(b); STEP(c); STEP(d); STEP(e); STEP(f); STEP(g); STEP(h)
#define STEPS_4 STEPS; STEPS; STEPS; STEPS
__kernel void arithmetic(__global V* restrict out, __global const V* restrict in, const T scale, const T shift,
                         const uint iterations) {
  const size_t item = get_global_id(0);
  V a = in[item], b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
  for (uint i = 0; i < iterations; ++i) {
    STEPS_4;
    STEPS_4;
    STEPS_4;
    STEPS_4;
  }
  out[item] = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}
