// SPDX-License-Identifier: Apache-2.0
// reduce_then_scan: reduces each tile, scans the aggregates, and scans each tile, starting from its prefix (Merrill &
// Grimshaw 2009).
//
// Both kernels begin at the tile `first`, so that a launch may be a batch of tiles that fits a cache: the second kernel
// then reads its input from there.
#pragma once
#include "scan/scan_sums.cl"

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void reduce_tiles(__global Element* restrict tile_aggregates, __global const Element* restrict in,
                           const ulong n, const ulong first) {
  TILE_MEMORY;
  Element x[ELEMENTS_PER_WORK_ITEM], total;
  load_tile(staged, in, n, first + get_group_id(0), identity(), x);
  scan_group(partials, reduce(x), &total);
  if (get_local_id(0) == 0) tile_aggregates[first + get_group_id(0)] = total;
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_tiles_from_prefixes(__global Element* restrict out, __global const Element* restrict tile_aggregates,
                                       __global const Element* restrict in, const ulong n, const ulong first) {
  TILE_MEMORY;
  const ulong tile = first + get_group_id(0);
  Element x[ELEMENTS_PER_WORK_ITEM], total;
  load_tile(staged, in, n, tile, identity(), x);
  const Element exclusive_in_group = scan_group(partials, reduce(x), &total);
  const Element tile_prefix = tile > 0 ? tile_aggregates[tile - 1] : init();
  scan_elements(x, combine(tile_prefix, exclusive_in_group), EXCLUSIVE_SCAN);
  store_tile(staged, out, n, tile, x);
}
