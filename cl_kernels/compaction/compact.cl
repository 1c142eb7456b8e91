// SPDX-License-Identifier: Apache-2.0
// compact: moves the kept keys of a tile to their places, in one reading of the keys.
//
// CARRY             how a tile learns how many keys are kept before it: one of compaction/carry_*.cl, which define
//                   CARRY_OF(mine, total) for all work-items, and STATES, the type of what it works on; CHAINED, 1: by
//                   tile states; ORDERED, 1: the keys stay in their order
// PERSISTENT        1: a work-group loops over tiles and loads the next one before it waits; only if STAGED
// MASKS             1: an earlier launch left a bit per key
#ifdef EDITOR
#define CARRY "compaction/carry_look_back.cl"
#define PERSISTENT 0
#define MASKS 0
#elif !defined(PERSISTENT) || !defined(MASKS)
#error "compact.cl needs PERSISTENT and MASKS from the host"
#endif
#include "compaction/output.cl"
#include "compaction/ranks.cl"
#include CARRY

#if !CHAINED
typedef struct {
  uint tile, epoch;
} Ticket;
#endif

KNOWN_GROUP
__kernel void compact(__global Key* restrict out, __global uint* restrict index, __global uint* restrict count,
                      STATES states, __global const uint* restrict masks, __global const Key* restrict in,
                      const ulong n, const uint tiles, const uint tickets) {
  VECTOR_MEMORY;
  CARRY_MEMORY;
  STAGE_MEMORY;
  const uint item = (uint)get_local_id(0);
  (void)item;
  (void)vectors;
  (void)masks;
#if CHAINED
  Word counter;
  Ticket mine = acquire_one_tile(states, tickets, ticket, &counter);
  if (mine.tile >= tiles) return;
#else
  Ticket mine = {(uint)get_group_id(0), 0};
  (void)ticket;
  (void)tickets;
#endif
  Tile x;
#if MASKS
  load_kept_vectors(&x, masks, in, n);
#else
  load_vectors(&x, in, n, mine.tile, dropped());
#endif
#if CHAINED
  broadcast_epoch(states, counter, tickets, ticket);
#endif
  while (mine.tile < tiles) {
    uint counts[VECTORS], before[VECTORS];
#if PERSISTENT
    if (item == 0) draw_ticket(states, tickets, ticket);
#endif
#if SUBGROUP_OPS
    uint subgroups;
    const uint total = count_tile(count_vectors(&x, counts), sums, &subgroups);
#else
    (void)count_vectors(&x, counts);
    const uint total = rank_in_tile(&x, counts, before, vectors, sums);
#endif
#if CHAINED
    receive_epoch(&mine, ticket);
    if (item == 0 && PUBLISHES_AGGREGATE(mine.tile)) publish(states, mine.tile, mine.epoch, AGGREGATE, total);
#endif
#if SUBGROUP_OPS
    rank_in_subgroup(&x, counts, before, subgroups);
#endif
#if STAGED
    stage_vectors(&x, before, STAGE);
#endif
#if PERSISTENT
    const Ticket next = {ticket[0], ticket[1]};
    load_vectors(&x, in, n, next.tile, dropped());  // loads nothing behind the last tile
#endif
    const ulong carry = CARRY_OF(mine, total);
#if STAGED
    barrier(CLK_LOCAL_MEM_FENCE);
    write_staged(total, carry, mine.tile, STAGE, out, index);
#else
    write_vectors(&x, before, carry, mine.tile, out, index);
#endif
#if ORDERED
    if (item == 0 && mine.tile == tiles - 1) put_count(count, carry + total, n);
#endif
#if PERSISTENT
    mine = next;
    barrier(CLK_LOCAL_MEM_FENCE);  // what was staged is written
#else
    mine.tile = tiles;
#endif
  }
}
