// SPDX-License-Identifier: Apache-2.0
// harness: work of a known shape, for the harness itself: to certify a device's timer.

// `trips` dependent steps per item: twice the trips take twice the time on any device. The xor keeps a
// compiler from folding the linear steps into one.
__kernel void spin(__global uint* out, const uint trips) {
  uint x = (uint)get_global_id(0);
  for (uint i = 0; i < trips; ++i) x = (x ^ (x >> 7)) * 1664525u + 1013904223u;
  out[get_global_id(0)] = x;
}
