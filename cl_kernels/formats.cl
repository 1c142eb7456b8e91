// SPDX-License-Identifier: Apache-2.0
// formats: chains of one operation in a number format, by one of the paths to it; x = x * m + c of packed words.
//
// ILP                        set by host/families/formats.cpp: chains of an item
// HALF_BUILTIN, HALF_PTX ..  one of these: format and path
#if !defined(ILP)
#error "formats.cl needs ILP: see host/families/formats.cpp"
#endif

// Two halves.
#if defined(HALF_BUILTIN)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
uint step(const uint x, const uint m, const uint c) { return as_uint(fma(as_half2(x), as_half2(m), as_half2(c))); }
#elif defined(HALF_PTX)
uint step(const uint x, const uint m, const uint c) {
  uint y;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(m), "r"(c));
  return y;
}
#elif defined(HALF_EMULATION)
// As floats, rounded to halves after each step.
uint step(const uint x, const uint m, const uint c) {
  uint y;
  vstore_half2_rte(fma(vload_half2(0, (const half*)&x), vload_half2(0, (const half*)&m), vload_half2(0, (const half*)&c)), 0,
                   (half*)&y);
  return y;
}

// Four bytes times four, their sum and one word more.
#elif defined(DOT8_EXTENSION)
uint step(const uint x, const uint m, const uint c) { return (uint)dot_4x8packed_ss_int(x, m) + c; }
#elif defined(DOT8_PTX)
uint step(const uint x, const uint m, const uint c) {
  uint y;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(m), "r"(c));
  return y;
}
#elif defined(DOT8_EMULATION)
uint step(const uint x, const uint m, const uint c) {
  const int4 product = convert_int4(as_char4(x)) * convert_int4(as_char4(m));
  return (uint)(product.x + product.y + product.z + product.w) + c;
}

// Two numbers of 16 bits.
#elif defined(INT16_BUILTIN)
uint step(const uint x, const uint m, const uint c) { return as_uint(as_ushort2(x) * as_ushort2(m) + as_ushort2(c)); }
#elif defined(INT16_EMULATION)
uint step(const uint x, const uint m, const uint c) {
  const uint low = (x & 0xFFFFu) * (m & 0xFFFFu) + (c & 0xFFFFu), high = (x >> 16) * (m >> 16) + (c >> 16);
  return (high << 16) | (low & 0xFFFFu);
}

// The low 24 bits of both.
#elif defined(INT24_BUILTIN)
uint step(const uint x, const uint m, const uint c) { return mad24(x & 0xFFFFFFu, m & 0xFFFFFFu, c); }
#elif defined(INT24_EMULATION)
uint step(const uint x, const uint m, const uint c) { return (x & 0xFFFFFFu) * (m & 0xFFFFFFu) + c; }
#endif

#if !defined(MATRIX_HALF_PTX) && !defined(MATRIX_INT8_PTX)

__kernel void chains(__global uint* restrict out, __global const uint* restrict in, const uint m, const uint c,
                     const uint trips) {
  const size_t item = get_global_id(0);
  uint x[ILP];
#pragma unroll
  for (uint k = 0; k < ILP; ++k) x[k] = in[item * ILP + k];
  for (uint i = 0; i < trips; ++i) {
#pragma unroll
    for (uint k = 0; k < ILP; ++k) x[k] = step(x[k], m, c);
  }
  uint sum = 0;
#pragma unroll
  for (uint k = 0; k < ILP; ++k) sum = sum * 31u + x[k];
  out[item] = sum;
}

#else

// Of 16 rows by 8 columns, a lane holds two of a row and two of the row eight below.
#if defined(MATRIX_HALF_PTX)
typedef float Sum;
#define MULTIPLY(d, a, b)                                                                                        \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "       \
               "{%0,%1,%2,%3};"                                                                                  \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                  \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#else
typedef int Sum;
#define MULTIPLY(d, a, b)                                                                                        \
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "         \
               "{%0,%1,%2,%3};"                                                                                  \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                  \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#endif

// Adds A * B to each of a warp's ILP sums, `trips` times. Both are packed along the dimension that they share: eight
// words a row of A, eight a column of B, one behind the other in `in`.
__kernel void matrices(__global Sum* restrict out, __global const uint* restrict in, const uint trips) {
  const uint item = (uint)get_global_id(0), lane = item % 32, row = lane / 4, word = lane % 4;
  const uint a[4] = {in[row * 8 + word], in[(row + 8) * 8 + word], in[row * 8 + word + 4], in[(row + 8) * 8 + word + 4]};
  const uint b[2] = {in[128 + row * 8 + word], in[128 + row * 8 + word + 4]};
  Sum d[ILP][4];
#pragma unroll
  for (uint k = 0; k < ILP; ++k) {
#pragma unroll
    for (uint j = 0; j < 4; ++j) d[k][j] = (Sum)(k + 1);
  }
  for (uint i = 0; i < trips; ++i) {
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

#endif
