// SPDX-License-Identifier: Apache-2.0
// case_noise: by how much the two sides of a case differ without a change.
//
// The model of a log time is hierarchical: case + what its process or session shares with all cases + its own
// luck. What is shared is estimated by common_change and taken out, so that a clock that steps or drifts is
// no spread of a case. The own variance of a case, of few units, is moderated (Smyth 2004) within the cases
// of about its time, as variances of short and of long kernels differ a thousandfold: a trended prior,
// relative to what sessions were measured to differ by (analysis/rows/prior.hpp).
//   One unit a side tells nothing of its own luck: the measured prior stands for it.
//   Several units of one session agree more than sessions do: what sessions were measured to differ by stays
//   a floor of every test, however many runs there are. Where the cases scatter by more about their common
//   change than all that explains, each is as uncertain as its neighbours scatter: the empirical null of
//   Efron (2004).
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/compare/partly_known.hpp"
#include "analysis/rows/prior.hpp"
#include "base/stats.hpp"

namespace clweave::compare {

// A process, or the mean of a session.
struct Unit {
  std::uint32_t of = 0;  // its number
  double log_time = 0;
  double within = 0;  // variance of log_time, estimated from the samples
};
using Units = std::vector<Unit>;

double mean_of(const Units&);
double within_of(const Units&);  // the mean

struct PairedCase {
  Units before, after;
  std::vector<Units> quiet_runs;  // by session without a change
  Units quiet_sessions;           // their means
  Spread prior;                   // of a unit; infinite degrees: of no device of this kind
  rows::RareSpread rare;          // of a unit
  double log_time = 0;            // of both sides; cases of about the same are alike

  double difference() const { return mean_of(after) - mean_of(before); }
};

struct CaseNoise {
  Spread difference;     // of its log ratio, without what all cases share
  Tail session;          // what sessions were measured to differ by, if each side is one session
  Tail rare;             // what few cases differ by between sessions
  Tail agreed_rare;      // the same between processes, if those of a side agree by chance as these do
  double widened = 1;    // by the scatter of cases like it
  bool assumed = false;  // there is one unit a side
};

struct DeviceNoise {
  std::vector<CaseNoise> cases;  // in the order given
  Spread shared_by_units;        // variance of what the cases of a unit share
  Spread shared_by_sessions;     // the same, of sessions without a change
};

// `sessions`: each unit is one, not a process of one.
DeviceNoise noise_of(const std::vector<PairedCase>&, bool sessions);

// Widens each case to the scatter about the nearest of the centres. Returns the median factor.
double widen(const std::vector<PairedCase>&, const std::vector<double>& centres, std::vector<CaseNoise>&);

}  // namespace clweave::compare
