// SPDX-License-Identifier: Apache-2.0
// identical_devices: the times of devices of one name, case by case, and the effect of a device on a family.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/stats.hpp"
#include "results/results_set.hpp"

namespace clweave::fleet {

inline constexpr double unmeasured = std::numeric_limits<double>::quiet_NaN();

// A device, or one session of it.
struct DeviceUnit {
  const DeviceResults* device = nullptr;
  std::string location;    // for people: "node07 0000:18:00.0"
  std::size_t slowed = 0;  // cases whose every run was beside a slow canary, and is not counted
  std::size_t apart = 0;   // cases timed by another clock than most units', or of other work
};

// The resource that limits a case; memory only if the data were not cached.
enum class Bound { memory, arithmetic, other };

struct DeviceCase {
  std::string id, family;
  std::string clock, work;  // of most units; times of the others do not compare
  Bound bound = Bound::other;
  Spread prior;       // the variance measured between sessions; no degrees if unknown
  double weight = 1;  // 1 / that variance; 1 if unknown
  std::vector<double>
      log_times;  // per unit, the mean over its runs of the logarithm of seconds, or unmeasured
};

struct IdenticalDevices {
  std::string device;  // as its driver names it
  std::vector<DeviceUnit> units;
  std::vector<DeviceCase> cases;  // those that at least half of the units have, in the order met

  // A family's cases; families in the order met.
  struct OfFamily {
    std::string name;
    std::vector<std::size_t> cases;
    Spread prior;  // the smallest of the cases' priors: a family's cases may share their noise
  };
  std::vector<OfFamily> families() const;
};

enum class Unit {
  device,  // the mean of all its runs
  session  // of a device: a file if there are several, else a run
};

// Returns the devices of a set by name, in the order met. Known-incorrect kernels, findings, tuned
// configurations and cases that a session chose for itself are left out.
std::vector<IdenticalDevices> identical_devices(const ResultsSet&, Unit);

// Returns the median of each case's times over its units.
std::vector<double> centres(const IdenticalDevices&);

// Returns by how much longer a unit takes than `centres`: the weighted median over these cases of the
// differences of logarithms. Unmeasured if it has fewer than half of the cases.
double effect_of(const IdenticalDevices&, std::size_t unit, const std::vector<std::size_t>& cases,
                 const std::vector<double>& centres);

// Returns whether the device is to blame for a failure; it is not for implausible times, which a busy host
// causes.
bool is_device_failure(const CaseTimes&);

// Moderates a variance of units' effects by what was measured elsewhere (Smyth 2004), with at most `tails`
// degrees of freedom, as real noise has heavier tails than a normal distribution.
Spread noise_of(const Spread& own, const Spread& prior, double tails);

// Degrees of freedom for the tails of effects: a family's median has lighter tails than a case, whose degrees
// are the prior's.
inline constexpr double family_tails = 15, case_tails = 4;

}  // namespace clweave::fleet
