// SPDX-License-Identifier: Apache-2.0
// options: the command line of what measures.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "suite/selection.hpp"

namespace CLI {
class App;
}

namespace clweave::commands {

// What run and tune take.
struct MeasureOptions {
  bool run_claims = false;           // run: the cases that decide claims, instead of a preset's
  std::vector<std::string> claims;   // ids; empty: all
  std::string claims_file;           // empty: the built-in one
  std::vector<std::string> devices;  // selectors; empty: every device
  Selection selection;
  std::string csv;    // empty: results/<device>/<UTC time>.csv, one file per device; "-": stdout
  std::string label;  // run: what the devices are called
  std::string kernels;
  bool dry_run = false;
  std::string sources;                 // of a dry run: a folder for the programs; empty: none
  std::optional<int> repeat;           // --runs
  std::string cache = "warm";          // or cold
  std::optional<double> precision;     // half-width of the median's interval / median
  std::optional<std::size_t> samples;  // exactly
  std::optional<std::size_t> max_samples;
  std::optional<double> max_seconds;  // of sampling, per case
  std::optional<double> budget_s;     // for the whole run or search
  double timeout_s = 30;
  bool in_process = false;
  bool energy = false;            // run: joules beside the times
  bool with_baselines = false;    // run: what others measure of the same work, in turns
  bool parallel = false;          // run: equal devices at once, too
  std::vector<unsigned> threads;  // of baselines on the processor, each case on so many; empty: all
  std::optional<bool> tuned;  // run: beside each case, the same as tune would have it; empty: not of smoke
  std::string store;          // of tuned launches; empty: the user's own
  std::string strategy = "halving";
  std::optional<std::size_t> budget_cases;  // tune
  bool overwrite = false;                   // what is in the way of --csv goes
  std::string resume;                       // a results file to finish
  std::optional<std::string> report;        // run: a page of the results; empty: beside the first file
  std::optional<std::string> share;         // run: the results for others; empty: beside the first file
  std::string replay;                       // a results file ..
  std::string replay_case;                  // .. and the case of it to run again

  // One look, or enough processes to compare with: within one, samples share its luck.
  int runs() const {
    if (repeat) return *repeat;
    if (selection.preset == "paper" || selection.preset == "full") return 5;
    return parallel || (with_baselines && selection.preset != "smoke") ? 3 : 1;
  }
};

// Add the command with its options, which must outlive the command line.
CLI::App* add_run(CLI::App&, MeasureOptions&);
CLI::App* add_tune(CLI::App&, MeasureOptions&);
// Those of run that a program of host/baselines heeds by itself.
void add_baseline(CLI::App& program, MeasureOptions&);

// Those of a row: of `run` or `tune`. Empty when there is nothing left to do (--help, --version): the text
// was printed. Throws `usage`.
std::optional<MeasureOptions> parse_options(const std::vector<std::string>& arguments);

}  // namespace clweave::commands
