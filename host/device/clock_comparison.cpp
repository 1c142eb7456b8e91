// SPDX-License-Identifier: Apache-2.0
#include "device/clock_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/stats.hpp"

namespace clweave::device {

namespace {

// Of the host's time: what a certified timer may deviate by.
constexpr double tolerance = most_slope - 1;
// Least time that starting a device and hearing of its end may vary by.
constexpr double least_s = 100e-6;

double excess_s(const TimedBatch& batch) { return batch.device_s - batch.host_s * (1 + tolerance); }
double lack_s(double device_s, double host_s) { return host_s * (1 - tolerance) - device_s; }
double lack_s(const TimedBatch& batch) { return lack_s(batch.device_s, batch.host_s); }

}  // namespace

void ClockComparison::add(const TimedBatch& batch) {
  if (excess_s(batch) > excess_s(longest_)) longest_ = batch;
  if (std::exchange(executions_, batch.executions) != batch.executions) {
    device_s_.clear();
    host_s_ = enqueue_s_ = std::numeric_limits<double>::infinity();
    closest_ = batch;
  }
  if (lack_s(batch) < lack_s(closest_)) closest_ = batch;
  device_s_.push_back(batch.device_s);
  host_s_ = std::min(host_s_, batch.host_s);
  enqueue_s_ = std::min(enqueue_s_, batch.enqueue_s);
}

std::string ClockComparison::contradiction(const TimerCertificate& certificate, double tick_s) const {
  if (device_s_.empty()) return {};
  const auto told = [](double device_s, double host_s) {
    return fmt::format("{:.4g} s by the time stamps where the host waited {:.4g} s", device_s, host_s);
  };
  if (excess_s(longest_) > 2 * tick_s) return told(longest_.device_s, longest_.host_s);
  const double device_s = median(device_s_);
  const double explained_s =
      enqueue_s_ + std::max(least_s, 2 * certificate.completion_latency_s) + 2 * tick_s;
  if (lack_s(closest_) > explained_s) return told(closest_.device_s, closest_.host_s);
  if (lack_s(device_s, host_s_) > explained_s) return told(device_s, host_s_);
  return {};
}

}  // namespace clweave::device
