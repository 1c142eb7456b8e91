// SPDX-License-Identifier: Apache-2.0
// special: evaluates elementary functions in full, half and native precision, and shows denormals and contraction.
//
// FUNCTION, ARGUMENTS   what is called, such as native_sin, and with how many arguments: 1 or 2
#ifdef EDITOR
#define FUNCTION native_sin
#define ARGUMENTS 1
#elif !defined(FUNCTION) || !defined(ARGUMENTS)
#error "special.cl needs FUNCTION and ARGUMENTS from the host"
#endif

#define full_divide(x, y) ((x) / (y))

#if ARGUMENTS == 2
#define VALUE(x, y) FUNCTION(x, y)
#else
#define VALUE(x, y) FUNCTION(x)
#endif

// Evaluates one value of the sweep, and the sum of `iterations` values at points of a grid that are known in advance.
// All of its points are exact. Both arguments change, or a compiler might hoist what depends on one of them.
__kernel void evaluate(__global float* restrict values, __global float* restrict sums,
                       __global const float* restrict xs,
#if ARGUMENTS == 2
                       __global const float* restrict ys,
#endif
                       const float first, const float step, const uint points, const uint iterations) {
  const size_t i = get_global_id(0);
  float x = first + step * (float)((uint)i % points);
#if ARGUMENTS == 2
  const float mirror = 2.0f * first + 1.0f;
#endif
  float sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
  for (uint k = 0; k < iterations; k += 4) {
    const float x1 = x + step, x2 = x1 + step, x3 = x2 + step;
    sum0 += VALUE(x, mirror - x);
    sum1 += VALUE(x1, mirror - x1);
    sum2 += VALUE(x2, mirror - x2);
    sum3 += VALUE(x3, mirror - x3);
    x = x3 + step;
  }
  sums[i] = (sum0 + sum1) + (sum2 + sum3);
  values[i] = VALUE(xs[i], ys[i]);
}

__kernel void denormals(__global float* restrict out, __global const float* restrict a,
                        __global const float* restrict b) {
  const size_t i = get_global_id(0);
  out[i] = a[i] * b[i];
}

__kernel void contraction(__global float* restrict out, __global const float* restrict a,
                          __global const float* restrict b, __global const float* restrict c) {
  const size_t i = get_global_id(0);
  out[i] = a[i] * b[i] + c[i];
}
