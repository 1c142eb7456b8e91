// SPDX-License-Identifier: Apache-2.0
// vector_width: computes chains of multiply-adds, or of integer divisions or remainders, in vectors.
//
// T, V               element type, and T or a vector of it
// OPERATION          0 x * m + c, 1 x / m + c, 2 x % m + c
// DIVISOR            of a division: 0 another one for each element, 1 an argument, or the number itself
// ILP                vectors of a work-item
#ifdef EDITOR
#define T int
#define V int4
#define OPERATION 1
#define DIVISOR 0
#define ILP 4
#elif !defined(T) || !defined(V) || !defined(OPERATION) || !defined(DIVISOR) || !defined(ILP)
#error "vector_width.cl needs T, V, OPERATION, DIVISOR and ILP from the host"
#endif

// Wraps scalars of 8 and 16 bits, which OpenCL C computes in 32; vectors wrap by themselves.
#if OPERATION == 0
#define STEP(x) (V)((x) * m + c)
#elif OPERATION == 1
#define STEP(x) (V)((x) / m + c)
#else
#define STEP(x) (V)((x) % m + c)
#endif

__kernel void chains(__global V* restrict out, __global const V* restrict in, const T addend, const uint iterations
#if DIVISOR == 0
                     , __global const V* restrict factors
#elif DIVISOR == 1
                     , const T factor
#endif
) {
  const size_t item = get_global_id(0);
#if DIVISOR == 0
  const V m = factors[item];
#elif DIVISOR == 1
  const V m = (V)(factor);
#else
  const V m = (V)(DIVISOR);
#endif
  const V c = (V)(addend);
  V x[ILP];
#pragma unroll
  for (uint k = 0; k < ILP; ++k) x[k] = in[item * ILP + k];
  for (uint i = 0; i < iterations; ++i) {
#pragma unroll
    for (uint k = 0; k < ILP; ++k) x[k] = STEP(x[k]);
  }
#pragma unroll
  for (uint k = 0; k < ILP; ++k) out[item * ILP + k] = x[k];
}
