// SPDX-License-Identifier: Apache-2.0
// reduction: n values become one, from the classic ladder to what devices want today.
//
// Behind elements.cl, whose values and operator these are, and bundles.cl. Set by host/families/reduction.cpp:
// GROUP              items of a work-group, a power of two
// VEC, UNROLL        for tiles: elements of a vector; vectors that an item loads at a time
// STRIDED            for tiles: 1: the groups take turns, 0: each takes a run of neighbours
// LOCKSTEP           1: the last 64 values in local memory, by one bundle and without the barriers of its group
#if !defined(GROUP) || !defined(VEC) || !defined(UNROLL) || !defined(STRIDED) || !defined(LOCKSTEP)
#error "reduction.cl needs GROUP, VEC, UNROLL, STRIDED and LOCKSTEP: see host/families/reduction.cpp"
#endif

// A kernel is one function, on whatever compiler.
#define INLINE static __attribute__((always_inline))

#define AS_T JOIN(as_, T)

// Of values and of vectors of them.
#if OP == SUM
#define COMBINE(a, b) ((a) + (b))
#elif OP == MIN
#define COMBINE(a, b) min(a, b)
#else
#define COMBINE(a, b) max(a, b)
#endif

// ---- Folding the values of a work-group, one per item; item 0 gets the result -----------------------------

// Every level waits for the one before; what a level reads, nobody writes in it.
#define FOLD(stride) \
  if (lane < (stride)) scratch[lane] = COMBINE(scratch[lane], scratch[lane + (stride)])
#define LEVEL(stride)           \
  barrier(CLK_LOCAL_MEM_FENCE); \
  FOLD(stride)

#if BUNDLED

// What the first `count` are, of warps 64 at most, for all items of a bundle.
INLINE T fold_by_bundle(const __local T* scratch, const uint count) {
  const uint lane = own_lane();
  T x = lane < count ? scratch[lane] : neutral();
#if PTX
  if (count > BUNDLE) x = COMBINE(x, scratch[lane + BUNDLE]);
#else
  for (uint i = lane + bundle_items(); i < count; i += bundle_items()) x = COMBINE(x, scratch[i]);
#endif
  return sum_of_bundle(x);
}

// What one bundle has to do. All do it where bundles are OpenCL's sub-groups: PoCL makes what they tell each other out
// of barriers of the whole group, and one in a branch is lost.
#if SUBGROUPS
#define ONE_BUNDLE
#else
#define ONE_BUNDLE if (own_bundle() == 0)
#endif

INLINE T fold_group(T x, __local T* scratch) {
  x = sum_of_bundle(x);
  if (own_lane() == 0) scratch[own_bundle()] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  ONE_BUNDLE x = fold_by_bundle(scratch, BUNDLES);
  return x;
}

#else

INLINE T fold_group(T x, __local T* scratch) {
  const uint lane = own_item();
  scratch[lane] = x;
#pragma unroll
  for (uint stride = GROUP / 2; stride > 0; stride /= 2) {
    LEVEL(stride);
  }
  return scratch[lane];
}

#endif

// ---- The ladder: a group folds as many neighbours as it has items, or twice as many --------------------
//
// All but `unrolled` ask for the size of the group at run time, lest a compiler unroll their loops.

INLINE T element(__global const T* restrict in, const size_t i, const uint n) { return i < n ? in[i] : neutral(); }

// Half of the items drop out at every level, every second of them.
__kernel void interleaved(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = own_item(), size = (uint)get_local_size(0);
  scratch[lane] = element(in, get_global_id(0), n);
  for (uint stride = 1; stride < size; stride *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane % (2 * stride) == 0) scratch[lane] = COMBINE(scratch[lane], scratch[lane + stride]);
  }
  if (lane == 0) out[get_group_id(0)] = scratch[0];
}

// The same sums by neighbouring items, whose accesses now meet in the banks of local memory.
__kernel void nondivergent(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = own_item(), size = (uint)get_local_size(0);
  scratch[lane] = element(in, get_global_id(0), n);
  for (uint stride = 1; stride < size; stride *= 2) {
    const uint i = 2 * stride * lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < size) scratch[i] = COMBINE(scratch[i], scratch[i + stride]);
  }
  if (lane == 0) out[get_group_id(0)] = scratch[0];
}

// Neighbouring items, neighbouring addresses.
__kernel void sequential(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = own_item();
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

// No item begins idle.
__kernel void first_add(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = own_item(), size = (uint)get_local_size(0);
  scratch[lane] = first_two(in, n, size);
  for (uint stride = size / 2; stride > 0; stride /= 2) {
    LEVEL(stride);
  }
  if (lane == 0) out[get_group_id(0)] = scratch[0];
}

// The last 64 values, without a loop. The lecture left the barriers out, and the conditions, as a warp ran in
// lock-step. OpenCL promises no such thing: a bundle has a barrier of its own, and among smaller ones than the
// lecture's, the group's serves as long as more than one of them has work; and an item from which another one reads
// must not write, so that the conditions stay.
#if LOCKSTEP
#define LAST_WARP                                                          \
  LEVEL(32);                                                               \
  uint last = 16;                                                          \
  for (; 2 * last > BUNDLE; last /= 2) {                                   \
    LEVEL(last);                                                           \
  }                                                                        \
  ONE_BUNDLE {                                                             \
    _Pragma("unroll") for (uint stride = last; stride > 0; stride /= 2) {  \
      BUNDLE_BARRIER();                                                    \
      FOLD(stride);                                                        \
    }                                                                      \
    if (lane == 0) out[get_group_id(0)] = scratch[0];                      \
  }
#elif BUNDLED
#define LAST_WARP                                       \
  barrier(CLK_LOCAL_MEM_FENCE);                         \
  ONE_BUNDLE {                                          \
    const T last = fold_by_bundle(scratch, 64);         \
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
  const uint lane = own_item(), size = (uint)get_local_size(0);
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
  const uint lane = own_item();
  scratch[lane] = first_two(in, n, GROUP);
  UNROLLED_LEVELS;
  LAST_WARP;
}

// The same, of as many pairs as the groups have to share: few groups walk through all values.
__kernel void more_work(__global T* restrict out, __global const T* restrict in, const uint n) {
  __local T scratch[GROUP];
  const uint lane = own_item();
  T mine = neutral();
  for (size_t i = get_group_id(0) * 2 * GROUP + lane; i < n; i += get_num_groups(0) * 2 * GROUP) {
    const T a = in[i], b = element(in, i + GROUP, n);
    mine = COMBINE(mine, COMBINE(a, b));
  }
  scratch[lane] = mine;
  UNROLLED_LEVELS;
  LAST_WARP;
}
#endif

// ---- Tiles: a group folds many, each item several vectors of a tile ------------------------------------

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

// What this item has of its group's tiles. `run` is the tiles of a group that takes neighbours.
INLINE T fold_tiles(__global const T* restrict in, const uint n, const uint run) {
  const uint lane = own_item(), group = (uint)get_group_id(0);
  const uint tiles = (n + TILE - 1) / TILE;
#if STRIDED
  const uint first = group, last = tiles, step = (uint)get_num_groups(0);
  (void)run;
#else
  const uint first = group * run, last = min(first + run, tiles), step = 1;
#endif
  V sums[UNROLL];
  T rest = neutral();
#pragma unroll
  for (uint u = 0; u < UNROLL; ++u) sums[u] = (V)(neutral());
  for (uint t = first; t < last; t += step) {
    const uint base = t * TILE;
    if (n - base >= TILE) {
      __global const V* tile = (__global const V*)(in + base);
#pragma unroll
      for (uint u = 0; u < UNROLL; ++u) sums[u] = COMBINE(sums[u], tile[u * GROUP + lane]);
    } else {
      // Once per launch and not worth vectors, which volatile keeps compilers from making.
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
  if (own_item() == 0) out[get_group_id(0)] = all;
}

// ---- One launch: the group that finishes last, by a count, folds what all left; nobody waits -----------

// Orders this item's atomics before those that follow, as seen from other groups. mem_fence promises that to
// its own group alone, but there is nothing stronger in OpenCL C 1.2, and drivers order atomics by it.
#ifdef __NV_CL_C_VERSION
#define FENCE() __asm__ volatile("fence.acq_rel.gpu;" ::: "memory")
#else
#define FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

// Partial results go through atomics: other accesses need not reach other groups.
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
// The count is back at 0 for the next launch.
__kernel void single(__global T* restrict out,
    __global const T* restrict in, const uint n,
    const uint run,
    volatile __global WORD* partials,
    volatile __global uint* count) {
  __local T scratch[GROUP];
  __local uint is_last[1];  // not a scalar: clang takes item 0's store for the only one
  const uint lane = own_item(), groups = (uint)get_num_groups(0);
  const T own = fold_group(fold_tiles(in, n, run), scratch);
  if (lane == 0) {
    EXCHANGE(&partials[get_group_id(0)], AS_WORD(own));
    FENCE();
    is_last[0] = atomic_inc(count) == groups - 1 ? 1u : 0u;
    FENCE();
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  // The other groups fold nothing, but they fold: so no barrier stands in a branch.
  const uint left = is_last[0] != 0 ? groups : 0;
  T mine = neutral();
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

// Sum and count in one word: the sum in the upper half, where its carry leaves the word. The addition that
// makes the count full has the total; no order among several words matters, so no fence is needed.
#if OP == SUM && VALUE_BYTES == 4 && defined(cl_khr_int64_base_atomics)
__kernel void atomic(__global T* restrict out,
    __global const T* restrict in, const uint n,
    const uint run,
    volatile __global ulong* total) {
  __local T scratch[GROUP];
  const T own = fold_group(fold_tiles(in, n, run), scratch);
  if (own_item() == 0) {
    const ulong mine = ((ulong)own << 32) + 1;
    const ulong all = atom_add(total, mine) + mine;
    if ((uint)all == (uint)get_num_groups(0)) {
      out[0] = (T)(all >> 32);
      atom_xchg(total, 0ul);
    }
  }
}
#endif
