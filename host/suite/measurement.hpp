// SPDX-License-Identifier: Apache-2.0
// measurement: the numbers of a measured case, embedded in its CSV row, in a run of a results set, and in the
// outcome that a family sees. Each of them keeps the time and its interval itself, because only a CSV row may
// lack them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "suite/peak.hpp"

namespace clweave::suite {

using Number = std::optional<double>;  // empty: not known, and an empty cell
using Count = std::optional<std::int64_t>;

constexpr double as_double(Count count) { return static_cast<double>(count.value_or(0)); }

struct Measurement {
  Number min_s = {};                         // shortest sample
  Number wall_s = {};                        // median by the host's clock, including launch and wait
  Number call_s = {};                        // the same with a wait after each execution
  Count bytes = {}, flops = {}, items = {};  // the plan's cost
  Number gb_per_s = {}, gflop_per_s = {}, gitems_per_s = {};    // cost over time
  Number energy_j = {}, energy_low_j = {}, energy_high_j = {};  // of one execution
  Peak peak = Peak::none;
  Number fraction_of_peak = {};  // not at smoke sizes, which have no peaks
  Number value = {};             // maximum that the plan's check with a unit measured; see Plan::background
  Number own_cpus = {};          // processors that this process used meanwhile
  std::string over_time = {};    // of a plan that is sustained (suite/over_time.hpp)
  std::string output_hash = {};  // of outputs whose check hashes them: "sin:12ab;exp:34cd", in hexadecimal

  // Returns whether the rate is in operations rather than bytes: by the peak, else if the case does more than
  // four operations per byte.
  bool of_operations() const {
    return of_arithmetic(peak) || (peak == Peak::none && flops.value_or(0) > 4 * bytes.value_or(0));
  }
  Number rate() const { return of_operations() ? gflop_per_s : gb_per_s; }
  // Returns joules per operation if the rate is in operations, else per byte. `energy` is one of the three
  // above.
  Number joules_of_unit(Number energy) const {
    const Count& count = of_operations() ? flops : bytes;
    if (!energy || !count || *count <= 0) return {};
    return *energy / static_cast<double>(*count);
  }
};

}  // namespace clweave::suite
