// SPDX-License-Identifier: Apache-2.0
// input: everything that the page shows, as finished values. Rows are read, bests chosen and claims decided
// here, by the rooms before; the sections of the page only print what they find.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analysis/claims/report.hpp"
#include "analysis/compare/changes.hpp"
#include "analysis/compare/devices.hpp"
#include "analysis/profile/profile.hpp"
#include "analysis/profile/roofline.hpp"
#include "analysis/profile/summary.hpp"
#include "report/drawn_graph.hpp"
#include "results/results_set.hpp"

namespace clweave::page {

// Keeps the first row of a file, which tells how it was measured.
struct FileOrigin {
  std::string file;
  Record first;
};

// Holds the input of a page. The set, the families and the changes must outlive it.
struct Sources {
  const ResultsSet* set = nullptr;
  const std::vector<Family>* families = nullptr;
  std::vector<Claim> claims;
  std::vector<FileOrigin> origins;
  const RunComparison* changes = nullptr;  // of a device before and after
  std::string command;                     // that makes this page
  std::string list = {};                   // the page beside it that lists all pages; empty: none
};

// A number of the overview, and the section that it leads to.
struct Fact {
  std::string words, value, meaning;
  std::string chapter = {};  // title of a section; empty: it leads nowhere
};

// Counts of the published claims, as decided on one device.
struct ClaimCounts {
  std::map<Verdict, std::size_t> by_verdict;

  std::size_t of(Verdict) const;
  bool any_decided() const { return of(Verdict::holds) + of(Verdict::fails) + of(Verdict::within_noise) > 0; }
};

struct DeviceInput {
  std::string label;
  const DeviceResults* results = nullptr;
  Profile profile;
  std::vector<Fact> facts;  // traits and bests
  std::vector<Anomaly> anomalies;
  std::vector<ClaimResult> claim_results;  // in the order of the claims
  ClaimCounts counts;
};

// Rows of a table, each of one device.
using DeviceTable = std::vector<std::vector<std::string>>;

struct FamilyInput {
  std::string name, question;
  std::vector<DrawnGraph> charts = {};
  DeviceTable baselines = {}, findings = {};
  DeviceTable bests = {};  // where nothing else shows its rows
  bool own = false;        // the user's, of no family of the suite

  bool is_empty() const { return charts.empty() && baselines.empty() && findings.empty() && bests.empty(); }
};

struct Chapter {
  std::string title;
  std::vector<FamilyInput> families;

  bool is_empty() const { return std::ranges::all_of(families, &FamilyInput::is_empty); }
};

struct Input {
  std::vector<Claim> claims;  // of the claim_results
  std::vector<DeviceInput> devices;
  std::vector<Chapter> chapters;
  std::vector<Roofline> rooflines;
  std::optional<DeviceComparison> comparison;  // of several devices
  const RunComparison* changes = nullptr;
  std::vector<FileOrigin> origins;
  std::vector<std::string> files, notes;
  std::size_t rows = 0;
  const std::vector<Family>* families = nullptr;  // what their axes mean
  std::string command, list;

  std::vector<std::string> labels() const;
};

Input input_of(Sources);

}  // namespace clweave::page
