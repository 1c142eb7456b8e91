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

// Packs SHARE sums into a word. A row of 32 work-items keeps 4 * 32 = 128 keys at most, which fit 8 bits; a row of a
// larger sub-group keeps no more than 65535, which fit 16 bits.
#if SUBGROUP_OPS && !SUBGROUP_PTX
#define SHARE 2
#else
#define SHARE 4
#endif
#define SUM_BITS (32 / SHARE)
#define PACKED_WORDS ((VECTORS + SHARE - 1) / SHARE)

// Unpacks, for each vector, the sums of the lanes below and of the sub-group. Returns the sum of `start` and all.
uint unpack(const uint* lane_prefixes, const uint* subgroup_aggregate, uint* prefixes, const uint start) {
  uint prefix = start;
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    const uint shift = r % SHARE * SUM_BITS, mask = (1u << SUM_BITS) - 1;
    prefixes[r] = prefix + (lane_prefixes[r / SHARE] >> shift & mask);
    prefix += subgroup_aggregate[r / SHARE] >> shift & mask;
  }
  return prefix;
}

void pack(const uint* counts, uint* packed) {
#pragma unroll
  for (uint w = 0; w < PACKED_WORDS; ++w) packed[w] = 0;
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) packed[r / SHARE] += counts[r] << r % SHARE * SUM_BITS;
}

#if SUBGROUP_OPS

#if RANKS == BY_PACKED_SUMS
DEFINE_SUBGROUP_SCAN(scan_packed_counts, PACKED_WORDS, SUBGROUP_SIZE)
#endif

// Turns the counts of a tile, and `start`, what precedes the sub-group, into what precedes each vector.
void rank_in_subgroup(const Tile* x, const uint* counts, uint* prefixes, const uint start) {
#if RANKS == BY_SUMS
  (void)x;
  (void)scan_rows(counts, prefixes, start);
#elif RANKS == BY_PACKED_SUMS
  uint mine[PACKED_WORDS], lane_prefixes[PACKED_WORDS], subgroup_aggregate[PACKED_WORDS];
  (void)x;
  pack(counts, mine);
  scan_packed_counts(mine, lane_prefixes, subgroup_aggregate);
  (void)unpack(lane_prefixes, subgroup_aggregate, prefixes, start);
#else
  uint prefix = start;
  (void)counts;
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    prefixes[r] = prefix;
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      uint all;
      prefixes[r] += subgroup_rank(keeps(x->at[r][v]), &all);
      prefix += all;
    }
  }
#endif
}

#else

// Turns the counts of a tile into what precedes each vector in it. Returns the tile's count.
uint rank_in_tile(const Tile* x, const uint* counts, uint* prefixes, __local uint* vectors, __local uint* partials) {
#if RANKS == BY_SUMS
  (void)x;
  return scan_vectors(counts, prefixes, vectors, partials);
#else
  const uint lane = subgroup_lane(), subgroup = subgroup_id();
  uint start, total;
#if RANKS == BY_PACKED_SUMS
  const uint local_id = work_item_id();
  uint mine[PACKED_WORDS], all[PACKED_WORDS], subgroup_aggregate[PACKED_WORDS];
  (void)x;
  pack(counts, mine);
  for (uint w = 0; w < PACKED_WORDS; ++w) all[w] = mine[w];
  for (uint d = 1; d < SUBGROUP_SIZE; d *= 2) {
    for (uint w = 0; w < PACKED_WORDS; ++w) vectors[w * GROUP + local_id] = all[w];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = 0; w < PACKED_WORDS; ++w) all[w] += lane >= d ? vectors[w * GROUP + local_id - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == SUBGROUP_SIZE - 1) {
    for (uint w = 0; w < PACKED_WORDS; ++w) vectors[w * GROUP + subgroup] = all[w];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint w = 0; w < PACKED_WORDS; ++w) {
    subgroup_aggregate[w] = vectors[w * GROUP + subgroup];
    all[w] -= mine[w];
  }
  const uint kept = unpack(all, subgroup_aggregate, prefixes, 0);
#else
  __local uint* votes = vectors + subgroup * REGISTER_ELEMENTS;
  const uint lanes_below = (1u << lane) - 1;
  uint kept = 0;
  (void)counts;
  for (uint i = work_item_id(); i < SUBGROUPS * REGISTER_ELEMENTS; i += GROUP) vectors[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < VECTORS; ++r) {
    for (uint v = 0; v < VEC; ++v) {
      if (keeps(x->at[r][v])) (void)atomic_or(&votes[r * VEC + v], 1u << lane);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint r = 0; r < VECTORS; ++r) {
    prefixes[r] = kept;
    for (uint v = 0; v < VEC; ++v) {
      prefixes[r] += popcount(votes[r * VEC + v] & lanes_below);
      kept += popcount(votes[r * VEC + v]);
    }
  }
#endif
  if (lane == 0) partials[subgroup] = kept;
  barrier(CLK_LOCAL_MEM_FENCE);
  start = scan_subgroup_aggregates(partials, &total);
  for (uint r = 0; r < VECTORS; ++r) prefixes[r] += start;
  return total;
#endif
}

#endif  // SUBGROUP_OPS
