// SPDX-License-Identifier: Apache-2.0
// sync: exchanges values between work-items, step by step: by memory and barriers, sub-groups, or NVIDIA's shuffles.
//
// OPERATION       0 exchange, 1 reduce, 2 scan, 3 shuffle, 4 broadcast
// BY              0 memory, 1 sub-groups, 2 NVIDIA's shuffles
// GLOBAL          1: that memory, and the fence of the barriers, is global
// GROUP, WIDTH    work-items of a work-group and, by memory, those that take part in an operation: powers of two
// BARRIERS        barriers of a step of an exchange
#ifdef EDITOR
#define OPERATION 0
#define BY 0
#define GLOBAL 0
#define GROUP 64
#define WIDTH 32
#define BARRIERS 2
#elif !defined(OPERATION) || !defined(BY) || !defined(GLOBAL) || !defined(GROUP) || !defined(WIDTH) || \
    !defined(BARRIERS)
#error "sync.cl needs OPERATION, BY, GLOBAL, GROUP, WIDTH and BARRIERS from the host"
#endif

#if BY == 0

#if GLOBAL
#define FENCE CLK_GLOBAL_MEM_FENCE
#else
#define FENCE CLK_LOCAL_MEM_FENCE
#endif

// Writes to one of two sides in turns, so that one barrier per step is enough: who writes a side again has passed the
// next barrier, which all reach that have read it.
#define WRITE_SIDE(x)                      \
  side = GROUP - side;                     \
  scratch[side + lane] = (x);              \
  barrier(FENCE)

#elif BY == 1

#if defined(cl_intel_subgroups)
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#define SHUFFLE intel_sub_group_shuffle
#else
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define SHUFFLE sub_group_shuffle
#endif

#else

#define LOCKSTEP 32u
#if OPERATION == 1
#define FROM "shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"  // whose number differs in these bits
#elif OPERATION == 2
#define FROM "shfl.sync.up.b32 %0, %1, %2, 0x0, 0xffffffff;"  // so many below, or itself
#else
#define FROM "shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;"
#endif
static __attribute__((always_inline)) uint from(const uint x, const uint lane) {
  uint y;
  __asm__ volatile(FROM : "=r"(y) : "r"(x), "r"(lane));
  return y;
}

#endif

// Computes x by the operation in each step, and then 3 * x + own + the number of the step. A work-item writes x, and
// among how many work-items the operation was.
__kernel void sync(__global uint* restrict out, __global const uint* restrict in, const uint iterations
#if GLOBAL
                   ,
                   __global uint* all_scratch
#endif
) {
  const uint own = in[get_global_id(0)];
  uint x = own;

#if BY == 0
#if GLOBAL
  __global uint* scratch = all_scratch + get_group_id(0) * 2 * GROUP;
#else
  __local uint scratch[2 * GROUP];
#endif
  const uint lane = (uint)get_local_id(0);
  uint side = GROUP;
  const uint width = WIDTH;
#elif BY == 1
  const uint width = get_sub_group_size();
#else
  const uint width = LOCKSTEP;
#endif

  for (uint i = 0; i < iterations; ++i) {
#if OPERATION == 0
    WRITE_SIDE(x);
    x = scratch[side + (lane + 1u) % GROUP];
    // Changes x between two barriers, or a compiler might merge them.
#pragma unroll
    for (uint k = 1; k < BARRIERS; ++k) {
      x ^= own;
      barrier(FENCE);
    }
#elif OPERATION == 1
#if BY == 0
#pragma unroll
    for (uint mask = WIDTH / 2; mask > 0; mask /= 2) {
      WRITE_SIDE(x);
      x += scratch[side + (lane ^ mask)];
    }
#elif BY == 1
    x = sub_group_reduce_add(x);
#else
#pragma unroll
    for (uint mask = LOCKSTEP / 2; mask > 0; mask /= 2) x += from(x, mask);
#endif
#elif OPERATION == 2
#if BY == 0
#pragma unroll
    for (uint distance = 1; distance < WIDTH; distance *= 2) {
      WRITE_SIDE(x);
      if (lane % WIDTH >= distance) x += scratch[side + lane - distance];
    }
#elif BY == 1
    x = sub_group_scan_inclusive_add(x);
#else
#pragma unroll
    for (uint distance = 1; distance < LOCKSTEP; distance *= 2) {
      const uint below = from(x, distance);
      x += get_local_id(0) % LOCKSTEP >= distance ? below : 0u;
    }
#endif
#elif OPERATION == 3
#if BY == 0
    WRITE_SIDE(x);
    x = scratch[side + lane / WIDTH * WIDTH + (lane + i) % WIDTH];
#elif BY == 1
    x = SHUFFLE(x, (get_sub_group_local_id() + i) & (width - 1u));
#else
    x = from(x, ((uint)get_local_id(0) + i) % LOCKSTEP);
#endif
#else
#if BY == 0
    WRITE_SIDE(x);
    x = scratch[side + lane / WIDTH * WIDTH + i % WIDTH];
#elif BY == 1
    x = sub_group_broadcast(x, i & (width - 1u));
#else
    x = from(x, i % LOCKSTEP);
#endif
#endif
    x = 3u * x + own + i;
  }
  out[2 * get_global_id(0)] = x;
  out[2 * get_global_id(0) + 1] = width;
}
