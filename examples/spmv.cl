// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast is a sparse matrix times a vector, and how many work-items should share a row?"
valid = "n % 2 == 0"

[axes]
n = { values = [1048576, 65536], from = 2, to = 16777216, meaning = "rows and columns" }
kernel = { values = ["scalar", "vector"], meaning = "a row per work-item, or per several" }
nonzeros = { values = [16, 4, 64], from = 1, to = 256, meaning = "mean number of nonzeros of a row" }
lengths = { values = ["varied", "equal"], meaning = "rows of 1 to 2 nonzeros - 1 elements, or all alike" }
columns.values = ["near", "anywhere"]
columns.meaning = "within 512 of the diagonal, so that caches serve the vector, or of the whole row"
row_items.values = [8, 4, 16, 32]
row_items.tunable = true
row_items.when = "kernel == 'vector'"
row_items.meaning = "work-items per row"
group = { values = [128, 64, 256, 512], tunable = true, meaning = "work-items per work-group" }

# Compressed sparse rows: row r is values[row_start[r]] to the one before values[row_start[r + 1]]. If lengths
# vary, each two rows share 2 nonzeros elements at random, at least one each.
[buffers.row_start]
type = "uint"
count = "n + 1"
contents.expression = """
  lengths == 'equal' ? i * nonzeros :
  i % 2 == 0 ? i * nonzeros : (i - 1) * nonzeros + 1 + floor(random(i) * (2 * nonzeros - 1))"""

[buffers.column]
type = "uint"
count = "n * nonzeros"
contents.expression = """
  columns == 'near' ? mod(floor(i / nonzeros) + floor(512 * random(i)), n) : floor(n * random(i))"""

[buffers.values]
type = "float"
count = "n * nonzeros"
contents = { random = [-1, 1] }

[buffers.x]
type = "float"
count = "n"
contents = { random = [-1, 1] }

[buffers.y]
type = "float"
count = "n"

[defines]
ROW_ITEMS = "row_items"
GROUP = "group"

[[launches]]
kernel = "scalar"
when = "kernel == 'scalar'"
global = "round_up(n, group)"
local = "group"
args = ["y", "values", "column", "row_start", "x", { uint = "n" }]

[[launches]]
kernel = "vector"
when = "kernel == 'vector'"
global = "round_up(n * row_items, group)"
local = "group"
args = ["y", "values", "column", "row_start", "x", { uint = "n" }]

# Each array once.
[cost]
read = "8 * n * nonzeros + 4 * (n + 1) + 4 * n"
written = "4 * n"
operations = "2 * n * nonzeros"
items = "n * nonzeros"

# Sums of at most 511 products of random signs, added in another order.
[[checks]]
buffer = "y"
reference = { kernel = "reference", global = "n", args = ["y", "values", "column", "row_start", "x"] }
absolute = 1e-5

[presets]
smoke = [
  "n=1000 kernel=scalar,vector nonzeros=4 lengths=varied,equal row_items=4 group=64",
  "n=1000 kernel=scalar,vector nonzeros=16 columns=anywhere row_items=16 group=64",
]
quick = [
  "n=1048576 kernel=scalar,vector nonzeros=4,16,64",
  "n=1048576 kernel=scalar,vector columns=anywhere",
  "n=1048576 kernel=scalar,vector lengths=equal",
]
tune = ["kernel=scalar,vector nonzeros=4", "kernel=scalar,vector", "kernel=scalar,vector nonzeros=64"]

[view]
rows = ["kernel", "lengths", "columns"]
columns = ["nonzeros"]
quantity = "rate"

[[findings]]
name = "vector_speedup"
kind = "ratio"
quantity = "rate"
of = "nonzeros=64 columns=near lengths=varied kernel=vector"
to = "nonzeros=64 columns=near lengths=varied kernel=scalar"
meaning = "speed of several work-items per row over one, of 64 nonzeros"
*/

// By Bell and Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors
// (2009). The scalar kernel reads the nonzeros of many rows at once, far apart; the vector kernel those of
// a row side by side.

__kernel void scalar(__global float* restrict y, __global const float* restrict values,
                     __global const uint* restrict column, __global const uint* restrict row_start,
                     __global const float* restrict x, const uint n) {
  const uint row = get_global_id(0);
  if (row >= n) return;
  float sum = 0;
  for (uint i = row_start[row]; i < row_start[row + 1]; ++i) sum += values[i] * x[column[i]];
  y[row] = sum;
}

__kernel void vector(__global float* restrict y, __global const float* restrict values,
                     __global const uint* restrict column, __global const uint* restrict row_start,
                     __global const float* restrict x, const uint n) {
  __local float sums[GROUP];
  const uint item = get_local_id(0), row = get_global_id(0) / ROW_ITEMS, part = item % ROW_ITEMS;
  float sum = 0;
  if (row < n)
    for (uint i = row_start[row] + part; i < row_start[row + 1]; i += ROW_ITEMS)
      sum += values[i] * x[column[i]];
  sums[item] = sum;
  for (uint apart = ROW_ITEMS / 2; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (part < apart) sums[item] += sums[item + apart];
  }
  if (part == 0 && row < n) y[row] = sums[item];
}

// Adds backwards.
__kernel void reference(__global float* y, __global const float* values, __global const uint* column,
                        __global const uint* row_start, __global const float* x) {
  const uint row = get_global_id(0);
  float sum = 0;
  for (uint i = row_start[row + 1]; i > row_start[row]; --i) sum = mad(values[i - 1], x[column[i - 1]], sum);
  y[row] = sum;
}
