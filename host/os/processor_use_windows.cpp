// SPDX-License-Identifier: Apache-2.0
#include "os/processor_use.hpp"

#include "os/clock.hpp"
#include "os/system_windows.hpp"

namespace clweave::os {

namespace {

double seconds(const FILETIME& time) {
  ULARGE_INTEGER ticks{};
  ticks.LowPart = time.dwLowDateTime;
  ticks.HighPart = time.dwHighDateTime;
  return 1e-7 * static_cast<double>(ticks.QuadPart);
}

double process_s(HANDLE process) {
  FILETIME begun{}, ended{}, kernel{}, user{};
  return GetProcessTimes(process, &begun, &ended, &kernel, &user) == 0 ? 0 : seconds(kernel) + seconds(user);
}

}  // namespace

// Windows tells no waits for a processor, and what was stolen or swapped only by performance counters that
// may be off.
ProcessorUse processor_use() {
  ProcessorUse out;
  out.at_s = host_now();
  FILETIME idle{}, kernel{}, user{};
  if (GetSystemTimes(&idle, &kernel, &user) != 0) {
    out.processors = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    out.busy_s = seconds(kernel) + seconds(user) - seconds(idle);  // the kernel's has the idle time, too
  }
  out.ran_s = process_s(GetCurrentProcess());
  out.own_s = out.ran_s;
  return out;
}

RunTimes run_times_of(int process) {
  const Handle opened =
      owned(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(process)));
  if (!opened) return {};
  return {process_s(system_handle(opened)), 0};
}

}  // namespace clweave::os
