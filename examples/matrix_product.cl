// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast is the product of two matrices, and what do local memory and registers gain?"

[axes]
n = { values = [1024, 2048, 4096], from = 1, to = 16384, meaning = "rows and columns" }
kernel.values = ["naive", "tiled", "registers"]
kernel.meaning = "one element per work-item; from tiles in local memory; a square of elements per work-item"
tile.values = [16, 32, 8]
tile.tunable = true
tile.when = "kernel != 'registers'"
tile.meaning = "rows and columns of a work-group's elements"
block.values = [64, 128, 32]
block.tunable = true
block.when = "kernel == 'registers'"
block.meaning = "rows and columns that 16 x 16 work-items compute"
depth.values = [16, 8]
depth.tunable = true
depth.when = "kernel == 'registers'"
depth.meaning = "columns of the left matrix in local memory at a time"

[[needs]]
condition = "kernel != 'registers' || local_bytes >= 4 * depth * (2 * block + 1)"
reason = "the blocks of both matrices do not fit local memory"

[buffers.a]
type = "float"
count = "n * n"
contents = { random = [-1, 1] }

[buffers.b]
type = "float"
count = "n * n"
contents = { random = [-1, 1] }

[buffers.c]
type = "float"
count = "n * n"

[defines]
TILE = "tile"
BLOCK = "block"
DEPTH = "depth"

[[launches]]
kernel = "{kernel}"
when = "kernel != 'registers'"
global = ["round_up(n, tile)", "round_up(n, tile)"]
local = ["tile", "tile"]
args = ["c", "a", "b", { uint = "n" }]

[[launches]]
kernel = "registers"
when = "kernel == 'registers'"
global = ["16 * ceil_div(n, block)", "16 * ceil_div(n, block)"]
local = [16, 16]
args = ["c", "a", "b", { uint = "n" }]

[cost]
read = "8 * n * n"
written = "4 * n * n"
operations = "2 * n * n * n"
items = "n * n"
bound = "float"

# Sums of n products of random signs, added in another order, differ by some n / 4 * 2^-24: 0.0002 of 4096.
[[checks]]
buffer = "c"
reference = { kernel = "reference", global = ["n", "n"], args = ["c", "a", "b", { uint = "n" }] }
absolute = 0.001

[presets]
smoke = [
  "n=50 kernel=naive,tiled tile=16",
  "n=50 kernel=registers block=64 depth=16",
  "n=50 kernel=registers block=32 depth=8",
]
quick = "n=1024 kernel=naive,tiled,registers"
full = "n=1024,2048,4096 kernel=naive,tiled,registers"
tune = "kernel=naive,tiled,registers"

[view]
rows = ["kernel"]
columns = ["n"]
quantity = "rate"

[[findings]]
name = "tile_speedup"
kind = "ratio"
quantity = "rate"
of = "n=1024 kernel=tiled"
to = "n=1024 kernel=naive"
meaning = "speed from tiles in local memory over one element per work-item"

[[findings]]
name = "register_speedup"
kind = "ratio"
quantity = "rate"
of = "n=1024 kernel=registers"
to = "n=1024 kernel=tiled"
meaning = "speed of a square of elements per work-item over one"
*/

// c = a b of square matrices stored by rows. Of the steps, tiles are Kirk and Hwu's (2007), blocks in
// registers Volkov and Demmel's (2008): each value that is read from local memory serves several products.

__kernel void naive(__global float* restrict c, __global const float* restrict a,
                    __global const float* restrict b, const uint n) {
  const uint column = get_global_id(0), row = get_global_id(1);
  if (row >= n || column >= n) return;
  float sum = 0;
  for (uint k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// Returns an element of a matrix, 0 behind its edges.
float element(__global const float* m, const uint row, const uint column, const uint n) {
  return row < n && column < n ? m[row * n + column] : 0;
}

__kernel void tiled(__global float* restrict c, __global const float* restrict a,
                    __global const float* restrict b, const uint n) {
  __local float a_tile[TILE][TILE], b_tile[TILE][TILE];
  const uint x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (uint first = 0; first < n; first += TILE) {
    a_tile[y][x] = element(a, row, first + x, n);
    b_tile[y][x] = element(b, first + y, column, n);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint k = 0; k < TILE; ++k) sum += a_tile[y][k] * b_tile[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

#define SIDE 16
#define SQUARE (BLOCK / SIDE)

// Computes SQUARE x SQUARE elements per work-item, SIDE apart so that neighbours read and write neighbours.
// The rows of a lie transposed, and padded, as neighbours write them along columns.
__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void registers(__global float* restrict c,
                                                                             __global const float* restrict a,
                                                                             __global const float* restrict b,
                                                                             const uint n) {
  __local float a_block[DEPTH][BLOCK + 1], b_block[DEPTH][BLOCK];
  const uint x = get_local_id(0), y = get_local_id(1), item = y * SIDE + x;
  const uint first_row = get_group_id(1) * BLOCK, first_column = get_group_id(0) * BLOCK;
  float sum[SQUARE][SQUARE];
#pragma unroll
  for (uint i = 0; i < SQUARE; ++i)
#pragma unroll
    for (uint j = 0; j < SQUARE; ++j) sum[i][j] = 0;

  for (uint first = 0; first < n; first += DEPTH) {
#pragma unroll
    for (uint i = item; i < DEPTH * BLOCK; i += SIDE * SIDE) {
      a_block[i % DEPTH][i / DEPTH] = element(a, first_row + i / DEPTH, first + i % DEPTH, n);
      b_block[i / BLOCK][i % BLOCK] = element(b, first + i / BLOCK, first_column + i % BLOCK, n);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint k = 0; k < DEPTH; ++k) {
      float of_a[SQUARE], of_b[SQUARE];
#pragma unroll
      for (uint i = 0; i < SQUARE; ++i)
        of_a[i] = a_block[k][y + i * SIDE], of_b[i] = b_block[k][x + i * SIDE];
#pragma unroll
      for (uint i = 0; i < SQUARE; ++i)
#pragma unroll
        for (uint j = 0; j < SQUARE; ++j) sum[i][j] += of_a[i] * of_b[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (uint i = 0; i < SQUARE; ++i) {
#pragma unroll
    for (uint j = 0; j < SQUARE; ++j) {
      const uint row = first_row + y + i * SIDE, column = first_column + x + j * SIDE;
      if (row < n && column < n) c[row * n + column] = sum[i][j];
    }
  }
}

__kernel void reference(__global float* c, __global const float* a, __global const float* b, const uint n) {
  const uint column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (uint k = 0; k < n; ++k) sum = mad(a[row * n + k], b[k * n + column], sum);
  c[row * n + column] = sum;
}
