// SPDX-License-Identifier: Apache-2.0
// reduce_then_scan: reduces each tile, scans the sums, and scans the tiles onto them (Merrill & Grimshaw 2009).
//
// Both kernels begin at the tile `first`: of a batch that fits a cache, the second reading finds the input there.
#pragma once
#include "scan/scan_sums.cl"

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void reduce_tiles(__global Element* restrict tile_sums, __global const Element* restrict in, const ulong n,
                           const ulong first) {
  TILE_MEMORY;
  Element x[ITEMS], total;
  load_tile(staged, in, n, first + get_group_id(0), identity(), x);
  scan_group(sums, fold(x), &total);
  if (get_local_id(0) == 0) tile_sums[first + get_group_id(0)] = total;
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void scan_tiles_onto(__global Element* restrict out, __global const Element* restrict tile_sums,
                              __global const Element* restrict in, const ulong n, const ulong first) {
  TILE_MEMORY;
  const ulong tile = first + get_group_id(0);
  Element x[ITEMS], total;
  load_tile(staged, in, n, tile, identity(), x);
  const Element before = scan_group(sums, fold(x), &total);
  const Element carry = tile > 0 ? tile_sums[tile - 1] : initial();
  scan_items(x, combine(carry, before), EXCLUSIVE);
  store_tile(staged, out, n, tile, x);
}
