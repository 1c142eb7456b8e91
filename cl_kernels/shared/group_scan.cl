// SPDX-License-Identifier: Apache-2.0
// group_scan: how the items of a work-group hand over consecutive elements, and scan what each of them holds.
//
// Behind bundles.cl.
// GROUP, ITEMS      items of a work-group and elements of an item; a tile is GROUP * ITEMS elements
#define TILE (GROUP * ITEMS)

// Local memory has 32 banks of four bytes; without the gaps, items that walk consecutive elements meet in few.
#define PADDED(i) ((i) + (i) / 32)

// Neighbouring items read neighbouring addresses; consecutive elements then come out of local memory. `none`
// lies behind the last.
void load_tile(__local Item* staged, __global const Item* restrict in, const ulong n, const ulong tile,
               const Item none, Item* x) {
  const uint lane = own_item();
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
  const uint lane = own_item();
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

// All that items before this one hold in `mine`, and the total of all. `sums` has room for two elements of each item.
Element scan_group(__local Element* sums, const Element mine, Element* total) {
#if BUNDLED && !PTX  // an H200's shuffles took a twelfth longer in hughes than its barriers
  Element of_bundle;
  const Element before = scan_elements(mine, &of_bundle);
  barrier(CLK_LOCAL_MEM_FENCE);  // whoever read `sums` before is done
  if (own_lane() == 0) sums[own_bundle()] = of_bundle;
  barrier(CLK_LOCAL_MEM_FENCE);
  return combine(scan_bundles(sums, total), before);
#else  // Hillis and Steele
  const uint lane = own_item();
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
#endif
}
