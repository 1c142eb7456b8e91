// SPDX-License-Identifier: Apache-2.0
// group_scan: how the items of a work-group hand over consecutive elements, and scan what each of them holds.
//
// GROUP, ITEMS      items of a work-group and elements of an item; a tile is GROUP * ITEMS elements
// VALUE_BYTES       4 or 8
// PTX               1: shuffles, votes and relaxed loads of NVIDIA's PTX; 0: OpenCL C 1.2 alone
#define TILE (GROUP * ITEMS)

// Local memory has 32 banks of four bytes; without the gaps, items that walk consecutive elements meet in few.
#define PADDED(i) ((i) + (i) / 32)

// Neighbouring items read neighbouring addresses; consecutive elements then come out of local memory. `none`
// lies behind the last.
void load_tile(__local Item* staged, __global const Item* restrict in, const ulong n, const ulong tile,
               const Item none, Item* x) {
  const uint lane = (uint)get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);  // whoever read `staged` before is done
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint at = k * GROUP + lane;
    const ulong i = tile * TILE + at;
    staged[PADDED(at)] = i < n ? in[i] : none;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) x[k] = staged[PADDED(lane * ITEMS + k)];
}

// The way back.
void store_tile(__local Item* staged, __global Item* restrict out, const ulong n, const ulong tile,
                const Item* x) {
  const uint lane = (uint)get_local_id(0);
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) staged[PADDED(lane * ITEMS + k)] = x[k];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint k = 0; k < ITEMS; ++k) {
    const uint at = k * GROUP + lane;
    const ulong i = tile * TILE + at;
    if (i < n) out[i] = staged[PADDED(at)];
  }
}

// All that items before this one hold in `mine`, and the total of all (Hillis and Steele, in local memory).
Element scan_group(__local Element* sums, const Element mine, Element* total) {
  const uint lane = (uint)get_local_id(0);
  __local Element* from = sums;
  __local Element* to = sums + GROUP;
  barrier(CLK_LOCAL_MEM_FENCE);
  from[lane] = mine;
  for (uint distance = 1; distance < GROUP; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    to[lane] = lane >= distance ? combine(from[lane - distance], from[lane]) : from[lane];
    __local Element* other = from;
    from = to;
    to = other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *total = from[GROUP - 1];
  return lane > 0 ? from[lane - 1] : identity();
}

// ---- Bundles of 32 items that run in lock-step ---------------------------------------------------------------

#define BUNDLE 32

#if PTX

#define SHUFFLE(how, x, lane, clamp)                                                             \
  asm volatile("shfl.sync." how ".b32 %0, %1, %2, " clamp ", 0xffffffff;" : "=r"(x) : "r"(x), "r"(lane))

typedef union {
  Value value;
  uint pieces[VALUE_BYTES / 4];
} Shuffled;

Value from_below(const Value x, const uint distance) {
  Shuffled s;
  s.value = x;
  for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("up", s.pieces[p], distance, "0");
  return s.value;
}

Value from_lane(const Value x, const uint lane) {
  Shuffled s;
  s.value = x;
  for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("idx", s.pieces[p], lane, "31");
  return s.value;
}

Value sum_of_bundle(Value x) {
#pragma unroll
  for (uint d = 1; d < BUNDLE; d *= 2) {
    Shuffled s;
    s.value = x;
    for (uint p = 0; p < VALUE_BYTES / 4; ++p) SHUFFLE("bfly", s.pieces[p], d, "31");
    x = combine_values(x, s.value);
  }
  return x;
}

uint ballot(const bool yes) {
  uint votes;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(votes) : "r"((uint)yes));
  return votes;
}

#endif  // PTX
