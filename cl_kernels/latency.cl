// SPDX-License-Identifier: Apache-2.0
// latency: chains accesses, multiply-adds, launches or atomics, each of which waits for the one before.
//
// GROUP, NODES   work-items of a work-group, nodes of the cycle in local memory
#ifdef EDITOR
#define GROUP 64
#define NODES 1024
#elif !defined(GROUP) || !defined(NODES)
#error "latency.cl needs GROUP and NODES from the host"
#endif

// Chases pointers by the first work-item of each work-group, which leaves where it came to for the next launch, so
// that many launches walk through all of a working set that one would not get through.
__kernel void chase(__global uint* restrict out, __global const uint* restrict next, __global uint* restrict place,
                    const uint iterations) {
  const uint group = (uint)get_group_id(0);
  const uint from = place[group];
  uint at = from;
  for (uint i = 0; i < iterations / 8; ++i) {
    at = next[at];
    at = next[at];
    at = next[at];
    at = next[at];
    at = next[at];
    at = next[at];
    at = next[at];
    at = next[at];
  }
  for (uint i = 0; i < iterations % 8; ++i) at = next[at];
  place[group] = at;
  out[2 * group] = from;
  out[2 * group + 1] = at;
}

__kernel void chase_local(__global uint* restrict out, __global const uint* restrict next, const uint iterations) {
  __local uint cycle[NODES];
  const uint lane = (uint)get_local_id(0);
  for (uint i = lane; i < NODES; i += GROUP) cycle[i] = next[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0) {
    uint at = 0;
    for (uint i = 0; i < iterations / 8; ++i) {
      at = cycle[at];
      at = cycle[at];
      at = cycle[at];
      at = cycle[at];
      at = cycle[at];
      at = cycle[at];
      at = cycle[at];
      at = cycle[at];
    }
    for (uint i = 0; i < iterations % 8; ++i) at = cycle[at];
    out[0] = at;
  }
}

// Chains multiply-adds in registers. Scale and shift are arguments, as a compiler that knew them would fold the chain.
__kernel void mad_chain(__global float* restrict out, const float start, const float scale, const float shift,
                        const uint iterations) {
  float x = start;
  for (uint i = 0; i < iterations / 8; ++i) {
    x = mad(x, scale, shift);
    x = mad(x, scale, shift);
    x = mad(x, scale, shift);
    x = mad(x, scale, shift);
    x = mad(x, scale, shift);
    x = mad(x, scale, shift);
    x = mad(x, scale, shift);
    x = mad(x, scale, shift);
  }
  for (uint i = 0; i < iterations % 8; ++i) x = mad(x, scale, shift);
  out[0] = x;
}

// Does as little as a kernel can do and be seen to have run.
__kernel void launch(__global uint* restrict out, const uint at, const uint value) { out[at] = value; }

__kernel void set(__global uint* restrict counters, const uint value) { counters[get_global_id(0)] = value; }

// Chains atomics: what is added depends on what the addition before it returned.
__kernel void atomic_chain(volatile __global uint* counter, const uint iterations) {
  uint old = 1;
  for (uint i = 0; i < iterations; ++i) old = atomic_add(counter, (old & 3u) + 1u);
}

__kernel void atomic_chain_local(__global uint* restrict out, const uint start, const uint iterations) {
  __local uint counter[1];
  counter[0] = start;
  uint old = 1;
  for (uint i = 0; i < iterations; ++i) old = atomic_add(&counter[0], (old & 3u) + 1u);
  out[0] = counter[0];
}

// Adds to a counter that `share` neighbouring work-items have in common.
__kernel void atomic_add_(volatile __global uint* counters, const uint share, const uint iterations) {
  const uint item = (uint)get_global_id(0);
  for (uint i = 0; i < iterations; ++i) atomic_add(&counters[item / share], i + 1u);
}

__kernel void atomic_add_local(__global uint* restrict out, const uint start, const uint share,
                               const uint iterations) {
  __local uint counters[GROUP];
  const uint lane = (uint)get_local_id(0);
  counters[lane] = start + lane;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = 0; i < iterations; ++i) atomic_add(&counters[lane / share], i + 1u);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = counters[lane];
}
