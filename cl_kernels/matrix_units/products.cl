// SPDX-License-Identifier: Apache-2.0
// products: adds products of small matrices to the sums that a sub-group holds, by instructions for whole
// matrices.
//
// FORMAT_HALF, FORMAT_BF16 ..   one of these is defined: format of the factors, see elements.cl
// INSTRUCTIONS                  one of matrix_units/*.cl, which define LANES, work-items of a sub-group;
// ROWS, COLUMNS of
//                               its tile of sums; A_WORDS, B_WORDS, words of a row of A and of a column of B
//                               in memory; A, B, Sums, a work-item's part of both factors and of the sums;
//                               load_a, load_b, changed, start and store, which work on such parts; and
//                               MULTIPLY, which adds a product
// SPARSE                        1: of each four neighbours in a row of A two are stored, the others are zero
// (of
//                               FORMAT_TF32 one of two)
// FIXED                         1: all products have the same factors
// GROUP                         work-items of a work-group
// ILP                           tiles of a sub-group, each of which waits for its own last product only
#ifdef EDITOR
#define FORMAT_BF16
#define INSTRUCTIONS "matrix_units/subgroup.cl"
#define SUBGROUP 16
#define SPARSE 0
#define FIXED 0
#define GROUP 64
#define ILP 4
#elif !defined(SPARSE) || !defined(FIXED) || !defined(GROUP) || !defined(ILP)
#error "products.cl needs SPARSE, FIXED, GROUP and ILP from the host"
#endif
#include INSTRUCTIONS

#ifndef SCALE
#define SCALE 1
#endif

// Reads A, the bits in which its second value differs from the first, and a B for each tile. Product i has
// the second value of A where bit i % 32 of `pattern` is set, so that a compiler that makes up for a missing
// instruction by several others can neither compute them once for all products nor once for all tiles.
// `places` tells which elements are stored if SPARSE.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
#ifdef SUBGROUP
__attribute__((intel_reqd_sub_group_size(SUBGROUP)))
#endif
__kernel void
products(__global Sum* restrict out, __global const Word* restrict in, const uint pattern, const uint places,
         const uint iterations) {
  const uint item = (uint)get_global_id(0), lane = item % LANES;
  (void)places, (void)pattern;  // not each way needs them
  const A first = load_a(in, lane);
  B b[ILP];
  Sums d[ILP];
#pragma unroll
  for (uint k = 0; k < ILP; ++k) {
    b[k] = load_b(in + 2 * ROWS * A_WORDS + (FIXED ? 0 : k) * COLUMNS * B_WORDS, lane);
    d[k] = start((Sum)(k + 1) / SCALE);
  }
#if FIXED
  for (uint i = 0; i < iterations; ++i) {
#pragma unroll
    for (uint k = 0; k < ILP; ++k) MULTIPLY(d[k], first, b[0]);
  }
#else
  const A change = load_a(in + ROWS * A_WORDS, lane);
  uint bits = pattern;
  for (uint i = 0; i < iterations; ++i) {
    const A a = changed(first, change, (Word)0 - (bits & 1));
    bits = rotate(bits, 31u);
#pragma unroll
    for (uint k = 0; k < ILP; ++k) MULTIPLY(d[k], a, b[k]);
  }
#endif
#pragma unroll
  for (uint k = 0; k < ILP; ++k) store(out + (item / LANES * ILP + k) * (ROWS * COLUMNS), lane, d[k]);
}
