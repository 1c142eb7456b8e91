// SPDX-License-Identifier: Apache-2.0
// access: copies elements along different paths through memory.
//
// T                       element type
// READ_SIDE, WRITE_SIDE   1: the reads, the writes are those that are not coalesced
// TILE, ROWS              edge of a tile of the transposes, and how many rows of it a work-group has work-items for
#ifdef EDITOR
#define T float
#define READ_SIDE 1
#define WRITE_SIDE 0
#define TILE 32u
#define ROWS 8u
#elif !defined(T) || !defined(READ_SIDE) || !defined(WRITE_SIDE) || !defined(TILE) || !defined(ROWS)
#error "access.cl needs T, READ_SIDE, WRITE_SIDE, TILE and ROWS from the host"
#endif

// Returns the place of element i + offset, wrapped around at n, where neighbours lie `stride` apart.
size_t place(const size_t i, const uint n, const uint stride, const uint offset) {
  const size_t shifted = i + offset;
  return (shifted < n ? shifted : shifted - n) * stride;
}

__kernel void strided(__global T* restrict out, __global const T* restrict in, const uint n, const uint read_stride,
                      const uint write_stride, const uint read_offset, const uint write_offset) {
  const size_t i = get_global_id(0);
  if (i < n) out[place(i, n, write_stride, write_offset)] = in[place(i, n, read_stride, read_offset)];
}

__kernel void gather(__global T* restrict out, __global const T* restrict in, __global const uint* restrict order,
                     const uint n) {
  const size_t i = get_global_id(0);
  if (i < n) out[WRITE_SIDE ? order[i] : i] = in[READ_SIDE ? order[i] : i];
}

// Transposes with reads, or writes, a whole row of the matrix apart.
__kernel void transpose(__global T* restrict out, __global const T* restrict in, const uint extent) {
  const size_t x = get_group_id(0) * TILE + get_local_id(0);
  for (size_t y = get_group_id(1) * TILE + get_local_id(1); y < (get_group_id(1) + 1) * TILE; y += ROWS) {
    if (x >= extent || y >= extent) continue;
    const size_t along = y * extent + x, across = x * extent + y;
    out[READ_SIDE ? along : across] = in[READ_SIDE ? across : along];
  }
}

// Transposes by way of local memory, coalesced on both sides. `pitch` is the distance of the rows there: TILE puts a
// column of the tile into one bank, TILE + 1 into all of them.
void transpose_tile(__global T* restrict out, __global const T* restrict in, const uint extent, __local T* tile,
                    const uint pitch) {
  const size_t column = get_local_id(0), first = get_local_id(1);
  const size_t left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
  for (size_t row = first; row < TILE; row += ROWS) {
    if (left + column < extent && top + row < extent)
      tile[row * pitch + column] = in[(top + row) * extent + left + column];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t row = first; row < TILE; row += ROWS) {
    if (top + column < extent && left + row < extent)
      out[(left + row) * extent + top + column] = tile[column * pitch + row];
  }
}

__kernel void transpose_tiled(__global T* restrict out, __global const T* restrict in, const uint extent) {
  __local T tile[TILE * TILE];
  transpose_tile(out, in, extent, tile, TILE);
}

__kernel void transpose_padded(__global T* restrict out, __global const T* restrict in, const uint extent) {
  __local T tile[TILE * (TILE + 1)];
  transpose_tile(out, in, extent, tile, TILE + 1);
}
