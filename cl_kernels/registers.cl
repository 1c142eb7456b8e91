// SPDX-License-Identifier: Apache-2.0
// registers: keeps many values live per work-item, and counts the work-groups that are resident at once.
//
// LIVE     values that a work-item keeps live, a multiple of 8 up to 512
// LANES    work-items after which the values repeat
// CENSUS   1: counts resident work-groups
#ifdef EDITOR
#define LIVE 24
#define LANES 32
#define CENSUS 1
#elif !defined(LIVE) || !defined(LANES) || !defined(CENSUS)
#error "registers.cl needs LIVE, LANES and CENSUS from the host"
#endif

// Defines EACH(DO) as DO(0) to DO(LIVE - 1), written out: the index of a loop would keep the array in memory where a
// compiler does not unroll it.
#define DO_2(DO, i) DO(i) DO((i) + 1)
#define DO_4(DO, i) DO_2(DO, i) DO_2(DO, (i) + 2)
#define DO_8(DO, i) DO_4(DO, i) DO_4(DO, (i) + 4)
#define DO_16(DO, i) DO_8(DO, i) DO_8(DO, (i) + 8)
#define DO_32(DO, i) DO_16(DO, i) DO_16(DO, (i) + 16)
#define DO_64(DO, i) DO_32(DO, i) DO_32(DO, (i) + 32)
#define DO_128(DO, i) DO_64(DO, i) DO_64(DO, (i) + 64)
#define DO_256(DO, i) DO_128(DO, i) DO_128(DO, (i) + 128)
#define DO_512(DO, i) DO_256(DO, i) DO_256(DO, (i) + 256)
#if LIVE & 8
#define PART_8(DO) DO_8(DO, LIVE & 7)
#else
#define PART_8(DO)
#endif
#if LIVE & 16
#define PART_16(DO) DO_16(DO, LIVE & 15)
#else
#define PART_16(DO)
#endif
#if LIVE & 32
#define PART_32(DO) DO_32(DO, LIVE & 31)
#else
#define PART_32(DO)
#endif
#if LIVE & 64
#define PART_64(DO) DO_64(DO, LIVE & 63)
#else
#define PART_64(DO)
#endif
#if LIVE & 128
#define PART_128(DO) DO_128(DO, LIVE & 127)
#else
#define PART_128(DO)
#endif
#if LIVE & 256
#define PART_256(DO) DO_256(DO, LIVE & 255)
#else
#define PART_256(DO)
#endif
#if LIVE & 512
#define PART_512(DO) DO_512(DO, LIVE & 511)
#else
#define PART_512(DO)
#endif
#define EACH(DO) PART_8(DO) PART_16(DO) PART_32(DO) PART_64(DO) PART_128(DO) PART_256(DO) PART_512(DO)

#define LOAD(i) v[i] = in[(i) * LANES + lane];
#define UPDATE(i) v[i] += v[((i) + 1) % LIVE] ^ step;
#define ADD(i) sum = 3u * sum + v[i];

__kernel void set(__global uint* restrict counts) { counts[get_global_id(0)] = 0; }

// Updates all values in each step from those of the one before, so that none can be left out or computed early.
//
// CENSUS: the first work-item of a work-group counts itself in before the steps and out after them, and keeps the
// largest count that it saw: no work-group waits for another. Barriers let all work-items of the work-group take
// part, or a device that runs them one after the other would count first work-items.
__kernel void registers(__global uint* restrict out, __global const uint* restrict in, const uint iterations
#if CENSUS
                        ,
                        volatile __global uint* counts, __global uint* restrict met
#endif
) {
  const uint lane = (uint)get_global_id(0) % LANES;
  uint v[LIVE];
  EACH(LOAD)
#if CENSUS
  const uint first = get_local_id(0) == 0 ? 1u : 0u;
  uint most = 0;
  if (first) {
    most = atomic_inc(&counts[0]) + 1u;
    atomic_inc(&counts[1]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (uint step = 0; step < iterations; ++step) {
    EACH(UPDATE)
#if CENSUS
    if (first) most = max(most, atomic_add(&counts[0], 0u));
#endif
  }
  uint sum = 0;
  EACH(ADD)
  out[get_global_id(0)] = sum;
#if CENSUS
  barrier(CLK_LOCAL_MEM_FENCE);
  if (first) {
    atomic_dec(&counts[0]);
    met[get_group_id(0)] = most;
  }
#endif
}
