// SPDX-License-Identifier: Apache-2.0
// mfma: products by a wavefront of AMD's Instinct, MFMA and, of matrices with zeros, SMFMAC.
//
// FORMAT_HALF, FORMAT_BF16 ..   one of these is defined, see elements.cl
// SPARSE                        1: SMFMAC
#pragma once
#ifdef EDITOR
#define FORMAT_BF16
#define SPARSE 0
#elif !defined(SPARSE)
#error "mfma.cl needs SPARSE from the host"
#endif
#include "matrix_units/elements.cl"

#define LANES 64
#define ROWS 16
#define COLUMNS 16

#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
#define MI300
#endif
#if !defined(__gfx90a__) && !defined(MI300) && !defined(__gfx950__) && !defined(EDITOR)
#error "unsupported: path=mfma needs AMD's compiler for an Instinct MI200 or later"
#elif defined(__gfx90a__) && (SPARSE || defined(FORMAT_TF32) || defined(FORMAT_E4M3) || defined(FORMAT_E5M2))
#error "unsupported: MFMA has this format since the MI300"
#elif defined(__gfx950__) && defined(FORMAT_TF32)
#error "unsupported: MFMA has TF32 on the MI300 alone"
#endif

// Takes exponents of 8-bit numbers for one less, so that each factor is half of what other devices read.
#if defined(MI300) && (defined(FORMAT_E4M3) || defined(FORMAT_E5M2))
#define SCALE 4
#else
#define SCALE 1
#endif

// Defines a quarter of a row and of a column.
#if defined(FORMAT_DOUBLE)
#define A_WORDS 4
#define B_WORDS 4
typedef ulong A;
typedef ulong B;
typedef double4 Sums;
#else
#define A_WORDS 8
#define B_WORDS (A_WORDS << SPARSE)
typedef uint2 A;
#if SPARSE
typedef uint4 B;
#else
typedef uint2 B;
#endif
#if defined(FORMAT_INT8)
typedef int4 Sums;
#else
typedef float4 Sums;
#endif
#endif

A load_a(__global const Word* rows, const uint lane) {
  return ((__global const A*)(rows + lane % 16 * A_WORDS))[lane / 16];
}

B load_b(__global const Word* columns, const uint lane) {
  return ((__global const B*)(columns + lane % 16 * B_WORDS))[lane / 16];
}

A changed(const A a, const A change, const Word mask) { return a ^ (change & mask); }

Sums start(const Sum x) { return (Sums)(x); }

#if SPARSE
#if defined(FORMAT_HALF)
#define MULTIPLY(d, a, b) \
  d = __builtin_amdgcn_smfmac_f32_16x16x32_f16(as_half4(a), as_half8(b), d, (int)places, 0, 0)
#elif defined(FORMAT_BF16)
#define MULTIPLY(d, a, b) \
  d = __builtin_amdgcn_smfmac_f32_16x16x32_bf16(as_short4(a), as_short8(b), d, (int)places, 0, 0)
#elif defined(FORMAT_E4M3)
#define MULTIPLY(d, a, b) \
  d = __builtin_amdgcn_smfmac_f32_16x16x64_fp8_fp8(as_int2(a), as_int4(b), d, (int)places, 0, 0)
#elif defined(FORMAT_E5M2)
#define MULTIPLY(d, a, b) \
  d = __builtin_amdgcn_smfmac_f32_16x16x64_bf8_bf8(as_int2(a), as_int4(b), d, (int)places, 0, 0)
#else
#define MULTIPLY(d, a, b) \
  d = __builtin_amdgcn_smfmac_i32_16x16x64_i8(as_int2(a), as_int4(b), d, (int)places, 0, 0)
#endif
#elif defined(FORMAT_HALF)
#define MULTIPLY(d, a, b) d = __builtin_amdgcn_mfma_f32_16x16x16f16(as_half4(a), as_half4(b), d, 0, 0, 0)
#elif defined(FORMAT_BF16)
#define MULTIPLY(d, a, b) \
  d = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(as_short4(a), as_short4(b), d, 0, 0, 0)
#elif defined(FORMAT_TF32)
#define MULTIPLY(d, a, b) d = __builtin_amdgcn_mfma_f32_16x16x8_xf32(as_float2(a), as_float2(b), d, 0, 0, 0)
#elif defined(FORMAT_E4M3)
#define MULTIPLY(d, a, b) d = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(as_long(a), as_long(b), d, 0, 0, 0)
#elif defined(FORMAT_E5M2)
#define MULTIPLY(d, a, b) d = __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(as_long(a), as_long(b), d, 0, 0, 0)
#elif defined(FORMAT_DOUBLE)
#define MULTIPLY(d, a, b) d = __builtin_amdgcn_mfma_f64_16x16x4f64(as_double(a), as_double(b), d, 0, 0, 0)
#elif defined(__gfx90a__)
// Multiplies one half of the length after the other.
#define MULTIPLY(d, a, b)                   \
  d = __builtin_amdgcn_mfma_i32_16x16x16i8( \
      as_int((a).y), as_int((b).y),         \
      __builtin_amdgcn_mfma_i32_16x16x16i8(as_int((a).x), as_int((b).x), d, 0, 0, 0), 0, 0, 0)
#else
#define MULTIPLY(d, a, b) d = __builtin_amdgcn_mfma_i32_16x16x32_i8(as_long(a), as_long(b), d, 0, 0, 0)
#endif

// A lane holds four sums of a column: neighbours, but every fourth of doubles.
void store(__global Sum* tile, const uint lane, const Sums d) {
#if defined(FORMAT_DOUBLE)
  const uint row = lane / 16, step = 4;
#else
  const uint row = lane / 16 * 4, step = 1;
#endif
  const Sums scaled = d * (Sum)SCALE;
  __global Sum* column = tile + row * COLUMNS + lane % 16;
  column[0] = scaled.x;
  column[step * COLUMNS] = scaled.y;
  column[2 * step * COLUMNS] = scaled.z;
  column[3 * step * COLUMNS] = scaled.w;
}
