// SPDX-License-Identifier: Apache-2.0
// meter_certificate: certifies a power meter by its readings at rest and at work. No device.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "power/power_meter.hpp"

namespace clweave::power {

// Successive readings of a meter during constant work.
using Readings = std::span<const Energy>;

struct MeterCertificate {
  bool good = false;
  std::string reason;               // one sentence: its properties, or why it is refused
  double update_s = 0;              // between changes of its value while the device works
  double step = 0;                  // its least change then: J of a counter, W of power
  std::optional<double> agreement;  // energy by the counter over the integral of power; none without both
  double idle_w = 0, work_w = 0;
};

// The time that a meter gets to settle on a load. Readings before, and the first change afterwards, do not
// count.
inline constexpr double meter_settle_s = 1.5;

// Certifies a meter from readings at rest and during at least twice meter_settle_s of work. Its value must
// change at least twice a second, a counter must never fall, work must show by 5 %, and energy must equal the
// integral of power within a tenth. A meter with only one of the two must read the same, within a quarter, in
// both halves of the work.
MeterCertificate certify(Readings idle, Readings work);

// Joules per execution and their 95 % interval, from the variation between parts of the loop and the meter's
// update interval. The meter's accuracy is not part of it.
struct Joules {
  double each = 0, low = 0, high = 0;
};

// Computes the joules of `executions` without a pause from begin_s to end_s. Empty if the meter changed too
// seldom for an interval.
std::optional<Joules> joules_of(Readings, const MeterCertificate&, double begin_s, double end_s,
                                double executions);

// Returns how long a loop must be for that.
double least_loop_s(const MeterCertificate&);

}  // namespace clweave::power
