// SPDX-License-Identifier: Apache-2.0
// timer: certifies a device's time stamps by probes. No OpenCL.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "base/namespaces.hpp"

namespace clweave::device {

// Start and end of one command by the device's clock, in nanoseconds. `touched` is false if the driver
// reports success without writing them.
struct Stamps {
  bool touched;
  std::uint64_t start, end;
  bool valid() const { return touched && start <= end; }
  double seconds() const { return valid() ? 1e-9 * static_cast<double>(end - start) : 0; }
};

// A launch of a kernel of known work, timed by both clocks.
struct TimerProbe {
  double work;  // 0, 1 or 2: none, some, and twice as much
  Stamps stamps;
  double host_s;  // host clock around enqueue and finish
};

struct TimerCertificate {
  bool event = false;  // use the device's stamps; else the host's clock
  double slope = 0;    // device time over host time, both as the difference between work 2 and work 1
  double completion_latency_s = 0;  // least time from the end on the device until the host hears of it
  double empty_event_s = 0, empty_host_s = 0;  // of a launch without work, which every time includes once
  bool disturbed = false;  // not certified, but the host may have been delayed: more probes may help
  std::string reason;      // one sentence
  std::string name() const { return event ? "event" : "host"; }
};

// Bounds for device time over host time.
inline constexpr double least_slope = 0.98, most_slope = 1.02;

// Certifies the timer if every stamp was written, start < end where there is work, at least three durations
// differ, doubling the work adds as much device time as host time within these bounds, and no launch lasts
// longer than the host waited for it.
TimerCertificate certify(std::span<const TimerProbe>);

// Returns whether another launch, of any work, is consistent with the certificate. If not, that proves
// nothing, because the host may have been delayed.
bool agrees(const TimerProbe&, const TimerCertificate&);

}  // namespace clweave::device
