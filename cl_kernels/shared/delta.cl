// SPDX-License-Identifier: Apache-2.0
// delta: delta coding: differences of differences, to the ORDER, with what lies a tuple before.
__kernel void encode(__global U* restrict out, __global const U* restrict in, const ulong n) {
  const ulong i = get_global_id(0);
  if (i >= n) return;
  U x[ORDER + 1];
  for (uint k = 0; k <= ORDER; ++k) x[k] = i >= k * TUPLE ? in[i - k * TUPLE] : 0;
  for (uint left = ORDER; left > 0; --left) {
    for (uint k = 0; k < left; ++k) x[k] -= x[k + 1];
  }
  out[i] = x[0];
}
