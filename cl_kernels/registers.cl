// SPDX-License-Identifier: Apache-2.0
// registers: items that keep many values alive, and groups that count how many of them are there at once.
//
// LIVE     set by host/families/registers.cpp: values that an item keeps, a multiple of 8 up to 512
// LANES    items after which the values begin again
// CENSUS   whether the groups count each other
#if !defined(LIVE) || !defined(LANES) || !defined(CENSUS)
#error "registers.cl needs LIVE, LANES and CENSUS: see host/families/registers.cpp"
#endif

// EACH(DO) is DO(0) to DO(LIVE - 1), written out: the index of a loop would keep the array in memory where a compiler
// does not unroll it.
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

// No value can be left out or reckoned early: each step needs those of the one before.
//
// A group is there from when its first item says so to when that says farewell, so many steps of all its items later:
// no group waits for another. Without the barriers a device whose items follow one another would count first items.
__kernel void registers(__global uint* restrict out, __global const uint* restrict in, const uint trips
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
  for (uint step = 0; step < trips; ++step) {
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
