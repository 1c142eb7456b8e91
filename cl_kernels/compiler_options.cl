// SPDX-License-Identifier: Apache-2.0
// compiler_options: six small kernels that compilers optimise differently. Built with various options by the host.
//
// All take `x`, of each work-item, and `t`, which all work-items read, from a grid on which x + t is exact. Sums are of
// positive terms, so that they cannot cancel.

__kernel void special(__global float* restrict out, __global const float* restrict x, __global const float* restrict t,
                      const uint iterations) {
  const size_t i = get_global_id(0);
  const float mine = x[i];
  float sum = 0.0f;
  for (uint k = 0; k < iterations; ++k) {
    const float y = mine + t[k];
    sum += exp(y - 1.0f) * sin(y) + log(y + 2.0f);
  }
  out[i] = sum;
}

__kernel void dot_product(__global float* restrict out, __global const float* restrict x,
                          __global const float* restrict t, const uint iterations) {
  const size_t i = get_global_id(0);
  float sum = 0.0f;
  for (uint k = 0; k < iterations; ++k) sum += x[i + k] * t[k];
  out[i] = sum;
}

// Sums one component of a force that falls with the square of the distance, as simulations of n bodies do.
__kernel void n_body(__global float* restrict out, __global const float* restrict x, __global const float* restrict t,
                     const uint iterations) {
  const size_t i = get_global_id(0);
  const float mine = x[i];
  float sum = 0.0f;
  for (uint k = 0; k < iterations; ++k) {
    const float dx = mine + t[k], dy = mine + t[k + 1], dz = mine + t[k + 2];
    const float inverse = rsqrt(dx * dx + dy * dy + dz * dz);
    sum += dx * (inverse * inverse * inverse);
  }
  out[i] = sum;
}

__kernel void divide(__global float* restrict out, __global const float* restrict x, __global const float* restrict t,
                     const uint iterations) {
  const size_t i = get_global_id(0);
  const float mine = x[i];
  float sum = 0.0f;
  for (uint k = 0; k < iterations; ++k) sum += t[k] / (mine + t[k]);
  out[i] = sum;
}

// Evaluates a polynomial of `iterations` coefficients by Horner's rule.
__kernel void polynomial(__global float* restrict out, __global const float* restrict x,
                         __global const float* restrict t, const uint iterations) {
  const size_t i = get_global_id(0);
  const float mine = x[i];
  float value = 0.0f;
  for (uint k = 0; k < iterations; ++k) value = value * mine + t[k];
  out[i] = value;
}

// Takes branches and inner loops by an integer, so that rounding never decides which.
__kernel void branches(__global float* restrict out, __global const float* restrict x, __global const float* restrict t,
                       const uint iterations) {
  const size_t i = get_global_id(0);
  const float factor = 0.5f * x[i];
  uint state = as_uint(factor);
  float value = 1.0f;
  for (uint k = 0; k < iterations; ++k) {
    state = state * 1664525u + 1013904223u;
    const uint turns = state >> 30;
    if (turns == 0) value = value * 0.25f + t[k];
    for (uint turn = 0; turn < turns; ++turn) value = value * factor + t[k + turn];
  }
  out[i] = value;
}
