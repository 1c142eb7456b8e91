// SPDX-License-Identifier: Apache-2.0
// processor_use: tells how much of the host's processors this process got, and what others took. From Linux's
// /proc; where that does not tell, the values are empty or 0.
#pragma once
#include <optional>

#include "base/namespaces.hpp"

namespace clweave::os {

// Counters since some time before, in seconds of processor time unless they say otherwise; they hardly ever
// fall.
struct ProcessorUse {
  double at_s = 0;                 // host_now()
  unsigned processors = 0;         // that this process may use; the next two are of these alone
  double busy_s = 0;               // of all processes
  double stolen_s = 0;             // taken by the hypervisor for other guests
  double own_s = 0;                // of this process and its children that have ended
  double ran_s = 0, waited_s = 0;  // of this process's threads: executing, and ready but without a processor
  double stopped_s = 0;  // for which the cgroup's limit of processor time stopped its processes, summed over
                         // the processors; 0 without a limit
  double swapped_pages = 0;  // of the host, in and out
};
// Reads the folder that CLWEAVE_PROC_ROOT names instead of /proc; what is not there is 0.
ProcessorUse processor_use();

// What happened to this process between two readings.
struct HostLoad {
  std::optional<double> own_cpus;    // processors that this process used, on average
  std::optional<double> other_cpus;  // processors that other processes used, on average
  std::optional<double> cpu_wait;    // part of its threads' time in which they waited for a processor
  std::optional<double> quota;       // part of the time in which the cgroup's limit stopped it
  std::optional<double> steal;       // part of the processors' time that the hypervisor took
  double swapped_pages = 0;
};
// The kernel counts busy processors in ticks of 10 ms, so that what others used is unknown over less than
// this.
inline constexpr double least_load_window_s = 0.1;
HostLoad load_between(const ProcessorUse& before, const ProcessorUse& after);

// The time for which the threads of a process and its descendants, such as a driver's compiler, executed, and
// for which they were ready but without a processor.
struct RunTimes {
  double ran_s = 0, waited_s = 0;
};
RunTimes run_times_of(int process);

// Tells how much of its time a process and its descendants can have made use of: 1 if its threads sleep or
// have a processor whenever they want one, 0.2 if they run for a fifth of the time in which they want to all
// the time.
class ProgressShare {
 public:
  explicit ProgressShare(int process) : process_(process) {}
  // Returns the share since the last call. Costs a few microseconds per thread.
  double next();

 private:
  int process_;
  double at_s_ = 0, ran_s_ = 0, waited_s_ = 0;
};

}  // namespace clweave::os
