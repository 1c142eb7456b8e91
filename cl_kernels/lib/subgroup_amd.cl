// SPDX-License-Identifier: Apache-2.0
// subgroup_amd: wavefronts of AMD's GPUs, of 32 or 64 work-items, by the builtins of AMD's compiler.
#pragma once
#include "lib/elements.cl"
#ifdef EDITOR
#define GROUP 256
#endif
#if !__has_builtin(__builtin_amdgcn_ds_bpermute)
#error "unsupported: the compiler has no builtins for AMD's GPUs"
#endif

#define SUBGROUP_OPS 1
#define SUBGROUP_SHUFFLES 1
#define SUBGROUP_PTX 0
#define SUBGROUP_SIZE_VARIES 0

#ifdef __AMDGCN_WAVEFRONT_SIZE
#define SUBGROUP_SIZE ((uint)__AMDGCN_WAVEFRONT_SIZE)
#else
#define SUBGROUP_SIZE __builtin_amdgcn_wavefrontsize()
#endif
#define SUBGROUPS (GROUP / SUBGROUP_SIZE)
#define MAX_SUBGROUPS (GROUP / 32)
uint work_item_id(void) { return (uint)get_local_id(0); }
uint subgroup_lane(void) { return work_item_id() % SUBGROUP_SIZE; }
uint subgroup_id(void) { return work_item_id() / SUBGROUP_SIZE; }
uint subgroup_size(void) { return SUBGROUP_SIZE; }
#define SUBGROUP_BARRIER()                                \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront"); \
  __builtin_amdgcn_wave_barrier();                       \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront")

typedef union {
  Value value;
  uint words[VALUE_BYTES / 4];
} Shuffled;

typedef ulong Votes;
Votes ballot(const bool yes) {
  const int not_equal = 33;  // as LLVM numbers comparisons
  return __builtin_amdgcn_uicmp((uint)yes, 0u, not_equal);
}

Value subgroup_shuffle_up(const Value x, const uint distance) {
  Shuffled s;
  s.value = x;
  const int address = (int)(4 * (subgroup_lane() - distance));
  for (uint p = 0; p < VALUE_BYTES / 4; ++p)
    s.words[p] = (uint)__builtin_amdgcn_ds_bpermute(address, (int)s.words[p]);
  return s.value;
}

Value subgroup_shuffle(const Value x, const uint lane) {
  Shuffled s;
  s.value = x;
  for (uint p = 0; p < VALUE_BYTES / 4; ++p)
    s.words[p] = (uint)__builtin_amdgcn_ds_bpermute((int)(4 * lane), (int)s.words[p]);
  return s.value;
}

Value subgroup_broadcast(const Value x, const uint lane) {
  Shuffled s;
  s.value = x;
  for (uint p = 0; p < VALUE_BYTES / 4; ++p)
    s.words[p] = (uint)__builtin_amdgcn_readlane((int)s.words[p], (int)lane);
  return s.value;
}

// Takes the operand from a lane `distance` below by DPP row_shr, which costs nothing within rows of 16 lanes; the
// identity comes in at a row's start.
#define FROM_ROW(distance)                                                                                         \
  {                                                                                                                \
    Shuffled s, identity;                                                                                          \
    s.value = x;                                                                                                   \
    identity.value = identity_value();                                                                             \
    for (uint p = 0; p < VALUE_BYTES / 4; ++p)                                                                     \
      s.words[p] = (uint)__builtin_amdgcn_update_dpp((int)identity.words[p], (int)s.words[p], 0x110 + (distance),  \
                                                      0xf, 0xf, false);                                            \
    x = combine_values(s.value, x);                                                                                \
  }
Value subgroup_scan_inclusive(Value x) {
  FROM_ROW(1)
  FROM_ROW(2)
  FROM_ROW(4)
  FROM_ROW(8)
  for (uint row = 1; row < SUBGROUP_SIZE / 16; ++row) {
    const Value below = subgroup_broadcast(x, 16 * row - 1);
    if (subgroup_lane() / 16 == row) x = combine_values(below, x);
  }
  return x;
}
#define DEFINE_SUBGROUP_SCAN(NAME, COUNT, LANES)                   \
  void NAME(const Value* mine, Value* prefixes, Value* totals) {   \
    _Pragma("unroll") for (uint k = 0; k < COUNT; ++k) {           \
      const Value scanned = subgroup_scan_inclusive(mine[k]);      \
      totals[k] = subgroup_broadcast(scanned, SUBGROUP_SIZE - 1);  \
      prefixes[k] = exclusive_of(scanned, mine[k]);                \
    }                                                              \
  }

Value subgroup_reduce(Value x) { return subgroup_broadcast(subgroup_scan_inclusive(x), SUBGROUP_SIZE - 1); }

uint subgroup_rank(const bool yes, uint* all) {
  const Votes votes = ballot(yes);
  *all = (uint)popcount(votes);
  return __builtin_amdgcn_mbcnt_hi((uint)(votes >> 32), __builtin_amdgcn_mbcnt_lo((uint)votes, 0u));
}

uint subgroup_first(const bool yes) {
  const Votes votes = ballot(yes);
  return votes == 0 ? SUBGROUP_SIZE : (uint)popcount(~votes & (votes - 1));
}
