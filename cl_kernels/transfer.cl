// SPDX-License-Identifier: Apache-2.0
// transfer: reads on the device what was transferred.

__kernel void use(__global uint* restrict out, __global const uint* restrict in) {
  out[get_global_id(0)] = in[get_global_id(0)];
}
