// SPDX-License-Identifier: Apache-2.0
// atomic_order: adds to counters with atomics of OpenCL C 3.0, of a chosen memory order and scope.
//
// ORDER, SCOPE   memory_order_* and memory_scope_*
#ifdef EDITOR
#define ORDER memory_order_relaxed
#define SCOPE memory_scope_device
#elif !defined(ORDER) || !defined(SCOPE)
#error "atomic_order.cl needs ORDER and SCOPE from the host"
#endif

// Adds to a counter that no other work-item touches, so that nobody waits for it, and stores a plain word before each
// add, which an order of release must make visible first.
__kernel void own(__global uint* restrict out, volatile __global atomic_uint* counters, volatile __global uint* plain,
                  const uint iterations) {
  const size_t i = get_global_id(0);
  uint sum = 0;
  for (uint k = 0; k < iterations; ++k) {
    plain[i] = k;
    sum += atomic_fetch_add_explicit(counters + i, 1u, ORDER, SCOPE) - k;
  }
  out[i] = sum;
}

// The same with one counter per work-group, of which each work-item counts how often it has grown since it last looked.
__kernel void shared(__global uint* restrict out, volatile __global atomic_uint* counters,
                     volatile __global uint* plain, const uint iterations) {
  const size_t i = get_global_id(0);
  uint last = 0, grown = 0;
  for (uint k = 0; k < iterations; ++k) {
    plain[i] = k;
    const uint now = atomic_fetch_add_explicit(counters + get_group_id(0), 1u, ORDER, SCOPE);
    grown += k == 0 || (int)(now - last) > 0;
    last = now;
  }
  out[i] = grown;
}
