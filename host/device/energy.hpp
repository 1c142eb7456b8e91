// SPDX-License-Identifier: Apache-2.0
// energy: fills the cells of a row that come from the device's sensors.
#pragma once
#include <functional>

#include "device/measure.hpp"
#include "power/power_meter.hpp"

namespace clweave::device {

class OpenDevice;

void record_conditions(Record&, PowerMeter*, const Conditions&);  // null: fills nothing

// Has `run(batch)` execute the case for sampling.energy_s or longer without a pause, and fills the joules per
// execution, item, byte and operation. Executes nothing, and fills `meter_reason`, without a certified meter
// or if the device flushes caches or idles between executions, which takes energy, too. Throws what `run`
// throws.
void record_energy(Record&, OpenDevice&, const SamplingOptions& sampling,
                   const std::function<void(int batch)>& run);

// Fills the joules per item, byte and operation from energy_j and the counts.
void record_joules_of_work(Record&);

}  // namespace clweave::device
