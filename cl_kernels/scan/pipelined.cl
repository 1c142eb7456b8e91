// SPDX-License-Identifier: Apache-2.0
// pipelined: scans like register_tile.cl, but overlaps the look-back with the scan and with the next tile's loads.
//
// TILE_SCAN         as in register_tile.cl
// PERSISTENT        1: a work-group loops over tiles and loads the next one before it waits; 0: it has one tile
#define REDUCE_BEFORE_SCAN 1
#ifdef EDITOR
#define TILE_SCAN "scan/value_scan.cl"
#define PERSISTENT 1
#elif !defined(PERSISTENT)
#error "pipelined.cl needs PERSISTENT from the host"
#endif
#include TILE_SCAN

WORK_GROUP_SIZE_ATTRIBUTE
__kernel void pipelined(__global Value* restrict out, volatile __global StateWord* states,
                        __global const Value* restrict in, const ulong n, const uint tiles, const uint num_tickets) {
  TILE_SCAN_MEMORY;
  StateWord counter;
  TileTicket mine = acquire_one_tile(states, num_tickets, ticket, &counter);
  if (mine.tile >= tiles) return;
  Tile x;
  load_vectors(&x, in, n, mine.tile, identity_value());
  broadcast_epoch(states, counter, num_tickets, ticket);
  while (mine.tile < tiles) {
    Progress progress;
#if PERSISTENT
    if (work_item_id() == 0) draw_ticket(states, num_tickets, ticket);
#endif
    const Total total = tile_aggregate(&x, &progress, vectors, partials);
    receive_epoch(&mine, ticket);
    publish_aggregate(states, mine, total);
#if PERSISTENT
    const TileTicket next = {ticket[0], ticket[1]};
    Tile y;
    load_vectors(&y, in, n, next.tile, identity_value());  // loads nothing behind the last tile
#endif
    scan_during_look_back(&x, &progress);
    const TilePrefix tile_prefix = TILE_PREFIX_OF(mine, total);
    apply_prefix(&x, &progress, tile_prefix, vectors);
    store_vectors(&x, out, n, mine.tile);
#if PERSISTENT
    x = y;
    mine = next;
#else
    mine.tile = tiles;
#endif
  }
}
