// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast is a step of Jacobi's iteration, with neighbours from caches, local memory or registers?"

[axes]
n = { values = [4096, 1024], from = 3, to = 32768, meaning = "rows and columns" }
kernel.values = ["naive", "tiled", "marching"]
kernel.meaning = "neighbours from caches; from a tile in local memory; down a column, from registers"
width = { values = [64, 32, 128], tunable = true, meaning = "columns of a work-group" }
height = { values = [4, 8, 2], tunable = true, meaning = "rows of a work-group's work-items" }
rows.values = [8, 4, 16]
rows.tunable = true
rows.when = "kernel == 'marching'"
rows.meaning = "rows that a work-item computes"

[buffers.before]
type = "float"
count = "n * n"
contents = { random = [0, 1] }

[buffers.after]
type = "float"
count = "n * n"

[defines]
WIDTH = "width"
HEIGHT = "height"
ROWS = "rows"

[[launches]]
kernel = "{kernel}"
when = "kernel != 'marching'"
global = ["round_up(n, width)", "round_up(n, height)"]
local = ["width", "height"]
args = ["after", "before", { uint = "n" }]

[[launches]]
kernel = "marching"
when = "kernel == 'marching'"
global = ["round_up(n, width)", "round_up(ceil_div(n, rows), height)"]
local = ["width", "height"]
args = ["after", "before", { uint = "n" }]

[cost]
read = "4 * n * n"
written = "4 * n * n"
operations = "4 * (n - 2) * (n - 2)"
items = "n * n"
bound = "memory"

# Exact: all add in the same order, and a quarter of a sum is not rounded.
[[checks]]
buffer = "after"
reference = { kernel = "reference", global = ["n", "n"], args = ["after", "before", { uint = "n" }] }

[presets]
smoke = "n=100 kernel=naive,tiled,marching width=32 height=4 rows=4"
quick = "n=4096,1024 kernel=naive,tiled,marching"
tune = "kernel=naive,tiled,marching"

[view]
rows = ["kernel"]
columns = ["n"]
quantity = "rate"

[[findings]]
name = "tile_speedup"
kind = "ratio"
quantity = "rate"
of = "n=4096 kernel=tiled"
to = "n=4096 kernel=naive"
meaning = "speed from tiles in local memory over caches"

[[findings]]
name = "marching_speedup"
kind = "ratio"
quantity = "rate"
of = "n=4096 kernel=marching"
to = "n=4096 kernel=naive"
meaning = "speed of registers along columns over caches"
*/

// A step of Jacobi's iteration for Laplace's equation: each inner point becomes the mean of its four
// neighbours, the edge stays. Down columns as in Micikevicius, 3D finite difference computation on GPUs
// using CUDA (2009), of two dimensions.

float mean(const float up, const float down, const float left, const float right) {
  return 0.25f * ((up + down) + (left + right));
}

bool is_inner(const uint row, const uint column, const uint n) {
  return row > 0 && row < n - 1 && column > 0 && column < n - 1;
}

__kernel void naive(__global float* restrict after, __global const float* restrict before, const uint n) {
  const uint column = get_global_id(0), row = get_global_id(1), i = row * n + column;
  if (row >= n || column >= n) return;
  after[i] =
      is_inner(row, column, n) ? mean(before[i - n], before[i + n], before[i - 1], before[i + 1]) : before[i];
}

// Reads a tile and the row or column beside each of its edges; the corners serve nobody.
__kernel void tiled(__global float* restrict after, __global const float* restrict before, const uint n) {
  __local float tile[HEIGHT + 2][WIDTH + 2];
  const uint x = get_local_id(0) + 1, y = get_local_id(1) + 1;
  const uint column = get_global_id(0), row = get_global_id(1), i = row * n + column;
  if (row < n && column < n) {
    tile[y][x] = before[i];
    if (y == 1 && row > 0) tile[0][x] = before[i - n];
    if (y == HEIGHT && row < n - 1) tile[HEIGHT + 1][x] = before[i + n];
    if (x == 1 && column > 0) tile[y][0] = before[i - 1];
    if (x == WIDTH && column < n - 1) tile[y][WIDTH + 1] = before[i + 1];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (row >= n || column >= n) return;
  after[i] = is_inner(row, column, n) ? mean(tile[y - 1][x], tile[y + 1][x], tile[y][x - 1], tile[y][x + 1])
                                      : tile[y][x];
}

// Computes ROWS points of a column, of which three are in registers at a time.
__kernel void marching(__global float* restrict after, __global const float* restrict before, const uint n) {
  const uint column = get_global_id(0), first = get_global_id(1) * ROWS;
  if (column >= n || first >= n) return;
  float up = first > 0 ? before[(first - 1) * n + column] : 0, here = before[first * n + column];
#pragma unroll
  for (uint k = 0; k < ROWS; ++k) {
    const uint row = first + k, i = row * n + column;
    if (row >= n) return;
    const float down = row < n - 1 ? before[i + n] : 0;
    after[i] = is_inner(row, column, n) ? mean(up, down, before[i - 1], before[i + 1]) : here;
    up = here;
    here = down;
  }
}

__kernel void reference(__global float* after, __global const float* before, const uint n) {
  const uint column = get_global_id(0), row = get_global_id(1), i = row * n + column;
  const bool edge = row == 0 || row + 1 == n || column == 0 || column + 1 == n;
  after[i] = before[i];
  if (!edge) after[i] = ((before[i - n] + before[i + n]) + (before[i - 1] + before[i + 1])) / 4;
}
