// SPDX-License-Identifier: Apache-2.0
// compare: what compare-devices, compare-runs and their former common name share.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

#include "results/results_set.hpp"

namespace clweave::commands {

struct CompareOptions {
  std::vector<std::string> files;
  std::vector<std::string> families;
  bool all = false;  // every case, every table
  std::string format = "text";
  // Options of compare-runs alone.
  std::vector<std::string> against;    // the new side, if `files` are several sessions of the old one
  std::vector<std::string> noise;      // sessions with nothing changed between them
  std::optional<std::string> fail_on;  // see fail_on_of
  double margin = 0.03;                // a ratio within 1 +- this is no change

  bool has_two_sides() const { return !against.empty() || files.size() == 2; }
};

struct FailOn {
  std::optional<double> slower_than;    // fraction
  std::optional<double> together_than;  // fraction, of cases that changed alike
  std::optional<double> undecided;      // fraction of the compared cases
  bool broken = false;

  bool any() const { return broken || slower_than || together_than || undecided; }
};
// Reads "slower", "slower:5%", "together:5%", "undecided:50%", "broken", joined by commas. Throws `usage`.
FailOn fail_on_of(const std::string&);

ResultsSet read_all(const CompareOptions&);
// Reads the old and the new side. Throws `usage` if there are not two.
std::pair<ResultsSet, ResultsSet> read_sides(const CompareOptions&);

int print_devices(const CompareOptions&, ResultsSet);
int print_runs(const CompareOptions&, ResultsSet before, ResultsSet after);

// Adds the options of runs alone.
void add_runs_options(CLI::App&, CompareOptions&);

}  // namespace clweave::commands
