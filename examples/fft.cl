// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast are Fourier transforms of radix 2, and what do local memory and registers gain?"
valid = ["length <= n", "2 * group <= n"]

[axes]
n = { values = [4194304, 1048576], powers_of_two = true, from = 64, to = 268435456, meaning = "points together" }
length = { values = [1024, 256, 4096, 64, 32], meaning = "points of a transform" }
kernel.values = ["global", "local"]
kernel.meaning = "each pass a launch; a transform per work-group, in local memory"
passes.values = [3, 1, 2]
passes.tunable = true
passes.when = "kernel == 'local'"
passes.meaning = "passes in registers between barriers"
group = { values = [128, 64, 256], tunable = true, meaning = "work-items per work-group" }

[[needs]]
condition = "kernel == 'global' || local_bytes >= 8 * (length + length / 32)"
reason = "a transform does not fit local memory"

[buffers.in]
type = "float2"
count = "n"
contents = { random = [-1, 1] }

# exp(-2 pi i k / length): real and imaginary parts are elements of their own.
[buffers.roots]
type = "float2"
count = "length / 2"
contents = { expression = "mod(i, 2) == 0 ? cos(pi * i / length) : -sin(pi * (i - 1) / length)" }

[buffers.out]
type = "float2"
count = "n"

[defines]
LENGTH = "length"
LOG2_LENGTH = "log2(length)"
PASSES = "passes"

[[launches]]
kernel = "reverse"
when = "kernel == 'global'"
global = "n"
args = ["out", "in"]

[[launches]]
kernel = "pass"
when = "kernel == 'global'"
loops = [{ p = ["0", "log2(length) - 1"] }]
global = "n / 2"
local = "group"
args = ["out", "roots", { uint = "p" }]

[[launches]]
kernel = "transform"
when = "kernel == 'local'"
global = "n / length * group"
local = "group"
args = ["out", "in", "roots"]

# Operations: 10 per butterfly, length / 2 butterflies per pass.
[cost]
read = "8 * n"
written = "8 * n"
operations = "5 * n * log2(length)"
items = "n"
bound = "memory"

# By the definition, a sum per point, whose error is the larger one: 0.0001 of 1024 points.
[[checks]]
buffer = "out"
reference = { kernel = "reference", global = "n", args = ["out", "in", "roots"] }
absolute = 0.001

[presets]
smoke = [
  "n=256 length=64 kernel=global group=64",
  "n=256 length=64 kernel=local passes=1 group=64",
  "n=256 length=32 kernel=local passes=3 group=64",
]
quick = "n=1048576 length=1024,256 kernel=global,local"
full = "n=1048576,4194304,16777216 length=256,1024,4096 kernel=global,local"
tune = "kernel=global,local"

[view]
rows = ["kernel", "passes"]
columns = ["length"]
quantity = "rate"

[[findings]]
name = "local_speedup"
kind = "ratio"
quantity = "rate"
of = "length=1024 kernel=local"
to = "length=1024 kernel=global"
meaning = "speed of transforms in local memory over a launch per pass, of 1024 points"
*/

// By Cooley and Tukey, An algorithm for the machine calculation of complex Fourier series (1965): radix 2,
// decimation in time, in place after a permutation. Several passes in registers are what larger radices do:
// Govindaraju, Lloyd, Dotsenko, Smith, Manferdelli, High performance discrete Fourier transforms on
// graphics processors (2008).

float2 product(const float2 a, const float2 b) {
  return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

uint reversed(uint i) {
  uint out = 0;
  for (uint bit = 0; bit < LOG2_LENGTH; ++bit, i >>= 1) out = (out << 1) | (i & 1);
  return out;
}

__kernel void reverse(__global float2* restrict out, __global const float2* restrict in) {
  const uint i = get_global_id(0), begin = i / LENGTH * LENGTH;
  out[i] = in[begin + reversed(i % LENGTH)];
}

// Combines points 2^p apart.
__kernel void pass(__global float2* data, __global const float2* restrict roots, const uint p) {
  const uint item = get_global_id(0), k = item & ((1u << p) - 1);
  const uint low = ((item >> p) << (p + 1)) | k, high = low + (1u << p);
  const float2 a = data[low], b = product(data[high], roots[k << (LOG2_LENGTH - 1 - p)]);
  data[low] = a + b;
  data[high] = a - b;
}

// Returns where point i lies in local memory: apart, so that points at a distance of a power of two are in
// different banks.
uint place(const uint i) { return i + i / 32; }

// Does `count` passes from p on, 2^count points per work-item and turn. Inlined, `count` is a constant and
// the points stay in registers.
void some_passes(__local float2* data, __global const float2* restrict roots, const uint p,
                 const uint count) {
  for (uint item = get_local_id(0); item < LENGTH >> count; item += get_local_size(0)) {
    const uint k = item & ((1u << p) - 1), first = ((item >> p) << (p + count)) | k;
    float2 points[1 << PASSES];
#pragma unroll
    for (uint q = 0; q < 1u << count; ++q) points[q] = data[place(first + (q << p))];
#pragma unroll
    for (uint s = 0; s < count; ++s) {
#pragma unroll
      for (uint pair = 0; pair < 1u << (count - 1); ++pair) {
        const uint low = ((pair >> s) << (s + 1)) | (pair & ((1u << s) - 1)), high = low + (1u << s);
        const uint root = k + ((low & ((1u << s) - 1)) << p);
        const float2 a = points[low], b = product(points[high], roots[root << (LOG2_LENGTH - 1 - p - s)]);
        points[low] = a + b;
        points[high] = a - b;
      }
    }
#pragma unroll
    for (uint q = 0; q < 1u << count; ++q) data[place(first + (q << p))] = points[q];
  }
}

__kernel void transform(__global float2* restrict out, __global const float2* restrict in,
                        __global const float2* restrict roots) {
  __local float2 data[LENGTH + LENGTH / 32];
  const uint begin = get_group_id(0) * LENGTH;
  for (uint i = get_local_id(0); i < LENGTH; i += get_local_size(0)) data[place(reversed(i))] = in[begin + i];
  for (uint p = 0; p + PASSES <= LOG2_LENGTH; p += PASSES) {
    barrier(CLK_LOCAL_MEM_FENCE);
    some_passes(data, roots, p, PASSES);
  }
#if LOG2_LENGTH % PASSES > 0
  barrier(CLK_LOCAL_MEM_FENCE);
  some_passes(data, roots, LOG2_LENGTH - LOG2_LENGTH % PASSES, LOG2_LENGTH % PASSES);
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < LENGTH; i += get_local_size(0)) out[begin + i] = data[place(i)];
}

__kernel void reference(__global float2* out, __global const float2* in, __global const float2* roots) {
  const uint i = get_global_id(0), begin = i / LENGTH * LENGTH, frequency = i % LENGTH;
  float2 sum = 0;
  for (uint j = 0; j < LENGTH; ++j) {
    const uint turn = (j * frequency) % LENGTH;
    const float2 root = turn < LENGTH / 2 ? roots[turn] : -roots[turn - LENGTH / 2];
    sum += product(in[begin + j], root);
  }
  out[i] = sum;
}
