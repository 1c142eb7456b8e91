// SPDX-License-Identifier: Apache-2.0
// toy: doubles numbers.
#ifndef FACTOR
#error "toy.cl needs FACTOR: see host/families/toy.cpp"
#endif

__kernel void toy(__global uint* restrict out, __global const uint* restrict in) {
  out[get_global_id(0)] = in[get_global_id(0)] * FACTOR;
}
