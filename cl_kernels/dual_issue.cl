// SPDX-License-Identifier: Apache-2.0
// dual_issue: steps of one kind of instructions, or of two kinds that do not need each other's results.
//
// FIRST, SECOND   kinds: FLOAT, INT, SPECIAL, LOCAL; SECOND may be NONE
// RATIO           steps of the first kind per step of the second
// CHAINS          dependency chains of each kind per work-item; their number of start values, too
// UNROLL          steps of each chain of the second kind per iteration of the loop
// WIDTH           vector width of all kinds but LOCAL: 1 or 8
// GROUP, ROWS     work-items of a work-group; words of each in local memory
#ifdef EDITOR
#define FIRST FLOAT
#define SECOND LOCAL
#define RATIO 2
#define CHAINS 8
#define UNROLL 4
#define WIDTH 8
#define GROUP 64
#define ROWS 8
#elif !defined(FIRST) || !defined(SECOND) || !defined(RATIO) || !defined(CHAINS) || !defined(UNROLL) || \
    !defined(WIDTH) || !defined(GROUP) || !defined(ROWS)
#error "dual_issue.cl needs FIRST, SECOND, RATIO, CHAINS, UNROLL, WIDTH, GROUP and ROWS from the host"
#endif

#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#if WIDTH == 8
#define UINTS uint8
#define FLOATS float8
#define AS_FLOATS convert_float8
#define LOAD(k) vload8(k, in)
#else
#define UINTS uint
#define FLOATS float
#define AS_FLOATS convert_float
#define LOAD(k) in[k]
#endif

// Defines of each kind the type of a chain, its start, a step, and how the ends of chains are put together. Steps of
// INT are no multiplications, which some devices execute as FLOAT's. `one` is 1, which the compiler does not know, so
// that FLOAT counts its steps.
#define TYPE_FLOAT FLOATS
#define START_FLOAT(k) AS_FLOATS((LOAD(k) & 255u) + (uint)item % 64u)
#define STEP_FLOAT(x) x = mad(x, (FLOATS)((float)one), (FLOATS)((float)one))
#define SUM_FLOAT(sum, x) sum += x
#define TYPE_INT UINTS
#define START_INT(k) (LOAD(k) + (uint)item)
#define STEP_INT(x) x = rotate(x, (UINTS)(7u)) ^ (UINTS)(0x9e3779b9u * one)
#define SUM_INT(sum, x) sum ^= x
#define TYPE_SPECIAL FLOATS
#define START_SPECIAL(k) (START_FLOAT(k) / 64.0f + 1.0f)
#define STEP_SPECIAL(x) x = native_rsqrt(x)
#define SUM_SPECIAL(sum, x) sum += x
// A chain holds the address of a word in local memory, in bytes, which holds the next one's.
#define TYPE_LOCAL uint
#define START_LOCAL(k) (4u * ((k) % ROWS * GROUP + (uint)get_local_id(0)))
#define STEP_LOCAL(x) x = *(__local const uint*)((__local const char*)table + x)
#define SUM_LOCAL(sum, x) sum += x

#define IS_NONE_NONE 1
#define IS_LOCAL_LOCAL 1
#if JOINED(IS_NONE_, SECOND)
#define TWO 0
#else
#define TWO 1
#endif
#if JOINED(IS_LOCAL_, FIRST) || JOINED(IS_LOCAL_, SECOND)
#define LOADS_LOCAL 1
#else
#define LOADS_LOCAL 0
#endif

#define TYPE(kind) JOINED(TYPE_, kind)
#define START(kind) JOINED(START_, kind)
#define STEP(kind) JOINED(STEP_, kind)
#define SUM(kind) JOINED(SUM_, kind)

// Spreads the steps of the second kind evenly among those of the first.
__kernel void steps(__global TYPE(FIRST)* restrict first_out,
#if TWO
                    __global TYPE(SECOND)* restrict second_out,
#endif
                    __global const uint* restrict in, const uint one, const uint iterations) {
  const size_t item = get_global_id(0);
  (void)in, (void)one;  // not every kind starts from them
#if LOADS_LOCAL
  __local uint table[ROWS * GROUP];
  for (uint row = 0; row < ROWS; ++row)
    table[row * GROUP + (uint)get_local_id(0)] = 4u * ((row + one) % ROWS * GROUP + (uint)get_local_id(0));
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  TYPE(FIRST) first[CHAINS];
#pragma unroll
  for (uint k = 0; k < CHAINS; ++k) first[k] = START(FIRST)(k);
#if TWO
  TYPE(SECOND) second[CHAINS];
#pragma unroll
  for (uint k = 0; k < CHAINS; ++k) second[k] = START(SECOND)(k);
#endif
  for (uint i = 0; i < iterations; ++i) {
#pragma unroll
    for (uint step = 0; step < CHAINS * RATIO * UNROLL; ++step) {
      STEP(FIRST)(first[step % CHAINS]);
#if TWO
      if (step % RATIO == RATIO - 1) STEP(SECOND)(second[step / RATIO % CHAINS]);
#endif
    }
  }
#pragma unroll
  for (uint k = 1; k < CHAINS; ++k) SUM(FIRST)(first[0], first[k]);
  first_out[item] = first[0];
#if TWO
#pragma unroll
  for (uint k = 1; k < CHAINS; ++k) SUM(SECOND)(second[0], second[k]);
  second_out[item] = second[0];
#endif
}
