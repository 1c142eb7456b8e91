// SPDX-License-Identifier: Apache-2.0
// memory_size: writes every word of a buffer, and sums up every word of it.

// Writes words that depend on where they are.
__kernel void write(__global uint4* restrict out, const uint first) {
  const uint i = (uint)get_global_id(0);
  out[i] = (uint4)(4u * i, 4u * i + 1u, 4u * i + 2u, 4u * i + 3u) * 2654435761u + first;
}

// Sums up `vectors` vectors per work-item that lie a whole launch apart: coalesced.
__kernel void read(__global uint* restrict sums, __global const uint4* restrict in, const uint sum_from,
                   const uint vectors) {
  const size_t i = get_global_id(0), items = get_global_size(0);
  uint4 sum = (uint4)(0);
  for (uint k = 0; k < vectors; ++k) sum += in[i + k * items];
  sums[sum_from + i] = sum.x + sum.y + sum.z + sum.w;
}
