// SPDX-License-Identifier: Apache-2.0
// sequences: compacts a long sequence per processor: counts, scans the counts, moves the keys (Billeter et al. 2009).
//
// UNIT              work-items that walk a sequence together
// WRITE             1: each work-item writes what it keeps; 2: kept keys are collected until they fill a chunk; 0: the
//                   one where a sequence keeps little, the other where it keeps more
//
// A few hundred units of UNIT work-items walk a sequence each, a chunk of a vector per work-item at a time, so that
// there are no more counts than units. A unit is a warp where there are warps. Otherwise it is a work-group; or 32
// work-items each, which share the barriers of their work-group: then all take as many steps, some of which find
// nothing.
#ifdef EDITOR
#define UNIT 32
#define WRITE 0
#elif !defined(UNIT) || !defined(WRITE)
#error "sequences.cl needs UNIT and WRITE from the host"
#endif
#include "compaction/counts.cl"
#include "scan/scan_sums.cl"

#define SHARES_BARRIERS (!SUBGROUP_PTX && UNIT < GROUP)
#if SUBGROUP_PTX
#define UNIT_BARRIER SUBGROUP_BARRIER()
#define UNIT_MEMORY __local uint sums[1]
#else
#define UNIT_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define UNIT_MEMORY __local uint sums[2 * GROUP]
#endif
#define SEQUENCE_CHUNK (UNIT * VEC)

// Holds the chunks of a unit: `each` and, of the first `extra` units, one more.
typedef struct {
  ulong first, last;
} Sequence;
Sequence sequence_of(const uint unit, const ulong each, const ulong extra) {
  Sequence s;
  s.first = unit * each + min((ulong)unit, extra);
  s.last = s.first + each + (unit < extra ? 1 : 0);
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

// `none` lies behind the sequence.
void load_chunk(Tile* x, __global const Key* restrict in, const ulong n, const ulong chunk, const bool own) {
  const ulong i = chunk * SEQUENCE_CHUNK + get_local_id(0) % UNIT * VEC;
  if (own && i + VEC <= n) {
    x->vector[0] = *(__global const Vector*)(in + i);
    return;
  }
#pragma unroll
  for (uint v = 0; v < VEC; ++v) x->at[0][v] = own && i + v < n ? in[i + v] : dropped();
}

#if UNIT == GROUP
#define scan_unit scan_group
#elif !SUBGROUP_PTX
// Scans each unit as scan_group scans a work-group.
uint scan_unit(__local uint* sums, const uint mine, uint* total) {
  const uint item = (uint)get_local_id(0), lane = item % UNIT;
  __local uint* from = sums;
  __local uint* to = sums + GROUP;
  barrier(CLK_LOCAL_MEM_FENCE);
  from[item] = mine;
  for (uint distance = 1; distance < UNIT; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    to[item] = lane >= distance ? from[item - distance] + from[item] : from[item];
    __local uint* other = from;
    from = to;
    to = other;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  *total = from[item - lane + UNIT - 1];
  return lane > 0 ? from[item - 1] : 0;
}
#endif

// Returns how many keys the lanes before this one keep, and in *total how many the unit does.
uint rank_in_unit(const Tile* x, __local uint* sums, uint* total) {
#if SUBGROUP_PTX
  uint before = 0;
  (void)sums;
  *total = 0;
#pragma unroll
  for (uint v = 0; v < VEC; ++v) {
    uint all;
    before += subgroup_rank(keeps(x->at[0][v]), &all);
    *total += all;
  }
  return before;
#else
  uint count;
  return scan_unit(sums, count_vectors(x, &count), total);
#endif
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void count_sequences(__global uint* restrict unit_sums, __global const Key* restrict in, const ulong n,
                              const ulong each, const ulong extra) {
  UNIT_MEMORY;
  const uint unit = (uint)(get_global_id(0) / UNIT);
  const Sequence own = sequence_of(unit, each, extra);
  uint mine = 0, total, count;
  for (ulong c = own.first; c < own.last; ++c) {
    Tile x;
    load_chunk(&x, in, n, c, true);
    mine += count_vectors(&x, &count);
  }
#if SUBGROUP_PTX
  (void)sums;
  total = subgroup_reduce(mine);
#else
  (void)scan_unit(sums, mine, &total);
#endif
  if (get_local_id(0) % UNIT == 0) unit_sums[unit] = total;
}

__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void move_sequences(__global Key* restrict out, __global uint* restrict index, __global uint* restrict count,
                             __global const uint* restrict unit_sums, __global const Key* restrict in, const ulong n,
                             const ulong each, const ulong extra) {
  UNIT_MEMORY;
#if WRITE != 1
  __local Key held[GROUP / UNIT * 2 * SEQUENCE_CHUNK];  // a ring of two chunks for each unit
  __local Key* ring = held + get_local_id(0) / UNIT * 2 * SEQUENCE_CHUNK;
#if INDEX
  __local uint held_places[GROUP / UNIT * 2 * SEQUENCE_CHUNK];
  __local uint* places = held_places + get_local_id(0) / UNIT * 2 * SEQUENCE_CHUNK;
#endif
#endif
  (void)index;
  const uint unit = (uint)(get_global_id(0) / UNIT), lane = (uint)get_local_id(0) % UNIT;
  const Sequence own = sequence_of(unit, each, extra);
  ulong to = unit > 0 ? unit_sums[unit - 1] : 0;
  const ulong end = unit_sums[unit];
  if (lane == 0 && unit == get_global_size(0) / UNIT - 1) put_count(count, end, n);
#if WRITE == 0
  const bool collects = (end - to) * 8 > (own.last - own.first) * SEQUENCE_CHUNK;
#elif WRITE == 2
  const bool collects = true;
#endif
#if WRITE != 1
  uint start = 0, fill = 0;  // of the ring
#endif
  const ulong steps = steps_of(own, each, extra);
  for (ulong step = 0; step < steps; ++step) {
    const ulong c = own.first + step;
    Tile x;
    uint total;
    load_chunk(&x, in, n, c, c < own.last);
    uint rank = rank_in_unit(&x, sums, &total);
#if WRITE != 1
    if (collects) {
#pragma unroll
      for (uint v = 0; v < VEC; ++v) {
        if (!keeps(x.at[0][v])) continue;
        const uint at = (start + fill + rank++) % (2 * SEQUENCE_CHUNK);
        ring[at] = x.at[0][v];
#if INDEX
        places[at] = (uint)(c * SEQUENCE_CHUNK + lane * VEC + v);
#endif
      }
      fill += total;
    }
#if SHARES_BARRIERS
    UNIT_BARRIER;
#else
    if (collects) UNIT_BARRIER;
#endif
    if (collects) {
      if (fill >= SEQUENCE_CHUNK || step + 1 == steps) {
        const uint out_now = min(fill, (uint)SEQUENCE_CHUNK);
        for (uint i = lane; i < out_now; i += UNIT) {
          out[to + i] = ring[(start + i) % (2 * SEQUENCE_CHUNK)];
#if INDEX
          index[to + i] = places[(start + i) % (2 * SEQUENCE_CHUNK)];
#endif
        }
        to += out_now;
        start += out_now;
        fill -= out_now;
#if !SHARES_BARRIERS  // otherwise the next ranks have some
        UNIT_BARRIER;
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
      index[to + rank] = (uint)(c * SEQUENCE_CHUNK + lane * VEC + v);
#endif
      ++rank;
    }
    to += total;
  }
#if WRITE != 1
  for (uint i = lane; collects && i < fill; i += UNIT) {  // what the last chunk left
    out[to + i] = ring[(start + i) % (2 * SEQUENCE_CHUNK)];
#if INDEX
    index[to + i] = places[(start + i) % (2 * SEQUENCE_CHUNK)];
#endif
  }
#endif
}
