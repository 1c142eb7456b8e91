// SPDX-License-Identifier: Apache-2.0
/* clweave
question = "How fast does a bitonic network sort, and what does merging in local memory gain?"
valid = "2 * group <= n"

[axes]
n = { values = [1048576, 65536], powers_of_two = true, from = 2, to = 268435456, meaning = "keys" }
kernel.values = ["global", "local"]
kernel.meaning = "each step a launch; short steps together in local memory"
group = { values = [256, 64, 128, 512], tunable = true, meaning = "work-items of a group, two keys each" }

[buffers.keys]
type = "uint"
count = "n"
contents = { random = [0, 4294967295] }

[buffers.sorted]
type = "uint"
count = "n"

[defines]
BLOCK = "2 * group"

# In global memory: round k makes sorted runs of 2^k keys by steps of distance 2^(k-1) .. 1.
[[launches]]
copy = { from = "keys", to = "sorted" }
when = "kernel == 'global'"

[[launches]]
kernel = "exchange"
when = "kernel == 'global'"
loops = [{ k = ["1", "log2(n)"] }, { j = ["k - 1", "0", "-1"] }]
global = "n / 2"
local = "group"
args = ["sorted", { uint = "k" }, { uint = "j" }]

# In local memory: sorts blocks; each later round exchanges in global memory down to the distance of a block,
# then merges.
[[launches]]
kernel = "sort_blocks"
when = "kernel == 'local'"
global = "n / 2"
local = "group"
args = ["sorted", "keys"]

[[launches]]
kernel = "exchange_or_merge"
when = "kernel == 'local'"
loops = [{ k = ["log2(2 * group) + 1", "log2(n)"] }, { j = ["k - 1", "log2(2 * group) - 1", "-1"] }]
global = "n / 2"
local = "group"
args = ["sorted", { uint = "k" }, { uint = "j" }]

# Operations: pairs that are compared.
[cost]
read = "4 * n"
written = "4 * n"
operations = "n * log2(n) * (log2(n) + 1) / 4"
items = "n"

[[checks]]
buffer = "sorted"
invariant = "sorted"

[[checks]]
buffer = "sorted"
permutation_of = "keys"

[presets]
smoke = "n=1024,128 kernel=global,local group=64"
quick = "n=65536,1048576 kernel=global,local"
full = "n=65536,1048576,16777216 kernel=global,local"
tune = "kernel=global,local"

[view]
rows = ["kernel"]
columns = ["n"]
quantity = "items"

[[findings]]
name = "local_speedup"
kind = "ratio"
quantity = "rate"
of = "n=1048576 kernel=local"
to = "n=1048576 kernel=global"
meaning = "speed of short steps in local memory over a launch for each"
*/

// By Batcher, Sorting networks and their applications (1968).

// Returns the lower index of pair `item` at distance 2^j.
uint lower_of(const uint item, const uint j) { return ((item >> j) << (j + 1)) | (item & ((1u << j) - 1)); }

// Tells whether round k sorts the run that holds this index upwards.
bool is_upward(const uint index, const uint k) { return ((index >> k) & 1) == 0; }

void exchange_pair(__global uint* keys, const uint item, const uint k, const uint j) {
  const uint low = lower_of(item, j), high = low + (1u << j);
  const uint a = keys[low], b = keys[high];
  if ((a > b) == is_upward(low, k)) {
    keys[low] = b;
    keys[high] = a;
  }
}

__kernel void exchange(__global uint* keys, const uint k, const uint j) {
  exchange_pair(keys, get_global_id(0), k, j);
}

// Does the steps of distance 2^first .. 1 of round k on the keys of a block; waits before each, not behind
// the last.
void merge_block(__local uint* block, const uint k, const uint first) {
  const uint item = get_local_id(0);
  for (uint step = 0; step <= first; ++step) {
    const uint j = first - step, low = lower_of(item, j), high = low + (1u << j);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint a = block[low], b = block[high];
    if ((a > b) == is_upward(get_group_id(0) * BLOCK + low, k)) {
      block[low] = b;
      block[high] = a;
    }
  }
}

__kernel void sort_blocks(__global uint* restrict sorted, __global const uint* restrict keys) {
  __local uint block[BLOCK];
  const uint item = get_local_id(0), begin = get_group_id(0) * BLOCK;
  block[item] = keys[begin + item];
  block[item + BLOCK / 2] = keys[begin + item + BLOCK / 2];
  for (uint k = 1; (1u << k) <= BLOCK; ++k) merge_block(block, k, k - 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  sorted[begin + item] = block[item];
  sorted[begin + item + BLOCK / 2] = block[item + BLOCK / 2];
}

// Does step j of round k, or, if its pairs lie within a block, all that is left of the round.
__kernel void exchange_or_merge(__global uint* keys, const uint k, const uint j) {
  __local uint block[BLOCK];
  const uint item = get_local_id(0), begin = get_group_id(0) * BLOCK;
  if ((2u << j) > BLOCK) {
    exchange_pair(keys, get_global_id(0), k, j);
    return;
  }
  block[item] = keys[begin + item];
  block[item + BLOCK / 2] = keys[begin + item + BLOCK / 2];
  merge_block(block, k, j);
  barrier(CLK_LOCAL_MEM_FENCE);
  keys[begin + item] = block[item];
  keys[begin + item + BLOCK / 2] = block[item + BLOCK / 2];
}
