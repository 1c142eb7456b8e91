// SPDX-License-Identifier: Apache-2.0
// compaction: the keys that a predicate keeps, in their order, without gaps; with their places where asked for.
//
// Counts of keys are the elements (T uint, OP 1) of elements.cl. Behind bundles.cl, group_scan.cl, rows.cl and, for what
// they need, tile_states.cl, look_back.cl and scan.cl. All set by host/families/compaction.cpp:
// KERNEL_<NAME>     the kernels to compile
// KEY, STRUCT       type of the keys; 1: the predicate looks at their first word
// PREDICATE, LIMIT, DROPPED   1 not zero, 2 even, 3 less than LIMIT; a key that is not kept
// INDEX             1: the places of the kept keys are written, too
// RANKS             how the keys before one are counted in its tile: 1 sums, 2 packed sums, 3 votes
// BEFORE            where a tile learns how many are kept before it: 1 look-back, 2 sections, 3 an earlier launch
//                   counted, 4 whoever comes first writes first
// STAGED            1: a tile's kept keys are collected in local memory; 0: they go out one by one
// AHEAD             1: a group goes on from tile to tile, and asks for the next one's keys before it waits; with
//                   STAGED alone
// MASKS             1: the earlier launch left a bit per key
// WRITE, CHUNK      see the kernels that need them
#if STRUCT
#define FIELD .x
#else
#define FIELD
#endif

#define BY_SUMS 1
#define BY_PACKED_SUMS 2
#define BY_VOTES 3
#define LOOKS_BACK 1
#define BY_SECTIONS 2
#define COUNTED 3
#define UNORDERED 4

// Of a number or of a vector of them.
#if PREDICATE == 1
#define KEPT(x) ((x) != 0)
#elif PREDICATE == 2
#define KEPT(x) (((x) & 1) == 0)
#else
#define KEPT(x) ((x) < LIMIT)
#endif

bool keeps(const Key key) { return KEPT(key FIELD); }

Key dropped(void) { return (Key)(DROPPED); }

// How many are kept of all.
void put_count(__global uint* restrict count, const ulong kept, const ulong n) {
  count[0] = (uint)kept;
  count[1] = (uint)(n - kept);
}

#ifdef ROWS

// ---- Ranks -------------------------------------------------------------------------------------------------

// Of each vector, how many are kept; returns how many of all.
uint count_rows(const Rows* x, uint* counts) {
  uint all = 0;
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    counts[r] = 0;
#pragma unroll
    for (uint v = 0; v < VEC; ++v) counts[r] += keeps(x->at[r][v]) ? 1 : 0;
    all += counts[r];
  }
  return all;
}

// So many rows share a word of sums: of 32 items' vectors 128 keys are kept at most, of others' no more than 65535.
#if BUNDLED && !PTX
#define SHARE 2
#else
#define SHARE 4
#endif
#define SUM_BITS (32 / SHARE)
#define WORDS_OF_SUMS ((ROWS + SHARE - 1) / SHARE)

// From the packed sums of what precedes an item in its bundle, and of the bundle, to what precedes each vector.
uint unpack(const uint* below, const uint* of_bundle, uint* before, const uint start) {
  uint carry = start;
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    const uint shift = r % SHARE * SUM_BITS, mask = (1u << SUM_BITS) - 1;
    before[r] = carry + (below[r / SHARE] >> shift & mask);
    carry += of_bundle[r / SHARE] >> shift & mask;
  }
  return carry;
}

void pack(const uint* counts, uint* packed) {
#pragma unroll
  for (uint w = 0; w < WORDS_OF_SUMS; ++w) packed[w] = 0;
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) packed[r / SHARE] += counts[r] << r % SHARE * SUM_BITS;
}

#if BUNDLED

// Of the tile; `bundles` of those before the own one.
uint count_tile(const uint mine, __local uint* sums, uint* bundles) {
  uint total;
  const uint of_bundle = sum_of_bundle(mine);
  if (own_lane() == 0) sums[own_bundle()] = of_bundle;
  barrier(CLK_LOCAL_MEM_FENCE);
  *bundles = scan_bundles(sums, &total);
  return total;
}

#if RANKS == BY_PACKED_SUMS
DEFINE_SCAN(scan_packed_sums, WORDS_OF_SUMS, BUNDLE)
#endif

// From a tile's keys and `start`, what precedes the bundle, to what precedes each vector.
void rank_in_bundle(const Rows* x, const uint* counts, uint* before, const uint start) {
#if RANKS == BY_SUMS
  (void)x;
  (void)scan_rows(counts, before, start);
#elif RANKS == BY_PACKED_SUMS
  uint mine[WORDS_OF_SUMS], below[WORDS_OF_SUMS], of_bundle[WORDS_OF_SUMS];
  (void)x;
  pack(counts, mine);
  scan_packed_sums(mine, below, of_bundle);
  (void)unpack(below, of_bundle, before, start);
#else
  uint carry = start;
  (void)counts;
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    before[r] = carry;
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      uint all;
      before[r] += rank_by_votes(keeps(x->at[r][v]), &all);
      carry += all;
    }
  }
#endif
}

#else

// From a tile's keys to what precedes each vector in it; returns how many are kept.
uint rank_in_tile(const Rows* x, const uint* counts, uint* before, __local uint* vectors, __local uint* sums) {
#if RANKS == BY_SUMS
  (void)x;
  return scan_vectors(counts, before, vectors, sums);
#else
  const uint lane = own_lane(), bundle = own_bundle();
  uint start, total;
#if RANKS == BY_PACKED_SUMS
  const uint item = own_item();
  uint mine[WORDS_OF_SUMS], all[WORDS_OF_SUMS], of_bundle[WORDS_OF_SUMS];
  (void)x;
  pack(counts, mine);
  for (uint w = 0; w < WORDS_OF_SUMS; ++w) all[w] = mine[w];
  for (uint d = 1; d < BUNDLE; d *= 2) {
    for (uint w = 0; w < WORDS_OF_SUMS; ++w) vectors[w * GROUP + item] = all[w];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = 0; w < WORDS_OF_SUMS; ++w) all[w] += lane >= d ? vectors[w * GROUP + item - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == BUNDLE - 1) {
    for (uint w = 0; w < WORDS_OF_SUMS; ++w) vectors[w * GROUP + bundle] = all[w];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint w = 0; w < WORDS_OF_SUMS; ++w) {
    of_bundle[w] = vectors[w * GROUP + bundle];
    all[w] -= mine[w];
  }
  const uint kept = unpack(all, of_bundle, before, 0);
#else
  __local uint* votes = vectors + bundle * REGISTER_ITEMS;
  const uint lanes_below = (1u << lane) - 1;
  uint kept = 0;
  (void)counts;
  for (uint i = own_item(); i < BUNDLES * REGISTER_ITEMS; i += GROUP) vectors[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < ROWS; ++r) {
    for (uint v = 0; v < VEC; ++v) {
      if (keeps(x->at[r][v])) (void)atomic_or(&votes[r * VEC + v], 1u << lane);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < ROWS; ++r) {
    before[r] = kept;
    for (uint v = 0; v < VEC; ++v) {
      before[r] += popcount(votes[r * VEC + v] & lanes_below);
      kept += popcount(votes[r * VEC + v]);
    }
  }
#endif
  if (lane == 0) sums[bundle] = kept;
  barrier(CLK_LOCAL_MEM_FENCE);
  start = scan_bundles(sums, &total);
  for (uint r = 0; r < ROWS; ++r) before[r] += start;
  return total;
#endif
}

#endif  // BUNDLED

// ---- Counted by an earlier launch ----------------------------------------------------------------------------

#ifdef KERNEL_COUNT_TILES
#if MASKS
#define MASK_WORDS (REGISTER_TILE / 32)  // of a tile

#if PTX
// Bit `lane` of word (bundle, row, place in the vector).
uint mask_of_vector(__global const uint* restrict masks, const uint row) {
  uint kept = 0;
#pragma unroll
  for (uint v = 0; v < VEC; ++v)
    kept |= (masks[own_bundle() * REGISTER_ITEMS + row * VEC + v] >> own_lane() & 1) << v;
  return kept;
}

void write_masks(const Rows* x, __global uint* restrict masks) {
  for (uint r = 0; r < ROWS; ++r) {
    for (uint v = 0; v < VEC; ++v) {
      const uint votes = ballot(keeps(x->at[r][v]));
      if (own_lane() == 0) masks[own_bundle() * REGISTER_ITEMS + r * VEC + v] = votes;
    }
  }
}
#else
// Key after key, for two kernels may have sub-groups of two sizes.
uint mask_of_vector(__global const uint* restrict masks, const uint row) {
  const uint first = vector_of_row(row) * VEC;
  return masks[first / 32] >> first % 32 & ((1u << VEC) - 1);
}

void write_masks(const Rows* x, __global uint* restrict masks, __local uint* held) {
  for (uint i = own_item(); i < MASK_WORDS; i += GROUP) held[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < ROWS; ++r) {
    const uint first = vector_of_row(r) * VEC;
    uint kept = 0;
    for (uint v = 0; v < VEC; ++v) kept |= (keeps(x->at[r][v]) ? 1u : 0u) << v;
    if (kept != 0) (void)atomic_or(&held[first / 32], kept << first % 32);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = own_item(); i < MASK_WORDS; i += GROUP) masks[i] = held[i];
}
#endif
#endif

// What each tile keeps, and a bit per key where the next launch wants no more than that.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void count_tiles(__global uint* restrict tile_sums, __global uint* restrict masks,
                          __global const Key* restrict in, const ulong n) {
  ROW_MEMORY;
  (void)said;
  Rows x;
  load_rows(&x, in, n, get_group_id(0), dropped());
  uint counts[ROWS], total;
  const uint mine = count_rows(&x, counts);
#if MASKS
#if PTX
  write_masks(&x, masks + get_group_id(0) * MASK_WORDS);
#else
  __local uint held[MASK_WORDS];
  write_masks(&x, masks + get_group_id(0) * MASK_WORDS, held);
#endif
#else
  (void)masks;
#endif
  (void)vectors;
#if BUNDLED
  uint bundles;
  total = count_tile(mine, sums, &bundles);
#else
  (void)scan_group(sums, mine, &total);
#endif
  if (get_local_id(0) == 0) tile_sums[get_group_id(0)] = total;
}

#if MASKS
// Only the vectors that hold a kept key are read at all.
void load_kept_rows(Rows* x, __global const uint* restrict masks, __global const Key* restrict in, const ulong n) {
  const ulong first = (ulong)get_group_id(0) * REGISTER_TILE;
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    const uint kept = mask_of_vector(masks + get_group_id(0) * MASK_WORDS, r);
    const ulong i = first + (ulong)vector_of_row(r) * VEC;
    if (kept != 0 && i + VEC <= n) {
      x->row[r] = *(__global const Vector*)(in + i);
    } else {
#pragma unroll
      for (uint v = 0; v < VEC; ++v) x->at[r][v] = (kept >> v & 1) != 0 ? in[i + v] : dropped();
    }
  }
}
#endif
#endif  // KERNEL_COUNT_TILES

// ---- A tile's kept keys go out -------------------------------------------------------------------------------

#ifdef KERNEL_COMPACT

#if STAGED

#if INDEX
#define STAGE_MEMORY                    \
  __local Vector staged[GROUP * ROWS];  \
  __local ushort places[REGISTER_TILE]
#define STAGE (__local Key*)staged, places
#else
#define STAGE_MEMORY __local Vector staged[GROUP * ROWS]
#define STAGE (__local Key*)staged, 0
#endif

void stage_rows(const Rows* x, const uint* before, __local Key* staged, __local ushort* places) {
  (void)places;
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    uint rank = before[r];
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      if (!keeps(x->at[r][v])) continue;
      staged[rank] = x->at[r][v];
#if INDEX
      places[rank] = (ushort)(vector_of_row(r) * VEC + v);
#endif
      ++rank;
    }
  }
}

// Neighbouring items write neighbouring keys; or vectors, where they land on a vector's address.
void write_staged(const uint kept, const ulong carry, const ulong tile, const __local Key* staged,
                  const __local ushort* places, __global Key* restrict out, __global uint* restrict index) {
  (void)tile;
  (void)places;
  (void)index;
  uint first = 0;
  if (VEC > 1 && carry % VEC == 0) {
    __global Vector* to = (__global Vector*)(out + carry);
    for (uint i = (uint)get_local_id(0); i < kept / VEC; i += GROUP) to[i] = ((const __local Vector*)staged)[i];
    first = kept / VEC * VEC;
  }
  for (uint i = first + (uint)get_local_id(0); i < kept; i += GROUP) out[carry + i] = staged[i];
#if INDEX
  for (uint i = (uint)get_local_id(0); i < kept; i += GROUP) index[carry + i] = (uint)(tile * REGISTER_TILE) + places[i];
#endif
}

#else

#define STAGE_MEMORY

// Every item writes what it kept.
void write_rows(const Rows* x, const uint* before, const ulong carry, const ulong tile, __global Key* restrict out,
                __global uint* restrict index) {
  (void)index;
  (void)tile;
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    ulong to = carry + before[r];
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      if (!keeps(x->at[r][v])) continue;
      out[to] = x->at[r][v];
#if INDEX
      index[to] = (uint)(tile * REGISTER_TILE) + vector_of_row(r) * VEC + v;
#endif
      ++to;
    }
  }
}

#endif  // STAGED

// ---- Where a tile learns what precedes it --------------------------------------------------------------------

#if BEFORE == LOOKS_BACK || BEFORE == BY_SECTIONS

// Order does not matter to a sum: neighbouring items take neighbouring keys.
Element fold_tile(__local Element* sums, __global const Key* restrict in, const ulong n, const ulong tile,
                  const uint items, __global const Value* restrict table) {
  (void)table;
  uint mine = 0, total;
  for (uint k = 0; k < items; ++k) {
    const ulong i = (tile * items + k) * GROUP + get_local_id(0);
    if (i < n) mine += keeps(in[i]) ? 1 : 0;
  }
  (void)scan_group(sums, mine, &total);
  return total;
}

#define STATES volatile __global Word*

#if BEFORE == BY_SECTIONS
// A section is 32 tiles. A tile adds up those before it in its section, and what the section before ended with:
// so many waits behind each other as there are sections, not tiles.
#define SECTION 32
uint before_in_sections(STATES states, const Claim mine, const uint total, __local uint* sums) {
  const int lane = (int)get_local_id(0), last = (int)mine.tile - 1;
  const int first = (int)(mine.tile / SECTION * SECTION) - 1;  // the last of the section before
  const int at = last - lane;
  uint value = 0, all;
  for (uint polled = 0; at >= max(first, 0) && polled < POLLS; ++polled) {
    const uint flag = poll(states, (uint)at, mine.epoch, &value);
    if (flag == INCLUSIVE || (flag == AGGREGATE && at > first)) break;
  }
  (void)scan_group(sums, value, &all);
  if (lane == 0 && mine.tile % SECTION == SECTION - 1) publish(states, mine.tile, mine.epoch, INCLUSIVE, all + total);
  return all;
}
#undef LOOK_BACK
#undef WINDOW_MEMORY
#define LOOK_BACK(mine, total, items) before_in_sections(states, mine, total, section_sums)
#define WINDOW_MEMORY __local uint section_sums[2 * GROUP]
#endif

#elif BEFORE == COUNTED

#define STATES __global const uint*
#define WINDOW_MEMORY
#define LOOK_BACK(mine, total, items) (mine.tile > 0 ? states[mine.tile - 1] : 0)
typedef struct {
  uint tile, epoch;
} Claim;

#else

// One atomic operation per group, on a word of how many are kept and how many groups came. The last leaves it
// as it was.
#define STATES volatile __global uint*
uint come_first(STATES states, const uint total, __global uint* restrict count, const ulong n) {
#if STATE_BITS == 64
  volatile __global ulong* word = (volatile __global ulong*)states;
  const ulong found = atom_add(word, (ulong)1 << 32 | total);
  const uint came = (uint)(found >> 32), kept = (uint)found;
  if (came == get_num_groups(0) - 1) {
    put_count(count, kept + total, n);
    (void)atom_xchg(word, (ulong)0);
  }
#else
  const uint kept = atomic_add(&states[0], total);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (atomic_inc(&states[1]) == get_num_groups(0) - 1) {
    put_count(count, atomic_xchg(&states[0], 0u), n);
    (void)atomic_xchg(&states[1], 0u);
  }
#endif
  return kept;
}
uint come_for_all(STATES states, const uint total, __global uint* restrict count, const ulong n,
                  __local uint* carried) {
  if (get_local_id(0) == 0) carried[0] = come_first(states, total, count, n);
  barrier(CLK_LOCAL_MEM_FENCE);
  return carried[0];
}
#define WINDOW_MEMORY __local uint carried[1]
#define LOOK_BACK(mine, total, items) come_for_all(states, total, count, n, carried)
typedef struct {
  uint tile, epoch;
} Claim;

#endif  // BEFORE

#define CHAINED (BEFORE == LOOKS_BACK || BEFORE == BY_SECTIONS)

KNOWN_GROUP
__kernel void compact(__global Key* restrict out, __global uint* restrict index, __global uint* restrict count,
                      STATES states, __global const uint* restrict masks, __global const Key* restrict in,
                      const ulong n, const uint tiles, const uint tickets) {
  ROW_MEMORY;
  WINDOW_MEMORY;
  STAGE_MEMORY;
  const uint item = (uint)get_local_id(0);
  (void)item;
  (void)vectors;
  (void)masks;
#if CHAINED
  Word drawn;
  Claim mine = claim_one(states, tickets, said, &drawn);
  if (mine.tile >= tiles) return;
#else
  Claim mine = {(uint)get_group_id(0), 0};
  (void)said;
  (void)tickets;
#endif
  Rows x;
#if MASKS
  load_kept_rows(&x, masks, in, n);
#else
  load_rows(&x, in, n, mine.tile, dropped());
#endif
#if CHAINED
  hear_launch(states, drawn, tickets, said);
#endif
  while (mine.tile < tiles) {
    uint counts[ROWS], before[ROWS];
#if AHEAD
    if (item == 0) draw(states, tickets, said);
#endif
#if BUNDLED
    uint bundles;
    const uint total = count_tile(count_rows(&x, counts), sums, &bundles);
#else
    (void)count_rows(&x, counts);
    const uint total = rank_in_tile(&x, counts, before, vectors, sums);
#endif
#if CHAINED
    know_launch(&mine, said);
#endif
#if BEFORE == LOOKS_BACK
    if (item == 0 && mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
#elif BEFORE == BY_SECTIONS
    if (item == 0 && mine.tile % SECTION != SECTION - 1) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
#endif
#if BUNDLED
    rank_in_bundle(&x, counts, before, bundles);
#endif
#if STAGED
    stage_rows(&x, before, STAGE);
#endif
#if AHEAD
    const Claim next = {said[0], said[1]};
    load_rows(&x, in, n, next.tile, dropped());  // behind the last tile there is nothing to load
#endif
    const ulong carry = LOOK_BACK(mine, total, REGISTER_ITEMS);
#if STAGED
    barrier(CLK_LOCAL_MEM_FENCE);
    write_staged(total, carry, mine.tile, STAGE, out, index);
#else
    write_rows(&x, before, carry, mine.tile, out, index);
#endif
#if BEFORE != UNORDERED
    if (item == 0 && mine.tile == tiles - 1) put_count(count, carry + total, n);
#endif
#if AHEAD
    mine = next;
    barrier(CLK_LOCAL_MEM_FENCE);  // what was staged is out
#else
    mine.tile = tiles;
#endif
  }
}
#endif  // KERNEL_COMPACT

// ---- Flags, scan, scatter ------------------------------------------------------------------------------------

#ifdef KERNEL_THREE_PASS
// 1 per kept key, for scan.cl to scan.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void flags(__global uint* restrict flag, __global const Key* restrict in, const ulong n) {
  Rows x;
  load_rows(&x, in, n, get_group_id(0), dropped());
  for (uint r = 0; r < ROWS; ++r) {
    const ulong i = get_group_id(0) * (ulong)REGISTER_TILE + (ulong)vector_of_row(r) * VEC;
    for (uint v = 0; v < VEC; ++v) {
      if (i + v < n) flag[i + v] = keeps(x.at[r][v]) ? 1 : 0;
    }
  }
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scatter(__global Key* restrict out, __global uint* restrict index, __global uint* restrict count,
                      __global const uint* restrict ranks, __global const Key* restrict in, const ulong n) {
  Rows x;
  (void)index;
  load_rows(&x, in, n, get_group_id(0), dropped());
  for (uint r = 0; r < ROWS; ++r) {
    const ulong i = get_group_id(0) * (ulong)REGISTER_TILE + (ulong)vector_of_row(r) * VEC;
    for (uint v = 0; v < VEC; ++v) {
      if (i + v >= n) break;
      const bool kept = keeps(x.at[r][v]);
      const uint rank = ranks[i + v];
      if (kept) out[rank] = x.at[r][v];
#if INDEX
      if (kept) index[rank] = (uint)(i + v);
#endif
      if (i + v == n - 1) put_count(count, rank + (kept ? 1 : 0), n);
    }
  }
}
#endif

// ---- Sequences -------------------------------------------------------------------------------------------------
//
// A few hundred units of UNIT items walk a sequence each, a chunk of a vector per item at a time: so there are no
// more counts than units. Items in lock-step are a unit; where none are, a work-group is one, or its units of 32
// keep step by its barriers: then all take as many turns, some of which find nothing.

#ifdef KERNEL_SEQUENCES

#define SHARES_BARRIERS (!PTX && UNIT < GROUP)
#if PTX
#define UNIT_BARRIER BUNDLE_BARRIER()
#define UNIT_MEMORY __local uint sums[1]
#else
#define UNIT_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define UNIT_MEMORY __local uint sums[2 * GROUP]
#endif
#define SEQUENCE_CHUNK (UNIT * VEC)

// The chunks of a unit: `each` and, of the first `extra` units, one more.
typedef struct {
  ulong first, last;
} Sequence;
Sequence sequence_of(const uint unit, const ulong each, const ulong extra) {
  Sequence s;
  s.first = unit * each + min((ulong)unit, extra);
  s.last = s.first + each + (unit < extra ? 1 : 0);
  return s;
}

// Of the loop over a sequence.
ulong turns_of(const Sequence s, const ulong each, const ulong extra) {
#if SHARES_BARRIERS
  (void)s;
  return each + (extra > 0 ? 1 : 0);
#else
  (void)each;
  (void)extra;
  return s.last - s.first;
#endif
}

// `none` lies behind the sequence.
void load_chunk(Rows* x, __global const Key* restrict in, const ulong n, const ulong chunk, const bool own) {
  const ulong i = chunk * SEQUENCE_CHUNK + get_local_id(0) % UNIT * VEC;
  if (own && i + VEC <= n) {
    x->row[0] = *(__global const Vector*)(in + i);
    return;
  }
#pragma unroll
  for (uint v = 0; v < VEC; ++v) x->at[0][v] = own && i + v < n ? in[i + v] : dropped();
}

#if UNIT == GROUP
#define scan_unit scan_group
#elif !PTX
// scan_group's, of each unit.
uint scan_unit(__local uint* sums, const uint mine, uint* total) {
  const uint item = (uint)get_local_id(0), lane = item % UNIT;
  __local uint* from = sums;
  __local uint* to = sums + GROUP;
  barrier(CLK_LOCAL_MEM_FENCE);
  from[item] = mine;
  for (uint distance = 1; distance < UNIT; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    to[item] = lane >= distance ? from[item - distance] + from[item] : from[item];
    __local uint* other = from;
    from = to;
    to = other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *total = from[item - lane + UNIT - 1];
  return lane > 0 ? from[item - 1] : 0;
}
#endif

// How many are kept before this lane in the unit, and by the unit.
uint rank_in_unit(const Rows* x, __local uint* sums, uint* total) {
#if PTX
  uint before = 0;
  (void)sums;
  *total = 0;
#pragma unroll
  for (uint v = 0; v < VEC; ++v) {
    uint all;
    before += rank_by_votes(keeps(x->at[0][v]), &all);
    *total += all;
  }
  return before;
#else
  uint count;
  return scan_unit(sums, count_rows(x, &count), total);
#endif
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void count_sequences(__global uint* restrict unit_sums, __global const Key* restrict in, const ulong n,
                              const ulong each, const ulong extra) {
  UNIT_MEMORY;
  const uint unit = (uint)(get_global_id(0) / UNIT);
  const Sequence own = sequence_of(unit, each, extra);
  uint mine = 0, total, count;
  for (ulong c = own.first; c < own.last; ++c) {
    Rows x;
    load_chunk(&x, in, n, c, true);
    mine += count_rows(&x, &count);
  }
#if PTX
  (void)sums;
  total = sum_of_bundle(mine);
#else
  (void)scan_unit(sums, mine, &total);
#endif
  if (get_local_id(0) % UNIT == 0) unit_sums[unit] = total;
}

// WRITE 1: each lane writes what it keeps; 2: kept keys are collected until they fill a chunk; 0: the one where
// a sequence keeps little, the other where it keeps more.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void move_sequences(__global Key* restrict out, __global uint* restrict index, __global uint* restrict count,
                             __global const uint* restrict unit_sums, __global const Key* restrict in, const ulong n,
                             const ulong each, const ulong extra) {
  UNIT_MEMORY;
#if WRITE != 1
  __local Key held[GROUP / UNIT * 2 * SEQUENCE_CHUNK];  // a ring of two chunks for each unit
  __local Key* ring = held + get_local_id(0) / UNIT * 2 * SEQUENCE_CHUNK;
#if INDEX
  __local uint held_places[GROUP / UNIT * 2 * SEQUENCE_CHUNK];
  __local uint* places = held_places + get_local_id(0) / UNIT * 2 * SEQUENCE_CHUNK;
#endif
#endif
  (void)index;
  const uint unit = (uint)(get_global_id(0) / UNIT), lane = (uint)get_local_id(0) % UNIT;
  const Sequence own = sequence_of(unit, each, extra);
  ulong to = unit > 0 ? unit_sums[unit - 1] : 0;
  const ulong end = unit_sums[unit];
  if (lane == 0 && unit == get_global_size(0) / UNIT - 1) put_count(count, end, n);
#if WRITE == 0
  const bool collects = (end - to) * 8 > (own.last - own.first) * SEQUENCE_CHUNK;
#elif WRITE == 2
  const bool collects = true;
#endif
#if WRITE != 1
  uint start = 0, fill = 0;  // of the ring
#endif
  const ulong turns = turns_of(own, each, extra);
  for (ulong turn = 0; turn < turns; ++turn) {
    const ulong c = own.first + turn;
    Rows x;
    uint total;
    load_chunk(&x, in, n, c, c < own.last);
    uint rank = rank_in_unit(&x, sums, &total);
#if WRITE != 1
    if (collects) {
#pragma unroll
      for (uint v = 0; v < VEC; ++v) {
        if (!keeps(x.at[0][v])) continue;
        const uint at = (start + fill + rank++) % (2 * SEQUENCE_CHUNK);
        ring[at] = x.at[0][v];
#if INDEX
        places[at] = (uint)(c * SEQUENCE_CHUNK + lane * VEC + v);
#endif
      }
      fill += total;
    }
#if SHARES_BARRIERS
    UNIT_BARRIER;
#else
    if (collects) UNIT_BARRIER;
#endif
    if (collects) {
      if (fill >= SEQUENCE_CHUNK || turn + 1 == turns) {
        const uint out_now = min(fill, (uint)SEQUENCE_CHUNK);
        for (uint i = lane; i < out_now; i += UNIT) {
          out[to + i] = ring[(start + i) % (2 * SEQUENCE_CHUNK)];
#if INDEX
          index[to + i] = places[(start + i) % (2 * SEQUENCE_CHUNK)];
#endif
        }
        to += out_now;
        start += out_now;
        fill -= out_now;
#if !SHARES_BARRIERS  // the next ranks have some
        UNIT_BARRIER;
#endif
      }
      continue;
    }
#endif
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      if (!keeps(x.at[0][v])) continue;
      out[to + rank] = x.at[0][v];
#if INDEX
      index[to + rank] = (uint)(c * SEQUENCE_CHUNK + lane * VEC + v);
#endif
      ++rank;
    }
    to += total;
  }
#if WRITE != 1
  for (uint i = lane; collects && i < fill; i += UNIT) {  // what the last chunk left
    out[to + i] = ring[(start + i) % (2 * SEQUENCE_CHUNK)];
#if INDEX
    index[to + i] = places[(start + i) % (2 * SEQUENCE_CHUNK)];
#endif
  }
#endif
}

#endif  // KERNEL_SEQUENCES

#endif  // ROWS

// ---- For processors --------------------------------------------------------------------------------------------

#ifdef KERNEL_CPU
// A group is one item. It appends every key of its chunk to a buffer in its core's cache and goes on by one
// where it is kept, without a branch; what is kept then goes out as a whole.
//
// KEY_BYTES         of a key
// SPARE             keys behind the buffer's chunk, which vectors are written into

// WIDE keys at once where the processor brings those of a mask together: by AVX-512.
#if !STRUCT && defined(__AVX512DQ__) && defined(__AVX512VL__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_compresssi512_mask) && __has_builtin(__builtin_ia32_cvtd2mask512)
#if KEY_BYTES == 4
#define WIDE 16
#define MASK_OF(yes) __builtin_ia32_cvtd2mask512(yes)
#define BROUGHT(x, mask) as_uint16(__builtin_ia32_compresssi512_mask(as_int16(x), as_int16(x), mask))
#define PLACES_BROUGHT BROUGHT
#define PLACES (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define PUT_WIDE(x, to) vstore16(x, 0, (__local uint*)(to))
#define PUT_PLACES vstore16
#else
#define WIDE 8
#define MASK_OF(yes) __builtin_ia32_cvtq2mask512(yes)
#define BROUGHT(x, mask) as_ulong8(__builtin_ia32_compressdi512_mask(as_long8(x), as_long8(x), mask))
#define PLACES_BROUGHT(x, mask) as_uint8(__builtin_ia32_compresssi256_mask(as_int8(x), as_int8(x), mask))
#define PLACES (uint8)(0, 1, 2, 3, 4, 5, 6, 7)
#define PUT_WIDE(x, to) vstore8(x, 0, (__local ulong*)(to))
#define PUT_PLACES vstore8
#endif
#endif
#endif

uint append_kept(__global const Key* restrict in, const ulong first, const ulong last, __local Key* held,
                 __local uint* places) {
  uint kept = 0;
  ulong i = first;
  (void)places;
#ifdef WIDE
  for (; i + WIDE <= last; i += WIDE) {
    const JOIN(KEY, WIDE) x = JOIN(vload, WIDE)(0, in + i);
    const uint mask = MASK_OF(KEPT(x));
    PUT_WIDE(BROUGHT(x, mask), held + kept);
#if INDEX
    PUT_PLACES(PLACES_BROUGHT((uint)i + PLACES, mask), 0, places + kept);
#endif
    kept += popcount(mask);
  }
#endif
  for (; i < last; ++i) {
    const Key key = in[i];
    held[kept] = key;
#if INDEX
    places[kept] = (uint)i;
#endif
    kept += keeps(key) ? 1 : 0;
  }
  return kept;
}

uint count_chunk(__global const Key* restrict in, const ulong first) {
  uint kept = 0;
  for (ulong i = first; i < first + CHUNK; ++i) kept += keeps(in[i]) ? 1 : 0;
  return kept;
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void cpu(__global Key* restrict out, __global uint* restrict index, __global uint* restrict count,
                  volatile __global Word* states, __global const Key* restrict in, const ulong n, const uint tiles) {
  __local uint said[2];
  __local Key held[CHUNK + SPARE];
#if INDEX
  __local uint places[CHUNK + SPARE];
#else
  __local uint places[1];
  (void)index;
#endif
  const Claim mine = claim(states, tiles, said);
  const ulong first = (ulong)mine.tile * CHUNK;
  const uint kept = append_kept(in, first, min(first + CHUNK, n), held, places);
  if (mine.tile > 0) publish(states, mine.tile, mine.epoch, AGGREGATE, kept);
  uint carry = 0;
  int position = (int)mine.tile - 1;
  walk_back(states, mine.epoch, POLLS, &position, &carry);
  while (position != DONE) {  // whoever has that chunk is late
    const uint other = count_chunk(in, (ulong)position * CHUNK);
    offer(states, (uint)position, mine.epoch, other);
    carry += other;
    --position;
    walk_back(states, mine.epoch, POLLS, &position, &carry);
  }
  publish(states, mine.tile, mine.epoch, INCLUSIVE, carry + kept);
  for (uint i = 0; i < kept; ++i) out[carry + i] = held[i];
#if INDEX
  for (uint i = 0; i < kept; ++i) index[carry + i] = places[i];
#endif
  if (mine.tile == tiles - 1) put_count(count, carry + kept, n);
}
#endif
