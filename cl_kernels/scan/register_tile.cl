// SPDX-License-Identifier: Apache-2.0
// register_tile: scans in one pass with decoupled look-back (Merrill & Garland 2016), tiles in registers.
//
// TILE_SCAN         scan/value_scan.cl, or scan/tuple_scan.cl for tuples as they lie in memory
#ifdef EDITOR
#define TILE_SCAN "scan/value_scan.cl"
#endif
#include TILE_SCAN

WORK_GROUP_SIZE_ATTRIBUTE
__kernel void register_tile(__global Value* restrict out, volatile __global StateWord* states,
                            __global const Value* restrict in, const ulong n, const uint tiles) {
  TILE_SCAN_MEMORY;
  StateWord counter;
  TileTicket mine = acquire_one_tile(states, tiles, ticket, &counter);
  Tile x;
  Progress progress;
  load_vectors(&x, in, n, mine.tile, identity_value());
  broadcast_epoch(states, counter, tiles, ticket);
  const Total total = tile_aggregate(&x, &progress, vectors, partials);
  receive_epoch(&mine, ticket);
  publish_aggregate(states, mine, total);
  const TilePrefix tile_prefix = TILE_PREFIX_OF(mine, total);
  apply_prefix(&x, &progress, tile_prefix, vectors);
  store_vectors(&x, out, n, mine.tile);
}
