// SPDX-License-Identifier: Apache-2.0
// build: has a kernel of a chosen length, for a compiler.
//
// STATEMENTS, BUILD_NUMBER    of the kernel; a number that differs from build to build, so that no cache has the program
#ifdef EDITOR
#define STATEMENTS 64
#elif !defined(STATEMENTS)
#error "build.cl needs STATEMENTS from the host"
#endif
#if !defined(BUILD_NUMBER)
#define BUILD_NUMBER 0u
#endif

// Defines statement k. No two are equal, and each needs the one before: nothing is merged, hoisted or left out.
#define DO_1(k) x = (x ^ (x >> 15)) * (2u * (k) + 1u) + (x >> 7);
#define DO_2(k) DO_1(k) DO_1(k + 1u)
#define DO_4(k) DO_2(k) DO_2(k + 2u)
#define DO_8(k) DO_4(k) DO_4(k + 4u)
#define DO_16(k) DO_8(k) DO_8(k + 8u)
#define DO_32(k) DO_16(k) DO_16(k + 16u)
#define DO_64(k) DO_32(k) DO_32(k + 32u)
#define DO_128(k) DO_64(k) DO_64(k + 64u)
#define DO_256(k) DO_128(k) DO_128(k + 128u)
#define DO_512(k) DO_256(k) DO_256(k + 256u)
#define DO_1024(k) DO_512(k) DO_512(k + 512u)
#define DO_OF(n, k) DO_##n(k)
#define DO(n) DO_OF(n, 1u)

// Gets BUILD_NUMBER as `nonce`: where the program is another build's, the result is wrong.
__kernel void built(__global uint* restrict out, const uint seed, const uint nonce) {
  uint x = seed + (uint)get_global_id(0) + (BUILD_NUMBER ^ nonce);
  DO(STATEMENTS)
  out[get_global_id(0)] = x;
}
