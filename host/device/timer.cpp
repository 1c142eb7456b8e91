// SPDX-License-Identifier: Apache-2.0
#include "device/timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

namespace clweave::device {

namespace {

// Bounds for device time over host time.
constexpr double least_slope = 0.8, most_slope = 1.25;

// Delay of the host behind the device's end that the reason mentions.
constexpr double late_s = 1e-3;

}  // namespace

TimerCertificate certify(std::span<const TimerProbe> probes) {
  TimerCertificate out;
  std::set<std::uint64_t> durations;
  // Use the fastest of each kind, as disturbances only make a launch longer.
  constexpr double none = std::numeric_limits<double>::infinity();
  double device_s[2] = {none, none};
  double host_s[2] = {none, none};
  bool any_empty = false;
  for (const auto& probe : probes) {
    if (probe.work != 0) continue;
    const double event_s = probe.stamps.seconds();
    out.empty_event_s = any_empty ? std::min(out.empty_event_s, event_s) : event_s;
    out.empty_host_s = any_empty ? std::min(out.empty_host_s, probe.host_s) : probe.host_s;
    any_empty = true;
  }
  out.completion_latency_s = none;
  for (const auto& probe : probes) {
    const Stamps& stamps = probe.stamps;
    if (!stamps.touched) return out.reason = "the driver reports success but writes no time stamps", out;
    if (probe.work == 0 && stamps.valid()) continue;  // it may take no tick at all
    if (stamps.end <= stamps.start)
      return out.reason = fmt::format("time stamps run backwards or stand still: start {}, end {}",
                                      stamps.start, stamps.end),
             out;
    durations.insert(stamps.end - stamps.start);
    const int kind = probe.work > 1 ? 1 : 0;
    device_s[kind] = std::min(device_s[kind], stamps.seconds());
    host_s[kind] = std::min(host_s[kind], probe.host_s);
    out.completion_latency_s =
        std::min(out.completion_latency_s, std::max(0.0, probe.host_s - stamps.seconds()));
  }
  if (device_s[0] == none || device_s[1] == none)
    return out.reason = "the probes do not have two amounts of work", out;
  if (durations.size() < 3)
    return out.reason = fmt::format("{} launches gave only {} different durations, the first {} ns",
                                    probes.size(), durations.size(), *durations.begin()),
           out;
  if (host_s[1] <= host_s[0])
    return out.reason = "twice the work took no longer by the host's clock: the timer cannot be judged", out;
  out.slope = (device_s[1] - device_s[0]) / (host_s[1] - host_s[0]);
  if (out.slope < least_slope || out.slope > most_slope)
    return out.reason = fmt::format("device time grows {:.3g} times as fast as host time", out.slope), out;
  if (out.empty_event_s > most_slope * out.empty_host_s)
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
  if (probe.work == 0) return probe.stamps.valid() && device_s <= most_slope * probe.host_s;
  return device_s > 0 && device_s >= least_slope * (probe.host_s - certificate.completion_latency_s) &&
         device_s <= most_slope * probe.host_s;
}

}  // namespace clweave::device
