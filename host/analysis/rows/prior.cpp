// SPDX-License-Identifier: Apache-2.0
#include "analysis/rows/prior.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace clweave::rows {

namespace {

// Root mean squares over the cases of a band: medians would hide that a few cases differ by far more.
struct Band {
  double below_s, sd;
};
constexpr std::array<Band, 3> of_gpus = {{{8e-6, 0.125}, {50e-6, 0.012}, {HUGE_VAL, 0.005}}};
constexpr double of_cpus = 0.26;  // for all times, by both clocks

// Degrees of freedom of a t distribution: the tails of GPUs are heavier than normal; sharing a CPU halves its
// speed at most, so its tails are short.
constexpr double degrees_of_gpus = 4, degrees_of_cpus = std::numeric_limits<double>::infinity();

}  // namespace

Spread prior_spread(std::string_view device_type, Timer timer, double command_s) {
  if (device_type != "gpu" || timer != Timer::event) return {of_cpus * of_cpus, degrees_of_cpus};
  for (const auto& [below_s, sd] : of_gpus) {
    if (command_s < below_s) return {sd * sd, degrees_of_gpus};
  }
  return {};
}

std::string_view prior_text(std::string_view device_type, Timer timer) {
  const auto percent = [](double sd) { return fmt::format("{:.2g} %", 100 * sd); };
  static const std::string gpu = fmt::format(
      "{} between processes for commands under {:.0f} us, {} under {:.0f} us, {} beyond, as sessions on an "
      "H200 differ",
      percent(of_gpus[0].sd), 1e6 * of_gpus[0].below_s, percent(of_gpus[1].sd), 1e6 * of_gpus[1].below_s,
      percent(of_gpus[2].sd));
  static const std::string any = percent(of_cpus) + " between processes";
  static const std::string cpu = any + ", as sessions on processors that others share differ";
  if (device_type == "gpu" && timer == Timer::event) return gpu;
  return device_type == "cpu" ? cpu : any;
}

}  // namespace clweave::rows
