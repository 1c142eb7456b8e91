// SPDX-License-Identifier: Apache-2.0
// occupancy: copies with a chosen number of bytes in flight, and reads local and private memory.
//
// GROUP, V, WORDS   work-items of a work-group; type of a word; words that a work-item copies at a time
#ifdef EDITOR
#define GROUP 256
#define V uint4
#define WORDS 4
#elif !defined(GROUP) || !defined(V) || !defined(WORDS)
#error "occupancy.cl needs GROUP, V and WORDS from the host"
#endif

// Copies tiles: a work-item loads its WORDS words of a tile, then stores them. `unused` local memory keeps other
// work-groups off the compute unit; no n is so large that it is touched, but no compiler knows.
void copy_tiles(__global V* out, __global const V* in, const uint n, const uint tiles, __local uint* unused) {
  const uint lane = (uint)get_local_id(0);
  if (n == UINT_MAX) unused[lane] = lane;
  for (uint tile = (uint)get_group_id(0); tile < tiles; tile += (uint)get_num_groups(0)) {
    const uint first = tile * (GROUP * WORDS) + lane;
    if (n - tile * (GROUP * WORDS) >= GROUP * WORDS) {
      __global const V* from = in + first;
      __global V* to = out + first;
      V x[WORDS];
#pragma unroll
      for (uint k = 0; k < WORDS; ++k) x[k] = from[k * GROUP];
#pragma unroll
      for (uint k = 0; k < WORDS; ++k) to[k * GROUP] = x[k];
    } else {
      for (uint i = first; i < n; i += GROUP) out[i] = in[i];
    }
  }
}

// Leaves the order to the compiler, which may store some words before it loads others, to need fewer registers: ptxas
// 13.0 has nine of fourteen float4 in flight.
__kernel void copy(__global V* restrict out, __global const V* restrict in, const uint n, const uint tiles,
                   __local uint* unused) {
  copy_tiles(out, in, n, tiles, unused);
}

// Holds all words at once: without `restrict` a store may change what later loads read, so none may precede them.
__kernel void loads_first(__global V* out, __global const V* in, const uint n, const uint tiles,
                          __local uint* unused) {
  copy_tiles(out, in, n, tiles, unused);
}

// Reads four words of local memory per step, without bank conflicts.
__kernel void local_(__global uint* restrict out, __global const uint* restrict in, const uint iterations) {
  __local uint words[2 * GROUP];
  const uint lane = (uint)get_local_id(0);
  const size_t item = get_global_id(0);
  words[lane] = in[item];
  words[lane + GROUP] = in[item];
  barrier(CLK_LOCAL_MEM_FENCE);
  uint folded = 0;
  for (uint i = 0; i < iterations; ++i) {
    const uint at = lane + (i * 4 & (GROUP - 1));
    folded += words[at] ^ i;
    folded += words[at + 1] ^ i;
    folded += words[at + 2] ^ i;
    folded += words[at + 3] ^ i;
  }
  out[item] = folded;
}

// Does the steps of local_ on the work-item's own words, one integer operation to each.
__kernel void private_(__global uint* restrict out, __global const uint* restrict in, const uint iterations) {
  const size_t item = get_global_id(0), items = get_global_size(0);
  const uint a = in[item], b = in[(item + 1) % items], c = in[(item + 2) % items], d = in[(item + 3) % items];
  uint folded = 0;
  for (uint i = 0; i < iterations; ++i) {
    folded += a ^ i;
    folded += b ^ i;
    folded += c ^ i;
    folded += d ^ i;
  }
  out[item] = folded;
}
