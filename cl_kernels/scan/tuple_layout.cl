// SPDX-License-Identifier: Apache-2.0
// tuple_layout: deinterleaves tuples before a scan of single values, and interleaves its results again.
//
// REORDER           defined where the program does so
// TUPLE             values of a tuple
#pragma once
#include "lib/elements.cl"
#include "scan/delta.cl"
#ifdef EDITOR
#define REORDER
#endif

#ifdef REORDER
// Writes the first components of all tuples, then the second ones, and so on. A work-item reads a whole tuple, so that
// neighbouring work-items read the same cache lines at the same time.
__kernel void deinterleave(__global Value* restrict out, __global const Value* restrict in, const ulong length) {
  const ulong i = get_global_id(0);
  if (i >= length) return;
#pragma unroll
  for (uint slot = 0; slot < TUPLE; ++slot) out[slot * length + i] = in[i * TUPLE + slot];
}

// Writes the scanned values back as tuples, and subtracts the last value of the component before, onto which the one
// scan over all components scanned this one.
__kernel void interleave(__global Value* restrict out, __global const Value* restrict in, const ulong length) {
  const ulong i = get_global_id(0);
  if (i >= length) return;
#pragma unroll
  for (uint slot = 0; slot < TUPLE; ++slot) {
    const Value x = in[slot * length + i];
    out[i * TUPLE + slot] = slot > 0 ? x - in[slot * length - 1] : x;
  }
}
#endif
