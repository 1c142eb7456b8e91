// SPDX-License-Identifier: Apache-2.0
// async_copy: reverses tiles of an array that work-groups stage in local memory, by hand or by async_work_group_copy.
//
// TILE, GROUP, WORK   words of a tile, work-items of a work-group, arithmetic steps for each word
// ASYNC               for the kernels that call async_work_group_copy, which some compilers' libraries lack
//
// There are no more work-groups than tiles.
#ifdef EDITOR
#define ASYNC
#define TILE 1024
#define GROUP 256
#define WORK 0
#elif !defined(TILE) || !defined(GROUP) || !defined(WORK)
#error "async_copy.cl needs TILE, GROUP and WORK from the host"
#endif
#include "lib/generator.cl"

// Writes a tile in reverse order, so that work-items need what others loaded.
void reverse(__global uint* restrict out, __local const uint* restrict words) {
  for (uint i = (uint)get_local_id(0); i < TILE; i += GROUP) out[i] = after(words[TILE - 1 - i], WORK);
}

void stage(__local uint* restrict words, __global const uint* restrict in) {
  for (uint i = (uint)get_local_id(0); i < TILE; i += GROUP) words[i] = in[i];
}

// Reverses tiles without local memory.
__kernel void direct(__global uint* restrict out, __global const uint* restrict in, const uint tiles) {
  for (uint t = (uint)get_group_id(0); t < tiles; t += (uint)get_num_groups(0)) {
    const size_t first = (size_t)t * TILE;
    for (uint i = (uint)get_local_id(0); i < TILE; i += GROUP) out[first + i] = after(in[first + TILE - 1 - i], WORK);
  }
}

// Stages each tile by a loop of loads and stores.
__kernel void loop(__global uint* restrict out, __global const uint* restrict in, const uint tiles) {
  __local uint words[TILE];
  for (uint t = (uint)get_group_id(0); t < tiles; t += (uint)get_num_groups(0)) {
    const size_t first = (size_t)t * TILE;
    stage(words, in + first);
    barrier(CLK_LOCAL_MEM_FENCE);
    reverse(out + first, words);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Stages the next tile by a loop while it reverses this one (double buffering).
__kernel void loop_ahead(__global uint* restrict out, __global const uint* restrict in, const uint tiles) {
  __local uint words[2 * TILE];
  uint t = (uint)get_group_id(0), here = 0;
  stage(words, in + (size_t)t * TILE);
  for (; t < tiles; t += (uint)get_num_groups(0), here = TILE - here) {
    barrier(CLK_LOCAL_MEM_FENCE);  // this tile is there, and nobody reads the one before any more
    const uint next = t + (uint)get_num_groups(0);
    if (next < tiles) stage(words + (TILE - here), in + (size_t)next * TILE);
    reverse(out + (size_t)t * TILE, words + here);
  }
}

#ifdef ASYNC
// Stages each tile by async_work_group_copy.
__kernel void async(__global uint* restrict out, __global const uint* restrict in, const uint tiles) {
  __local uint words[TILE];
  for (uint t = (uint)get_group_id(0); t < tiles; t += (uint)get_num_groups(0)) {
    const size_t first = (size_t)t * TILE;
    event_t loaded = async_work_group_copy(words, in + first, TILE, 0);
    wait_group_events(1, &loaded);
    reverse(out + first, words);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Stages the next tile by async_work_group_copy while it reverses this one (double buffering).
__kernel void async_ahead(__global uint* restrict out, __global const uint* restrict in, const uint tiles) {
  __local uint words[2 * TILE];
  uint t = (uint)get_group_id(0), here = 0;
  event_t loaded = async_work_group_copy(words, in + (size_t)t * TILE, TILE, 0);
  for (; t < tiles; t += (uint)get_num_groups(0), here = TILE - here) {
    wait_group_events(1, &loaded);
    barrier(CLK_LOCAL_MEM_FENCE);  // nobody reads the tile before any more
    const uint next = t + (uint)get_num_groups(0);
    if (next < tiles) loaded = async_work_group_copy(words + (TILE - here), in + (size_t)next * TILE, TILE, 0);
    reverse(out + (size_t)t * TILE, words + here);
  }
}
#endif
