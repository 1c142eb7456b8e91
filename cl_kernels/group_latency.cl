// SPDX-License-Identifier: Apache-2.0
// group_latency: two work-groups exchange a flag, and all meet at a barrier of the whole grid. Every wait is
// bounded.
//
// GROUP     work-items of a work-group
// BY_SMID   1: the compute unit that a work-group runs on says who takes part, by NVIDIA's %smid; 0: its
// group id BY_LOAD   1: volatile loads look at a flag; 0: atomics, which alone OpenCL C 1.2 promises to see
// it change
#ifdef EDITOR
#define GROUP 64
#define BY_SMID 0
#define BY_LOAD 0
#elif !defined(GROUP) || !defined(BY_SMID) || !defined(BY_LOAD)
#error "group_latency.cl needs GROUP, BY_SMID and BY_LOAD from the host"
#endif

#define CLAIMS 64  // word of the flags from which on a work-group per side says that it takes part in a pair

uint look(volatile __global uint* flag) {
#if BY_LOAD
  return *flag;
#else
  return atomic_or(flag, 0u);
#endif
}

uint unit_of_group(void) {
#if BY_SMID
  uint unit;
  __asm__ volatile("mov.u32 %0, %%smid;" : "=r"(unit));
  return unit;
#else
  return (uint)get_group_id(0);
#endif
}

// Passes the flag there and back between units `first` and `second`; all other work-groups end at once. Each
// value of the flag occurs once in an execution, so that a message that is lost or doubled is seen. Where
// work-groups outnumber units, the first that claims its side plays it. A pair that gives up leaves its
// number, and later ones do not begin.
__kernel void ping_pong(__global uint* restrict out, volatile __global uint* flags,
                        volatile __global uint* gave_up, const uint pair, const uint first, const uint second,
                        const uint start, const uint claim, const uint round_trips, const uint most) {
  const uint unit = unit_of_group();
  if (get_local_id(0) != 0 || (unit != first && unit != second)) return;
  const uint side = unit == second ? 1u : 0u;
  if (atomic_cmpxchg(flags + CLAIMS + side, claim + pair, claim + pair + 1u) != claim + pair) return;
  if (look(gave_up) != 0) return;
  uint ping = start + 2u * round_trips * pair + 1u;
  for (uint trip = 0; trip < round_trips; ++trip) {
    if (side == 0) atomic_xchg(flags, ping);
    const uint awaited = ping + 1u - side;
    uint looks = 0;
    while (look(flags) != awaited)
      if (++looks >= most) {
        atomic_cmpxchg(gave_up, 0u, pair + 1u);
        return;
      }
    if (side == 1) atomic_xchg(flags, ping + 1u);
    ping += 2u;
  }
  out[2u * pair + side] = ping - 1u - side;
}

// Lets all work-groups of the launch wait for each other: each counts itself, and goes on when the counter
// says that all have come so often. Work-items write what their work-group saw at the last barrier.
__kernel void grid_barrier(__global uint* restrict out, volatile __global uint* counter,
                           volatile __global uint* gave_up, const uint start, const uint barriers,
                           const uint most) {
  __local uint seen[2];
  const uint groups = (uint)get_num_groups(0);
  uint goes_on = 1, last = 0;
  for (uint i = 1; i <= barriers && goes_on != 0; ++i) {
    if (get_local_id(0) == 0) {
      const uint all = start + i * groups;
      atomic_inc(counter);
      uint now = look(counter), looks = 0;
      while ((int)(now - all) < 0 && looks < most) {
        now = look(counter);
        ++looks;
        // Another one has given up, so that not all will come. Seldom looked at, as each look takes as long.
        if (looks % 256u == 0 && look(gave_up) != 0) looks = most;
      }
      if ((int)(now - all) < 0) atomic_xchg(gave_up, 1u);
      seen[0] = now;
      seen[1] = (int)(now - all) < 0 ? 0u : 1u;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    last = seen[0];
    goes_on = seen[1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = last;
}
