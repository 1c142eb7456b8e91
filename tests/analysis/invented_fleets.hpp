// SPDX-License-Identifier: Apache-2.0
// invented_fleets: fleets of devices that differ as sessions of a real one do, for tests and simulations.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "analysis/fleet/fleet.hpp"
#include "commands/read_results.hpp"
#include "suite/family.hpp"

namespace clweave::fleet {

// Returns four sessions of one H200 between which nothing changed.
inline const IdenticalDevices& real_sessions() {
  static const ResultsSet set = [] {
    std::vector<std::string> files;
    for (int i = 1; i <= 4; ++i)
      files.push_back(fmt::format("{}/results/nvidia-h200/sessions-{}.zip", CLWEAVE_SOURCE_DIR, i));
    return read_results(commands::unpacked(files), all_families());
  }();
  static const IdenticalDevices devices = identical_devices(set, Unit::session).at(0);
  return devices;
}

struct Invention {
  double core = 0.005;        // sd between devices of what bounds their cores, as logarithms
  double memory = 0.005 / 3;  // and of their memory, which the same chance decides
  std::size_t processes = 1;  // per device
  double slow_once = 0;       // share of the processes of a device and family that take 1.2 times as long
};
inline constexpr Invention other_clocks = {.core = 0.01, .memory = 0.01};

// Invents fleets whose devices differ by what real sessions do: a family of a device is off as the family of
// a session was, and each of its cases as any case of that family and session that takes about as long, so
// that what they have in common stays, and so do the tails. Beyond that devices differ for good.
class Inventor {
 public:
  explicit Inventor(std::uint64_t seed) : random_(seed) {
    const IdenticalDevices& real = real_sessions();
    const auto middle = centres(real);
    families_ = real.families();
    for (const auto& one : real.cases) {
      std::array<double, 4> off{};
      double mean = 0;
      for (std::size_t s = 0; s < 4; ++s) mean += one.log_times[s] / 4;
      for (std::size_t s = 0; s < 4; ++s) off[s] = std::sqrt(4.0 / 3) * (one.log_times[s] - mean);
      auto& pool = pools_[{one.family, one.weight}];
      pool.push_back(off);
      pool_of_.push_back(&pool);
    }
    blank_ = real;
    for (std::size_t c = 0; c < blank_.cases.size(); ++c) blank_.cases[c].log_times = {middle[c]};
  }

  // A single process decides by itself, so its times are kept as the devices' alone.
  IdenticalDevices fleet(std::size_t n, const Invention& how = {}) {
    IdenticalDevices out = blank_;
    out.units.assign(n, {});
    for (std::size_t u = 0; u < n; ++u) out.units[u].location = std::to_string(u);
    for (auto& one : out.cases) {
      const double middle = one.log_times.front();
      one.by_process.clear();
      if (how.processes == 1)
        one.log_times.assign(n, middle);
      else
        one.by_process.assign(n, std::vector<double>(how.processes, middle));
    }
    for (std::size_t u = 0; u < n; ++u) {
      const double chance = normal(), core = how.core * chance, memory = how.memory * chance;
      for (std::size_t p = 0; p < how.processes; ++p) {
        for (const auto& family : families_) add_process(out, u, p, family.cases, core, memory, how);
      }
    }
    if (how.processes > 1) take_medians(out);
    return out;
  }

  // Makes the times of the devices those of their processes.
  static void take_medians(IdenticalDevices& fleet) {
    for (auto& one : fleet.cases) {
      one.log_times.clear();
      for (const auto& processes : one.by_process) one.log_times.push_back(median(processes));
    }
  }

 private:
  void add_process(IdenticalDevices& out, std::size_t u, std::size_t p, const std::vector<std::size_t>& cases,
                   double core, double memory, const Invention& how) {
    const std::size_t session = random_() % 4;
    const double sign = random_() % 2 == 0 ? 1 : -1;
    const double once = how.slow_once > 0 && uniform() < how.slow_once ? std::log(1.2) : 0;
    for (const std::size_t c : cases) {
      const auto& off = (*pool_of_[c])[random_() % pool_of_[c]->size()];
      DeviceCase& one = out.cases[c];
      (one.by_process.empty() ? one.log_times[u] : one.by_process[u][p]) +=
          sign * off[session] + (one.bound == Bound::memory ? memory : core) + once;
    }
  }
  // The standard's distributions differ between libraries, its engines do not.
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  std::mt19937_64 random_;
  std::vector<IdenticalDevices::OfFamily> families_;
  using Pool =
      std::vector<std::array<double, 4>>;  // of each case the four sessions' distances from their mean
  std::map<std::pair<std::string, double>, Pool> pools_;
  std::vector<const Pool*> pool_of_;  // each case
  IdenticalDevices blank_;
};

inline void slow_down(IdenticalDevices& fleet, std::size_t device, double factor,
                      const std::function<bool(const DeviceCase&)>& where) {
  for (auto& one : fleet.cases) {
    if (!where(one)) continue;
    one.log_times[device] += std::log(factor);
    if (one.by_process.empty()) continue;
    for (double& log_time : one.by_process[device]) log_time += std::log(factor);
  }
}

inline bool in_copy(const DeviceCase& one) { return one.family == "copy"; }
inline bool in_memory(const DeviceCase& one) { return one.bound == Bound::memory; }
inline bool not_in_memory(const DeviceCase& one) { return one.bound != Bound::memory; }
inline bool everywhere(const DeviceCase&) { return true; }

}  // namespace clweave::fleet
