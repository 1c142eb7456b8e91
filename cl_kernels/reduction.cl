// SPDX-License-Identifier: Apache-2.0
// reduction: reduces n values to one, from the steps of Harris's lecture (2007) to what devices want today.
//
// GROUP              work-items of a work-group, a power of two
// VEC, UNROLL        of tiles: values of a vector; vectors that a work-item loads at a time
// STRIDED            of tiles: 1: work-groups take them in turns, 0: each takes consecutive ones
// LOCKSTEP           1: one sub-group folds the last 64 values in local memory without the barriers of its work-group
#ifdef EDITOR
#define VEC 4
#define UNROLL 4
#define STRIDED 1
#define LOCKSTEP 0
#elif !defined(GROUP) || !defined(VEC) || !defined(UNROLL) || !defined(STRIDED) || !defined(LOCKSTEP)
#error "reduction.cl needs GROUP, VEC, UNROLL, STRIDED and LOCKSTEP from the host"
#endif
#include "lib/subgroup.cl"

// Inlines all functions into their kernel, whatever the compiler would do.
#define INLINE static __attribute__((always_inline))

#define AS_T JOIN(as_, T)

// Combines values, and vectors of them.
#if OP == SUM
#define COMBINE(a, b) ((a) + (b))
#elif OP == MIN
#define COMBINE(a, b) min(a, b)
#else
#define COMBINE(a, b) max(a, b)
#endif

// ---- Folding the values of a work-group, one per work-item; work-item 0 gets the result -------------------

// Folds one level. Every level waits for the one before; no work-item writes what another reads in it.
#define FOLD(stride) \
  if (lane < (stride)) scratch[lane] = COMBINE(scratch[lane], scratch[lane + (stride)])
#define LEVEL(stride)           \
  barrier(CLK_LOCAL_MEM_FENCE); \
  FOLD(stride)

#if SUBGROUP_OPS

// Folds the first `count` values, with warps 64 at most, for all lanes of a sub-group.
INLINE T fold_by_subgroup(const __local T* scratch, const uint count) {
  const uint lane = subgroup_lane();
  T x = lane < count ? scratch[lane] : identity_value();
#if SUBGROUP_PTX
  if (count > SUBGROUP_SIZE) x = COMBINE(x, scratch[lane + SUBGROUP_SIZE]);
#else
  for (uint i = lane + subgroup_size(); i < count; i += subgroup_size()) x = COMBINE(x, scratch[i]);
#endif
  return subgroup_reduce(x);
}

// Begins what the first sub-group does. With OpenCL's sub-groups all do it: PoCL makes their exchanges out of
// barriers of the whole work-group, which are lost in a branch.
#if SUBGROUP_SIZE_VARIES
#define FIRST_SUBGROUP
#else
#define FIRST_SUBGROUP if (subgroup_id() == 0)
#endif

INLINE T fold_group(T x, __local T* scratch) {
  x = subgroup_reduce(x);
  if (subgroup_lane() == 0) scratch[subgroup_id()] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  FIRST_SUBGROUP x = fold_by_subgroup(scratch, SUBGROUPS);
  return x;
}

#else

INLINE T fold_group(T x, __local T* scratch) {
  const uint lane = work_item_id();
  scratch[lane] = x;
#pragma unroll
  for (uint stride = GROUP / 2; stride > 0; stride /= 2) {
    LEVEL(stride);
  }
  return scratch[lane];
}

#endif

// ---- Harris's steps: a work-group folds as many values as it has work-items, or twice as many --------------
//
// All but `unrolled` ask for the size of the work-group at run time, lest a compiler unroll their loops.

INLINE T element(__global const T* restrict in, const size_t i, const uint n) { return i < n ? in[i] : identity_value(); }

// Folds with every second work-item of a level, then every fourth: warps diverge.
__kernel void interleaved(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = work_item_id(), size = (uint)get_local_size(0);
  scratch[lane] = element(in, get_global_id(0), n);
  for (uint stride = 1; stride < size; stride *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane % (2 * stride) == 0) scratch[lane] = COMBINE(scratch[lane], scratch[lane + stride]);
  }
  if (lane == 0) out[get_group_id(0)] = scratch[0];
}

// Folds the same pairs by neighbouring work-items: no divergence, but bank conflicts.
__kernel void nondivergent(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = work_item_id(), size = (uint)get_local_size(0);
  scratch[lane] = element(in, get_global_id(0), n);
  for (uint stride = 1; stride < size; stride *= 2) {
    const uint i = 2 * stride * lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < size) scratch[i] = COMBINE(scratch[i], scratch[i + stride]);
  }
  if (lane == 0) out[get_group_id(0)] = scratch[0];
}

// Folds by neighbouring work-items at neighbouring addresses: no bank conflicts.
__kernel void sequential(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = work_item_id();
  scratch[lane] = element(in, get_global_id(0), n);
  for (uint stride = (uint)get_local_size(0) / 2; stride > 0; stride /= 2) {
    LEVEL(stride);
  }
  if (lane == 0) out[get_group_id(0)] = scratch[0];
}

INLINE T first_two(__global const T* restrict in, const uint n, const size_t size) {
  const size_t i = get_group_id(0) * 2 * size + get_local_id(0);
  const T a = element(in, i, n), b = element(in, i + size, n);
  return COMBINE(a, b);
}

// Adds two values while loading, so that no work-item begins idle.
__kernel void first_add(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = work_item_id(), size = (uint)get_local_size(0);
  scratch[lane] = first_two(in, n, size);
  for (uint stride = size / 2; stride > 0; stride /= 2) {
    LEVEL(stride);
  }
  if (lane == 0) out[get_group_id(0)] = scratch[0];
}

// Folds the last 64 values without a loop. The lecture left the barriers out, and the conditions, as a warp ran in
// lockstep. OpenCL guarantees no such thing: a sub-group has a barrier of its own, and with sub-groups smaller than
// the lecture's, the work-group's serves as long as more than one of them has work; and a work-item from which
// another one reads must not write, so that the conditions stay.
#if LOCKSTEP
#define LAST_WARP                                                          \
  LEVEL(32);                                                               \
  uint last = 16;                                                          \
  for (; 2 * last > SUBGROUP_SIZE; last /= 2) {                                   \
    LEVEL(last);                                                           \
  }                                                                        \
  FIRST_SUBGROUP {                                                             \
    _Pragma("unroll") for (uint stride = last; stride > 0; stride /= 2) {  \
      SUBGROUP_BARRIER();                                                    \
      FOLD(stride);                                                        \
    }                                                                      \
    if (lane == 0) out[get_group_id(0)] = scratch[0];                      \
  }
#elif SUBGROUP_OPS
#define LAST_WARP                                       \
  barrier(CLK_LOCAL_MEM_FENCE);                         \
  FIRST_SUBGROUP {                                          \
    const T last = fold_by_subgroup(scratch, 64);         \
    if (lane == 0) out[get_group_id(0)] = last;         \
  }
#else
#define LAST_WARP                                                                                \
  LEVEL(32);                                                                                     \
  LEVEL(16);                                                                                     \
  LEVEL(8);                                                                                      \
  LEVEL(4);                                                                                      \
  LEVEL(2);                                                                                      \
  LEVEL(1);                                                                                      \
  if (lane == 0) out[get_group_id(0)] = scratch[0]
#endif

#if GROUP >= 64
__kernel void last_warp(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = work_item_id(), size = (uint)get_local_size(0);
  scratch[lane] = first_two(in, n, size);
  for (uint stride = size / 2; stride > 32; stride /= 2) {
    LEVEL(stride);
  }
  LAST_WARP;
}

#if GROUP >= 1024
#define LEVEL_512 LEVEL(512)
#else
#define LEVEL_512
#endif
#if GROUP >= 512
#define LEVEL_256 LEVEL(256)
#else
#define LEVEL_256
#endif
#if GROUP >= 256
#define LEVEL_128 LEVEL(128)
#else
#define LEVEL_128
#endif
#if GROUP >= 128
#define LEVEL_64 LEVEL(64)
#else
#define LEVEL_64
#endif
#define UNROLLED_LEVELS \
  LEVEL_512;            \
  LEVEL_256;            \
  LEVEL_128;            \
  LEVEL_64

__kernel void unrolled(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = work_item_id();
  scratch[lane] = first_two(in, n, GROUP);
  UNROLLED_LEVELS;
  LAST_WARP;
}

// Does the same in a grid-stride loop: few work-groups walk through all values.
__kernel void more_work(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = work_item_id();
  T mine = identity_value();
  for (size_t i = get_group_id(0) * 2 * GROUP + lane; i < n; i += get_num_groups(0) * 2 * GROUP) {
    const T a = in[i], b = element(in, i + GROUP, n);
    mine = COMBINE(mine, COMBINE(a, b));
  }
  scratch[lane] = mine;
  UNROLLED_LEVELS;
  LAST_WARP;
}
#endif

// ---- Tiles: a work-group folds many, each work-item several vectors of a tile -----------------------------

#define TILE ((uint)(GROUP * VEC * UNROLL))

#if VEC == 1
#define V T
#define FOLD_VECTOR(x) (x)
#else
#define V JOIN(T, VEC)
#define FOLD_VECTOR JOIN(fold, VEC)
INLINE T fold2(JOIN(T, 2) x) { return COMBINE(x.lo, x.hi); }
#endif
#if VEC >= 4
INLINE T fold4(JOIN(T, 4) x) { return fold2(COMBINE(x.lo, x.hi)); }
#endif
#if VEC >= 8
INLINE T fold8(JOIN(T, 8) x) { return fold4(COMBINE(x.lo, x.hi)); }
#endif
#if VEC >= 16
INLINE T fold16(JOIN(T, 16) x) { return fold8(COMBINE(x.lo, x.hi)); }
#endif

// Folds this work-item's share of its work-group's tiles; `run` consecutive ones where they are not STRIDED.
INLINE T fold_tiles(__global const T* restrict in, const uint n, const uint run) {
  const uint lane = work_item_id(), group = (uint)get_group_id(0);
  const uint tiles = (n + TILE - 1) / TILE;
#if STRIDED
  const uint first = group, last = tiles, step = (uint)get_num_groups(0);
  (void)run;
#else
  const uint first = group * run, last = min(first + run, tiles), step = 1;
#endif
  V sums[UNROLL];
  T rest = identity_value();
#pragma unroll
  for (uint u = 0; u < UNROLL; ++u) sums[u] = (V)(identity_value());
  for (uint t = first; t < last; t += step) {
    const uint base = t * TILE;
    if (n - base >= TILE) {
      __global const V* tile = (__global const V*)(in + base);
#pragma unroll
      for (uint u = 0; u < UNROLL; ++u) sums[u] = COMBINE(sums[u], tile[u * GROUP + lane]);
    } else {
      // Reads the last tile once per launch; volatile keeps compilers from making vectors, which are not worth it.
      for (uint i = base + lane; i < n; i += GROUP) rest = COMBINE(rest, ((volatile __global const T*)in)[i]);
    }
  }
#pragma unroll
  for (uint u = 1; u < UNROLL; ++u) sums[0] = COMBINE(sums[0], sums[u]);
  const T folded = FOLD_VECTOR(sums[0]);
  return COMBINE(folded, rest);
}

__kernel void tiles(__global T* restrict out,
    __global const T* restrict in, const uint n,
    const uint run) {
  __local T scratch[GROUP];
  const T all = fold_group(fold_tiles(in, n, run), scratch);
  if (work_item_id() == 0) out[get_group_id(0)] = all;
}

// ---- One launch: the work-group that finishes last, by a count, folds what all left; nobody waits ---------

// Orders this work-item's atomics before those that follow, as seen from other work-groups. mem_fence guarantees that
// to the own work-group alone, but OpenCL C 1.2 has nothing stronger, and drivers order atomics by it.
#ifdef __NV_CL_C_VERSION
#define FENCE() __asm__ volatile("fence.acq_rel.gpu;" ::: "memory")
#else
#define FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

// Passes partial results by atomics: other accesses need not reach other work-groups.
#if VALUE_BYTES == 4
#define WORD uint
#define AS_WORD as_uint
#define EXCHANGE atomic_xchg
#define ADD atomic_add
#else
#define WORD ulong
#define AS_WORD as_ulong
#define EXCHANGE atom_xchg
#define ADD atom_add
#endif

#if VALUE_BYTES == 4 || defined(cl_khr_int64_base_atomics)
// Reduces in one launch, and resets the count for the next one.
__kernel void single(__global T* restrict out,
    __global const T* restrict in, const uint n,
    const uint run,
    volatile __global WORD* partials,
    volatile __global uint* count) {
  __local T scratch[GROUP];
  __local uint is_last[1];  // not a scalar: clang takes work-item 0's store for the only one
  const uint lane = work_item_id(), groups = (uint)get_num_groups(0);
  const T own = fold_group(fold_tiles(in, n, run), scratch);
  if (lane == 0) {
    EXCHANGE(&partials[get_group_id(0)], AS_WORD(own));
    FENCE();
    is_last[0] = atomic_inc(count) == groups - 1 ? 1u : 0u;
    FENCE();
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  // Lets the other work-groups fold nothing, so that no barrier stands in a branch.
  const uint left = is_last[0] != 0 ? groups : 0;
  T mine = identity_value();
  for (uint i = lane; i < left; i += GROUP) {
    const T other = AS_T(ADD(&partials[i], (WORD)0));
    mine = COMBINE(mine, other);
  }
  mine = fold_group(mine, scratch);
  if (lane == 0 && left > 0) {
    out[0] = mine;
    atomic_xchg(count, 0u);
  }
}
#endif

// Sums up by one atomic addition per work-group to a word with the sum in its upper half, whose carry leaves the
// word, and the count below. The addition that completes the count has the total, and with one word no fence is
// needed.
#if OP == SUM && VALUE_BYTES == 4 && defined(cl_khr_int64_base_atomics)
__kernel void atomic(__global T* restrict out,
    __global const T* restrict in, const uint n,
    const uint run,
    volatile __global ulong* total) {
  __local T scratch[GROUP];
  const T own = fold_group(fold_tiles(in, n, run), scratch);
  if (work_item_id() == 0) {
    const ulong mine = ((ulong)own << 32) + 1;
    const ulong all = atom_add(total, mine) + mine;
    if ((uint)all == (uint)get_num_groups(0)) {
      out[0] = (T)(all >> 32);
      atom_xchg(total, 0ul);
    }
  }
}
#endif
