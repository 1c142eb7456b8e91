// SPDX-License-Identifier: Apache-2.0
// keys: says which keys are kept.
//
// KEY, STRUCT       type of a key; 1: the predicate looks at its first word
// PREDICATE, LIMIT, DROPPED   1 not zero, 2 even, 3 less than LIMIT; a key that is not kept
// INDEX             1: the places of the kept keys are written, too
//
// The elements that are scanned are counts of keys: T is uint, and OP a sum.
#pragma once
#ifdef EDITOR
#define KEY uint
#define STRUCT 0
#define PREDICATE 1
#define LIMIT 0
#define DROPPED 0
#define INDEX 1
#elif !defined(KEY) || !defined(STRUCT) || !defined(PREDICATE) || !defined(LIMIT) || !defined(DROPPED) || \
    !defined(INDEX)
#error "keys.cl needs KEY, STRUCT, PREDICATE, LIMIT, DROPPED and INDEX from the host"
#endif
#include "lib/elements.cl"

#if STRUCT
#define FIELD .x
#else
#define FIELD
#endif

// Tells whether a number, or which of a vector of them, is kept.
#if PREDICATE == 1
#define KEPT(x) ((x) != 0)
#elif PREDICATE == 2
#define KEPT(x) (((x) & 1) == 0)
#else
#define KEPT(x) ((x) < LIMIT)
#endif

bool keeps(const Key key) { return KEPT(key FIELD); }

Key dropped(void) { return (Key)(DROPPED); }

// Writes how many of all keys are kept, and how many are not.
void put_count(__global uint* restrict count, const ulong kept, const ulong n) {
  count[0] = (uint)kept;
  count[1] = (uint)(n - kept);
}
