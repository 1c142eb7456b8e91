// SPDX-License-Identifier: Apache-2.0
#include "device/timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

namespace clweave::device {

namespace {

// Bounds within which a delayed host may have moved the slope of a good timer.
constexpr double least_disturbed = 0.5, most_disturbed = 2;

// Part of a single launch's host time, without what the host hears late, that the device must have worked
// for, and what it may seem to have worked longer.
constexpr double least_of_launch = 0.8, most_of_launch = 1.25;

// Delay of the host behind the device's end that the reason mentions.
constexpr double late_s = 1e-3;

// Returns why there are no stamps to judge; empty if there are.
std::string stamps_problem(std::span<const TimerProbe> probes) {
  for (const auto& probe : probes) {
    const Stamps& stamps = probe.stamps;
    if (!stamps.touched) return "the driver reports success but writes no time stamps";
    const bool takes_no_tick = probe.work == 0 && stamps.valid();
    if (!takes_no_tick && stamps.end <= stamps.start)
      return fmt::format("time stamps run backwards or stand still: start {}, end {}", stamps.start,
                         stamps.end);
  }
  return {};
}

// Times of launches without work.
void note_empty_launches(std::span<const TimerProbe> probes, TimerCertificate& out) {
  bool is_first = true;
  for (const auto& probe : probes) {
    if (probe.work != 0) continue;
    const double event_s = probe.stamps.seconds();
    out.empty_event_s = is_first ? event_s : std::min(out.empty_event_s, event_s);
    out.empty_host_s = is_first ? probe.host_s : std::min(out.empty_host_s, probe.host_s);
    is_first = false;
  }
}

bool is_too_long(const TimerProbe& probe) {
  return probe.work > 0 && probe.stamps.seconds() > most_slope * probe.host_s;
}

}  // namespace

TimerCertificate certify(std::span<const TimerProbe> probes) {
  TimerCertificate out;
  note_empty_launches(probes, out);
  out.reason = stamps_problem(probes);
  if (!out.reason.empty()) return out;
  std::set<std::uint64_t> durations;
  constexpr double none = std::numeric_limits<double>::infinity();
  // Of each amount of work the launch of whose end the host heard soonest: a delay makes the host's time
  // longer, never shorter. Both times are of one launch, as they would not compare otherwise.
  struct Soonest {
    double device_s = 0, host_s = std::numeric_limits<double>::infinity();
    double late_s() const { return host_s - device_s; }
  };
  Soonest soonest[2];
  out.completion_latency_s = none;
  for (const auto& probe : probes) {
    if (probe.work == 0) continue;
    const double device_s = probe.stamps.seconds(), late_s = probe.host_s - device_s;
    durations.insert(probe.stamps.end - probe.stamps.start);
    Soonest& of_kind = soonest[probe.work > 1 ? 1 : 0];
    if (late_s < of_kind.late_s()) of_kind = {device_s, probe.host_s};
    out.completion_latency_s = std::min(out.completion_latency_s, std::max(0.0, late_s));
  }
  const auto& [once, twice] = soonest;
  if (once.host_s == none || twice.host_s == none)
    return out.reason = "the probes do not have two amounts of work", out;
  if (durations.size() < 3)
    return out.reason = fmt::format("{} launches gave only {} different durations, the first {} ns",
                                    probes.size(), durations.size(), *durations.begin()),
           out;
  if (twice.host_s <= once.host_s) {
    out.disturbed = true;
    return out.reason = "twice the work took no longer by the host's clock: the timer cannot be judged", out;
  }
  if (const auto longer = std::ranges::find_if(probes, is_too_long); longer != probes.end())
    return out.reason =
               fmt::format("a launch lasts {:.4g} ms by its time stamps, {:.4g} ms by the host's clock",
                           1e3 * longer->stamps.seconds(), 1e3 * longer->host_s),
           out;
  out.slope = (twice.device_s - once.device_s) / (twice.host_s - once.host_s);
  if (out.slope < least_slope || out.slope > most_slope) {
    out.disturbed = out.slope > least_disturbed && out.slope < most_disturbed;
    return out.reason = fmt::format("device time grows {:.3g} times as fast as host time", out.slope), out;
  }
  if (out.empty_event_s > most_of_launch * out.empty_host_s)
    return out.reason = fmt::format(
               "a launch without work lasts {:.3g} ms by its time stamps, {:.3g} ms by the host's clock",
               1e3 * out.empty_event_s, 1e3 * out.empty_host_s),
           out;
  out.event = true;
  out.reason = fmt::format("device time grows {:.3f} times as fast as host time", out.slope);
  if (out.completion_latency_s > late_s)
    out.reason += fmt::format("; the host hears of an end {:.2g} ms late", 1e3 * out.completion_latency_s);
  return out;
}

bool agrees(const TimerProbe& probe, const TimerCertificate& certificate) {
  const double device_s = probe.stamps.seconds();
  if (probe.work == 0) return probe.stamps.valid() && device_s <= most_of_launch * probe.host_s;
  return device_s > 0 && device_s >= least_of_launch * (probe.host_s - certificate.completion_latency_s) &&
         device_s <= most_of_launch * probe.host_s;
}

}  // namespace clweave::device
