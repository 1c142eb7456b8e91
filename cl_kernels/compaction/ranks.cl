// SPDX-License-Identifier: Apache-2.0
// ranks: counts, for each vector of a tile in registers, the kept keys before it in the tile.
//
// RANKS             by what: 1 sums, 2 packed sums, 3 votes
#pragma once
#include "compaction/counts.cl"
#ifdef EDITOR
#define RANKS 2
#elif !defined(RANKS)
#error "ranks.cl needs RANKS from the host"
#endif

#define BY_SUMS 1
#define BY_PACKED_SUMS 2
#define BY_VOTES 3

// Sums that share a word: 32 work-items' vectors keep 128 keys at most, larger sub-groups' no more than 65535.
#if SUBGROUP_OPS && !SUBGROUP_PTX
#define SHARE 2
#else
#define SHARE 4
#endif
#define SUM_BITS (32 / SHARE)
#define WORDS_OF_SUMS ((VECTORS + SHARE - 1) / SHARE)

// Turns the packed sums of the lanes below, and of the sub-group, into what precedes each vector.
uint unpack(const uint* below, const uint* of_subgroup, uint* before, const uint start) {
  uint carry = start;
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    const uint shift = r % SHARE * SUM_BITS, mask = (1u << SUM_BITS) - 1;
    before[r] = carry + (below[r / SHARE] >> shift & mask);
    carry += of_subgroup[r / SHARE] >> shift & mask;
  }
  return carry;
}

void pack(const uint* counts, uint* packed) {
#pragma unroll
  for (uint w = 0; w < WORDS_OF_SUMS; ++w) packed[w] = 0;
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) packed[r / SHARE] += counts[r] << r % SHARE * SUM_BITS;
}

#if SUBGROUP_OPS

#if RANKS == BY_PACKED_SUMS
DEFINE_SUBGROUP_SCAN(scan_packed_sums, WORDS_OF_SUMS, SUBGROUP_SIZE)
#endif

// Turns the counts of a tile, and `start`, what precedes the sub-group, into what precedes each vector.
void rank_in_subgroup(const Tile* x, const uint* counts, uint* before, const uint start) {
#if RANKS == BY_SUMS
  (void)x;
  (void)scan_rows(counts, before, start);
#elif RANKS == BY_PACKED_SUMS
  uint mine[WORDS_OF_SUMS], below[WORDS_OF_SUMS], of_subgroup[WORDS_OF_SUMS];
  (void)x;
  pack(counts, mine);
  scan_packed_sums(mine, below, of_subgroup);
  (void)unpack(below, of_subgroup, before, start);
#else
  uint carry = start;
  (void)counts;
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    before[r] = carry;
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      uint all;
      before[r] += subgroup_rank(keeps(x->at[r][v]), &all);
      carry += all;
    }
  }
#endif
}

#else

// Turns the counts of a tile into what precedes each vector in it. Returns the tile's count.
uint rank_in_tile(const Tile* x, const uint* counts, uint* before, __local uint* vectors, __local uint* sums) {
#if RANKS == BY_SUMS
  (void)x;
  return scan_vectors(counts, before, vectors, sums);
#else
  const uint lane = subgroup_lane(), subgroup = subgroup_id();
  uint start, total;
#if RANKS == BY_PACKED_SUMS
  const uint item = item_id();
  uint mine[WORDS_OF_SUMS], all[WORDS_OF_SUMS], of_subgroup[WORDS_OF_SUMS];
  (void)x;
  pack(counts, mine);
  for (uint w = 0; w < WORDS_OF_SUMS; ++w) all[w] = mine[w];
  for (uint d = 1; d < SUBGROUP_SIZE; d *= 2) {
    for (uint w = 0; w < WORDS_OF_SUMS; ++w) vectors[w * GROUP + item] = all[w];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = 0; w < WORDS_OF_SUMS; ++w) all[w] += lane >= d ? vectors[w * GROUP + item - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == SUBGROUP_SIZE - 1) {
    for (uint w = 0; w < WORDS_OF_SUMS; ++w) vectors[w * GROUP + subgroup] = all[w];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint w = 0; w < WORDS_OF_SUMS; ++w) {
    of_subgroup[w] = vectors[w * GROUP + subgroup];
    all[w] -= mine[w];
  }
  const uint kept = unpack(all, of_subgroup, before, 0);
#else
  __local uint* votes = vectors + subgroup * REGISTER_ITEMS;
  const uint lanes_below = (1u << lane) - 1;
  uint kept = 0;
  (void)counts;
  for (uint i = item_id(); i < SUBGROUPS * REGISTER_ITEMS; i += GROUP) vectors[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) {
      if (keeps(x->at[r][v])) (void)atomic_or(&votes[r * VEC + v], 1u << lane);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < VECTORS; ++r) {
    before[r] = kept;
    for (uint v = 0; v < VEC; ++v) {
      before[r] += popcount(votes[r * VEC + v] & lanes_below);
      kept += popcount(votes[r * VEC + v]);
    }
  }
#endif
  if (lane == 0) sums[subgroup] = kept;
  barrier(CLK_LOCAL_MEM_FENCE);
  start = scan_subgroup_sums(sums, &total);
  for (uint r = 0; r < VECTORS; ++r) before[r] += start;
  return total;
#endif
}

#endif  // SUBGROUP_OPS
