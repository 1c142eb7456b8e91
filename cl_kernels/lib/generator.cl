// SPDX-License-Identifier: Apache-2.0
// generator: keeps the device busy by a linear congruential generator (constants of Numerical Recipes).
#pragma once

// Returns x after so many steps.
uint after(uint x, const uint steps) {
  for (uint i = 0; i < steps; ++i) x = x * 1664525u + 1013904223u;
  return x;
}

// Computes in registers alone.
__kernel void compute(__global uint* restrict out, const uint seed, const uint iterations) {
  out[get_global_id(0)] = after(seed + (uint)get_global_id(0), iterations);
}
