// SPDX-License-Identifier: Apache-2.0
// options: the options of the commands that measure, run and tune.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "commands/own_kernels.hpp"
#include "suite/selection.hpp"

namespace CLI {
class App;
}

namespace clweave::commands {

// The options of run and tune.
struct MeasureOptions {
  bool run_claims = false;           // run: the cases that decide claims, instead of a preset's
  std::vector<std::string> claims;   // ids; empty: all
  std::string claims_file;           // empty: the built-in one
  std::vector<std::string> devices;  // selectors; empty: every device
  Selection selection;
  OwnKernels own;
  std::string csv;    // empty: results/<device>/<UTC time>.csv, one file per device; "-": stdout
  std::string label;  // run: column `label` of the rows
  std::string kernels;
  bool always_peaks = false;          // --peak: even where they cost more than they tell
  std::vector<std::string> baseline;  // run: "kernel=naive", for speed-ups at the end
  bool dry_run = false;
  std::string sources;                 // --emit-sources: a folder for the programs of a dry run; empty: none
  std::optional<int> repeat;           // --runs
  std::string cache = "warm";          // or cold
  std::optional<double> precision;     // half-width of the median's interval / median
  std::optional<std::size_t> samples;  // exactly
  std::optional<std::size_t> max_samples;
  std::optional<double> max_seconds;   // of sampling, per case
  std::optional<double> budget_s;      // for the whole run or search
  std::optional<double> most_celsius;  // with wait_quiet_s
  double wait_quiet_s = 0;             // run, tune: at most, for a quiet machine
  double timeout_s = 30;
  bool in_process = false;
  bool energy = false;            // run: joules beside the times
  bool with_baselines = false;    // run: measure the baseline programs in turns with ours
  bool parallel = false;          // run: also all identical devices at once
  std::vector<unsigned> threads;  // of CPU baselines, a case for each number; empty: all threads
  std::optional<bool> tuned;      // run: add the tuned configuration of each case; empty: unless smoke
  std::string store;              // of tuned configurations; empty: the user's own
  std::string strategy = "halving";
  std::optional<std::size_t> budget_cases;  // tune
  std::string t4;                           // tune: a file for Kernel Tuner; empty: none
  bool overwrite = false;                   // replace an existing --csv file
  std::string resume;                       // a results file to finish
  std::optional<std::string> report;        // run: a page of the results; empty: beside the first file
  std::optional<std::string> share;         // run: an archive to share; empty: beside the first file
  std::string replay;                       // a results file ..
  std::string replay_case;                  // .. and the case of it to run again

  // Returns one, or enough processes for a comparison, as samples of one process are not independent.
  int runs() const {
    if (repeat) return *repeat;
    if (selection.preset == "paper" || selection.preset == "full") return 5;
    return parallel || (with_baselines && selection.preset != "smoke") ? 3 : 1;
  }
};

// Add the command with its options, which must outlive the command line.
CLI::App* add_run(CLI::App&, MeasureOptions&);
CLI::App* add_tune(CLI::App&, MeasureOptions&);
// Adds the options of run that the programs of host/baselines have, too.
void add_baseline(CLI::App& program, MeasureOptions&);

// Parses the command line that a row records, of `run` or `tune`. Returns nullopt if --help or --version was
// printed. Throws `usage`.
std::optional<MeasureOptions> parse_options(const std::vector<std::string>& arguments);

}  // namespace clweave::commands
