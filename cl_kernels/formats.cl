// SPDX-License-Identifier: Apache-2.0
// formats: computes chains of x = x * m + c of packed words, in a number format and by one of the paths to it.
//
// ILP                        chains of a work-item
// V, PAIRS                   a word or a vector of them; name of the vector type with twice the elements, halves or
//                            ushorts, of paths that step these
// HALF_BUILTIN, HALF_PTX ..  one of these is defined: format and path
#ifdef EDITOR
#define ILP 4
#define V uint4
#define PAIRS ushort8
#define INT16_BUILTIN
#elif !defined(ILP) || !defined(V)
#error "formats.cl needs ILP and V from the host"
#endif

#define AS_(type, x) as_##type(x)
#define AS(type, x) AS_(type, x)

// Steps two halves.
#if defined(HALF_BUILTIN)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
V step(const V x, const V m, const V c) { return AS(V, fma(AS(PAIRS, x), AS(PAIRS, m), AS(PAIRS, c))); }
#elif defined(HALF_PTX)
uint step(const uint x, const uint m, const uint c) {
  uint y;
  __asm__("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(m), "r"(c));
  return y;
}
#elif defined(HALF_EMULATION)
// Steps floats, rounded to halves after each step.
uint step(const uint x, const uint m, const uint c) {
  uint y;
  vstore_half2_rte(
      fma(vload_half2(0, (const half*)&x), vload_half2(0, (const half*)&m), vload_half2(0, (const half*)&c)), 0,
      (half*)&y);
  return y;
}

// Steps the dot product of four bytes with four, plus a word.
#elif defined(DOT8_EXTENSION)
uint step(const uint x, const uint m, const uint c) { return (uint)dot_4x8packed_ss_int(x, m) + c; }
#elif defined(DOT8_PTX)
uint step(const uint x, const uint m, const uint c) {
  uint y;
  __asm__("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(m), "r"(c));
  return y;
}
#elif defined(DOT8_EMULATION)
uint step(const uint x, const uint m, const uint c) {
  const int4 product = convert_int4(as_char4(x)) * convert_int4(as_char4(m));
  return (uint)(product.x + product.y + product.z + product.w) + c;
}

// Steps two numbers of 16 bits.
#elif defined(INT16_BUILTIN)
V step(const V x, const V m, const V c) { return AS(V, AS(PAIRS, x) * AS(PAIRS, m) + AS(PAIRS, c)); }
#elif defined(INT16_EMULATION)
V step(const V x, const V m, const V c) {
  const V low = (x & 0xFFFFu) * (m & 0xFFFFu) + (c & 0xFFFFu), high = (x >> 16) * (m >> 16) + (c >> 16);
  return (high << 16) | (low & 0xFFFFu);
}

// Steps the low 24 bits of both.
#elif defined(INT24_BUILTIN)
V step(const V x, const V m, const V c) { return mad24(x & 0xFFFFFFu, m & 0xFFFFFFu, c); }
#elif defined(INT24_EMULATION)
V step(const V x, const V m, const V c) { return (x & 0xFFFFFFu) * (m & 0xFFFFFFu) + c; }
#endif

#if defined(MATRIX_HALF_PTX) || defined(MATRIX_HALF_SUBGROUP8) || defined(MATRIX_HALF_SUBGROUP16)
#define MATRIX_HALF
#elif defined(MATRIX_INT8_PTX) || defined(MATRIX_INT8_SUBGROUP8) || defined(MATRIX_INT8_SUBGROUP16)
#define MATRIX_INT8
#endif

#if !defined(MATRIX_HALF) && !defined(MATRIX_INT8)

__kernel void chains(__global V* restrict out, __global const V* restrict in, const uint m, const uint c,
                     const uint iterations) {
  const size_t item = get_global_id(0);
  V x[ILP];
#pragma unroll
  for (uint k = 0; k < ILP; ++k) x[k] = in[item * ILP + k];
  for (uint i = 0; i < iterations; ++i) {
#pragma unroll
    for (uint k = 0; k < ILP; ++k) x[k] = step(x[k], (V)(m), (V)(c));
  }
  V sum = (V)(0);
#pragma unroll
  for (uint k = 0; k < ILP; ++k) sum = sum * 31u + x[k];
  out[item] = sum;
}

#elif defined(MATRIX_HALF_PTX) || defined(MATRIX_INT8_PTX)

// Defines a warp's product: of 16 rows by 8 columns, a lane holds two sums of a row and two of the row eight below.
#if defined(MATRIX_HALF_PTX)
typedef float Sum;
#define MULTIPLY(d, a, b)                                                                                        \
  __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "       \
               "{%0,%1,%2,%3};"                                                                                  \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                  \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#else
typedef int Sum;
#define MULTIPLY(d, a, b)                                                                                        \
  __asm__ volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "         \
               "{%0,%1,%2,%3};"                                                                                  \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                  \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#endif

// Adds A * B to each of a warp's ILP sums, `iterations` times. Both are packed along the dimension that they share:
// eight words a row of A, eight a column of B, one behind the other in `in`.
__kernel void matrices(__global Sum* restrict out, __global const uint* restrict in, const uint iterations) {
  const uint item = (uint)get_global_id(0), lane = item % 32, row = lane / 4, word = lane % 4;
  const uint a[4] = {in[row * 8 + word], in[(row + 8) * 8 + word], in[row * 8 + word + 4],
                     in[(row + 8) * 8 + word + 4]};
  const uint b[2] = {in[128 + row * 8 + word], in[128 + row * 8 + word + 4]};
  Sum d[ILP][4];
#pragma unroll
  for (uint k = 0; k < ILP; ++k) {
#pragma unroll
    for (uint j = 0; j < 4; ++j) d[k][j] = (Sum)(k + 1);
  }
  for (uint i = 0; i < iterations; ++i) {
#pragma unroll
    for (uint k = 0; k < ILP; ++k) MULTIPLY(d[k], a, b);
  }
#pragma unroll
  for (uint k = 0; k < ILP; ++k) {
    __global Sum* tile = &out[(item / 32 * ILP + k) * 128 + row * 8 + word * 2];
    tile[0] = d[k][0];
    tile[1] = d[k][1];
    tile[64] = d[k][2];
    tile[65] = d[k][3];
  }
}

#else

#if defined(MATRIX_HALF)
typedef float Sum;
typedef float8 Sums;
#define MULTIPLY(a, b, d) intel_sub_group_f16_f16_matrix_mad_k16(a, b, d)
#else
typedef int Sum;
typedef int8 Sums;
#define MULTIPLY(a, b, d) intel_sub_group_i8_i8_matrix_mad_k32(a, b, d)
#endif

// Computes the same product by Intel's sub-groups: eight rows by as many columns as they have lanes. Sixteen lanes
// make a tile at once, with its columns for rows; eight make its halves one after the other.
#if defined(MATRIX_HALF_SUBGROUP16) || defined(MATRIX_INT8_SUBGROUP16)
#define LANES 16
#define HALVES 1
#else
#define LANES 8
#define HALVES 2
#endif

// Declares functions that some of Intel's compilers have and do not report.
#if defined(cl_intel_subgroups_short) && !defined(cl_intel_subgroup_matrix_multiply_accumulate)
#if LANES == 16
Sums __attribute__((overloadable)) MULTIPLY(short8 a, int8 b, Sums d);
#else
Sums __attribute__((overloadable)) MULTIPLY(int8 a, int8 b, Sums d);
#endif
#endif

__attribute__((intel_reqd_sub_group_size(LANES)))
__kernel void matrices(__global Sum* restrict out, __global const uint* restrict in, const uint iterations) {
  const uint item = (uint)get_global_id(0), lane = item % LANES;
#if LANES == 16
  __global const short* columns = (__global const short*)(in + 128) + lane;
  const short8 a[HALVES] = {(short8)(columns[0], columns[16], columns[32], columns[48], columns[64], columns[80],
                                     columns[96], columns[112])};
  const int8 b = as_int8(vload8(lane, in));
#else
  int8 a[HALVES];
  for (uint h = 0; h < HALVES; ++h) {
    __global const uint* rows = in + h * 64 + lane;
    a[h] = as_int8((uint8)(rows[0], rows[8], rows[16], rows[24], rows[32], rows[40], rows[48], rows[56]));
  }
  const int8 b = as_int8(vload8(lane, in + 128));
#endif
  Sums d[ILP][HALVES];
#pragma unroll
  for (uint k = 0; k < ILP; ++k) {
#pragma unroll
    for (uint h = 0; h < HALVES; ++h) d[k][h] = (Sums)((Sum)(k + 1));
  }
  for (uint i = 0; i < iterations; ++i) {
#pragma unroll
    for (uint k = 0; k < ILP; ++k) {
#pragma unroll
      for (uint h = 0; h < HALVES; ++h) d[k][h] = MULTIPLY(a[h], b, d[k][h]);
    }
  }
#pragma unroll
  for (uint k = 0; k < ILP; ++k) {
    __global Sum* tile = out + (item / LANES * ILP + k) * 128;
#if LANES == 16
    vstore8(d[k][0], lane, tile);
#else
    for (uint h = 0; h < HALVES; ++h) {
      Sum column[8];
      vstore8(d[k][h], 0, column);
      for (uint row = 0; row < 8; ++row) tile[(h * 8 + row) * 8 + lane] = column[row];
    }
#endif
  }
}

#endif
