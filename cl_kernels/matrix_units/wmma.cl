// SPDX-License-Identifier: Apache-2.0
// wmma: products by a wavefront of AMD's Radeon, WMMA.
//
// FORMAT_HALF, FORMAT_BF16 ..   one of these is defined, see elements.cl
#pragma once
#ifdef EDITOR
#define FORMAT_BF16
#endif
#include "matrix_units/elements.cl"

#define LANES 32
#define ROWS 16
#define COLUMNS 16

#if defined(__GFX12__)
#define PARTS 2
#define ON_RADEON(name) __builtin_amdgcn_wmma_##name##_w32_gfx12
#elif defined(__GFX11__) || defined(EDITOR)
// Each half of the wavefront holds all of A and of B.
#define PARTS 1
#define ON_RADEON(name) __builtin_amdgcn_wmma_##name##_w32
#if defined(FORMAT_E4M3) || defined(FORMAT_E5M2)
#error "unsupported: WMMA has this format since the Radeon RX 9000"
#endif
#else
#error "unsupported: path=wmma needs AMD's compiler for a Radeon RX 7000 or later"
#endif

#if defined(FORMAT_HALF) || defined(FORMAT_BF16)
#define A_WORDS 8
#elif defined(FORMAT_INT4)
#define A_WORDS 2
#else
#define A_WORDS 4
#endif
#define B_WORDS A_WORDS
#if A_WORDS / PARTS == 8
typedef uint8 A;
#define AS_HALVES(x) as_half16(x)
#define AS_SHORTS(x) as_short16(x)
#elif A_WORDS / PARTS == 4
typedef uint4 A;
#define AS_HALVES(x) as_half8(x)
#define AS_SHORTS(x) as_short8(x)
#define AS_INTS(x) as_int4(x)
#elif A_WORDS / PARTS == 2
typedef uint2 A;
#define AS_INTS(x) as_int2(x)
#else
typedef uint A;
#define AS_INTS(x) as_int(x)
#endif
typedef A B;
#if defined(FORMAT_INT8) || defined(FORMAT_INT4)
typedef int8 Sums;
#else
typedef float8 Sums;
#endif

A load_a(__global const Word* rows, const uint lane) {
  return ((__global const A*)(rows + lane % 16 * A_WORDS))[lane / 16 % PARTS];
}

B load_b(__global const Word* columns, const uint lane) { return load_a(columns, lane); }

A changed(const A a, const A change, const Word mask) { return a ^ (change & mask); }

Sums start(const Sum x) { return (Sums)(x); }

#if defined(FORMAT_HALF)
#define MULTIPLY(d, a, b) d = ON_RADEON(f32_16x16x16_f16)(AS_HALVES(a), AS_HALVES(b), d)
#elif defined(FORMAT_BF16)
#define MULTIPLY(d, a, b) d = ON_RADEON(f32_16x16x16_bf16)(AS_SHORTS(a), AS_SHORTS(b), d)
#elif defined(FORMAT_E4M3)
#define MULTIPLY(d, a, b) d = ON_RADEON(f32_16x16x16_fp8_fp8)(AS_INTS(a), AS_INTS(b), d)
#elif defined(FORMAT_E5M2)
#define MULTIPLY(d, a, b) d = ON_RADEON(f32_16x16x16_bf8_bf8)(AS_INTS(a), AS_INTS(b), d)
#elif defined(FORMAT_INT8)
#define MULTIPLY(d, a, b) d = ON_RADEON(i32_16x16x16_iu8)(1, AS_INTS(a), 1, AS_INTS(b), d, 0)
#else
#define MULTIPLY(d, a, b) d = ON_RADEON(i32_16x16x16_iu4)(1, AS_INTS(a), 1, AS_INTS(b), d, 0)
#endif

// A lane holds eight sums of a column: every second, but neighbours since the Radeon RX 9000.
void store(__global Sum* tile, const uint lane, const Sums d) {
#if PARTS == 1
  const uint row = lane / 16, step = 2;
#else
  const uint row = lane / 16 * 8, step = 1;
#endif
  Sum column[8];
  vstore8(d, 0, column);
#pragma unroll
  for (uint i = 0; i < 8; ++i) tile[(row + i * step) * COLUMNS + lane % 16] = column[i];
}
