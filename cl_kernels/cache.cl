// SPDX-License-Identifier: Apache-2.0
// cache: walks in which every load waits for the one before, and groups that go through memory of their own
// again and again.
//
// GROUP, V, WORDS   set by host/families/cache.cpp: items of a work-group, a vector of uint and its words
#if !defined(GROUP) || !defined(V) || !defined(WORDS)
#error "cache.cl needs GROUP, V and WORDS: see host/families/cache.cpp"
#endif

// As chase in latency.cl, but of two loads to a hop: the node, which holds its own place, and the word
// `apart` words behind it, which holds the next node. The second is as quick as a cache where the first has
// brought it along.
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

// Each group sums the `vectors` of a part of memory `trips` times: its own, or in turns everybody's. Added up,
// so that a trip left out shows.
__kernel void read(__global V* restrict out, __global const V* restrict in, const uint vectors, const uint trips,
                   const uint step) {
  const uint lane = (uint)get_local_id(0), groups = (uint)get_num_groups(0);
  uint part = (uint)get_group_id(0);
  V sum = (V)(0);
  for (uint trip = 0; trip < trips; ++trip) {
    __global const V* own = in + (size_t)part * vectors;
#pragma unroll 8
    for (uint i = lane; i < vectors; i += GROUP) sum += own[i];
    part = (part + step) % groups;
  }
  out[get_global_id(0)] = sum;
}

// Barriers, or a compiler might keep all but the last trip to itself.
__kernel void write(__global V* restrict out, const uint vectors, const uint trips) {
  const uint lane = (uint)get_local_id(0);
  const size_t first = get_group_id(0) * (size_t)vectors;
  for (uint trip = 0; trip < trips; ++trip) {
#pragma unroll 8
    for (uint i = lane; i < vectors; i += GROUP) out[first + i] = (V)((uint)(first + i) + trip);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}

__kernel void copy(__global V* restrict out, __global const V* restrict in, const uint vectors, const uint trips) {
  const uint lane = (uint)get_local_id(0);
  const size_t first = get_group_id(0) * (size_t)vectors;
  for (uint trip = 0; trip < trips; ++trip) {
#pragma unroll 8
    for (uint i = lane; i < vectors; i += GROUP) out[first + i] = in[first + i] + (V)(trip);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}
