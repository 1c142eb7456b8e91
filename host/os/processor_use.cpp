// SPDX-License-Identifier: Apache-2.0
#include "os/processor_use.hpp"

#include <algorithm>
#include <utility>

#include "os/clock.hpp"

namespace clweave::os {

HostLoad load_between(const ProcessorUse& before, const ProcessorUse& after) {
  HostLoad out;
  const double wall_s = after.at_s - before.at_s;
  if (after.processors > 0 && after.processors == before.processors && wall_s >= least_load_window_s) {
    const double others_s = (after.busy_s - before.busy_s) - (after.own_s - before.own_s);
    out.other_cpus = std::max(0.0, others_s) / wall_s;
    // Ticks are coarse, and a guest that moves to another host begins to count anew.
    out.quota = std::clamp((after.stopped_s - before.stopped_s) / wall_s, 0.0, 1.0);
    out.steal = std::clamp((after.stolen_s - before.stolen_s) / (wall_s * after.processors), 0.0, 1.0);
  }
  if (wall_s > 0) out.own_cpus = (after.own_s - before.own_s) / wall_s;
  // Threads that ended meanwhile take their part with them.
  const double ran_s = after.ran_s - before.ran_s, waited_s = after.waited_s - before.waited_s;
  if (ran_s > 0 && waited_s >= 0) out.cpu_wait = waited_s / (ran_s + waited_s);
  out.swapped_pages = after.swapped_pages - before.swapped_pages;
  return out;
}

double ProgressShare::next() {
  const RunTimes now = run_times_of(process_);
  const double at_s = host_now();
  const double wall_s = at_s - std::exchange(at_s_, at_s);
  const double ran_s = std::max(0.0, now.ran_s - std::exchange(ran_s_, now.ran_s));
  const double waited_s = std::max(0.0, now.waited_s - std::exchange(waited_s_, now.waited_s));
  if (waited_s <= 0) return 1;
  // A thread that wakes now and then is no reason to wait for one that sleeps.
  return std::max(ran_s / (ran_s + waited_s), 1 - waited_s / wall_s);
}

}  // namespace clweave::os
