// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast are values counted in bins, and what do counters in local memory gain?"

[axes]
n = { values = [16777216, 1048576], from = 1, to = 1073741824, meaning = "values" }
kernel.values = ["global", "local", "privatised"]
kernel.meaning = "counters in global memory; a set per work-group in local memory; several such sets"
bins = { values = [256, 64, 1024], from = 2, to = 4096, meaning = "bins" }
data.values = ["uniform", "skewed", "alike"]
data.meaning = "values: any bin; half of them in one of 256 bins; all but one in a hundred in one"
copies.values = [8, 2, 4, 16]
copies.tunable = true
copies.when = "kernel == 'privatised'"
copies.meaning = "sets of counters per work-group"
group = { values = [256, 64, 128, 512], tunable = true, meaning = "work-items per work-group" }
groups = { values = [2048, 128, 512, 8192, 8], tunable = true, meaning = "work-groups" }

[[needs]]
condition = "kernel == 'global' || local_bytes >= 4 * bins * copies"
reason = "the counters do not fit local memory"

[buffers.values]
type = "uint"
count = "n"
contents.expression = """
  data == 'alike' && random(i + n) < 0.99 ? floor(bins / 2)
  : floor(bins * pow(random(i), data == 'skewed' ? 8 : 1))"""

[buffers.counts]
type = "uint"
count = "bins"

[defines]
BINS = "bins"
COPIES = "kernel == 'privatised' ? copies : 1"

[[launches]]
kernel = "clear"
global = "bins"
args = ["counts"]

[[launches]]
kernel = "count_in_global"
when = "kernel == 'global'"
global = "group * groups"
local = "group"
args = ["counts", "values", { uint = "n" }]

[[launches]]
kernel = "count_in_local"
when = "kernel != 'global'"
global = "group * groups"
local = "group"
args = ["counts", "values", { uint = "n" }]

[cost]
read = "4 * n"
written = "4 * bins"
operations = "n"
items = "n"

[[checks]]
buffer = "counts"
reference = { kernel = "reference", global = "bins", args = ["counts", "values", { uint = "n" }] }

[presets]
smoke = "n=3000 kernel=global,local,privatised data=uniform,alike bins=64 copies=4 group=64 groups=8"
quick = [
  "kernel=global,local,privatised data=uniform,skewed,alike",
  "kernel=global,local,privatised bins=1024",
]
tune = ["kernel=global,local,privatised", "kernel=global,local,privatised data=skewed"]

[view]
rows = ["kernel", "copies"]
columns = ["data"]
quantity = "items"

[[findings]]
name = "local_speedup"
kind = "ratio"
quantity = "rate"
of = "data=uniform kernel=local bins=256"
to = "data=uniform kernel=global bins=256"
meaning = "speed of counters in local over global memory, any bin"

[[findings]]
name = "privatised_speedup_alike"
kind = "ratio"
quantity = "rate"
of = "data=alike kernel=privatised"
to = "data=alike kernel=local"
meaning = "speed of several sets of counters over one where most values are in one bin"
*/

// By Podlozhnyuk, Histogram calculation in CUDA (2007), and Gomez-Luna, Gonzalez-Linares, Benavides, Guil,
// An optimized approach to histogram computation on GPU (2013).

__kernel void clear(__global uint* counts) { counts[get_global_id(0)] = 0; }

__kernel void count_in_global(__global uint* counts, __global const uint* restrict values, const uint n) {
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&counts[values[i]]);
}

// Counts in COPIES sets of counters, which neighbouring work-items take in turn. Those of one bin are
// adjacent, so that they lie in different banks.
__kernel void count_in_local(__global uint* counts, __global const uint* restrict values, const uint n) {
  __local uint mine[BINS * COPIES];
  for (uint i = get_local_id(0); i < BINS * COPIES; i += get_local_size(0)) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0))
    atomic_inc(&mine[values[i] * COPIES + get_local_id(0) % COPIES]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint bin = get_local_id(0); bin < BINS; bin += get_local_size(0)) {
    uint sum = 0;
    for (uint copy = 0; copy < COPIES; ++copy) sum += mine[bin * COPIES + copy];
    if (sum > 0) atomic_add(&counts[bin], sum);
  }
}

// Counts one bin per work-item, in stretches, as some drivers leave a loop after 65535 iterations.
__kernel void reference(__global uint* counts, __global const uint* values, const uint n) {
  const uint bin = get_global_id(0);
  uint count = 0;
  for (uint first = 0; first < n; first += 32768)
    for (uint i = first; i < min(first + 32768, n); ++i) count += values[i] == bin;
  counts[bin] = count;
}
