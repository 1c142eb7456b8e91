// SPDX-License-Identifier: Apache-2.0
// subgroup: products by a sub-group of Intel's, cl_intel_subgroup_matrix_multiply_accumulate.
//
// FORMAT_HALF, FORMAT_BF16 ..   one of these is defined, see elements.cl
// SUBGROUP                      work-items: 8 or 16
#pragma once
#ifdef EDITOR
#define FORMAT_BF16
#define SUBGROUP 16
#elif !defined(SUBGROUP)
#error "subgroup.cl needs SUBGROUP from the host"
#endif
#include "matrix_units/elements.cl"

#define LANES SUBGROUP
#define ROWS 8
#define COLUMNS SUBGROUP
#define A_WORDS 8
#define B_WORDS 8

// Defines words, or halves of words, of each row in a lane, and of TF32 every second row; and a lane's
// column.
#if defined(FORMAT_TF32)
typedef uint4 A;
typedef float4 Left;
typedef float8 Right;
#define AS_LEFT as_float4
#define AS_RIGHT as_float8
#elif SUBGROUP == 16
typedef ushort8 A;
typedef short8 Left;
typedef int8 Right;
#define AS_LEFT as_short8
#define AS_RIGHT as_int8
#else
typedef uint8 A;
typedef int8 Left;
typedef int8 Right;
#define AS_LEFT as_int8
#define AS_RIGHT as_int8
#endif
typedef uint8 B;
#if defined(FORMAT_INT8) || defined(FORMAT_INT4)
typedef int8 Sums;
#else
typedef float8 Sums;
#endif

#if defined(FORMAT_HALF)
#define MATRIX_MAD intel_sub_group_f16_f16_matrix_mad_k16
#elif defined(FORMAT_BF16)
#define MATRIX_MAD intel_sub_group_bf16_bf16_matrix_mad_k16
#elif defined(FORMAT_TF32)
#define MATRIX_MAD intel_sub_group_tf32_tf32_matrix_mad_k8
#elif defined(FORMAT_INT8)
#define MATRIX_MAD intel_sub_group_i8_i8_matrix_mad_k32
#else
#define MATRIX_MAD intel_sub_group_i4_i4_matrix_mad_k64
#endif
#if defined(FORMAT_TF32)
#if !defined(cl_intel_subgroup_matrix_multiply_accumulate_tf32)
#error "unsupported: format=tf32 needs cl_intel_subgroup_matrix_multiply_accumulate_tf32"
#endif
// Declares functions that some of Intel's compilers have and do not report.
#elif defined(EDITOR) || \
    (defined(cl_intel_subgroups_short) && !defined(cl_intel_subgroup_matrix_multiply_accumulate))
Sums __attribute__((overloadable)) MATRIX_MAD(Left a, Right b, Sums d);
#endif
#define MULTIPLY(d, a, b) d = MATRIX_MAD(AS_LEFT(a), AS_RIGHT(b), d)

#if defined(FORMAT_TF32)
A load_a(__global const Word* rows, const uint lane) {
  return (A)(rows[lane], rows[lane + 16], rows[lane + 32], rows[lane + 48]);
}
#else
A load_a(__global const Word* rows, const uint lane) {
#if SUBGROUP == 16
  __global const ushort* r = (__global const ushort*)rows + lane;
#else
  __global const uint* r = rows + lane;
#endif
  return (A)(r[0], r[LANES], r[2 * LANES], r[3 * LANES], r[4 * LANES], r[5 * LANES], r[6 * LANES],
             r[7 * LANES]);
}
#endif

B load_b(__global const Word* columns, const uint lane) { return vload8(lane, columns); }

#if !defined(FORMAT_TF32) && SUBGROUP == 16
A changed(const A a, const A change, const Word mask) { return a ^ (change & (ushort)mask); }
#else
A changed(const A a, const A change, const Word mask) { return a ^ (change & mask); }
#endif

Sums start(const Sum x) { return (Sums)(x); }

void store(__global Sum* tile, const uint lane, const Sums d) {
  Sum column[8];
  vstore8(d, 0, column);
#pragma unroll
  for (uint i = 0; i < 8; ++i) tile[i * COLUMNS + lane] = column[i];
}
