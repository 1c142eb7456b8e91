// SPDX-License-Identifier: Apache-2.0
// special: evaluates elementary functions in full, half and native precision, and shows denormals and contraction.
//
// FUNCTION, ARGUMENTS   what is called, such as native_sin, and with how many arguments: 1 or 2
// PATH                  of bits alone: 0: full precision, 1: half, 2: native
#ifdef EDITOR
#define PATH 0
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

#ifdef PATH
#if PATH == 0
#define OF_PATH(name) name
#define QUOTIENT(x, y) ((x) / (y))
#elif PATH == 1
#define OF_PATH(name) half_##name
#define QUOTIENT(x, y) half_divide(x, y)
#else
#define OF_PATH(name) native_##name
#define QUOTIENT(x, y) native_divide(x, y)
#endif

// Evaluates all functions, each at arguments of its own.
__kernel void bits(__global float* restrict of_sin, __global float* restrict of_exp, __global float* restrict of_log,
                   __global float* restrict of_rsqrt, __global float* restrict of_sqrt,
                   __global float* restrict of_divide, __global float* restrict of_powr,
                   __global const float* restrict sin_x, __global const float* restrict exp_x,
                   __global const float* restrict log_x, __global const float* restrict rsqrt_x,
                   __global const float* restrict sqrt_x, __global const float* restrict divide_x,
                   __global const float* restrict divide_y, __global const float* restrict powr_x,
                   __global const float* restrict powr_y) {
  const size_t i = get_global_id(0);
  of_sin[i] = OF_PATH(sin)(sin_x[i]);
  of_exp[i] = OF_PATH(exp)(exp_x[i]);
  of_log[i] = OF_PATH(log)(log_x[i]);
  of_rsqrt[i] = OF_PATH(rsqrt)(rsqrt_x[i]);
  of_sqrt[i] = OF_PATH(sqrt)(sqrt_x[i]);
  of_divide[i] = QUOTIENT(divide_x[i], divide_y[i]);
  of_powr[i] = OF_PATH(powr)(powr_x[i], powr_y[i]);
}
#endif
