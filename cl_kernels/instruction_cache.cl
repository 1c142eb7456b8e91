// SPDX-License-Identifier: Apache-2.0
// instruction_cache: repeats straight-line code of a chosen length.
//
// STATEMENTS   in the body of the loop, a multiple of 64 from 64 to 65536
// CPU          1: for processors: values of 64 bits, as one of their instructions holds such a constant
#ifdef EDITOR
#define STATEMENTS 256
#define CPU 1
#elif !defined(STATEMENTS) || !defined(CPU)
#error "instruction_cache.cl needs STATEMENTS and CPU from the host"
#endif

// Adds a constant to a value and flips bits of its neighbour by the sum. Each statement has a constant of its own and
// needs what others computed, so that a compiler can neither combine two nor make a loop of them.
#if CPU
#define T ulong
#define STATEMENT(to, from, constant) to ^= from + constant##5bd1e995ul;
#else
#define T uint
#define STATEMENT(to, from, constant) to ^= from + constant##u;
#endif

// Defines code of so many statements. Their constants begin with `p`, a hexadecimal digit follows at each level. At most
// three statements in a row depend on each other, so that throughput decides, not latency.
#define CODE_16(p)                                                                                                     \
  STATEMENT(x0, x1, p##0) STATEMENT(x1, x2, p##1) STATEMENT(x2, x3, p##2) STATEMENT(x3, x4, p##3)                      \
  STATEMENT(x4, x5, p##4) STATEMENT(x5, x6, p##5) STATEMENT(x6, x7, p##6) STATEMENT(x7, x0, p##7)                      \
  STATEMENT(x0, x1, p##8) STATEMENT(x1, x2, p##9) STATEMENT(x2, x3, p##a) STATEMENT(x3, x4, p##b)                      \
  STATEMENT(x4, x5, p##c) STATEMENT(x5, x6, p##d) STATEMENT(x6, x7, p##e) STATEMENT(x7, x0, p##f)
#define CODE_64(p) CODE_16(p##0) CODE_16(p##1) CODE_16(p##2) CODE_16(p##3)
#define CODE_128(p) CODE_64(p) CODE_16(p##4) CODE_16(p##5) CODE_16(p##6) CODE_16(p##7)
#define CODE_256(p)                                                                                                    \
  CODE_128(p) CODE_16(p##8) CODE_16(p##9) CODE_16(p##a) CODE_16(p##b)                                                  \
  CODE_16(p##c) CODE_16(p##d) CODE_16(p##e) CODE_16(p##f) NEW_BLOCK(p)
#define CODE_512(p) CODE_256(p##0) CODE_256(p##1)
#define CODE_1024(p) CODE_512(p) CODE_256(p##2) CODE_256(p##3)
#define CODE_2048(p) CODE_1024(p) CODE_256(p##4) CODE_256(p##5) CODE_256(p##6) CODE_256(p##7)
#define CODE_4096(p)                                                                                                   \
  CODE_2048(p) CODE_256(p##8) CODE_256(p##9) CODE_256(p##a) CODE_256(p##b)                                             \
  CODE_256(p##c) CODE_256(p##d) CODE_256(p##e) CODE_256(p##f)
#define CODE_8192(p) CODE_4096(p##0) CODE_4096(p##1)
#define CODE_16384(p) CODE_8192(p) CODE_4096(p##2) CODE_4096(p##3)
#define CODE_32768(p) CODE_16384(p) CODE_4096(p##4) CODE_4096(p##5) CODE_4096(p##6) CODE_4096(p##7)
#define CODE_65536(p)                                                                                                  \
  CODE_32768(p) CODE_4096(p##8) CODE_4096(p##9) CODE_4096(p##a) CODE_4096(p##b)                                        \
  CODE_4096(p##c) CODE_4096(p##d) CODE_4096(p##e) CODE_4096(p##f)

// Ends a basic block, as compilers take quadratic time on long ones: leaves the loop never, as `never` is 0. One of
// LLVM's passes for x86 with AVX-512 (X86DomainReassignment until LLVM 17) takes that on long chains of values, too, so
// that they go through memory on processors. Both together are a twentieth of the code.
#if CPU
#define NEW_BLOCK(p)                                                                                                   \
  cut[0] = x0, cut[1] = x1, cut[2] = x2, cut[3] = x3, cut[4] = x4, cut[5] = x5, cut[6] = x6, cut[7] = x7;              \
  x0 = cut[0], x1 = cut[1], x2 = cut[2], x3 = cut[3], x4 = cut[4], x5 = cut[5], x6 = cut[6], x7 = cut[7];              \
  if (i + p##u == never) break;
#else
#define NEW_BLOCK(p) \
  if (i + p##u == never) break;
#endif

// Repeats the body `iterations` times: never unrolled, or the code were longer than STATEMENTS says.
__kernel void straight(__global T* restrict out, __global const T* restrict in, const uint iterations,
                       const uint never) {
  const size_t first = 8 * get_global_id(0);
  __global const T* from = in + first;
  __global T* to = out + first;
  T x0 = from[0], x1 = from[1], x2 = from[2], x3 = from[3], x4 = from[4], x5 = from[5], x6 = from[6], x7 = from[7];
#if CPU
  volatile T cut[8];
  (void)cut;
#endif
  (void)never;  // a short body has no other block
#pragma unroll 1
  for (uint i = 0; i < iterations; ++i) {
#if STATEMENTS & 64
    CODE_64(0xa0)
#endif
#if STATEMENTS & 128
    CODE_128(0xa1)
#endif
#if STATEMENTS & 256
    CODE_256(0xa2)
#endif
#if STATEMENTS & 512
    CODE_512(0xa3)
#endif
#if STATEMENTS & 1024
    CODE_1024(0xa4)
#endif
#if STATEMENTS & 2048
    CODE_2048(0xa5)
#endif
#if STATEMENTS & 4096
    CODE_4096(0xa6)
#endif
#if STATEMENTS & 8192
    CODE_8192(0xa7)
#endif
#if STATEMENTS & 16384
    CODE_16384(0xa8)
#endif
#if STATEMENTS & 32768
    CODE_32768(0xa9)
#endif
#if STATEMENTS & 65536
    CODE_65536(0xaa)
#endif
  }
  to[0] = x0, to[1] = x1, to[2] = x2, to[3] = x3, to[4] = x4, to[5] = x5, to[6] = x6, to[7] = x7;
}
