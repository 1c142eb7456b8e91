// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast is a matrix transposed, and what do tiles in local memory and their padding gain?"

[axes]
n = { values = [4096, 1024], from = 1, to = 32768, meaning = "rows and columns" }
kernel.values = ["naive", "tiled", "padded"]
kernel.meaning = "writes along columns; through a tile in local memory; through one whose rows are padded"
tile = { values = [32, 16], tunable = true, meaning = "rows and columns of a work-group's tile" }
per_work_item = { values = [4, 1, 2], tunable = true, meaning = "elements per work-item" }

[buffers.in]
type = "float"
count = "n * n"
contents = { random = [-1, 1] }

[buffers.out]
type = "float"
count = "n * n"

[defines]
TILE = "tile"
PADDING = "kernel == 'padded' ? 1 : 0"

[[launches]]
kernel = "naive"
when = "kernel == 'naive'"
global = ["round_up(n, tile)", "round_up(n, tile) / per_work_item"]
local = ["tile", "tile / per_work_item"]
args = ["out", "in", { uint = "n" }]

[[launches]]
kernel = "tiled"
when = "kernel != 'naive'"
global = ["round_up(n, tile)", "round_up(n, tile) / per_work_item"]
local = ["tile", "tile / per_work_item"]
args = ["out", "in", { uint = "n" }]

[cost]
read = "4 * n * n"
written = "4 * n * n"
items = "n * n"
bound = "memory"

[[checks]]
buffer = "out"
expression = "in[mod(i, n) * n + floor(i / n)]"

[presets]
smoke = [
  "n=100 kernel=naive,tiled,padded tile=32 per_work_item=4",
  "n=100 kernel=padded tile=16 per_work_item=2",
]
quick = "n=4096,1024 kernel=naive,tiled,padded"
tune = "kernel=naive,tiled,padded"

[view]
rows = ["kernel"]
columns = ["n"]
quantity = "rate"

[[findings]]
name = "tile_speedup"
kind = "ratio"
quantity = "rate"
of = "n=4096 kernel=padded"
to = "n=4096 kernel=naive"
meaning = "speed through padded tiles over columns written directly"
*/

// By Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA (2009). A work-group of TILE x TILE / k
// work-items moves a tile of TILE x TILE elements, k per work-item.

// Reads rows, so that neighbouring work-items write n elements apart.
__kernel void naive(__global float* restrict out, __global const float* restrict in, const uint n) {
  const uint column = get_global_id(0);
  for (uint k = get_local_id(1); k < TILE; k += get_local_size(1)) {
    const uint row = get_group_id(1) * TILE + k;
    if (row < n && column < n) out[column * n + row] = in[row * n + column];
  }
}

// Reads rows into local memory and writes rows from its columns, which lie in different banks if rows are
// padded.
__kernel void tiled(__global float* restrict out, __global const float* restrict in, const uint n) {
  __local float tile[TILE][TILE + PADDING];
  const uint x = get_local_id(0);
  const uint first_column = get_group_id(0) * TILE, first_row = get_group_id(1) * TILE;
  for (uint k = get_local_id(1); k < TILE; k += get_local_size(1))
    if (first_row + k < n && first_column + x < n) tile[k][x] = in[(first_row + k) * n + first_column + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = get_local_id(1); k < TILE; k += get_local_size(1))
    if (first_column + k < n && first_row + x < n) out[(first_column + k) * n + first_row + x] = tile[x][k];
}
