// SPDX-License-Identifier: Apache-2.0
// arithmetic: computes ILP independent chains of x = x * scale + shift per work-item.
//
// T, V               element type, and T or a vector of it
// OPERATION          0 mad, 1 fma, 2 a product, then a sum; integers have only the last
// ILP, UNROLL        chains of a work-item; steps of each per iteration of the loop
#ifdef EDITOR
#define T float
#define V float4
#define OPERATION 1
#define ILP 4
#define UNROLL 4
#elif !defined(T) || !defined(V) || !defined(OPERATION) || !defined(ILP) || !defined(UNROLL)
#error "arithmetic.cl needs T, V, OPERATION, ILP and UNROLL from the host"
#endif

#if OPERATION == 0
#define STEP(x) mad(x, (V)(scale), (V)(shift))
#elif OPERATION == 1
#define STEP(x) fma(x, (V)(scale), (V)(shift))
#else
#pragma OPENCL FP_CONTRACT OFF
#define STEP(x) ((x) * (V)(scale) + (V)(shift))
#endif

// Starts the chains at different values, as compilers compute equal ones once; scale and shift are arguments, as a
// compiler that knew them would fold the chain.
__kernel void chains(__global V* restrict out, __global const V* restrict in, const T scale, const T shift,
                     const uint iterations) {
  const size_t item = get_global_id(0);
  V x[ILP];
#pragma unroll
  for (uint k = 0; k < ILP; ++k) x[k] = in[item] + (V)((T)k);
  for (uint i = 0; i < iterations; ++i) {
#pragma unroll
    for (uint u = 0; u < UNROLL; ++u) {
#pragma unroll
      for (uint k = 0; k < ILP; ++k) x[k] = STEP(x[k]);
    }
  }
#pragma unroll
  for (uint k = 1; k < ILP; ++k) x[0] += x[k];
  out[item] = x[0];
}
