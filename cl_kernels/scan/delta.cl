// SPDX-License-Identifier: Apache-2.0
// delta: encodes a signal as differences of differences to the ORDER, between values a TUPLE apart; a scan decodes it.
//
// WIDTH             values of a work-item, or of a step of a run; defined where the program encodes
// V                 a vector of WIDTH values
// U                 type of a value, unsigned: differences wrap
// ORDER, TUPLE      of the differences
#pragma once
#ifdef EDITOR
#ifndef U
#define U uint
#endif
#define V uint4
#define WIDTH 4
#ifndef ORDER
#define ORDER 2
#define TUPLE 1
#endif
#endif

#ifdef WIDTH

// Turns x[k], the value k tuples before, into differences: x[0] is the one of the highest order.
#define DIFFER(x)                                                                        \
  _Pragma("unroll") for (uint left = ORDER; left > 0; --left) {                          \
    _Pragma("unroll") for (uint k = 0; k < left; ++k) (x)[k] -= (x)[k + 1];              \
  }

#if WIDTH > 1
typedef union {
  V halves[2];
  U values[2 * WIDTH];
} Neighbours;

// Returns the vector that lies `back` values before the one at `first`: from two aligned loads.
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

// Encodes a run per work-item, by unaligned vector loads, which cost a processor no more than aligned ones.
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

#endif  // WIDTH
