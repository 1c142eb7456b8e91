// SPDX-License-Identifier: Apache-2.0
// bundles: what items that run in lock-step tell each other without local memory.
//
// Behind elements.cl: OP, which must commute, says what becomes of its values. All items of a bundle must call what
// is here, and what has a result for the bundle gives it to all of them.
// GROUP             items of a work-group
// VALUE_BYTES       4 or 8
// LANES             what a bundle is: 0 32 items that are counted together and tell each other nothing; 1 a warp, by
//                   NVIDIA's PTX; 2 a sub-group of OpenCL's; 3 a wavefront, by the builtins of AMD's compiler
// LIMITED           defined where the compiler is told how many registers an item may have
#define PTX (LANES == 1)
#define SUBGROUPS (LANES == 2)
#define AMD (LANES == 3)
#define BUNDLED (LANES != 0)

// NVIDIA's compiler heeds no limit of registers for a kernel that says how large its group is.
#ifdef LIMITED
#define KNOWN_GROUP
#else
#define KNOWN_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#endif

#if SUBGROUPS

#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif

// Of a size that nobody knows before the kernel runs; the last of a group may be smaller. No rule says which items of a
// group are one: they are numbered by it, not by their place in the group.
#define BUNDLE get_max_sub_group_size()
#define BUNDLES get_num_sub_groups()
#define MOST_BUNDLES GROUP
#define BUNDLE_BARRIER() sub_group_barrier(CLK_LOCAL_MEM_FENCE)
uint own_lane(void) { return get_sub_group_local_id(); }
uint own_bundle(void) { return get_sub_group_id(); }
uint bundle_items(void) { return get_sub_group_size(); }
uint own_item(void) { return own_bundle() * BUNDLE + own_lane(); }

#else

#if AMD
#ifdef __AMDGCN_WAVEFRONT_SIZE
#define BUNDLE ((uint)__AMDGCN_WAVEFRONT_SIZE)
#else
#define BUNDLE __builtin_amdgcn_wavefrontsize()
#endif
#else
#define BUNDLE 32
#endif
#define BUNDLES (GROUP / BUNDLE)
#define MOST_BUNDLES (GROUP / 32)
uint own_item(void) { return (uint)get_local_id(0); }
uint own_lane(void) { return own_item() % BUNDLE; }
uint own_bundle(void) { return own_item() / BUNDLE; }
uint bundle_items(void) { return BUNDLE; }

#if PTX
#define BUNDLE_BARRIER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#elif AMD
#define BUNDLE_BARRIER()                                \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront"); \
  __builtin_amdgcn_wave_barrier();                      \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront")
#else
#define BUNDLE_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

#endif

#if BUNDLED

// Each of the two ways below has
//   DEFINE_SCAN(NAME, COUNT, ITEMS)   defines NAME(mine, before, totals), which scans COUNT values of an item that do
//                       not depend on each other: to what the items before it have, and what all have. Of the items from
//                       ITEMS on they are neutral.
//   sum_of_bundle(x)    of all items' values
//   from_lane(x, lane)  that item's; `lane` is the same for all
//   rank_by_votes(yes, all)   how many before this item say yes, and how many of all
//   first_of_bundle(yes)      the first that does; as many as there are where none does

// ---- By the items' registers: NVIDIA's and AMD's -------------------------------------------------------------

#if PTX || AMD

typedef union {
  Value value;
  uint pieces[VALUE_BYTES / 4];
} Shuffled;

#if PTX

#define SHUFFLE(how, x, lane, clamp)                                                             \
  asm volatile("shfl.sync." how ".b32 %0, %1, %2, " clamp ", 0xffffffff;" : "=r"(x) : "r"(x), "r"(lane))

typedef uint Votes;
Votes ballot(const bool yes) {
  Votes votes;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(votes) : "r"((uint)yes));
  return votes;
}
#define VOTES_BELOW(votes) popcount((votes) & ((1u << own_lane()) - 1))

#else

#if !__has_builtin(__builtin_amdgcn_ds_bpermute)
#error "unsupported: the compiler has no builtins for AMD's GPUs"
#endif

typedef ulong Votes;
Votes ballot(const bool yes) {
  const int not_equal = 33;  // as LLVM numbers comparisons
  return __builtin_amdgcn_uicmp((uint)yes, 0u, not_equal);
}
#define VOTES_BELOW(votes) \
  __builtin_amdgcn_mbcnt_hi((uint)((votes) >> 32), __builtin_amdgcn_mbcnt_lo((uint)(votes), 0u))

#endif

// What an item so far below has, and where there is none anything.
Value from_below(const Value x, const uint distance) {
  Shuffled s;
  s.value = x;
#if PTX
  for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("up", s.pieces[p], distance, "0");
#else
  const int address = (int)(4 * (own_lane() - distance));
  for (uint p = 0; p < VALUE_BYTES / 4; ++p)
    s.pieces[p] = (uint)__builtin_amdgcn_ds_bpermute(address, (int)s.pieces[p]);
#endif
  return s.value;
}

Value from_lane(const Value x, const uint lane) {
  Shuffled s;
  s.value = x;
#if PTX
  for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("idx", s.pieces[p], lane, "31");
#else
  for (uint p = 0; p < VALUE_BYTES / 4; ++p)
    s.pieces[p] = (uint)__builtin_amdgcn_readlane((int)s.pieces[p], (int)lane);
#endif
  return s.value;
}

// The same, where each item may ask for another.
#if PTX
#define from_item from_lane
#else
Value from_item(const Value x, const uint lane) {
  Shuffled s;
  s.value = x;
  for (uint p = 0; p < VALUE_BYTES / 4; ++p)
    s.pieces[p] = (uint)__builtin_amdgcn_ds_bpermute((int)(4 * lane), (int)s.pieces[p]);
  return s.value;
}
#endif

#if AMD
// Within rows of 16 items an addition takes its operand from a neighbour at no cost; what an item lacks is neutral.
#define FROM_ROW(distance)                                                                                       \
  {                                                                                                              \
    Shuffled s, none;                                                                                            \
    s.value = x;                                                                                                 \
    none.value = neutral();                                                                                      \
    for (uint p = 0; p < VALUE_BYTES / 4; ++p)                                                                   \
      s.pieces[p] = (uint)__builtin_amdgcn_update_dpp((int)none.pieces[p], (int)s.pieces[p], 0x110 + (distance), \
                                                      0xf, 0xf, false);                                          \
    x = combine_values(s.value, x);                                                                              \
  }
Value scanned(Value x) {
  FROM_ROW(1)
  FROM_ROW(2)
  FROM_ROW(4)
  FROM_ROW(8)
  for (uint row = 1; row < BUNDLE / 16; ++row) {
    const Value below = from_lane(x, 16 * row - 1);
    if (own_lane() / 16 == row) x = combine_values(below, x);
  }
  return x;
}
#endif

// What precedes an item, of what it has and of that with all before.
Value without(const Value scanned, const Value mine) {
#define INTEGER_uint 1
#define INTEGER_ulong 1
#if OP == SUM && JOIN(INTEGER_, VALUE)
  return scanned - mine;
#elif OP == XOR
  return scanned ^ mine;
#else
  const Value below = from_below(scanned, 1);
  (void)mine;
  return own_lane() > 0 ? below : neutral();
#endif
}

#if PTX
Value with_below(const Value x, const uint distance) {
  const Value below = from_below(x, distance);
  return own_lane() >= distance ? combine_values(below, x) : x;
}
#define DEFINE_SCAN(NAME, COUNT, ITEMS)                                                      \
  void NAME(const Value* mine, Value* before, Value* totals) {                               \
    _Pragma("unroll") for (uint k = 0; k < COUNT; ++k) before[k] = mine[k];                  \
    _Pragma("unroll") for (uint d = 1; d < ITEMS; d *= 2) {                                  \
      /* of one distance after the other: their shuffles overlap */                          \
      _Pragma("unroll") for (uint k = 0; k < COUNT; ++k) before[k] = with_below(before[k], d); \
    }                                                                                        \
    _Pragma("unroll") for (uint k = 0; k < COUNT; ++k) {                                     \
      totals[k] = from_lane(before[k], ITEMS - 1);                                           \
      before[k] = without(before[k], mine[k]);                                               \
    }                                                                                        \
  }
#else
Value scan_value(const Value x, Value* total) {
  const Value all = scanned(x);
  *total = from_lane(all, BUNDLE - 1);
  return without(all, x);
}
#endif

Value sum_of_bundle(Value x) {
#if PTX
#pragma unroll
  for (uint d = 1; d < BUNDLE; d *= 2) {
    Shuffled s;
    s.value = x;
    for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("bfly", s.pieces[p], d, "31");
    x = combine_values(x, s.value);
  }
  return x;
#else
  return from_lane(scanned(x), BUNDLE - 1);
#endif
}

uint rank_by_votes(const bool yes, uint* all) {
  const Votes votes = ballot(yes);
  *all = (uint)popcount(votes);
  return VOTES_BELOW(votes);
}

uint first_of_bundle(const bool yes) {
  const Votes votes = ballot(yes);
  return votes == 0 ? BUNDLE : (uint)popcount(~votes & (votes - 1));
}

// ---- By OpenCL's sub-groups ----------------------------------------------------------------------------------

#else

#define from_lane sub_group_broadcast

#if OP == SUM
#define sum_of_bundle sub_group_reduce_add
#define before_in_bundle sub_group_scan_exclusive_add
#elif OP == MIN
#define sum_of_bundle sub_group_reduce_min
#define before_in_bundle sub_group_scan_exclusive_min
#else
#define sum_of_bundle sub_group_reduce_max
#define before_in_bundle sub_group_scan_exclusive_max
#endif
Value scan_value(const Value x, Value* total) {
  const Value before = before_in_bundle(x);
  *total = from_lane(combine_values(before, x), bundle_items() - 1);
  return before;
}

uint rank_by_votes(const bool yes, uint* all) {
  const uint before = sub_group_scan_exclusive_add((uint)yes);
  *all = sub_group_broadcast(before + yes, bundle_items() - 1);
  return before;
}

uint first_of_bundle(const bool yes) { return sub_group_reduce_min(yes ? own_lane() : bundle_items()); }

#endif

#if !PTX
#define DEFINE_SCAN(NAME, COUNT, ITEMS)                                                              \
  void NAME(const Value* mine, Value* before, Value* totals) {                                       \
    _Pragma("unroll") for (uint k = 0; k < COUNT; ++k) before[k] = scan_value(mine[k], &totals[k]); \
  }
#endif

// ---- Of elements -----------------------------------------------------------------------------------------------

Element sum_elements(Element x) {
#if PARTS > 1
#pragma unroll
  for (uint p = 0; p < PARTS; ++p) x.at[p] = sum_of_bundle(x.at[p]);
  return x;
#else
  return sum_of_bundle(x);
#endif
}

DEFINE_SCAN(scan_parts, PARTS, BUNDLE)
Element scan_elements(const Element mine, Element* total) {
  Element before;
  scan_parts((const Value*)&mine, (Value*)&before, (Value*)total);
  return before;
}

#if !SUBGROUPS
DEFINE_SCAN(scan_parts_of_bundles, PARTS, BUNDLES)
#endif

// What the bundles before this one have, and what all have. `sums` holds an element of each and is complete.
#if PTX
Value scan_bundles(const __local Value* sums, Value* total) {
  const uint lane = own_lane(), bundle = own_bundle();
  Value scanned = lane < BUNDLES ? sums[lane] : neutral();
#pragma unroll
  for (uint d = 1; d < BUNDLES; d *= 2) scanned = with_below(scanned, d);
  *total = from_lane(scanned, BUNDLES - 1);
  const Value before = from_lane(scanned, bundle > 0 ? bundle - 1 : 0);
  return bundle > 0 ? before : neutral();
}
#else
Element scan_bundles(const __local Element* sums, Element* total) {
#if SUBGROUPS  // of which there may be more than one has items
  Element before = identity(), all = identity();
  for (uint b = own_lane(); b < BUNDLES; b += bundle_items()) {
    const Element sum = sums[b];
    if (b < own_bundle()) before = combine(before, sum);
    all = combine(all, sum);
  }
  *total = sum_elements(all);
  return sum_elements(before);
#else
  Element before, mine = own_lane() < BUNDLES ? sums[own_lane()] : identity();
  scan_parts_of_bundles((const Value*)&mine, (Value*)&before, (Value*)total);
#pragma unroll
  for (uint p = 0; p < PARTS; ++p) ((Value*)&before)[p] = from_lane(((Value*)&before)[p], own_bundle());
  return before;
#endif
}
#endif

#endif  // BUNDLED
