// SPDX-License-Identifier: Apache-2.0
// atomics: changes counters that several work-items share.
//
// OP                          the operation, one of the functions apply_..
// LOCAL, USED                 1: the counters are in local memory; 1: what an atomic returns is used
// GROUP, COUNTERS, SPACING    work-items of a work-group, words of its counters, words from one to the next
// PTX, NATIVE                 defined for NVIDIA's own addition of floats, and for that of cl_ext_float_atomics
#ifdef EDITOR
#define OP apply_cas
#define LOCAL 1
#define USED 1
#define GROUP 256
#define COUNTERS 256
#define SPACING 1
#elif !defined(OP) || !defined(LOCAL) || !defined(USED) || !defined(GROUP) || !defined(COUNTERS) || !defined(SPACING)
#error "atomics.cl needs OP, LOCAL, USED, GROUP, COUNTERS and SPACING from the host"
#endif

#if LOCAL
#define SPACE __local
#else
#define SPACE __global
#endif

// Each returns the old value. `last` is what the work-item saw in its counter last. Floats are kept as their bits:
// OpenCL 1 has no atomics of them.
uint apply_add(volatile SPACE uint* counter, const uint value, uint* last) {
  (void)last;
  return atomic_add(counter, value);
}
uint apply_max(volatile SPACE uint* counter, const uint value, uint* last) {
  (void)last;
  return atomic_max(counter, value);
}
uint apply_xchg(volatile SPACE uint* counter, const uint value, uint* last) {
  (void)last;
  return atomic_xchg(counter, value);
}

// Tries compare-and-swap until it succeeds. The first try assumes that nobody changed the counter since *last: a
// plain read of it would be a race with those who do.
#define TRY_UNTIL_FIRST(next)                                 \
  for (;;) {                                                  \
    const uint old = *last, wanted = (next);                  \
    const uint seen = atomic_cmpxchg(counter, old, wanted);   \
    *last = seen == old ? wanted : seen;                      \
    if (seen == old) return old;                              \
  }
uint apply_cas(volatile SPACE uint* counter, const uint value, uint* last) { TRY_UNTIL_FIRST(old + value) }
uint apply_float_cas(volatile SPACE uint* counter, const uint value, uint* last) {
  TRY_UNTIL_FIRST(as_uint(as_float(old) + (float)value))
}

#if defined(PTX)
uint apply_float_native(volatile SPACE uint* counter, const uint value, uint* last) {
  (void)last;
#if USED
  float old;
  __asm__ volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(counter), "f"((float)value) : "memory");
  return as_uint(old);
#else
  __asm__ volatile("red.global.add.f32 [%0], %1;" : : "l"(counter), "f"((float)value) : "memory");
  return 0;
#endif
}
#elif defined(NATIVE)
uint apply_float_native(volatile SPACE uint* counter, const uint value, uint* last) {
  (void)last;
  return as_uint(atomic_fetch_add_explicit((volatile SPACE atomic_float*)counter, (float)value, memory_order_relaxed,
                                           memory_scope_device));
}
#endif

__kernel void set(__global uint* restrict counters, const uint start) { counters[get_global_id(0)] = start; }

// Applies `first` + i * `more` to the counter at step i, and `each` * item more than work-item 0.
#if LOCAL
__kernel void atomics(__global uint* restrict out, __global uint* restrict sound, const uint share,
                      const uint iterations, const uint start, const uint first, const uint each, const uint more) {
  __local uint counters[COUNTERS];
  const uint lane = (uint)get_local_id(0);
  for (uint i = lane; i < COUNTERS; i += GROUP) counters[i] = start;
  barrier(CLK_LOCAL_MEM_FENCE);
  volatile __local uint* counter = &counters[lane / share * SPACING];
#else
__kernel void atomics(volatile __global uint* counters, __global uint* restrict sound, const uint share,
                      const uint iterations, const uint start, const uint first, const uint each, const uint more) {
  volatile __global uint* counter = &counters[(uint)get_global_id(0) / share * SPACING];
#endif
  uint value = first + (uint)get_global_id(0) * each;
  uint last = start;
#if USED
  uint good = 0;
  for (uint i = 0; i < iterations; ++i, value += more) good += OP(counter, value, &last) >= start ? 1u : 0u;
  sound[get_global_id(0)] = good;
#else
  for (uint i = 0; i < iterations; ++i, value += more) OP(counter, value, &last);
  sound[get_global_id(0)] = iterations;
#endif
#if LOCAL
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lane; i < COUNTERS; i += GROUP) out[get_group_id(0) * COUNTERS + i] = counters[i];
#endif
}
