// SPDX-License-Identifier: Apache-2.0
// elements: defines what is scanned or reduced: a value, a tuple of values, or an affine map; and the operator.
//
// T, U              type of a value, and the unsigned type of its width, in which integers wrap; U is T for floats
// OP                1 sum, 2 max, 3 xor, 4 composition of affine maps x -> a x + b, each a pair of uint; 5 min
// LEAST             identity of max and min
// VALUE_BYTES       4 or 8
// EXCLUSIVE, INITIAL   1: an exclusive scan, INITIAL precedes the first element; 0: an inclusive one
// PARTS             values of an element; 1, unless said otherwise: a value is an element
// ITEM              type of a scanned item where that is no element
// KEY               type in memory where that is no item
#pragma once
#ifdef EDITOR
#define T uint
#define U uint
#define OP 1
#define LEAST 0
#define VALUE_BYTES 4
#define EXCLUSIVE 0
#define INITIAL 0
#elif !defined(T) || !defined(U) || !defined(OP) || !defined(VALUE_BYTES) || !defined(EXCLUSIVE) || !defined(INITIAL)
#error "elements.cl needs T, U, OP, VALUE_BYTES, EXCLUSIVE and INITIAL from the host"
#endif
#ifndef PARTS
#define PARTS 1
#endif

#define SUM 1
#define MAX 2
#define XOR 3
#define AFFINE 4
#define MIN 5

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#if OP == MAX || OP == MIN
#define VALUE T
#else
#define VALUE U  // signed sums wrap, too
#endif
typedef VALUE Value;

Value combine_values(const Value l, const Value r) {
#if OP == MAX
  return max(l, r);
#elif OP == MIN
  return min(l, r);
#elif OP == XOR
  return l ^ r;
#else
  return l + r;
#endif
}

Value neutral(void) {
#if OP == MAX || OP == MIN
  return LEAST;
#else
  return 0;
#endif
}

#if OP == AFFINE
typedef uint2 Element;
#elif PARTS > 1
typedef struct {
  Value at[PARTS];
} Element;
#else
typedef Value Element;
#endif

// Combines `l`, then `r`. Affine maps do not commute, so a scan that swaps neighbours gives a wrong result.
Element combine(const Element l, const Element r) {
#if OP == AFFINE
  return (uint2)(r.x * l.x, r.x * l.y + r.y);
#elif PARTS > 1
  Element both;
  for (uint p = 0; p < PARTS; ++p) both.at[p] = combine_values(l.at[p], r.at[p]);
  return both;
#else
  return combine_values(l, r);
#endif
}

Element element_of(const Value value) {
#if OP == AFFINE
  return (uint2)(1, value);
#elif PARTS > 1
  Element all;
  for (uint p = 0; p < PARTS; ++p) all.at[p] = value;
  return all;
#else
  return value;
#endif
}

Element identity(void) { return element_of(neutral()); }

// Returns what precedes the first element of a scan.
Element initial(void) { return element_of(EXCLUSIVE ? (Value)INITIAL : neutral()); }

#ifndef ITEM
#if OP == AFFINE || PARTS > 1
#define ITEM Element
#else
#define ITEM VALUE
#endif
#endif
typedef ITEM Item;

#ifndef KEY
#define KEY ITEM
#endif
typedef KEY Key;
