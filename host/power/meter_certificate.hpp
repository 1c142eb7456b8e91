// SPDX-License-Identifier: Apache-2.0
// meter_certificate: may this power meter be believed? Decided from what it read; no device.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "power/power_meter.hpp"

namespace clweave::power {

// What a meter read one after the other while the device did the same all the time.
using Looks = std::span<const Energy>;

struct MeterCertificate {
  bool good = false;
  std::string reason;               // one sentence: its figures, or why it is refused
  double update_s = 0;              // from one change of what it tells to the next, while the device works
  double step = 0;                  // its least change then: J of a counter, W of power
  std::optional<double> agreement;  // energy by the counter over the integral of power; none without both
  double idle_w = 0, work_w = 0;
};

// Each meter gets so long to settle on a load: what is read before does not count, nor does its first change
// afterwards.
inline constexpr double meter_settle_s = 1.5;

// From readings while the device did nothing, and while it worked for twice meter_settle_s at least.
// Certified when what it tells changes twice a second or more often, never falls where it counts, tells work
// from rest by 5 %, and its energy is, within a tenth, the integral of its power; of a meter that has only
// one of these the halves of the load must be equal within a quarter.
MeterCertificate certify(Looks idle, Looks work);

// Joules of one execution and their 95 % interval: parts of the loop held against each other, and what the
// meter's updates leave open. How true the meter is is no part of it.
struct Joules {
  double each = 0, low = 0, high = 0;
};

// Of `executions` without a pause from begin_s to end_s, by the meter's looks meanwhile. None where it
// changed too seldom for an interval.
std::optional<Joules> joules_of(Looks, const MeterCertificate&, double begin_s, double end_s,
                                double executions);

// So long a loop has to be for that.
double least_loop_s(const MeterCertificate&);

}  // namespace clweave::power
