// SPDX-License-Identifier: Apache-2.0
// copy: copies an array, assigned to work-items in several ways.
//
// T, W, V   element type, elements of a vector, and T or the vector of W of them
// LANES     neighbouring work-items that share a sequence
// ILP       vectors that a work-item of the kernel ilp loads before it stores one
#ifdef EDITOR
#define T float
#define W 4
#define V float4
#define LANES 32
#define ILP 4
#elif !defined(T) || !defined(W) || !defined(V) || !defined(LANES) || !defined(ILP)
#error "copy.cl needs T, W, V, LANES and ILP from the host"
#endif
#include "lib/streaming_store.cl"

// Copies what is left of n elements behind the last whole vector: fewer than W, so by one work-item.
void copy_tail(__global V* out, __global const V* in, const uint n) {
  if (get_global_id(0) != 0) return;
  for (uint i = n / W * W; i < n; ++i) ((__global T*)out)[i] = ((__global const T*)in)[i];
}

// Copies one vector per work-item.
__kernel void no_loop(__global V* restrict out, __global const V* restrict in, const uint n) {
  const size_t i = get_global_id(0);
  if (i < n / W) STORE(&out[i], in[i]);
  copy_tail(out, in, n);
}

// Copies ILP vectors per work-item, a work-group's width apart. All loads come before the first store, as
// without `restrict` a store may change what later loads read.
__kernel void ilp(__global V* out, __global const V* in, const uint n) {
  const size_t vectors = n / W, apart = get_local_size(0);
  const size_t first = get_group_id(0) * apart * ILP + get_local_id(0);
  if (first + (ILP - 1) * apart < vectors) {
    V held[ILP];
#pragma unroll
    for (uint k = 0; k < ILP; ++k) held[k] = in[first + k * apart];
#pragma unroll
    for (uint k = 0; k < ILP; ++k) STORE(&out[first + k * apart], held[k]);
  } else {
    for (size_t i = first; i < vectors; i += apart) STORE(&out[i], in[i]);
  }
  copy_tail(out, in, n);
}

// Copies by a grid-stride loop.
__kernel void grid_stride(__global V* restrict out, __global const V* restrict in, const uint n) {
  for (size_t i = get_global_id(0); i < n / W; i += get_global_size(0)) STORE(&out[i], in[i]);
  copy_tail(out, in, n);
}

// ---- Sequences: LANES neighbours stride over a part of the array of their own ------------------------------

void copy_sequence(__global V* restrict out, __global const V* restrict in, const size_t begin, const size_t end) {
  for (size_t i = begin + get_global_id(0) % LANES; i < end; i += LANES) STORE(&out[i], in[i]);
}

// Returns where a sequence begins: each has `base` chunks, the first `extra` ones have one more.
uint begin_of(const ulong sequence, const uint vectors, const uint chunk, const uint base, const uint extra) {
  return (uint)min((ulong)vectors, (sequence * base + min(sequence, (ulong)extra)) * chunk);
}

// Returns where a sequence ends: the last one with the array, whatever the chunks leave.
uint end_of(const ulong sequence, const ulong sequences, const uint vectors, const uint chunk, const uint base,
            const uint extra) {
  return sequence + 1 == sequences ? vectors : begin_of(sequence + 1, vectors, chunk, base, extra);
}

// Copies sequences that each work-item computes from the arguments.
__kernel void sequences(__global V* restrict out, __global const V* restrict in, const uint n, const uint chunk,
                        const uint base, const uint extra) {
  const ulong sequence = get_global_id(0) / LANES;
  copy_sequence(out, in, begin_of(sequence, n / W, chunk, base, extra),
                end_of(sequence, get_global_size(0) / LANES, n / W, chunk, base, extra));
  copy_tail(out, in, n);
}

// Writes where the sequences end, for sequences_read.
__kernel void split(__global uint* restrict ends, const uint sequences, const uint vectors, const uint chunk,
                    const uint base, const uint extra) {
  const size_t sequence = get_global_id(0);
  if (sequence < sequences) ends[sequence] = end_of(sequence, sequences, vectors, chunk, base, extra);
}

__kernel void sequences_read(__global V* restrict out, __global const V* restrict in,
                             __global const uint* restrict ends, const uint n) {
  const size_t sequence = get_global_id(0) / LANES;
  copy_sequence(out, in, sequence == 0 ? 0 : ends[sequence - 1], ends[sequence]);
  copy_tail(out, in, n);
}

// Copies sequences of one length, as published: known to be incorrect where the last of them ends elsewhere.
__kernel void sequences_published(__global V* restrict out, __global const V* restrict in, const uint length) {
  const size_t begin = get_global_id(0) / LANES * length;
  copy_sequence(out, in, begin, begin + length);
}
