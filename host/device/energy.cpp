// SPDX-License-Identifier: Apache-2.0
#include "device/energy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "device/open_device.hpp"
#include "power/meter_certificate.hpp"
#include "power/sensor_log.hpp"

namespace clweave::device {

void record_conditions(Record& record, PowerMeter* meter, const Conditions& found) {
  if (meter == nullptr) return;
  record.meter = meter->name();
  record.theoretical_gb_per_s = meter->theoretical_gb_per_s();
  record.core_mhz = found.core_mhz;
  record.memory_mhz = found.memory_mhz;
  record.power_w = found.watts;
  record.temperature_c = found.celsius;
  record.throttle_reasons = fmt::format("{}", fmt::join(found.throttle, ";"));
}

void record_joules_of_work(Record& record) {
  const auto per = [&](Count count) -> Number {
    if (!count || !record.energy_j) return {};
    return *record.energy_j / static_cast<double>(*count);
  };
  record.joules_per_item = per(record.items);
  record.joules_per_byte = per(record.bytes);
  record.joules_per_flop = per(record.flops);
}

void record_energy(Record& record, OpenDevice& device, const SamplingOptions& sampling,
                   const std::function<void(int batch)>& run) {
  if (sampling.cold || sampling.rest_s > 0) {
    record.meter_reason =
        sampling.cold ? "emptying the caches takes energy, too" : "the device rests between two";
    return;
  }
  const MeterCertificate& certificate = device.meter_certificate();
  record.meter_reason = certificate.reason;
  if (certificate.idle_w > 0) record.idle_w = certificate.idle_w;
  if (!certificate.good) return;
  // Long enough to hide the wait between two batches, short enough for the watchdog to see progress.
  constexpr double batch_s = 0.05;
  const double each_s = std::max(record.wall_s.value_or(0), 1e-9);
  const int batch =
      static_cast<int>(std::clamp(std::ceil(batch_s / each_s), 1.0, static_cast<double>(sampling.max_batch)));
  double executions = 0;
  const SensorLog log = watch(*device.meter(), std::max(sampling.energy_s, least_loop_s(certificate)), [&] {
    device.report_phase("energy");
    run(batch);
    executions += batch;
  });
  const auto joules = joules_of(log.readings, certificate, log.begin_s, log.end_s, executions);
  if (!joules) {
    record.meter_reason += "; it updated too seldom in this loop";
    return;
  }
  Conditions at_work = device.meter()->conditions();
  at_work.watts = joules->each * executions / (log.end_s - log.begin_s);
  record_conditions(record, device.meter(), at_work);
  record.energy_j = joules->each;
  record.energy_low_j = joules->low;
  record.energy_high_j = joules->high;
  record_joules_of_work(record);
}

}  // namespace clweave::device
