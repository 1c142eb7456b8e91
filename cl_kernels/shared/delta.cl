// SPDX-License-Identifier: Apache-2.0
// delta: delta coding: differences of differences, to the ORDER, with what lies a TUPLE before.
//
// U          type of a value, unsigned: differences wrap
// WIDTH, V   values of an item, or of a step of a run, and a vector of as many

// Of what lies as many tuples before, the differences: x[0] is what is left.
#define DIFFER(x)                                                                        \
  _Pragma("unroll") for (uint left = ORDER; left > 0; --left) {                          \
    _Pragma("unroll") for (uint k = 0; k < left; ++k) (x)[k] -= (x)[k + 1];              \
  }

#if WIDTH > 1
typedef union {
  V halves[2];
  U values[2 * WIDTH];
} Neighbours;

// The vector that lies `back` values before the one at `first`: out of two that begin where vectors do.
V vector_before(__global const U* restrict in, const ulong first, const uint back) {
  const uint of_lower = back % WIDTH;
  __global const V* upper = (__global const V*)(in + first - (back - of_lower));
  if (of_lower == 0) return *upper;
  Neighbours both, out;
  both.halves[0] = upper[-1];
  both.halves[1] = *upper;
#pragma unroll
  for (uint i = 0; i < WIDTH; ++i) out.values[i] = both.values[WIDTH - of_lower + i];
  return out.halves[0];
}
#endif

U encoded(__global const U* restrict in, const ulong i) {
  U x[ORDER + 1];
  for (uint k = 0; k <= ORDER; ++k) x[k] = i >= k * TUPLE ? in[i - k * TUPLE] : 0;
  DIFFER(x);
  return x[0];
}

__kernel void encode(__global U* restrict out, __global const U* restrict in, const ulong n) {
  const ulong first = get_global_id(0) * WIDTH;
#if WIDTH > 1
  if (first >= ORDER * TUPLE + WIDTH && first + WIDTH <= n) {
    V x[ORDER + 1];
#pragma unroll
    for (uint k = 0; k <= ORDER; ++k) x[k] = vector_before(in, first, k * TUPLE);
    DIFFER(x);
    *(__global V*)(out + first) = x[0];
    return;
  }
#endif
  for (ulong i = first; i < min(first + WIDTH, n); ++i) out[i] = encoded(in, i);
}

#define PASTED(name, width) name##width
#define OF_WIDTH(name, width) PASTED(name, width)

// Processors read what lies between vectors as fast as vectors.
__kernel void encode_run(__global U* restrict out, __global const U* restrict in, const ulong n, const ulong run) {
  ulong i = get_global_id(0) * run;
  const ulong end = min(i + run, n);
#if WIDTH > 1
  for (; i < min(end, (ulong)(ORDER * TUPLE)); ++i) out[i] = encoded(in, i);
  for (; i + WIDTH <= end; i += WIDTH) {
    V x[ORDER + 1];
#pragma unroll
    for (uint k = 0; k <= ORDER; ++k) x[k] = OF_WIDTH(vload, WIDTH)(0, in + (i - k * TUPLE));
    DIFFER(x);
    OF_WIDTH(vstore, WIDTH)(x[0], 0, out + i);
  }
#endif
  for (; i < end; ++i) out[i] = encoded(in, i);
}
