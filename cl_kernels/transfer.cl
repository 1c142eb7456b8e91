// SPDX-License-Identifier: Apache-2.0
// transfer: reads on the device what was transferred, or host memory where it is.

__kernel void use(__global uint* restrict out, __global const uint* restrict in) {
  out[get_global_id(0)] = in[get_global_id(0)];
}

// Adds up `each` words per work-item, neighbours' next to each other.
__kernel void sum(__global uint* restrict out, __global const uint* restrict in, const uint each) {
  const size_t item = get_global_id(0), items = get_global_size(0);
  uint total = 0;
  for (uint i = 0; i < each; ++i) total += in[item + i * items];
  out[item] = total;
}
