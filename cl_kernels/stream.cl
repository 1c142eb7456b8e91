// SPDX-License-Identifier: Apache-2.0
// stream: STREAM's kernels by their usual names, reads alone, writes alone, and any mix of both.
//
// T, W, V           element type, elements of a vector, and T or the vector of W of them
// PER_WORK_ITEM     vectors of a work-item
// READS, WRITES     arrays of the kernel mix
#ifdef EDITOR
#define T float
#define W 4u
#define V float4
#define PER_WORK_ITEM 2u
#define READS 2u
#define WRITES 2u
#elif !defined(T) || !defined(W) || !defined(V) || !defined(PER_WORK_ITEM) || !defined(READS) || !defined(WRITES)
#error "stream.cl needs T, W, V, PER_WORK_ITEM, READS and WRITES from the host"
#endif
#include "lib/streaming_store.cl"

// Executes a statement for each vector i of the work-item. They lie a work-group's width apart, so that accesses are
// coalesced; a work-group of one work-item has a contiguous run. Only the last work-groups compare each i with the end.
#define FOR_EACH_VECTOR(STATEMENT)                                           \
  const size_t apart = get_local_size(0);                                    \
  const size_t first = get_group_id(0) * apart * PER_WORK_ITEM + get_local_id(0); \
  if (first + (PER_WORK_ITEM - 1) * apart < vectors) {                       \
    for (uint k = 0; k < PER_WORK_ITEM; ++k) {                               \
      const size_t i = first + k * apart;                                    \
      STATEMENT;                                                             \
    }                                                                        \
  } else {                                                                   \
    for (size_t i = first; i < vectors; i += apart) STATEMENT;               \
  }

__kernel void fill(__global V* restrict a, const T scalar, const uint vectors) {
  FOR_EACH_VECTOR(STORE(&a[i], (V)(scalar)))
}

__kernel void copy(__global V* restrict c, __global const V* restrict a, const uint vectors) {
  FOR_EACH_VECTOR(STORE(&c[i], a[i]))
}

__kernel void scale(__global V* restrict b, __global const V* restrict c, const T scalar, const uint vectors) {
  FOR_EACH_VECTOR(STORE(&b[i], scalar * c[i]))
}

__kernel void add(__global V* restrict c, __global const V* restrict a, __global const V* restrict b,
                  const uint vectors) {
  FOR_EACH_VECTOR(STORE(&c[i], a[i] + b[i]))
}

__kernel void triad(__global V* restrict a, __global const V* restrict b, __global const V* restrict c, const T scalar,
                    const uint vectors) {
  FOR_EACH_VECTOR(STORE(&a[i], b[i] + scalar * c[i]))
}

// Writes the sum of READS arrays to each of WRITES arrays. Arrays of one direction lie one after the other. `mix` is a
// function of OpenCL C, and so is `dot`.
#define SUM_TO_ALL                                                               \
  do {                                                                           \
    V sum = in[i];                                                               \
    for (uint r = 1; r < READS; ++r) sum += in[i + r * (size_t)vectors];         \
    for (uint w = 0; w < WRITES; ++w) STORE(&out[i + w * (size_t)vectors], sum); \
  } while (0)
__kernel void mix_arrays(__global V* restrict out, __global const V* restrict in, const uint vectors) {
  FOR_EACH_VECTOR(SUM_TO_ALL)
}

// ---- Sums ----------------------------------------------------------------------------------------------------------

// Adds the vectors of a work-group in pairs, of a power of two elements, and stores their sum, one per work-group.
void store_group_sum(__global T* restrict sums, const V mine, __local V* of_items) {
  const uint lane = (uint)get_local_id(0), size = (uint)get_local_size(0);
  __local T* elements = (__local T*)of_items;
  of_items[lane] = mine;
  for (uint apart = size * W / 2; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint e = lane; e < apart; e += size) elements[e] += elements[e + apart];
  }
  if (lane == 0) sums[get_group_id(0)] = elements[0];
}

__kernel void read(__global T* restrict partials, __global const V* restrict a, const uint vectors,
                   __local V* of_items) {
  V mine = (V)(0);
  FOR_EACH_VECTOR(mine += a[i])
  store_group_sum(partials, mine, of_items);
}

__kernel void dot_arrays(__global T* restrict partials, __global const V* restrict a, __global const V* restrict b,
                         const uint vectors, __local V* of_items) {
  V mine = (V)(0);
  FOR_EACH_VECTOR(mine += a[i] * b[i])
  store_group_sum(partials, mine, of_items);
}

// Adds the partial sums, in one work-group.
__kernel void add_partials(__global T* restrict sum, __global const T* restrict partials, const uint count,
                           __local V* of_items) {
  T mine = 0;
  for (uint i = (uint)get_local_id(0); i < count; i += (uint)get_local_size(0)) mine += partials[i];
  V vector = (V)(0);
  *(T*)&vector = mine;
  store_group_sum(sum, vector, of_items);
}
