// SPDX-License-Identifier: Apache-2.0
// options: the command line.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "answers/report.hpp"
#include "suite/selection.hpp"

namespace clweave {

struct CompareOptions {
  std::vector<std::string> files;    // regression: the old ones, when `against` has the new
  std::vector<std::string> against;  // several sessions a side, best measured in turns
  std::vector<std::string> noise;    // sessions with nothing changed between them
  std::string mode = "auto";         // regression, architectures, auto
  std::string fail_on;               // slower, slower:5%, broken, joined by commas
  std::vector<std::string> families;
  double margin = 0.03;  // a ratio within 1 +- this is no change
  bool all = false;      // every case, every table
  Format format = Format::text;
};

enum class Command { devices, list, run, tune, roofline, compare, claims, fingerprint, worker };

struct Options {
  Command command = Command::run;
  Format format = Format::text;      // devices, list, roofline, claims, fingerprint
  bool columns = false;              // list
  std::vector<std::string> files;    // roofline, claims, fingerprint: results
  bool show_rows = false;            // claims, fingerprint: which rows a number comes from
  bool run_claims = false;           // run: the cases that decide claims, instead of a preset's
  std::vector<std::string> claims;   // ids; empty: all
  std::string claims_file;           // empty: the built-in one
  std::vector<std::string> devices;  // selectors; empty: every device
  Selection selection;
  std::string csv;  // empty: results/<device>/<UTC time>.csv, one file per device; "-": stdout
  std::string kernels;
  bool dry_run = false;
  std::optional<int> repeat;           // --runs
  bool cold = false;                   // --cache cold
  std::optional<double> precision;     // half-width of the median's interval / median
  std::optional<std::size_t> samples;  // exactly
  std::optional<std::size_t> max_samples;
  std::optional<double> max_seconds;  // of sampling, per case
  std::optional<double> budget_s;     // for the whole run or search
  double timeout_s = 30;
  bool in_process = false;
  bool tuned = false;  // run: beside each case, the same as tune would have it
  std::string store;   // of tuned configurations; empty: the user's own
  std::string strategy = "exhaustive";
  std::optional<std::size_t> budget_cases;  // tune
  std::string resume;                       // a results file to finish
  std::string replay;                       // a results file ..
  std::string replay_case;                  // .. and the case of it to run again

  CompareOptions compare;

  // One look, or enough processes to compare with: within one, samples share its luck.
  int runs() const {
    return repeat.value_or(selection.preset == "paper" || selection.preset == "full" ? 5 : 1);
  }
};

// `arguments` without the program's name. Empty when there is nothing left to do (--help, --version): the
// text was printed. Throws `usage`.
std::optional<Options> parse_options(const std::vector<std::string>& arguments);

}  // namespace clweave
