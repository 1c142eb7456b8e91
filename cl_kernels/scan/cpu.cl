// SPDX-License-Identifier: Apache-2.0
// cpu: scans in one pass on a CPU: a persistent work-group is one work-item, with wide vectors.
//
// A tile stays in its core's cache between the pass that reduces it and the pass that scans it.
//
// ORDER             of the scan
// CHUNK             values of a tile, a multiple of 16 * 16 * 16
#ifdef EDITOR
#define ORDER 2
#define TUPLE 1
#define CHUNK 4096
#elif !defined(ORDER) || !defined(CHUNK)
#error "cpu.cl needs ORDER and CHUNK from the host"
#endif
#define ELEMENT_VALUES ORDER
#define INPUT Value
#include "lib/tile_states.cl"
#include "lib/streaming_store.cl"
#include "scan/tuple_layout.cl"

// Inlines what works on arrays, so that these stay in registers.
#define INLINE static __attribute__((always_inline))

#define WIDE 16
typedef JOIN(VALUE, 16) Wide;

// Defines PICK(a, b, i0 .. i15), which picks 16 of the 32 values of a and b.
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define PICK __builtin_shufflevector
#endif
#endif
#ifndef PICK
#if VALUE_BYTES == 8
#define PICK(a, b, ...) shuffle2(a, b, (ulong16)(__VA_ARGS__))
#else
#define PICK(a, b, ...) shuffle2(a, b, (uint16)(__VA_ARGS__))
#endif
#endif

#if STREAMING
#define PUT(value, pointer) STORE((__global Wide*)(pointer), value)
#else
#define PUT(value, pointer) vstore16(value, 0, pointer)
#endif

Wide combine_wide(const Wide l, const Wide r) {
#if OP == SUM
  return l + r;
#elif OP == MAX
  return max(l, r);
#else
  return l ^ r;
#endif
}

// Scans one value. Returns its value in the scan of the highest order.
Value advance(Value* state, Value x) {
#pragma unroll
  for (uint k = 0; k < ORDER; ++k) {
    x = combine_values(state[k], x);
    state[k] = x;
  }
  return x;
}

// Joins the state `l` with the state `r` of the m values behind it; `weights` are C(m + e - 1, e) for e below ORDER,
// as in binomial.cl.
Element joined(const Element l, const Element r, __global const Value* restrict weights) {
#if ORDER == 1
  (void)weights;
  return combine(l, r);
#else
  Element both = r;
  for (uint k = 0; k < ORDER; ++k) {
    for (uint j = 0; j <= k; ++j) both.at[k] += weights[k - j] * l.at[j];
  }
  return both;
#endif
}
#define OF_RUN(table) (table)  // weights of a sixteenth of a tile, then of a tile
#define OF_TILE(table) ((table) + ORDER)

#if ORDER == 1

#define LAST(x) PICK(x, x, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15)
#define MOVED_UP(identities, x) PICK(identities, x, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)

// Scans within quarters, processors' lanes of 128 bits in which moves are cheap, and then across them.
INLINE Wide scan_wide(const Wide identities, Wide x) {
  x = combine_wide(PICK(identities, x, 0, 16, 17, 18, 0, 20, 21, 22, 0, 24, 25, 26, 0, 28, 29, 30), x);
  x = combine_wide(PICK(identities, x, 0, 0, 16, 17, 0, 0, 20, 21, 0, 0, 24, 25, 0, 0, 28, 29), x);
  x = combine_wide(PICK(identities, x, 0, 0, 0, 0, 19, 19, 19, 19, 0, 0, 0, 0, 27, 27, 27, 27), x);
  return combine_wide(PICK(identities, x, 0, 0, 0, 0, 0, 0, 0, 0, 23, 23, 23, 23, 23, 23, 23, 23), x);
}

typedef union {
  Wide wide;
  Value at[WIDE];
} Partials;  // of every sixteenth value of a tile

void reduce_values(Partials* partials, __global const Value* restrict in) {
  Wide x = (Wide)(identity_value());
  for (uint i = 0; i < CHUNK; i += WIDE) x = combine_wide(x, vload16(0, in + i));
  partials->wide = x;
}

Element total_of(const Partials* partials, __global const Value* restrict table) {
  (void)table;
  Value all = partials->at[0];
  for (uint k = 1; k < WIDE; ++k) all = combine_values(all, partials->at[k]);
  return all;
}

// Scans a tile and reduces the next one, so that reads and writes of memory overlap.
void scan_and_reduce(__global Value* restrict out, __global const Value* restrict in, const Element tile_prefix,
                     __global const Value* restrict table, Partials* partials, __global const Value* restrict next) {
  (void)table;
  const Wide identities = (Wide)(identity_value());
  Wide prefixes = (Wide)(tile_prefix), coming = identities;
  for (uint i = 0; i < CHUNK; i += WIDE) {
    const Wide x = scan_wide(identities, vload16(0, in + i));
    coming = combine_wide(coming, vload16(0, next + i));
    PUT(combine_wide(prefixes, EXCLUSIVE_SCAN ? MOVED_UP(identities, x) : x), out + i);
    prefixes = combine_wide(prefixes, LAST(x));
  }
  partials->wide = coming;
}

#else

// Scans higher orders by a run, a sixteenth of the tile, in each of the 16 places of a vector: blocks of 16 x 16
// values are transposed, scanned downwards, and transposed back.
#define RUN (CHUNK / WIDE)

#define LOW8(a, b) PICK(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
#define HIGH8(a, b) PICK(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)
#define LOW4(a, b) PICK(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27)
#define HIGH4(a, b) PICK(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31)
#define LOW2(a, b) PICK(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH2(a, b) PICK(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define LOW1(a, b) PICK(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30)
#define HIGH1(a, b) PICK(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31)
#define STAGE(d, LOW, HIGH)            \
  if ((r & (d)) == 0) {                \
    const Wide a = x[r], b = x[r + d]; \
    x[r] = LOW(a, b);                  \
    x[r + d] = HIGH(a, b);             \
  }

INLINE void transpose(Wide* x) {
#pragma unroll
  for (uint r = 0; r < WIDE; ++r) STAGE(8, LOW8, HIGH8)
#pragma unroll
  for (uint r = 0; r < WIDE; ++r) STAGE(4, LOW4, HIGH4)
#pragma unroll
  for (uint r = 0; r < WIDE; ++r) STAGE(2, LOW2, HIGH2)
#pragma unroll
  for (uint r = 0; r < WIDE; ++r) STAGE(1, LOW1, HIGH1)
}

INLINE void load_block(Wide* x, __global const Value* restrict in) {
#pragma unroll
  for (uint r = 0; r < WIDE; ++r) x[r] = vload16(0, in + r * RUN);
  transpose(x);
}

INLINE void scan_block(Wide* x, Wide* states) {
#pragma unroll
  for (uint r = 0; r < WIDE; ++r) {
#pragma unroll
    for (uint k = 0; k < ORDER; ++k) {
      x[r] += states[k];
      states[k] = x[r];
    }
  }
}

typedef union {
  Wide wide[ORDER];
  Value at[ORDER][WIDE];
} Partials;  // what each sixteenth of a tile ends with

void reduce_values(Partials* partials, __global const Value* restrict in) {
  Wide states[ORDER];
#pragma unroll
  for (uint k = 0; k < ORDER; ++k) states[k] = (Wide)(0);
  for (uint i = 0; i < RUN; i += WIDE) {
    Wide x[WIDE];
    load_block(x, in + i);
    scan_block(x, states);
  }
#pragma unroll
  for (uint k = 0; k < ORDER; ++k) partials->wide[k] = states[k];
}

// Turns the state that each run ends with into its exclusive prefix. Returns the inclusive prefix of the last run.
Element scan_sums(Partials* partials, Element prefix, __global const Value* restrict table) {
  for (uint r = 0; r < WIDE; ++r) {
    Element own;
    for (uint k = 0; k < ORDER; ++k) {
      own.at[k] = partials->at[k][r];
      partials->at[k][r] = prefix.at[k];
    }
    prefix = joined(prefix, own, OF_RUN(table));
  }
  return prefix;
}

Element total_of(const Partials* partials, __global const Value* restrict table) {
  Partials scratch = *partials;
  return scan_sums(&scratch, identity(), table);
}

void scan_and_reduce(__global Value* restrict out, __global const Value* restrict in, const Element tile_prefix,
                     __global const Value* restrict table, Partials* partials, __global const Value* restrict next) {
  (void)scan_sums(partials, tile_prefix, table);
  Wide states[ORDER];
#pragma unroll
  for (uint k = 0; k < ORDER; ++k) states[k] = partials->wide[k];
  for (uint i = 0; i < RUN; i += WIDE) {
    Wide x[WIDE];
    load_block(x, in + i);
    scan_block(x, states);
    transpose(x);
#pragma unroll
    for (uint r = 0; r < WIDE; ++r) PUT(x[r], out + r * RUN + i);
  }
  reduce_values(partials, next);
}

#endif

// Returns the exclusive prefix of a tile, by serial look-back to the nearest inclusive prefix and with fallback: a tile
// whose state stays STATUS_INVALID is reduced here after a wait that takes as long, so no work-group needs the progress
// of another.
Element look_back(volatile __global StateWord* states, const TileTicket mine, __global const Value* restrict in,
                  __global const Value* restrict table) {
  Element tile_prefix = init(), aggregate;
  uint num_included = mine.tile;  // `tile_prefix` is the aggregate of the tiles before this one
  while (num_included > 0 && poll(states, num_included - 1, mine.epoch, &tile_prefix) != STATUS_INCLUSIVE)
    --num_included;
  if (num_included == 0) tile_prefix = init();
  for (; num_included < mine.tile; ++num_included) {
    uint status = STATUS_INVALID;
    for (uint spins = 0; status == STATUS_INVALID && spins < SPIN_LIMIT + CHUNK / WIDE; ++spins)
      status = poll(states, num_included, mine.epoch, &aggregate);
    if (status == STATUS_INVALID) {
      Partials partials;
      reduce_values(&partials, in + (size_t)num_included * CHUNK);
      aggregate = total_of(&partials, table);
      try_publish(states, num_included, mine.epoch, aggregate);
    }
    tile_prefix = status == STATUS_INCLUSIVE ? aggregate : joined(tile_prefix, aggregate, OF_TILE(table));
  }
  return tile_prefix;
}

// Scans the last values, fewer than a tile, at which no work-group looks back.
void scan_rest(__global Value* restrict out, __global const Value* restrict in, const uint length,
               Element tile_prefix) {
  Value* state = (Value*)&tile_prefix;
  for (uint i = 0; i < length; ++i) {
    const Value prefix = state[ORDER - 1], next = advance(state, in[i]);
    out[i] = EXCLUSIVE_SCAN ? prefix : next;
  }
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void cpu(__global Value* restrict out, volatile __global StateWord* states, __global const Value* restrict in,
                  __global const Value* restrict table, const ulong n, const uint tiles, const uint num_tickets) {
  __local uint ticket[2];
  const uint whole = (uint)(n / CHUNK);  // tiles
  TileTicket mine = acquire_tile(states, num_tickets, ticket);
  if (mine.tile >= tiles) return;
  Partials partials;
  if (mine.tile < whole) reduce_values(&partials, in + (size_t)mine.tile * CHUNK);
  while (mine.tile < tiles) {
    const size_t first = (size_t)mine.tile * CHUNK;
    const bool is_whole = mine.tile < whole;
    Element total = identity();
    if (is_whole) {
      total = total_of(&partials, table);
      if (mine.tile > 0) publish(states, mine.tile, mine.epoch, STATUS_AGGREGATE, total);
    }
    const Element tile_prefix = look_back(states, mine, in, table);
    if (is_whole) publish(states, mine.tile, mine.epoch, STATUS_INCLUSIVE, joined(tile_prefix, total, OF_TILE(table)));
    const TileTicket next = acquire_tile(states, num_tickets, ticket);
    if (is_whole) {
      // Reduces this tile once more, for nothing, where no whole tile is to come.
      const size_t coming = next.tile < whole ? (size_t)next.tile * CHUNK : first;
      scan_and_reduce(out + first, in + first, tile_prefix, table, &partials, in + coming);
    } else {
      scan_rest(out + first, in + first, (uint)(n - first), tile_prefix);
    }
    mine = next;
  }
}
