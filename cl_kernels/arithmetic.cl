// SPDX-License-Identifier: Apache-2.0
// arithmetic: ILP independent chains of x = x * scale + shift per item.
//
// Set by host/families/arithmetic.cpp:
// T, V               element type, and T or a vector of it
// OPERATION          0 mad, 1 fma, 2 a product, then a sum; whole numbers know only the last
// ILP, UNROLL        chains of an item; steps of each per turn of the loop
#if !defined(T) || !defined(V) || !defined(OPERATION) || !defined(ILP) || !defined(UNROLL)
#error "arithmetic.cl needs T, V, OPERATION, ILP and UNROLL: see host/families/arithmetic.cpp"
#endif

#if OPERATION == 0
#define STEP(x) mad(x, (V)(scale), (V)(shift))
#elif OPERATION == 1
#define STEP(x) fma(x, (V)(scale), (V)(shift))
#else
#pragma OPENCL FP_CONTRACT OFF
#define STEP(x) ((x) * (V)(scale) + (V)(shift))
#endif

// The chains begin at different values, as compilers compute equal ones once; scale and shift come as
// arguments, as a compiler that knew them would fold the chain.
__kernel void chains(__global V* restrict out, __global const V* restrict in, const T scale, const T shift,
                     const uint turns) {
  const size_t item = get_global_id(0);
  V x[ILP];
#pragma unroll
  for (uint k = 0; k < ILP; ++k) x[k] = in[item] + (V)((T)k);
  for (uint i = 0; i < turns; ++i) {
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
