// SPDX-License-Identifier: Apache-2.0
// harness: does work of a known length, to certify a device's timer, and of a known result, to certify launches.

// Computes a dependent chain of `iterations` steps per work-item: twice the steps take twice the time on any device.
// The xor keeps a compiler from folding the linear steps into one.
__kernel void spin(__global uint* out, const uint iterations) {
  uint x = (uint)get_global_id(0);
  for (uint i = 0; i < iterations; ++i) x = (x ^ (x >> 7)) * 1664525u + 1013904223u;
  out[get_global_id(0)] = x;
}

// Adds one to each number, so that every launch shows.
__kernel void count(__global uint* numbers) { numbers[get_global_id(0)] += 1; }

// Copies, to tell what the device moves at most.
__kernel void move(__global uint4* to, __global const uint4* from) {
  to[get_global_id(0)] = from[get_global_id(0)];
}
