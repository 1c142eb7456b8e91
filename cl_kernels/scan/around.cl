// SPDX-License-Identifier: Apache-2.0
// around: takes tuples apart before a scan of single values, and puts them together after it.
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
// Writes the first values of all tuples, then the second ones, and so on. A work-item reads a tuple, so that
// neighbours ask for each line of memory at the same time.
__kernel void gather_tuples(__global Value* restrict out, __global const Value* restrict in, const ulong length) {
  const ulong i = get_global_id(0);
  if (i >= length) return;
#pragma unroll
  for (uint slot = 0; slot < TUPLE; ++slot) out[slot * length + i] = in[i * TUPLE + slot];
}

// Writes the scanned values back as tuples, less what the scan carried over from the slots before.
__kernel void spread_tuples(__global Value* restrict out, __global const Value* restrict in, const ulong length) {
  const ulong i = get_global_id(0);
  if (i >= length) return;
#pragma unroll
  for (uint slot = 0; slot < TUPLE; ++slot) {
    const Value x = in[slot * length + i];
    out[i * TUPLE + slot] = slot > 0 ? x - in[slot * length - 1] : x;
  }
}
#endif
