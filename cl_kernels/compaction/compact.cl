// SPDX-License-Identifier: Apache-2.0
// compact: moves the kept keys of a tile to their places, in one reading of the keys.
//
// PREFIX_FILE       how a tile learns how many keys are kept before it: one of compaction/prefix_*.cl, which define
//                   PREFIX_MEMORY, the local memory of TILE_PREFIX_OF(mine, total), which all work-items call and
//                   which captures names of the kernel; STATES, the type of what that works on; BY_TILE_STATES, 1:
//                   tiles publish their counts in tile states; ORDERED, 1: the keys stay in their order
// PERSISTENT        1: a work-group loops over tiles and loads the next one before it waits; only if STAGED
// MASKS             1: an earlier launch left a bit per key
#ifdef EDITOR
#define PREFIX_FILE "compaction/prefix_look_back.cl"
#define PERSISTENT 0
#define MASKS 0
#elif !defined(PERSISTENT) || !defined(MASKS)
#error "compact.cl needs PERSISTENT and MASKS from the host"
#endif
#include "compaction/output.cl"
#include "compaction/ranks.cl"
#include PREFIX_FILE

#if !BY_TILE_STATES
typedef struct {
  uint tile, epoch;
} TileTicket;
#endif

WORK_GROUP_SIZE_ATTRIBUTE
__kernel void compact(__global Key* restrict out, __global uint* restrict index, __global uint* restrict count,
                      STATES states, __global const uint* restrict masks, __global const Key* restrict in,
                      const ulong n, const uint tiles, const uint num_tickets) {
  VECTOR_MEMORY;
  PREFIX_MEMORY;
  STAGE_MEMORY;
  const uint local_id = (uint)get_local_id(0);
  (void)local_id;
  (void)vectors;
  (void)masks;
#if BY_TILE_STATES
  StateWord counter;
  TileTicket mine = acquire_one_tile(states, num_tickets, ticket, &counter);
  if (mine.tile >= tiles) return;
#else
  TileTicket mine = {(uint)get_group_id(0), 0};
  (void)ticket;
  (void)num_tickets;
#endif
  Tile x;
#if MASKS
  load_kept_vectors(&x, masks, in, n);
#else
  load_vectors(&x, in, n, mine.tile, dropped());
#endif
#if BY_TILE_STATES
  broadcast_epoch(states, counter, num_tickets, ticket);
#endif
  while (mine.tile < tiles) {
    uint counts[VECTORS], prefixes[VECTORS];
#if PERSISTENT
    if (local_id == 0) draw_ticket(states, num_tickets, ticket);
#endif
#if SUBGROUP_OPS
    uint subgroup_prefix;
    const uint total = count_tile(count_vectors(&x, counts), partials, &subgroup_prefix);
#else
    (void)count_vectors(&x, counts);
    const uint total = rank_in_tile(&x, counts, prefixes, vectors, partials);
#endif
#if BY_TILE_STATES
    receive_epoch(&mine, ticket);
    if (local_id == 0 && PUBLISHES_AGGREGATE(mine.tile))
      publish(states, mine.tile, mine.epoch, STATUS_AGGREGATE, total);
#endif
#if SUBGROUP_OPS
    rank_in_subgroup(&x, counts, prefixes, subgroup_prefix);
#endif
#if STAGED
    stage_vectors(&x, prefixes, STAGE);
#endif
#if PERSISTENT
    const TileTicket next = {ticket[0], ticket[1]};
    load_vectors(&x, in, n, next.tile, dropped());  // loads nothing behind the last tile
#endif
    const ulong tile_prefix = TILE_PREFIX_OF(mine, total);
#if STAGED
    barrier(CLK_LOCAL_MEM_FENCE);
    write_staged(total, tile_prefix, mine.tile, STAGE, out, index);
#else
    write_vectors(&x, prefixes, tile_prefix, mine.tile, out, index);
#endif
#if ORDERED
    if (local_id == 0 && mine.tile == tiles - 1) put_count(count, tile_prefix + total, n);
#endif
#if PERSISTENT
    mine = next;
    barrier(CLK_LOCAL_MEM_FENCE);  // what was staged is written
#else
    mine.tile = tiles;
#endif
  }
}
