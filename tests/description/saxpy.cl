// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast is y = a x?"
options = "-cl-mad-enable -DSCALE=1"
valid = "group <= n"

[axes]
n = { values = [1024, 4096], from = 1, to = 1000000, meaning = "elements" }
kernel = ["naive", "tiled"]
group = { values = [64, 128], tunable = true, when = "kernel == 'tiled'" }
ratio = [0.5, 2]

[[needs]]
condition = "local_bytes >= 4 * group"
reason = "a tile needs more local memory"

[buffers.x]
type = "float"
count = "n"
contents = "random"

[buffers.p]
type = "uint"
count = "n"
contents = { random = [0, 9] }

[buffers.y]
type = "float"
count = "n"

[defines]
GROUP = "group"
KERNEL = "kernel"

[[launches]]
kernel = "saxpy_{kernel}"
global = "round_up(n, group)"
local = "group"
args = ["x", "p", "y", { float = "2.5 * ratio" }, { uint = "n" }, { local = "4 * group" }]
when = "k >= 0"
loops = [{ k = [0, 2] }, { j = ["k", 0, -1] }]

[[launches]]
copy = { from = "x", to = "y" }

[cost]
read = "4 * n"
written = "4 * n"
items = "n"
bound = "memory"

[[checks]]
buffer = "y"
expression = "2.5 * ratio * x[i] + p[i]"
ulp = 1

[[checks]]
buffer = "y"
reference = { kernel = "reference", global = "n", args = ["x", "y"] }

[presets]
smoke = "n=1024"
quick = ["n=4096 kernel=naive,tiled", "n=17"]

[view]
rows = "kernel"
columns = ["n"]
quantity = "items"

[[findings]]
name = "tiled_speedup"
kind = "ratio"
of = "kernel=tiled"
to = "kernel=naive"
*/
#define TILE(name) tile_##name
kernel void saxpy_naive(global const float* x, __global const uint* restrict p, global float* y, const float a,
                        unsigned int n, local float* tile) {
  if (get_global_id(0) < n) y[get_global_id(0)] = a * x[get_global_id(0)];  // kernel void commented(int a)
}
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void saxpy_tiled(
    global const float* x, global const uint* p, global float* y, float a, uint n, __local float* tile) {}
kernel void reference(global const float* x, global float* y) {}
