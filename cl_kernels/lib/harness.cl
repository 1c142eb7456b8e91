// SPDX-License-Identifier: Apache-2.0
// harness: does work of a known length, to certify a device's timer.

// Computes a dependent chain of `iterations` steps per work-item: twice the steps take twice the time on any device.
// The xor keeps a compiler from folding the linear steps into one.
__kernel void spin(__global uint* out, const uint iterations) {
  uint x = (uint)get_global_id(0);
  for (uint i = 0; i < iterations; ++i) x = (x ^ (x >> 7)) * 1664525u + 1013904223u;
  out[get_global_id(0)] = x;
}
