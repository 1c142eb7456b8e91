// SPDX-License-Identifier: Apache-2.0
// generator: keeps the device busy by a linear congruential generator (constants of Numerical Recipes).
#pragma once

// Computes in registers alone.
__kernel void compute(__global uint* restrict out, const uint seed, const uint iterations) {
  uint x = seed + (uint)get_global_id(0);
  for (uint i = 0; i < iterations; ++i) x = x * 1664525u + 1013904223u;
  out[get_global_id(0)] = x;
}
