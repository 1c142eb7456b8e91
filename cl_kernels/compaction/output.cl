// SPDX-License-Identifier: Apache-2.0
// output: writes a tile's kept keys, and their places where INDEX says so.
//
// STAGED            1: collects them in local memory and writes coalesced; 0: each work-item writes what it kept
#pragma once
#include "compaction/keys.cl"
#include "lib/vector_tile.cl"
#ifdef EDITOR
#define STAGED 1
#elif !defined(STAGED)
#error "output.cl needs STAGED from the host"
#endif

#if STAGED

// STAGE_MEMORY declares local memory: `staged` and, with INDEX, `places`. STAGE passes both.
#if INDEX
#define STAGE_MEMORY                       \
  __local Vector staged[GROUP * VECTORS];  \
  __local ushort places[REGISTER_TILE]
#define STAGE (__local Key*)staged, places
#else
#define STAGE_MEMORY __local Vector staged[GROUP * VECTORS]
#define STAGE (__local Key*)staged, 0
#endif

void stage_vectors(const Tile* x, const uint* prefixes, __local Key* staged, __local ushort* places) {
  (void)places;
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    uint rank = prefixes[r];
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      if (!keeps(x->at[r][v])) continue;
      staged[rank] = x->at[r][v];
#if INDEX
      places[rank] = (ushort)(place_of_vector(r) * VEC + v);
#endif
      ++rank;
    }
  }
}

// Writes neighbouring keys by neighbouring work-items; vectors, where the first one is aligned.
void write_staged(const uint kept, const ulong tile_prefix, const ulong tile, const __local Key* staged,
                  const __local ushort* places, __global Key* restrict out, __global uint* restrict index) {
  (void)tile;
  (void)places;
  (void)index;
  uint first = 0;
  if (VEC > 1 && tile_prefix % VEC == 0) {
    __global Vector* to = (__global Vector*)(out + tile_prefix);
    for (uint i = (uint)get_local_id(0); i < kept / VEC; i += GROUP) to[i] = ((const __local Vector*)staged)[i];
    first = kept / VEC * VEC;
  }
  for (uint i = first + (uint)get_local_id(0); i < kept; i += GROUP) out[tile_prefix + i] = staged[i];
#if INDEX
  for (uint i = (uint)get_local_id(0); i < kept; i += GROUP)
    index[tile_prefix + i] = (uint)(tile * REGISTER_TILE) + places[i];
#endif
}

#else

#define STAGE_MEMORY

void write_vectors(const Tile* x, const uint* prefixes, const ulong tile_prefix, const ulong tile,
                   __global Key* restrict out, __global uint* restrict index) {
  (void)index;
  (void)tile;
#pragma unroll
  for (uint r = 0; r < VECTORS; ++r) {
    ulong to = tile_prefix + prefixes[r];
#pragma unroll
    for (uint v = 0; v < VEC; ++v) {
      if (!keeps(x->at[r][v])) continue;
      out[to] = x->at[r][v];
#if INDEX
      index[to] = (uint)(tile * REGISTER_TILE) + place_of_vector(r) * VEC + v;
#endif
      ++to;
    }
  }
}

#endif
