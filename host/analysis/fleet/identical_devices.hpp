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
  std::size_t processes = 1;
};

// The resource that limits a case; memory only if the data were not cached.
enum class Bound { memory, arithmetic, other };

struct DeviceCase {
  std::string id, family;
  std::string clock, work;  // of most units; times of the others do not compare
  Bound bound = Bound::other;
  Spread prior;       // the variance measured between sessions; no degrees if unknown
  double weight = 1;  // 1 / that variance; 1 if unknown
  // Per unit, the median over its processes of the logarithm of seconds, or unmeasured: of three processes
  // one that ran slow changes nothing.
  std::vector<double> log_times;
  // Per unit, of each process, or unmeasured; empty: nobody knows.
  std::vector<std::vector<double>> by_process = {};
};

struct IdenticalDevices {
  std::string device;                   // as its driver names it
  const DeviceResults* kind = nullptr;  // one of them
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
  device,  // all its processes together
  session  // of a device: a file if there are several, else a run
};

// Returns whether both are of one model by one platform. A part of a divided device has fewer compute units
// than the whole; 0, in older files, is unknown.
bool identical(const DeviceResults&, const DeviceResults&);

// Returns the devices of a set by model, in the order met. Known-incorrect kernels, findings, tuned
// configurations and cases that a session chose for itself are left out.
std::vector<IdenticalDevices> identical_devices(const ResultsSet&, Unit);

// Returns the median of each case's times over its units.
std::vector<double> centres(const IdenticalDevices&);

// Returns by how much longer a unit takes than `centres`: the weighted median over these cases of the
// differences of logarithms. Unmeasured if it has fewer than half of the cases.
double effect_of(const IdenticalDevices&, std::size_t unit, const std::vector<std::size_t>& cases,
                 const std::vector<double>& centres);

// Returns the same of each of its processes; empty: nobody knows, or there are fewer than `least` of them.
std::vector<double> process_effects_of(const IdenticalDevices&, std::size_t unit,
                                       const std::vector<std::size_t>& cases,
                                       const std::vector<double>& centres, std::size_t least);

// Returns whether most of a family's cases are limited by this resource.
bool mostly_bound(const IdenticalDevices&, const IdenticalDevices::OfFamily&, Bound);

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
