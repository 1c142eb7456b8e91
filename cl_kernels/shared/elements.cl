// SPDX-License-Identifier: Apache-2.0
// elements: what is scanned, and what is known of a stretch of it: a value, an affine map, a tuple of values.
//
// T, U              type of a value, and the unsigned type of its width: integers wrap. U is T for floating types
// OP                1 sum, 2 max, 3 xor, 4 composition of affine maps x -> a x + b, each a pair of uint; 5 min
// LEAST             identity of max and min
// PARTS             values of an element; 1: a value is an element
// EXCLUSIVE, INITIAL   1: INITIAL comes before the first element; 0: nothing
// ITEM              what is scanned, where that is no element
// KEY               what lies in memory, where that is no item
#if !defined(T) || !defined(U) || !defined(OP) || !defined(PARTS)
#error "elements.cl needs T, U, OP, PARTS and more: see host/families/scan.cpp"
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

// First `l`, then `r`. Affine maps do not commute: an implementation that swaps neighbours shows.
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

// What comes before the first element.
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
