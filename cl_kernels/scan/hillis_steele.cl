// SPDX-License-Identifier: Apache-2.0
// hillis_steele: computes one of the log2(n) passes of Hillis & Steele's scan (1986) over everything.
#include "scan/tuple_layout.cl"

__kernel void hillis_steele(__global Element* restrict out, __global const Element* restrict in, const ulong n,
                            const ulong distance, const uint first) {
  const ulong i = get_global_id(0);
  if (i >= n) return;
  if (EXCLUSIVE_SCAN && first) {  // the first pass also shifts the elements by one
    const Element mine = i > 0 ? in[i - 1] : init();
    const Element left = i > 1 ? in[i - 2] : init();
    out[i] = i > 0 ? combine(left, mine) : mine;
    return;
  }
  out[i] = i >= distance ? combine(in[i - distance], in[i]) : in[i];
}
