// SPDX-License-Identifier: Apache-2.0
#include "results/disturbance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace clweave::results {

namespace {

// A part of a processor is what idle desktops and servers use for themselves.
constexpr double idle_cpus = 0.25, idle_part_of_cpus = 0.05;
// Threads of one process wait for each other on a quiet machine too, so this counts beside others alone.
constexpr double most_wait = 0.15;

bool by_heat(std::string_view reason) {
  return reason.find("thermal") != std::string_view::npos || reason.find("brake") != std::string_view::npos ||
         reason == "hw_slowdown";
}

}  // namespace

double most_idle_cpus(double processors) { return std::max(idle_cpus, idle_part_of_cpus * processors); }

std::string heat_in(std::string_view reasons) {
  std::vector<std::string_view> out;
  while (!reasons.empty()) {
    const auto end = std::min(reasons.find(';'), reasons.size());
    if (by_heat(reasons.substr(0, end))) out.push_back(reasons.substr(0, end));
    reasons.remove_prefix(std::min(end + 1, reasons.size()));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

bool is_slowed(const Record& record) {
  return !record.disturbed.empty() || record.throttled.value_or(0) > 0.5;
}

std::string disturbance_of(const Record& record) {
  std::vector<std::string> out;
  const double others = record.other_cpus.value_or(0), wait = record.cpu_wait.value_or(0);
  const bool waited = others > idle_cpus && wait > most_wait;
  // Other processes slow a kernel on the same processors. A GPU needs one of them at times, and then waits.
  if (record.device_type == "cpu" && (waited || others > most_idle_cpus(as_double(record.compute_units))))
    out.push_back(fmt::format("other processes used {:.3g} processors", others));
  if (waited)
    out.push_back(fmt::format("its threads waited for a processor for {:.0f} % of their time", 100 * wait));
  if (record.steal.value_or(0) > most_taken)
    out.push_back(fmt::format("the hypervisor took {:.0f} % of the processors", 100 * *record.steal));
  if (record.quota.value_or(0) > most_taken)
    out.push_back(
        fmt::format("the limit of processor time stopped it for {:.0f} % of the time", 100 * *record.quota));
  if (const std::string heat = heat_in(record.throttle_reasons); !heat.empty())
    out.push_back("the device was throttled: " + heat);
  if (as_double(record.swapped_pages) > most_swapped_pages)
    out.push_back(fmt::format("the host swapped {} pages", *record.swapped_pages));
  return fmt::format("{}", fmt::join(out, "; "));
}

}  // namespace clweave::results
