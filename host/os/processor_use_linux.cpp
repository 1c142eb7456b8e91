// SPDX-License-Identifier: Apache-2.0
#include "os/processor_use.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "os/cgroup_linux.hpp"
#include "os/clock.hpp"

namespace clweave::os {

namespace {

namespace fs = std::filesystem;

// Where the host's load is read: tests of what does not depend on it have a folder without any.
fs::path load_root() {
  const char* root = std::getenv("CLWEAVE_PROC_ROOT");
  return root != nullptr ? root : "/proc";
}

// Sums PID/task/*/schedstat: nanoseconds on a processor, and ready to run but without one. With
// descendants, also those of processes that this one started, such as a driver's compiler.
RunTimes run_times_of(const fs::path& process, bool with_descendants) {
  RunTimes out;
  std::error_code none;  // a thread or process that ends meanwhile
  for (fs::directory_iterator task(process / "task", none), end; !none && task != end; task.increment(none)) {
    std::ifstream in(task->path() / "schedstat");
    double ran_ns = 0, waited_ns = 0;
    if (in >> ran_ns >> waited_ns) {
      out.ran_s += 1e-9 * ran_ns;
      out.waited_s += 1e-9 * waited_ns;
    }
    if (!with_descendants) continue;
    std::ifstream children(task->path() / "children");
    for (std::string child; children >> child;) {
      const RunTimes its = run_times_of(process.parent_path() / child, true);
      out.ran_s += its.ran_s;
      out.waited_s += its.waited_s;
    }
  }
  return out;
}

// Adds the processors' busy and stolen time from stat, for those that this process may use: others may
// be busy with what does not disturb it.
void add_processors(ProcessorUse& out) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  const bool known = sched_getaffinity(0, sizeof usable, &usable) == 0;
  const double tick_s = 1.0 / static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK)));
  std::ifstream in(load_root() / "stat");
  for (std::string line; std::getline(in, line) && line.starts_with("cpu");) {
    int number = 0;
    const auto [rest, error] = std::from_chars(line.data() + 3, line.data() + line.size(), number);
    if (error != std::errc() || (known && (number >= CPU_SETSIZE || !CPU_ISSET(number, &usable)))) continue;
    std::istringstream columns(std::string(rest, static_cast<const char*>(line.data() + line.size())));
    double user = 0, nice = 0, system = 0, idle = 0, waits = 0, irq = 0, softirq = 0, stolen = 0;
    columns >> user >> nice >> system >> idle >> waits >> irq >> softirq >> stolen;
    ++out.processors;
    out.busy_s += tick_s * (user + nice + system + irq + softirq);
    out.stolen_s += tick_s * stolen;
  }
}

// Returns for how long limits of processor time have stopped this process's groups.
double stopped_s() {
  double sum_s = 0;
  for (const auto& group : cgroups("cpu")) {
    const char* const word = group.is_v2 ? "throttled_usec" : "throttled_time";
    sum_s +=
        (group.is_v2 ? 1e-6 : 1e-9) * static_cast<double>(number_behind(group.folder / "cpu.stat", word));
  }
  return sum_s;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

ProcessorUse processor_use() {
  ProcessorUse out;
  out.at_s = host_now();
  add_processors(out);
  for (const auto whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage own{};
    if (getrusage(whose, &own) == 0) out.own_s += seconds(own.ru_utime) + seconds(own.ru_stime);
  }
  const RunTimes times = run_times_of(load_root() / "self", false);
  out.ran_s = times.ran_s;
  out.waited_s = times.waited_s;
  out.stopped_s = stopped_s();
  for (const char* const way : {"pswpin", "pswpout"})
    out.swapped_pages += static_cast<double>(number_behind(load_root() / "vmstat", way));
  return out;
}

RunTimes run_times_of(int process) { return run_times_of(fs::path("/proc") / std::to_string(process), true); }

}  // namespace clweave::os
