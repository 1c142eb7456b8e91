// SPDX-License-Identifier: Apache-2.0
#include "analysis/rows/prior.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace clweave::rows {

namespace {

// Knots of a curve that is straight in logarithms. Root mean squares over cases of about that time: medians
// would hide that a few cases differ by far more.
struct Knot {
  double command_s, sd;
};
constexpr std::array<Knot, 4> of_gpus = {{{8e-6, 0.125}, {12e-6, 0.012}, {40e-6, 0.012}, {60e-6, 0.005}}};
// The same of cases whose samples agree fully: `of_samples` times their own interval's sd comes on top, which
// tells the few kernels that differ by far more (contended atomics, round trips) from the others.
constexpr std::array<Knot, 6> of_steady_on_gpus = {
    {{8e-6, 0.12}, {10e-6, 0.0085}, {16e-6, 0.0065}, {24e-6, 0.0035}, {40e-6, 0.0015}, {60e-6, 0.00125}}};
constexpr double of_samples = 2;
// Of 301 cases four differ by several times that: a round trip of 10 us by 8 %, the others by 2 to 3.5 %.
constexpr double rare_on_gpus = 1.0 / 64;
constexpr std::array<Knot, 2> of_rare_on_gpus = {{{12e-6, 0.08}, {24e-6, 0.03}}};
constexpr double of_cpus = 0.26;  // for all times, by both clocks

// Degrees of freedom of a t distribution: the tails of GPUs are heavier than normal; sharing a CPU halves its
// speed at most, so its tails are short.
constexpr double degrees_of_gpus = 4, degrees_of_cpus = std::numeric_limits<double>::infinity();

template <std::size_t n>
double at(const std::array<Knot, n>& curve, double command_s) {
  if (command_s <= curve.front().command_s) return curve.front().sd;
  for (std::size_t i = 1; i < n; ++i) {
    const Knot &from = curve[i - 1], &to = curve[i];
    if (command_s > to.command_s) continue;
    const double part = std::log(command_s / from.command_s) / std::log(to.command_s / from.command_s);
    return std::exp(std::lerp(std::log(from.sd), std::log(to.sd), part));
  }
  return curve.back().sd;
}

}  // namespace

Spread prior_spread(std::string_view device_type, Timer timer, double command_s, double of_median) {
  if (device_type != "gpu" || timer != Timer::event) return {of_cpus * of_cpus, degrees_of_cpus};
  if (of_median <= 0) {
    const double sd = at(of_gpus, command_s);
    return {sd * sd, degrees_of_gpus};
  }
  const double steady = at(of_steady_on_gpus, command_s);
  return {steady * steady + of_samples * of_samples * of_median, degrees_of_gpus};
}

RareSpread rare_spread(std::string_view device_type, Timer timer, double command_s) {
  if (device_type != "gpu" || timer != Timer::event) return {};
  return {rare_on_gpus, at(of_rare_on_gpus, command_s)};
}

std::string_view prior_text(std::string_view device_type, Timer timer) {
  const auto percent = [](double sd) { return fmt::format("{:.2g} %", 100 * sd); };
  static const std::string gpu = fmt::format(
      "{} between processes for commands under {:.0f} us, {} to {} beyond {:.0f} us, by how much their "
      "samples "
      "differ, as sessions on an H200",
      percent(of_gpus[0].sd), 1e6 * of_gpus[0].command_s, percent(of_steady_on_gpus.back().sd),
      percent(of_gpus.back().sd), 1e6 * of_gpus.back().command_s);
  static const std::string any = percent(of_cpus) + " between processes";
  static const std::string cpu = any + ", as sessions on processors that others share differ";
  if (device_type == "gpu" && timer == Timer::event) return gpu;
  return device_type == "cpu" ? cpu : any;
}

}  // namespace clweave::rows
