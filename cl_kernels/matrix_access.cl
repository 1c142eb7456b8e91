// SPDX-License-Identifier: Apache-2.0
// matrix_access: adds on even and subtracts on odd rows (or columns) of n x n matrices.
//
// T, T_BITS     float, 32 or double, 64
// PARITY_ROW    1: the row decides between + and -; 0: the column
// ROW_FIRST     1: dimension 0 is the row (neighbouring work-items lie n elements apart); 0: the column
// OPERANDS_AB   1: the right operand is b; 0: a
// GUARD         1: the global size was rounded up beyond n
// PADDING       elements between the end of a row and the next
// INDEX         type that places are computed in
#ifdef EDITOR
#define T float
#define T_BITS 32
#define PARITY_ROW 1
#define ROW_FIRST 0
#define OPERANDS_AB 1
#define GUARD 1
#define PADDING 0
#define INDEX size_t
#elif !defined(T) || !defined(T_BITS) || !defined(PARITY_ROW) || !defined(ROW_FIRST) || !defined(OPERANDS_AB) || \
    !defined(GUARD) || !defined(PADDING) || !defined(INDEX)
#error "matrix_access.cl needs T, T_BITS, PARITY_ROW, ROW_FIRST, OPERANDS_AB, GUARD, PADDING and INDEX from the host"
#endif

// Names integers as wide as T, for select() and for its sign bit.
#if T_BITS == 64
#define TRUTH long
#define BITS ulong
#define AS_BITS as_ulong
#else
#define TRUTH int
#define BITS uint
#define AS_BITS as_uint
#endif
#define JOIN_(x, y) x##y
#define JOIN(x, y) JOIN_(x, y)
#define AS_T JOIN(as_, T)
#define SIGN (T_BITS - 1)

// Leaves `restrict` out, as published: with it a compiler may load what later steps of `loop` need before it stores.
#define MATRICES __global const T *a, __global const T *b, __global T *c, const uint n

// Define where element (row, column) lies, and its two operands.
#define AT (row * (n + PADDING) + column)
#define LEFT a[AT]
#if OPERANDS_AB
#define RIGHT b[AT]
#else
#define RIGHT ((void)b, a[AT])
#endif

// Name the index that decides, and the other one.
#if PARITY_ROW
#define DECIDING row
#define OTHER column
#else
#define DECIDING column
#define OTHER row
#endif
#define DECIDING_DIMENSION (PARITY_ROW == ROW_FIRST ? 0 : 1)

#define ADD_OR_SUBTRACT         \
  if (DECIDING % 2 == 0)        \
    c[AT] = LEFT + RIGHT;       \
  else                          \
    c[AT] = LEFT - RIGHT

#define ELEMENT                                                 \
  const INDEX row = (INDEX)get_global_id(ROW_FIRST ? 0 : 1);    \
  const INDEX column = (INDEX)get_global_id(ROW_FIRST ? 1 : 0); \
  if (GUARD && (row >= n || column >= n)) return

// Computes one line of the matrix per work-item; dimension 0 is that line.
__kernel void loop(MATRICES) {
  const INDEX line = (INDEX)get_global_id(0);
  if (GUARD && line >= n) return;
  for (uint step = 0; step < n; ++step) {
    const INDEX row = ROW_FIRST ? line : step;
    const INDEX column = ROW_FIRST ? step : line;
    ADD_OR_SUBTRACT;
  }
}

// Computes one element per work-item.
__kernel void grid(MATRICES) {
  ELEMENT;
  ADD_OR_SUBTRACT;
}

// Gives the first half of the work-items the even lines, the rest the odd ones: neighbours take the same branch.
__kernel void unweave(MATRICES) {
  const INDEX item = (INDEX)get_global_id(DECIDING_DIMENSION);
  const INDEX OTHER = (INDEX)get_global_id(1 - DECIDING_DIMENSION);
  if (GUARD && (item >= n || OTHER >= n)) return;
  const INDEX evens = ((INDEX)n + 1) / 2;
  if (item < evens) {
    const INDEX DECIDING = 2 * item;
    c[AT] = LEFT + RIGHT;
  } else {
    const INDEX DECIDING = 2 * (item - evens) + 1;
    c[AT] = LEFT - RIGHT;
  }
}

// Replaces the branch by arithmetic.
__kernel void nobranch(MATRICES) {
  ELEMENT;
  c[AT] = LEFT + RIGHT * (T)(1 - 2 * (int)(DECIDING & 1));
}

// Replaces the branch by the built-in function select.
__kernel void select_(MATRICES) {
  ELEMENT;
  c[AT] = select(LEFT - RIGHT, LEFT + RIGHT, (TRUTH)(DECIDING % 2 == 0));
}

// Flips the sign bit of the right operand by the parity bit.
__kernel void signbit_(MATRICES) {
  ELEMENT;
  c[AT] = LEFT + AS_T(AS_BITS(RIGHT) ^ ((BITS)(DECIDING & 1) << SIGN));
}

// Known-incorrect kernels, as published in bench-thread-diverge at d4c7427, but for names. The warnings that would
// have told are silenced.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wuninitialized"
#pragma clang diagnostic ignored "-Wshadow"
#pragma clang diagnostic ignored "-Wconversion"
#endif

// Shadows the outer index by an inner one that is initialised from itself.
__kernel void unweave_published(MATRICES) {
  ulong row = get_global_id(0);
  ulong column = get_global_id(1);
  if (DECIDING < n / 2) {
    ulong DECIDING = 2 * DECIDING;
    c[AT] = LEFT + RIGHT;
  } else {
    ulong DECIDING = 2 * (DECIDING - n / 2) + 1;
    c[AT] = LEFT - RIGHT;
  }
}

// Computes 1 - 2 in an unsigned type, which is its largest value, not -1.
__kernel void nobranch_published(MATRICES) {
  ulong row = get_global_id(0);
  ulong column = get_global_id(1);
  c[AT] = LEFT + RIGHT * (1 - ((DECIDING & 1) << 1));
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
