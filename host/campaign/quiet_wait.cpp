// SPDX-License-Identifier: Apache-2.0
#include "campaign/quiet_wait.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "results/disturbance.hpp"

namespace clweave::campaign {

namespace {

constexpr double window_s = 1, slice_s = 0.1;

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

std::string busy_text(const ProcessorUse& before, const ProcessorUse& after) {
  const HostLoad load = load_between(before, after);
  if (load.other_cpus.value_or(0) > most_idle_cpus(after.processors))
    return fmt::format("other processes use {:.3g} of {} processors", *load.other_cpus, after.processors);
  if (load.steal.value_or(0) > most_taken)
    return fmt::format("the hypervisor takes {:.0f} % of the processors", 100 * *load.steal);
  if (load.swapped_pages > most_swapped_pages)
    return fmt::format("the host swaps, {} pages a second", load.swapped_pages);
  return {};
}

QuietWait::QuietWait(double budget_s, Environment environment, std::function<void()> tick,
                     std::function<ProcessorUse()> use, std::function<void(double)> sleep)
    : left_s_(budget_s),
      environment_(std::move(environment)),
      tick_(std::move(tick)),
      use_(std::move(use)),
      sleep_(sleep ? std::move(sleep) : sleep_for) {}

bool QuietWait::wait(const std::function<void(const std::string&)>& note,
                     const std::function<std::string()>& heat) {
  for (bool noted = false; left_s_ > 0;) {
    const double began_s = environment_.now();
    const ProcessorUse before = use_();
    while (environment_.now() - began_s < window_s) {
      if (environment_.interrupts() != 0) return false;
      if (tick_) tick_();
      sleep_(slice_s);
    }
    std::string busy = busy_text(before, use_());
    if (busy.empty() && heat) busy = heat();
    if (busy.empty()) return true;
    left_s_ -= environment_.now() - began_s;  // a quiet second costs nothing
    if (!std::exchange(noted, true))
      note(fmt::format("waiting for a quiet machine, for at most {:.0f} s: {}", left_s_, busy));
  }
  return false;
}

}  // namespace clweave::campaign
