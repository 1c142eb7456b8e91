// SPDX-License-Identifier: Apache-2.0
// cache: chases pointers, two loads to a hop, and sweeps repeatedly over a working set per work-group.
//
// GROUP, V, WORDS   work-items of a work-group, a vector of uint and its words
#ifdef EDITOR
#define GROUP 256
#define V uint4
#define WORDS 4
#elif !defined(GROUP) || !defined(V) || !defined(WORDS)
#error "cache.cl needs GROUP, V and WORDS from the host"
#endif

// Chases pointers as chase in latency.cl does, but by two loads to a hop: the node, which holds its own place, and
// the word `apart` words behind it, which holds the next node. The second hits the cache where the first has fetched
// its line.
__kernel void pair(__global uint* restrict out, __global const uint* restrict next, __global uint* restrict place,
                   const uint hops, const uint apart) {
  const uint group = (uint)get_group_id(0);
  const uint from = place[group];
  uint at = from;
  for (uint i = 0; i < hops; ++i) at = next[next[at] + apart];
  place[group] = at;
  out[2 * group] = from;
  out[2 * group + 1] = at;
}

// Sums the `vectors` of a part of memory, `iterations` times: the work-group's own part, or the parts of all in turn.
// A sum shows a sweep that was left out.
__kernel void read(__global V* restrict out, __global const V* restrict in, const uint vectors,
                   const uint iterations, const uint step) {
  const uint lane = (uint)get_local_id(0), groups = (uint)get_num_groups(0);
  uint part = (uint)get_group_id(0);
  V sum = (V)(0);
  for (uint sweep = 0; sweep < iterations; ++sweep) {
    __global const V* own = in + (size_t)part * vectors;
#pragma unroll 8
    for (uint i = lane; i < vectors; i += GROUP) sum += own[i];
    part = (part + step) % groups;
  }
  out[get_global_id(0)] = sum;
}

// Separates sweeps by barriers, or a compiler might drop all but the last.
__kernel void write(__global V* restrict out, const uint vectors, const uint iterations) {
  const uint lane = (uint)get_local_id(0);
  const size_t first = get_group_id(0) * (size_t)vectors;
  for (uint sweep = 0; sweep < iterations; ++sweep) {
#pragma unroll 8
    for (uint i = lane; i < vectors; i += GROUP) out[first + i] = (V)((uint)(first + i) + sweep);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}

__kernel void copy(__global V* restrict out, __global const V* restrict in, const uint vectors, const uint iterations) {
  const uint lane = (uint)get_local_id(0);
  const size_t first = get_group_id(0) * (size_t)vectors;
  for (uint sweep = 0; sweep < iterations; ++sweep) {
#pragma unroll 8
    for (uint i = lane; i < vectors; i += GROUP) out[first + i] = in[first + i] + (V)(sweep);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}
