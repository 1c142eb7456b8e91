// SPDX-License-Identifier: Apache-2.0
// copy: ways to deal an array out to work-items.
//
// T, W, V   element type, elements of a vector, and T or the vector of W of them
// LANES     neighbouring items that share a sequence
// ILP       vectors that an item of the kernel ilp holds at once
//
// Behind streaming_store.cl, stores go past the caches.
#if !defined(T) || !defined(W) || !defined(V) || !defined(LANES) || !defined(ILP)
#error "copy.cl needs T, W, V, LANES and ILP: see host/families/copy.cpp"
#endif

#ifdef STORE_STREAMING
#define PUT(place, value) STORE_STREAMING(value, &(place))
#else
#define PUT(place, value) (place) = (value)
#endif

// What is left of n elements behind the last whole vector: fewer than W, so one item does.
void copy_tail(__global V* out, __global const V* in, const uint n) {
  if (get_global_id(0) != 0) return;
  for (uint i = n / W * W; i < n; ++i) ((__global T*)out)[i] = ((__global const T*)in)[i];
}

// One vector per item.
__kernel void no_loop(__global V* restrict out, __global const V* restrict in, const uint n) {
  const size_t i = get_global_id(0);
  if (i < n / W) PUT(out[i], in[i]);
  copy_tail(out, in, n);
}

// ILP vectors per item, as far apart as the group is wide; all are asked for before the first is stored.
__kernel void ilp(__global V* restrict out, __global const V* restrict in, const uint n) {
  const size_t vectors = n / W, apart = get_local_size(0);
  const size_t first = get_group_id(0) * apart * ILP + get_local_id(0);
  if (first + (ILP - 1) * apart < vectors) {
    V held[ILP];
#pragma unroll
    for (uint k = 0; k < ILP; ++k) held[k] = in[first + k * apart];
#pragma unroll
    for (uint k = 0; k < ILP; ++k) PUT(out[first + k * apart], held[k]);
  } else {
    for (size_t i = first; i < vectors; i += apart) PUT(out[i], in[i]);
  }
  copy_tail(out, in, n);
}

// The whole grid strides over the array together.
__kernel void grid_stride(__global V* restrict out, __global const V* restrict in, const uint n) {
  for (size_t i = get_global_id(0); i < n / W; i += get_global_size(0)) PUT(out[i], in[i]);
  copy_tail(out, in, n);
}

// ---- Sequences: LANES neighbours stride over a part of the array that is theirs alone --------------------

void copy_sequence(__global V* restrict out, __global const V* restrict in, const size_t begin, const size_t end) {
  for (size_t i = begin + get_global_id(0) % LANES; i < end; i += LANES) PUT(out[i], in[i]);
}

// Where a sequence begins: each has `base` chunks, the first `extra` ones have one more.
uint begin_of(const ulong sequence, const uint vectors, const uint chunk, const uint base, const uint extra) {
  return (uint)min((ulong)vectors, (sequence * base + min(sequence, (ulong)extra)) * chunk);
}

// The last one ends where the array does, whatever the chunks leave.
uint end_of(const ulong sequence, const ulong sequences, const uint vectors, const uint chunk, const uint base,
            const uint extra) {
  return sequence + 1 == sequences ? vectors : begin_of(sequence + 1, vectors, chunk, base, extra);
}

// Set-up outside: the arguments say how to split.
__kernel void sequences(__global V* restrict out, __global const V* restrict in, const uint n, const uint chunk,
                        const uint base, const uint extra) {
  const ulong sequence = get_global_id(0) / LANES;
  copy_sequence(out, in, begin_of(sequence, n / W, chunk, base, extra),
                end_of(sequence, get_global_size(0) / LANES, n / W, chunk, base, extra));
  copy_tail(out, in, n);
}

// Set-up inside: one launch writes where the sequences end, and the other reads it.
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

// Exhibit: sequences of one length, wherever the last of them ends.
__kernel void sequences_published(__global V* restrict out, __global const V* restrict in, const uint length) {
  const size_t begin = get_global_id(0) / LANES * length;
  copy_sequence(out, in, begin, begin + length);
}
