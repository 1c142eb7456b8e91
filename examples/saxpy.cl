// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast is z = a x + y, and by which vectors and loops?"
valid = "mod(n, width) == 0"

[axes]
n = { values = [16777216, 1048576], from = 4, to = 1073741824, meaning = "elements" }
kernel = { values = ["one_each", "grid_stride"], meaning = "one vector per work-item, or a loop over many" }
width = { values = [1, 2, 4], meaning = "elements of a vector" }
group = { values = [256, 64, 128, 512], tunable = true, meaning = "work-items per work-group" }
groups.values = [2048, 128, 512, 8192, 8]
groups.tunable = true
groups.when = "kernel == 'grid_stride'"
groups.meaning = "work-groups"

[buffers.x]
type = "float"
count = "n"
contents = { random = [-1, 1] }

[buffers.y]
type = "float"
count = "n"
contents = { random = [-1, 1] }

[buffers.z]
type = "float"
count = "n"

[defines]
WIDTH = "width"

[[launches]]
kernel = "one_each"
when = "kernel == 'one_each'"
global = "round_up(n / width, group)"
local = "group"
args = ["z", "x", "y", { float = 2.5 }, { uint = "n / width" }]

[[launches]]
kernel = "grid_stride"
when = "kernel == 'grid_stride'"
global = "group * groups"
local = "group"
args = ["z", "x", "y", { float = 2.5 }, { uint = "n / width" }]

[cost]
read = "8 * n"
written = "4 * n"
operations = "2 * n"
items = "n"
bound = "memory"

# Product and sum are each rounded once, and no result exceeds 3.5.
[[checks]]
buffer = "z"
expression = "2.5 * x[i] + y[i]"
absolute = 3e-7

[presets]
smoke = [
  "n=1000 kernel=one_each width=1,4 group=64",
  "n=1000 kernel=grid_stride width=2 group=64 groups=8",
]
quick = "kernel=one_each,grid_stride width=1,2,4"
tune = "kernel=one_each,grid_stride width=1,2,4"

[view]
rows = ["kernel"]
columns = ["width"]
quantity = "rate"

[[findings]]
name = "vector_speedup"
kind = "ratio"
quantity = "rate"
of = "kernel=one_each width=4"
to = "kernel=one_each width=1"
meaning = "speed of vectors of 4 over single elements"
*/

// Basic linear algebra's axpy, of single precision (Lawson, Hanson, Kincaid, Krogh 1979), into a third
// array so that each execution computes the same. Every kernel is bound by memory.
#if WIDTH == 1
typedef float V;
#elif WIDTH == 2
typedef float2 V;
#else
typedef float4 V;
#endif

__kernel void one_each(__global V* restrict z, __global const V* restrict x, __global const V* restrict y,
                       const float a, const uint vectors) {
  const uint i = get_global_id(0);
  if (i < vectors) z[i] = a * x[i] + y[i];
}

__kernel void grid_stride(__global V* restrict z, __global const V* restrict x, __global const V* restrict y,
                          const float a, const uint vectors) {
  for (uint i = get_global_id(0); i < vectors; i += get_global_size(0)) z[i] = a * x[i] + y[i];
}
