// SPDX-License-Identifier: Apache-2.0
// subgroup_ptx: warps of NVIDIA's GPUs, by PTX: shuffles, votes, and loads and stores that other work-groups see.
#pragma once
#include "lib/elements.cl"
#ifdef EDITOR
#define GROUP 256
#endif

#define SUBGROUP_OPS 1
#define SUBGROUP_SHUFFLES 1
#define SUBGROUP_PTX 1
#define SUBGROUP_SIZE_VARIES 0

#define SUBGROUP_SIZE 32
#define SUBGROUPS (GROUP / SUBGROUP_SIZE)
#define MAX_SUBGROUPS (GROUP / 32)
uint work_item_id(void) { return (uint)get_local_id(0); }
uint subgroup_lane(void) { return work_item_id() % SUBGROUP_SIZE; }
uint subgroup_id(void) { return work_item_id() / SUBGROUP_SIZE; }
uint subgroup_size(void) { return SUBGROUP_SIZE; }
#define SUBGROUP_BARRIER() __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory")

typedef union {
  Value value;
  uint words[VALUE_BYTES / 4];
} Shuffled;

#define SHUFFLE(how, x, lane, clamp)                                                             \
  __asm__ volatile("shfl.sync." how ".b32 %0, %1, %2, " clamp ", 0xffffffff;" : "=r"(x) : "r"(x), "r"(lane))

typedef uint Votes;
Votes ballot(const bool yes) {
  Votes votes;
  __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(votes) : "r"((uint)yes));
  return votes;
}

Value subgroup_shuffle_up(const Value x, const uint distance) {
  Shuffled s;
  s.value = x;
  for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("up", s.words[p], distance, "0");
  return s.value;
}

Value subgroup_shuffle(const Value x, const uint lane) {
  Shuffled s;
  s.value = x;
  for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("idx", s.words[p], lane, "31");
  return s.value;
}
#define subgroup_broadcast subgroup_shuffle

// Computes one step of a Hillis-Steele scan (1986).
Value with_below(const Value x, const uint distance) {
  const Value below = subgroup_shuffle_up(x, distance);
  return subgroup_lane() >= distance ? combine_values(below, x) : x;
}
// Scans COUNT values step by step, not value by value, so that their shuffles overlap.
#define DEFINE_SUBGROUP_SCAN(NAME, COUNT, LANES)                                                    \
  void NAME(const Value* mine, Value* prefixes, Value* totals) {                                    \
    _Pragma("unroll") for (uint k = 0; k < COUNT; ++k) prefixes[k] = mine[k];                       \
    _Pragma("unroll") for (uint d = 1; d < LANES; d *= 2) {                                         \
      _Pragma("unroll") for (uint k = 0; k < COUNT; ++k) prefixes[k] = with_below(prefixes[k], d);  \
    }                                                                                               \
    _Pragma("unroll") for (uint k = 0; k < COUNT; ++k) {                                            \
      totals[k] = subgroup_broadcast(prefixes[k], LANES - 1);                                       \
      prefixes[k] = exclusive_of(prefixes[k], mine[k]);                                             \
    }                                                                                               \
  }

Value subgroup_reduce(Value x) {
#pragma unroll
  for (uint d = 1; d < SUBGROUP_SIZE; d *= 2) {
    Shuffled s;
    s.value = x;
    for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("bfly", s.words[p], d, "31");
    x = combine_values(x, s.value);
  }
  return x;
}

uint subgroup_rank(const bool yes, uint* all) {
  const Votes votes = ballot(yes);
  *all = (uint)popcount(votes);
  return popcount(votes & ((1u << subgroup_lane()) - 1));
}

uint subgroup_first(const bool yes) {
  const Votes votes = ballot(yes);
  return votes == 0 ? SUBGROUP_SIZE : (uint)popcount(~votes & (votes - 1));
}

// ---- Memory that other work-groups write -----------------------------------------------------------------------

#define RELAXED_ACCESSES
ulong load_relaxed(volatile __global ulong* p) {
  ulong word;
  __asm__ volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(p) : "memory");
  return word;
}
void load_pair_relaxed(volatile __global ulong* p, ulong* pair) {
  __asm__ volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(pair[0]), "=l"(pair[1]) : "l"(p) : "memory");
}
void store_relaxed(volatile __global ulong* p, const ulong word) {
  __asm__ volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(p), "l"(word) : "memory");
}
void prefetch_line(volatile __global ulong* p) { __asm__ volatile("prefetch.global.L2 [%0];" : : "l"(p)); }
