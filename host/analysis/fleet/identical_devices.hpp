// SPDX-License-Identifier: Apache-2.0
// equal_cards: what cards of one name took, case by case, and by how much a family's cases differ together.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/stats.hpp"
#include "results/results_set.hpp"

namespace clweave::fleet {

inline constexpr double unmeasured = std::numeric_limits<double>::quiet_NaN();

// A card, or one session of it.
struct DeviceUnit {
  const DeviceResults* device = nullptr;
  std::string name;        // for people: "node07 0000:18:00.0"
  std::size_t slowed = 0;  // cases of which every run was taken while the canary ran slow: they tell nothing
  std::size_t apart = 0;   // and those timed by another clock than most units', or of other work
};

enum class Bound { memory, arithmetic, other };  // memory: by its own copy or read rate, and not cached

struct DeviceCase {
  std::string id, family;
  std::string clock, work;  // of most units: others' times do not compare
  Bound bound = Bound::other;
  double weight = 1;              // one over the variance that a session was measured to have; 1: nobody did
  Spread prior;                   // that variance; no degrees: nobody did
  std::vector<double> log_times;  // per unit, the mean over its runs of the logarithm of seconds; unmeasured
};

struct IdenticalDevices {
  std::string device;  // as its driver names it
  std::vector<DeviceUnit> units;
  std::vector<DeviceCase> cases;  // those that at least half of the units have, in the order met

  // A family's cases, by the order of the families met.
  struct OfFamily {
    std::string name;
    std::vector<std::size_t> cases;
    Spread prior;  // of what they have in common: a family's cases may share their luck, so it is their least
  };
  std::vector<OfFamily> families() const;
};

enum class Unit {
  card,    // the mean of all its runs
  session  // of a card: a file where there are several, else a run
};

// The devices of a set by name, in the order met. Exhibits, findings, tuned configurations and cases that a
// session chose for itself take no part.
std::vector<IdenticalDevices> identical_devices(const ResultsSet&, Unit);

// The middle of each case's times over its units.
std::vector<double> centres(const IdenticalDevices&);

// By how much longer a unit takes than `centres` says: the weighted median over these cases of the
// differences of logarithms. Unmeasured where it has fewer than half of them.
double effect_of(const IdenticalDevices&, std::size_t unit, const std::vector<std::size_t>& cases,
                 const std::vector<double>& centres);

// A failure that a card can be blamed for. Times that cannot be true are none: a busy host makes them, too.
bool is_device_failure(const CaseTimes&);

// What a variance of units' effects is worth with what was measured elsewhere: moderated as compare does, of
// no more degrees than `tails`, for real noise has heavier ones than a normal distribution.
Spread noise_of(const Spread& own, const Spread& prior, double tails);

// Degrees of the tails of a family's effects: a median of cases has lighter ones than each, whose degrees are
// the prior's.
inline constexpr double family_tails = 15, case_tails = 4;

}  // namespace clweave::fleet
