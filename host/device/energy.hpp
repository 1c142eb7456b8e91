// SPDX-License-Identifier: Apache-2.0
// energy: the cells of a row that a device's own sensors fill.
#pragma once
#include <functional>

#include "device/measure.hpp"
#include "power/power_meter.hpp"

namespace clweave::device {

class OpenDevice;

void record_conditions(Record&, const PowerMeter*, const Conditions&);  // of no meter: nothing

// Has `run(batch)` execute the case for rule.energy_s or longer, without a pause, and fills the joules of one
// execution and of its items, bytes and operations. Without a meter that is certified nothing is executed,
// and `meter_reason` says why; so it does where there is no measure of an execution: caches are emptied or
// the device rests between two. Throws what `run` throws.
void record_energy(Record&, OpenDevice&, const SamplingOptions& rule,
                   const std::function<void(int batch)>& run);

// Joules per piece of work, from energy_j and the counts.
void record_joules_of_work(Record&);

}  // namespace clweave::device
