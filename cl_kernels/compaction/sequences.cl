// SPDX-License-Identifier: Apache-2.0
// sequences: compacts by few long sequences: counts, scans the counts, moves the keys (Billeter et al. 2009).
//
// SEQUENCE_WORK_ITEMS   work-items that process a sequence together
// WRITE             1: each work-item writes what it keeps; 2: kept keys are collected until they fill a chunk; 0: the
//                   one where a sequence keeps little, the other where it keeps more
//
// The keys are divided into a few hundred sequences, so that there are few counts to scan. SEQUENCE_WORK_ITEMS
// work-items process a sequence chunk by chunk, a vector per work-item at a time. They are a warp where SUBGROUP_PTX
// is 1; else a whole work-group, or 32 work-items of one. In the last case all sequences of a work-group share its
// barriers, and so all take as many steps as the longest one.
#ifdef EDITOR
#define SEQUENCE_WORK_ITEMS 32
#define WRITE 0
#elif !defined(SEQUENCE_WORK_ITEMS) || !defined(WRITE)
#error "sequences.cl needs SEQUENCE_WORK_ITEMS and WRITE from the host"
#endif
#include "compaction/counts.cl"
#include "scan/scan_sums.cl"

// SEQUENCE_MEMORY declares local memory: `partials`.
#define SHARES_BARRIERS (!SUBGROUP_PTX && SEQUENCE_WORK_ITEMS < GROUP)
#if SUBGROUP_PTX
#define SEQUENCE_BARRIER SUBGROUP_BARRIER()
#define SEQUENCE_MEMORY __local uint partials[1]
#else
#define SEQUENCE_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define SEQUENCE_MEMORY __local uint partials[2 * GROUP]
#endif
#define SEQUENCE_CHUNK (SEQUENCE_WORK_ITEMS * VEC)

// Holds the chunks of a sequence: `each` and, of the first `extra` sequences, one more.
typedef struct {
  ulong first, last;
} Sequence;
Sequence sequence_of(const uint sequence, const ulong each, const ulong extra) {
  Sequence s;
  s.first = sequence * each + min((ulong)sequence, extra);
  s.last = s.first + each + (sequence < extra ? 1 : 0);
  return s;
}

// Returns the number of steps through a sequence.
ulong steps_of(const Sequence s, const ulong each, const ulong extra) {
#if SHARES_BARRIERS
  (void)s;
  return each + (extra > 0 ? 1 : 0);
#else
  (void)each;
  (void)extra;
  return s.last - s.first;
#endif
}

// Loads a chunk; a key that is not kept stands for what lies behind the sequence.
void load_chunk(Tile* x, __global const Key* restrict in, const ulong n, const ulong chunk, const bool own) {
  const ulong i = chunk * SEQUENCE_CHUNK + get_local_id(0) % SEQUENCE_WORK_ITEMS * VEC;
  if (own && i + VEC <= n) {
    x->vector[0] = *(__global const Vector*)(in + i);
    return;
  }
#pragma unroll
  for (uint v = 0; v < VEC; ++v) x->at[0][v] = own && i + v < n ? in[i + v] : dropped();
}

#if SEQUENCE_WORK_ITEMS == GROUP
#define scan_chunk scan_group
#elif !SUBGROUP_PTX
// Scans the work-items of each sequence as scan_group scans a work-group.
uint scan_chunk(__local uint* partials, const uint mine, uint* total) {
  const uint local_id = (uint)get_local_id(0), id_in_sequence = local_id % SEQUENCE_WORK_ITEMS;
  __local uint* from = partials;
  __local uint* to = partials + GROUP;
  barrier(CLK_LOCAL_MEM_FENCE);
  from[local_id] = mine;
  for (uint distance = 1; distance < SEQUENCE_WORK_ITEMS; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    to[local_id] = id_in_sequence >= distance ? from[local_id - distance] + from[local_id] : from[local_id];
    __local uint* other = from;
    from = to;
    to = other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *total = from[local_id - id_in_sequence + SEQUENCE_WORK_ITEMS - 1];
  return id_in_sequence > 0 ? from[local_id - 1] : 0;
}
#endif

// Returns how many keys of the chunk the work-items before this one keep, and in *total how many all keep.
uint rank_in_chunk(const Tile* x, __local uint* partials, uint* total) {
#if SUBGROUP_PTX
  uint prefix = 0;
  (void)partials;
  *total = 0;
#pragma unroll
  for (uint v = 0; v < VEC; ++v) {
    uint all;
    prefix += subgroup_rank(keeps(x->at[0][v]), &all);
    *total += all;
  }
  return prefix;
#else
  uint count;
  return scan_chunk(partials, count_vectors(x, &count), total);
#endif
}

// Counts the kept keys of each sequence.
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void count_sequences(__global uint* restrict sequence_counts, __global const Key* restrict in, const ulong n,
                              const ulong each, const ulong extra) {
  SEQUENCE_MEMORY;
  const uint sequence = (uint)(get_global_id(0) / SEQUENCE_WORK_ITEMS);
  const Sequence own = sequence_of(sequence, each, extra);
  uint mine = 0, total, count;
  for (ulong c = own.first; c < own.last; ++c) {
    Tile x;
    load_chunk(&x, in, n, c, true);
    mine += count_vectors(&x, &count);
  }
#if SUBGROUP_PTX
  (void)partials;
  total = subgroup_reduce(mine);
#else
  (void)scan_chunk(partials, mine, &total);
#endif
  if (get_local_id(0) % SEQUENCE_WORK_ITEMS == 0) sequence_counts[sequence] = total;
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void move_sequences(__global Key* restrict out, __global uint* restrict index, __global uint* restrict count,
                             __global const uint* restrict sequence_counts, __global const Key* restrict in,
                             const ulong n, const ulong each, const ulong extra) {
  SEQUENCE_MEMORY;
#if WRITE != 1
  // Holds a circular buffer of two chunks for each sequence.
  __local Key held[GROUP / SEQUENCE_WORK_ITEMS * 2 * SEQUENCE_CHUNK];
  __local Key* buffer = held + get_local_id(0) / SEQUENCE_WORK_ITEMS * 2 * SEQUENCE_CHUNK;
#if INDEX
  __local uint held_places[GROUP / SEQUENCE_WORK_ITEMS * 2 * SEQUENCE_CHUNK];
  __local uint* places = held_places + get_local_id(0) / SEQUENCE_WORK_ITEMS * 2 * SEQUENCE_CHUNK;
#endif
#endif
  (void)index;
  const uint sequence = (uint)(get_global_id(0) / SEQUENCE_WORK_ITEMS);
  const uint id_in_sequence = (uint)get_local_id(0) % SEQUENCE_WORK_ITEMS;
  const Sequence own = sequence_of(sequence, each, extra);
  ulong to = sequence > 0 ? sequence_counts[sequence - 1] : 0;
  const ulong end = sequence_counts[sequence];
  if (id_in_sequence == 0 && sequence == get_global_size(0) / SEQUENCE_WORK_ITEMS - 1) put_count(count, end, n);
#if WRITE == 0
  const bool collects = (end - to) * 8 > (own.last - own.first) * SEQUENCE_CHUNK;
#elif WRITE == 2
  const bool collects = true;
#endif
#if WRITE != 1
  uint start = 0, fill = 0;  // of the circular buffer
#endif
  const ulong steps = steps_of(own, each, extra);
  for (ulong step = 0; step < steps; ++step) {
    const ulong c = own.first + step;
    Tile x;
    uint total;
    load_chunk(&x, in, n, c, c < own.last);
    uint rank = rank_in_chunk(&x, partials, &total);
#if WRITE != 1
    if (collects) {
#pragma unroll
      for (uint v = 0; v < VEC; ++v) {
        if (!keeps(x.at[0][v])) continue;
        const uint at = (start + fill + rank++) % (2 * SEQUENCE_CHUNK);
        buffer[at] = x.at[0][v];
#if INDEX
        places[at] = (uint)(c * SEQUENCE_CHUNK + id_in_sequence * VEC + v);
#endif
      }
      fill += total;
    }
#if SHARES_BARRIERS
    SEQUENCE_BARRIER;
#else
    if (collects) SEQUENCE_BARRIER;
#endif
    if (collects) {
      if (fill >= SEQUENCE_CHUNK || step + 1 == steps) {
        const uint out_now = min(fill, (uint)SEQUENCE_CHUNK);
        for (uint i = id_in_sequence; i < out_now; i += SEQUENCE_WORK_ITEMS) {
          out[to + i] = buffer[(start + i) % (2 * SEQUENCE_CHUNK)];
#if INDEX
          index[to + i] = places[(start + i) % (2 * SEQUENCE_CHUNK)];
#endif
        }
        to += out_now;
        start += out_now;
        fill -= out_now;
#if !SHARES_BARRIERS  // otherwise the barriers of the next scan_chunk are enough
        SEQUENCE_BARRIER;
#endif
      }
      continue;
    }
#endif
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      if (!keeps(x.at[0][v])) continue;
      out[to + rank] = x.at[0][v];
#if INDEX
      index[to + rank] = (uint)(c * SEQUENCE_CHUNK + id_in_sequence * VEC + v);
#endif
      ++rank;
    }
    to += total;
  }
#if WRITE != 1
  for (uint i = id_in_sequence; collects && i < fill; i += SEQUENCE_WORK_ITEMS) {  // what the last chunk left
    out[to + i] = buffer[(start + i) % (2 * SEQUENCE_CHUNK)];
#if INDEX
    index[to + i] = places[(start + i) % (2 * SEQUENCE_CHUNK)];
#endif
  }
#endif
}
