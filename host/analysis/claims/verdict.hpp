// SPDX-License-Identifier: Apache-2.0
// verdict: what the rows of a device say about a claim.
//
// A claim has a criterion for each choice of launch configurations: as published, at its best. A criterion is
// a rule, which says what number is estimated from which rows and on which side of a bound it must lie; extra
// conditions bound further numbers of the same rows. A precondition is a rule that must hold for the claim to
// say anything.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/claims/claim.hpp"
#include "analysis/rows/device_rows.hpp"

namespace clweave::claims {

enum class Verdict {
  holds,
  fails,
  within_noise,
  not_measured,  // rows are missing
  undecided,     // all rows are there, but too few runs, in a cache, doubtful, or a precondition fails
  not_testable,  // this device cannot run the cases, or OpenCL cannot tell
  no_evidence    // no rule decides the claim, and the published program was wrong
};

constexpr auto enum_names(Verdict) {
  return std::array{"holds",     "fails",        "within noise", "not measured",
                    "undecided", "not testable", "no evidence"};
}

// The verdict of one criterion, with the estimate and the rows that it follows from.
struct ClaimResult {
  const Claim* claim = nullptr;
  const Criterion* criterion = nullptr;  // null: the claim has no criterion
  Verdict verdict = Verdict::not_testable;
  std::optional<Estimate> estimate;
  std::string
      chosen;  // size and type: the first whose rows suffice; of a maximum over some axes, their values there
  std::string note;  // the values that all deciding rows share, and what decided; or why there is no verdict
  std::string left_out;  // part of the note: cases that could not take part, as they cannot run here
  bool cached = false;   // the buffers of some of the rows fit a cache
  std::vector<std::string> cases;  // ids of the rows it follows from
  std::size_t runs = 0;            // fewest in which one of the cases was measured
  std::string
      known_incorrect;  // results of the rows that show the published error; empty if they were not run
  std::vector<std::string> doubtful;  // ids of rows for which it is undecided: disturbed, slowed, unsettled
  std::string extra_options;          // options that the command adds: larger sizes, native baselines
  std::string command;                // measures what is missing
};

// Holds or fails if the whole interval lies beyond the bound and its margin.
Verdict verdict_of(const Estimate&, const Bound&);

// Returns whether a published value supports its own claim; std::nullopt if no rule decides the claim or the
// value is discarded.
std::optional<Verdict> verdict_of(const PublishedValue&, const Claim&);

// Returns a result per criterion, or one that says why there is none. `all`: the devices among which a rule
// compares, where it compares devices.
std::vector<ClaimResult> claim_results_of(const Claim&, const DeviceRows&, const std::vector<Family>&,
                                          std::span<const DeviceRows> all = {});

// Notes of claim_results without a verdict.
inline constexpr const char* no_rows = "rows are missing";
inline constexpr const char* in_cache = "the buffers fit a cache: the rows say nothing of memory";
inline constexpr const char* above_memory_bandwidth =
    "faster than the measured memory bandwidth: a cache held a part, or the bandwidth was measured too low";
inline constexpr const char* sized_for_one_compute_unit =
    "groups_per_cu is per compute unit, and the driver reports the whole GPU as one";

}  // namespace clweave::claims
