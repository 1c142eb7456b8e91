// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast are the forces of n bodies on each other, and what do tiles in local memory gain?"

[axes]
n = { values = [16384, 61440], from = 1, to = 65535, meaning = "bodies" }
kernel.values = ["naive", "tiled"]
kernel.meaning = "all bodies from global memory, or by tiles through local memory"
per_work_item.values = [1, 2, 4]
per_work_item.tunable = true
per_work_item.when = "kernel == 'tiled'"
per_work_item.meaning = "bodies per work-item"
group = { values = [128, 64, 256, 512], tunable = true, meaning = "work-items of a group, bodies of a tile" }

# Position and mass: masses are alike, 1 together, and positions anywhere in a cube.
[buffers.bodies]
type = "float4"
count = "n"
contents = { expression = "mod(i, 4) == 3 ? 1 / n : 2 * random(i) - 1" }

[buffers.forces]
type = "float4"
count = "n"

[defines]
GROUP = "group"
PER_WORK_ITEM = "per_work_item"

[[launches]]
kernel = "naive"
when = "kernel == 'naive'"
global = "round_up(n, group)"
local = "group"
args = ["forces", "bodies", { uint = "n" }]

[[launches]]
kernel = "tiled"
when = "kernel == 'tiled'"
global = "round_up(ceil_div(n, per_work_item), group)"
local = "group"
args = ["forces", "bodies", { uint = "n" }]

# Operations per pair: 3 differences, 3 multiply-adds of the distance, a reciprocal root, 3 products, and 3
# multiply-adds.
[cost]
read = "16 * n"
written = "16 * n"
operations = "19 * n * n"
items = "n * n"
bound = "float"

# Forces are of the size of 1, sums of n parts that mostly cancel.
[[checks]]
buffer = "forces"
reference = { kernel = "reference", global = "n", args = ["forces", "bodies", { uint = "n" }] }
absolute = 2e-5

[presets]
smoke = [
  "n=100 kernel=naive group=64",
  "n=100 kernel=tiled per_work_item=1,4 group=64",
]
quick = "n=16384 kernel=naive,tiled"
tune = "kernel=naive,tiled"

[view]
rows = ["kernel", "per_work_item"]
columns = ["n"]
quantity = "rate"

[[findings]]
name = "tile_speedup"
kind = "ratio"
quantity = "rate"
of = "n=16384 kernel=tiled"
to = "n=16384 kernel=naive"
meaning = "speed of tiles in local memory over global memory"
*/

// By Nyland, Harris, Prins, Fast N-body simulation with CUDA, GPU Gems 3 (2007); softened by SOFTENING, as
// there.
#define SOFTENING 0.01f

// Adds the force of `other` on a body: m d / (d^2 + SOFTENING)^(3/2).
float3 pulled(const float3 force, const float3 body, const float4 other) {
  const float3 d = other.xyz - body;
  const float inverse = rsqrt(d.x * d.x + (d.y * d.y + (d.z * d.z + SOFTENING)));
  return force + d * (other.w * inverse * inverse * inverse);
}

__kernel void naive(__global float4* restrict forces, __global const float4* restrict bodies, const uint n) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  const float3 body = bodies[i].xyz;
  float3 force = 0;
  for (uint j = 0; j < n; ++j) force = pulled(force, body, bodies[j]);
  forces[i] = (float4)(force, 0);
}

// Bodies behind the last have no mass.
__kernel void tiled(__global float4* restrict forces, __global const float4* restrict bodies, const uint n) {
  __local float4 tile[GROUP];
  const uint item = get_local_id(0), first = get_group_id(0) * GROUP * PER_WORK_ITEM + item;
  float3 body[PER_WORK_ITEM], force[PER_WORK_ITEM];
#pragma unroll
  for (uint k = 0; k < PER_WORK_ITEM; ++k) {
    body[k] = bodies[min(first + k * GROUP, n - 1)].xyz;
    force[k] = 0;
  }
  for (uint begin = 0; begin < n; begin += GROUP) {
    tile[item] = begin + item < n ? bodies[begin + item] : (float4)(0);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 8
    for (uint j = 0; j < GROUP; ++j) {
      const float4 other = tile[j];
#pragma unroll
      for (uint k = 0; k < PER_WORK_ITEM; ++k) force[k] = pulled(force[k], body[k], other);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll
  for (uint k = 0; k < PER_WORK_ITEM; ++k)
    if (first + k * GROUP < n) forces[first + k * GROUP] = (float4)(force[k], 0);
}

// Adds backwards, with a root and a quotient.
__kernel void reference(__global float4* forces, __global const float4* bodies, const uint n) {
  const uint i = get_global_id(0);
  float4 sum = 0;
  for (uint j = n; j > 0; --j) {
    float4 d = bodies[j - 1] - bodies[i];
    d.w = 0;
    const float square = dot(d, d) + SOFTENING;
    sum += d * (bodies[j - 1].w / (square * sqrt(square)));
  }
  forces[i] = sum;
}
