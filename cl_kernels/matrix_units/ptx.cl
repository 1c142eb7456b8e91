// SPDX-License-Identifier: Apache-2.0
// ptx: products by a warp of NVIDIA's, mma.sync of PTX and, of matrices with zeros, mma.sp.
//
// FORMAT_HALF, FORMAT_BF16 ..   one of these is defined, see elements.cl
// SPARSE                        1: mma.sp
#pragma once
#ifdef EDITOR
#define FORMAT_BF16
#define SPARSE 1
#elif !defined(SPARSE)
#error "ptx.cl needs SPARSE from the host"
#endif
#include "matrix_units/elements.cl"

#define LANES 32
#define ROWS 16
#define COLUMNS 8
#if defined(FORMAT_DOUBLE)
#define A_WORDS 16
#else
#define A_WORDS 8
#endif
#define B_WORDS (A_WORDS << SPARSE)
#define A_PART (A_WORDS / 2)
#define B_PART (B_WORDS / 4)

// Holds every fourth word of a row and of the row eight below, in turns.
typedef struct {
  Word w[A_PART];
} A;
// Holds every fourth word of a column.
typedef struct {
  Word w[B_PART];
} B;

A load_a(__global const Word* rows, const uint lane) {
  A a;
#pragma unroll
  for (uint i = 0; i < A_PART; ++i) a.w[i] = rows[(lane / 4 + i % 2 * 8) * A_WORDS + lane % 4 + i / 2 * 4];
  return a;
}

B load_b(__global const Word* columns, const uint lane) {
  B b;
#pragma unroll
  for (uint i = 0; i < B_PART; ++i) b.w[i] = columns[lane / 4 * B_WORDS + lane % 4 + i * 4];
  return b;
}

A changed(A a, const A change, const Word mask) {
#pragma unroll
  for (uint i = 0; i < A_PART; ++i) a.w[i] ^= change.w[i] & mask;
  return a;
}

// Defines Sums: two of a row and two of the row eight below.
#if defined(FORMAT_HALF_HALF)
typedef struct {
  uint w[2];
} Sums;

Sums start(const Sum x) {
  Sums d;
  vstore_half2((float2)(x, x), 0, (half*)&d.w[0]);
  d.w[1] = d.w[0];
  return d;
}

Sum sum_of(const Sums* d, const uint i) { return vload_half(i % 2, (const half*)&d->w[i / 2]); }

#define MULTIPLY(d, a, b)                                                                           \
  __asm__ volatile(                                                                                 \
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" \
      : "+r"((d).w[0]), "+r"((d).w[1])                                                              \
      : "r"((a).w[0]), "r"((a).w[1]), "r"((a).w[2]), "r"((a).w[3]), "r"((b).w[0]), "r"((b).w[1]))

#else
typedef struct {
  Sum w[4];
} Sums;

Sums start(const Sum x) {
  const Sums d = {{x, x, x, x}};
  return d;
}

Sum sum_of(const Sums* d, const uint i) { return d->w[i]; }

#if defined(FORMAT_DOUBLE)
#define MULTIPLY(d, a, b)                                                             \
  __asm__ volatile(                                                                   \
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "             \
      "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"                \
      : "+d"((d).w[0]), "+d"((d).w[1]), "+d"((d).w[2]), "+d"((d).w[3])                \
      : "d"(as_double((a).w[0])), "d"(as_double((a).w[1])), "d"(as_double((a).w[2])), \
        "d"(as_double((a).w[3])), "d"(as_double((a).w[4])), "d"(as_double((a).w[5])), \
        "d"(as_double((a).w[6])), "d"(as_double((a).w[7])), "d"(as_double((b).w[0])), \
        "d"(as_double((b).w[1])), "d"(as_double((b).w[2])), "d"(as_double((b).w[3])))
#else

#if defined(FORMAT_HALF)
#define SHAPES "m16n8k16", "m16n8k32", "f32.f16.f16.f32"
#elif defined(FORMAT_BF16)
#define SHAPES "m16n8k16", "m16n8k32", "f32.bf16.bf16.f32"
#elif defined(FORMAT_TF32)
#define SHAPES "m16n8k8", "m16n8k16", "f32.tf32.tf32.f32"
#elif defined(FORMAT_E4M3)
#define SHAPES "m16n8k32", "m16n8k64", "f32.e4m3.e4m3.f32"
#elif defined(FORMAT_E5M2)
#define SHAPES "m16n8k32", "m16n8k64", "f32.e5m2.e5m2.f32"
#elif defined(FORMAT_INT8)
#define SHAPES "m16n8k32", "m16n8k64", "s32.s8.s8.s32"
#elif defined(FORMAT_INT4)
#define SHAPES "m16n8k64", "m16n8k128", "s32.s4.s4.s32"
#endif
#if defined(FORMAT_INT8) || defined(FORMAT_INT4)
#define REGISTER "+r"
#else
#define REGISTER "+f"
#endif

#define PLAIN_(plain, sparse, types) "mma.sync.aligned." plain ".row.col." types
#define SPARSE_(plain, sparse, types) "mma.sp.sync.aligned." sparse ".row.col." types
#define EXPANDED(macro, ...) macro(__VA_ARGS__)
#if SPARSE
#define MULTIPLY(d, a, b) \
  __asm__ volatile(EXPANDED(SPARSE_, SHAPES) " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, "       \
                                             "%12, 0x0;"                                                             \
                   : REGISTER((d).w[0]), REGISTER((d).w[1]), REGISTER((d).w[2]), REGISTER((d).w[3])                  \
                   : "r"((a).w[0]), "r"((a).w[1]), "r"((a).w[2]), "r"((a).w[3]), "r"((b).w[0]), "r"((b).w[1]),       \
                     "r"((b).w[2]), "r"((b).w[3]), "r"(places))
#else
#define MULTIPLY(d, a, b)                                                                            \
  __asm__ volatile(EXPANDED(PLAIN_, SHAPES) " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                   : REGISTER((d).w[0]), REGISTER((d).w[1]), REGISTER((d).w[2]), REGISTER((d).w[3])  \
                   : "r"((a).w[0]), "r"((a).w[1]), "r"((a).w[2]), "r"((a).w[3]), "r"((b).w[0]),      \
                     "r"((b).w[1]))
#endif
#endif
#endif

void store(__global Sum* tile, const uint lane, const Sums d) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) tile[(lane / 4 + i / 2 * 8) * COLUMNS + lane % 4 * 2 + i % 2] = sum_of(&d, i);
}
