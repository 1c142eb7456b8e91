// SPDX-License-Identifier: Apache-2.0
// divergence: adds on even and subtracts on odd rows (or columns) of n x n matrices.
//
// Set by host/families/divergence.cpp, all but T and T_BITS as 0 or 1:
//   T, T_BITS     float, 32 or double, 64
//   PARITY_ROW    the row decides between + and -, else the column
//   ROW_FIRST     dimension 0 is the row (neighbouring items lie n elements apart), else the column
//   OPERANDS_AB   the right operand is b, else a
//   GUARD         the global size was rounded up beyond n
// And PADDING, the elements between the end of a row and the next, and INDEX, the type that places are computed in.
#if !defined(T) || !defined(T_BITS) || !defined(PARITY_ROW) || !defined(ROW_FIRST) || !defined(OPERANDS_AB) || \
    !defined(GUARD) || !defined(PADDING) || !defined(INDEX)
#error "divergence.cl needs T, T_BITS, PARITY_ROW, ROW_FIRST, OPERANDS_AB, GUARD, PADDING, INDEX: see host/families/divergence.cpp"
#endif

// Integers as wide as T, for select() and for its sign bit.
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

// Without `restrict`, as published: with it a compiler may load what later steps of `loop` need before it stores.
#define MATRICES __global const T *a, __global const T *b, __global T *c, const uint n

// Where element (row, column) lies, and its two operands.
#define AT (row * (n + PADDING) + column)
#define LEFT a[AT]
#if OPERANDS_AB
#define RIGHT b[AT]
#else
#define RIGHT ((void)b, a[AT])
#endif

// The index that decides, and the other one.
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

// One item per line of the matrix; dimension 0 is that line.
__kernel void loop(MATRICES) {
  const INDEX line = (INDEX)get_global_id(0);
  if (GUARD && line >= n) return;
  for (uint step = 0; step < n; ++step) {
    const INDEX row = ROW_FIRST ? line : step;
    const INDEX column = ROW_FIRST ? step : line;
    ADD_OR_SUBTRACT;
  }
}

// One item per element.
__kernel void grid(MATRICES) {
  ELEMENT;
  ADD_OR_SUBTRACT;
}

// The first half of the items takes the even lines, the rest the odd ones: neighbours take the same branch.
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

// Arithmetic in place of the branch.
__kernel void nobranch(MATRICES) {
  ELEMENT;
  c[AT] = LEFT + RIGHT * (T)(1 - 2 * (int)(DECIDING & 1));
}

// The built-in choice between two values.
__kernel void select_(MATRICES) {
  ELEMENT;
  c[AT] = select(LEFT - RIGHT, LEFT + RIGHT, (TRUTH)(DECIDING % 2 == 0));
}

// The parity bit flips the sign bit of the right operand.
__kernel void signbit_(MATRICES) {
  ELEMENT;
  c[AT] = LEFT + AS_T(AS_BITS(RIGHT) ^ ((BITS)(DECIDING & 1) << SIGN));
}

// The published forms that never did their work, as exhibits: bench-thread-diverge at d4c7427. They are kept
// as they were but for names; only the warnings that would have told are silenced.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wuninitialized"
#pragma clang diagnostic ignored "-Wshadow"
#pragma clang diagnostic ignored "-Wconversion"
#endif

// The inner index hides the outer one and is initialised from itself.
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

// 1 - 2 in an unsigned type is its largest value, not -1.
__kernel void nobranch_published(MATRICES) {
  ulong row = get_global_id(0);
  ulong column = get_global_id(1);
  c[AT] = LEFT + RIGHT * (1 - ((DECIDING & 1) << 1));
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
