// SPDX-License-Identifier: Apache-2.0
// tuple_layout: deinterleaves tuples before a scan of single values, and interleaves its results again.
//
// REORDER           defined where the program does so
// TUPLE             components of a tuple
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
  for (uint component = 0; component < TUPLE; ++component) out[component * length + i] = in[i * TUPLE + component];
}

// Writes the scanned values back as tuples. One scan went over all components, one after the other, so the last value
// of the component before is subtracted.
__kernel void interleave(__global Value* restrict out, __global const Value* restrict in, const ulong length) {
  const ulong i = get_global_id(0);
  if (i >= length) return;
#pragma unroll
  for (uint component = 0; component < TUPLE; ++component) {
    const Value x = in[component * length + i];
    out[i * TUPLE + component] = component > 0 ? x - in[component * length - 1] : x;
  }
}
#endif
