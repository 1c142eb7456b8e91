// SPDX-License-Identifier: Apache-2.0
// elements: defines the operator, and the elements that it combines: values, tuples of values, or affine maps.
//
// A value is one number; a component is one number of a tuple.
//
// T, U              type of a value, and the unsigned type of its width, in which integers wrap; U is T for floats
// OP                1 sum, 2 max, 3 xor, 4 composition of affine maps x -> a x + b, each a pair of uint; 5 min
// IDENTITY          identity of OP where that is max or min: the lowest or the highest value of T
// VALUE_BYTES       4 or 8
// EXCLUSIVE_SCAN    1: an exclusive scan; 0: an inclusive one
// INITIAL           what precedes the first element of an exclusive scan
// ELEMENT_VALUES    values of an element; 1 unless defined: elements are single values
// INPUT             type of what is loaded and stored where that is not Element, the type of an aggregate
// KEY               type in memory where that is not INPUT
#pragma once
// EDITOR is defined by compile_flags.txt alone: it gives a file that an editor or a test opens by itself the values
// that the host defines otherwise.
#ifdef EDITOR
#define T uint
#define U uint
#define OP 1
#define IDENTITY 0
#define VALUE_BYTES 4
#define EXCLUSIVE_SCAN 0
#define INITIAL 0
#elif !defined(T) || !defined(U) || !defined(OP) || !defined(VALUE_BYTES) || !defined(EXCLUSIVE_SCAN) || \
    !defined(INITIAL)
#error "elements.cl needs T, U, OP, VALUE_BYTES, EXCLUSIVE_SCAN and INITIAL from the host"
#endif
#ifndef ELEMENT_VALUES
#define ELEMENT_VALUES 1
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

Value identity_value(void) {
#if OP == MAX || OP == MIN
  return IDENTITY;
#else
  return 0;
#endif
}

#if OP == AFFINE
typedef uint2 Element;
#elif ELEMENT_VALUES > 1
typedef struct {
  Value at[ELEMENT_VALUES];
} Element;
#else
typedef Value Element;
#endif

// Combines `l`, then `r`. Affine maps do not commute, so a scan that swaps neighbours gives a wrong result.
Element combine(const Element l, const Element r) {
#if OP == AFFINE
  return (uint2)(r.x * l.x, r.x * l.y + r.y);
#elif ELEMENT_VALUES > 1
  Element both;
  for (uint p = 0; p < ELEMENT_VALUES; ++p) both.at[p] = combine_values(l.at[p], r.at[p]);
  return both;
#else
  return combine_values(l, r);
#endif
}

Element element_of(const Value value) {
#if OP == AFFINE
  return (uint2)(1, value);
#elif ELEMENT_VALUES > 1
  Element all;
  for (uint p = 0; p < ELEMENT_VALUES; ++p) all.at[p] = value;
  return all;
#else
  return value;
#endif
}

Element identity(void) { return element_of(identity_value()); }

// Returns what precedes the first element of a scan.
Element init(void) { return element_of(EXCLUSIVE_SCAN ? (Value)INITIAL : identity_value()); }

#ifndef INPUT
#if OP == AFFINE || ELEMENT_VALUES > 1
#define INPUT Element
#else
#define INPUT VALUE
#endif
#endif
typedef INPUT Input;

#ifndef KEY
#define KEY INPUT
#endif
typedef KEY Key;
