// SPDX-License-Identifier: Apache-2.0
// transfer: what arrived on the device is read there.

__kernel void use(__global uint* restrict out, __global const uint* restrict in) {
  out[get_global_id(0)] = in[get_global_id(0)];
}
