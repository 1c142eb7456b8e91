// SPDX-License-Identifier: Apache-2.0
// compare_regression: one device before and after a change: which cases are faster or slower, and how sure
// that is.
//
// The unit of replication is the process, or the session (file) where a side has several: samples within a
// process share its luck, and processes of a session share the machine's. Per case the difference of the mean
// log medians is held against its standard error by a t test of the hypothesis that it lies within the
// margin. A case's few runs know their own spread badly, so it is moderated by what the cases have in common
// (Smyth 2004). The spread comes, the widest counting, from
//   runs      what the runs of one side differ by, where there are two or more
//   sessions  what sessions without a change (--noise) differ by
//   assumed   what processes of such a device were measured to differ by (answers/prior.hpp), where there is
//             one run a side, which tells nothing of its own luck; or what the cases differ by about what
//             they have in common, if that is wider
// Verdicts hold a false discovery rate of 1 % (Benjamini and Hochberg 1995) over all cases of a comparison:
// of those given, one in a hundred is expected to be false, and where nothing changed, one comparison in a
// hundred has any. Family-wise corrections answer a question nobody asks of 300 cases, whether all verdicts
// are true, and pay for it with most of the power.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/rows/case_labels.hpp"
#include "base/stats.hpp"
#include "report/report.hpp"

namespace clweave::compare {

enum class What {
  compared,
  broken,   // ok before, not ok now
  fixed,    // the other way round
  failing,  // ok on neither side
  apart,    // different clocks or different work
  gone,     // only before
  added     // only after
};
enum class Change { undecided, same, faster, slower };
const char* word_of(What);
const char* word_of(Change);

struct Compared {
  std::string device, family, id, name;  // name: the id in few words
  What what = What::compared;
  Change verdict = Change::undecided;
  std::string reason;  // why it was not compared
  Number old_s, new_s;
  std::size_t old_runs = 0, new_runs = 0;  // units
  double ratio = 0, low = 0, high = 0;     // new / old, with its 95 % interval
  double p = 1;                            // adjusted, of no change beyond the margin
  double least = 0;        // the change that it would have taken to be called, with many others
  double least_alone = 0;  // or as the only one of all that were tested; 0: was not itself
};

// What the verdicts on one device rest on.
struct Basis {
  enum class Source { assumed, runs, sessions };
  std::string device, old_driver, new_driver;
  Source source = Source::assumed;
  bool files = false;       // the units are sessions, a file each, not runs
  std::size_t slowed = 0;   // cases of one run a side that were measured while the device ran slow: undecided
  std::size_t by_host = 0;  // cases timed by the host's clock, as the device's was not believed on every run
  std::size_t old_units = 0, new_units = 0;
  double spread = 0;  // typical sd of the logarithm between units
  std::string prior;  // what is assumed, for people
  double wider = 1;   // by how much more the cases are seen to differ, about what they have in common
};

struct RunComparison {
  std::vector<std::string> old_files, new_files, notes;
  double margin = 0;
  std::vector<Basis> devices;
  std::vector<Compared> cases;  // by device, in the order met

  std::size_t count(What) const;
  std::size_t count(Change) const;  // of those compared
};

struct ChangeRules {
  double margin = 0.03;           // ratios within 1 / (1 + margin) .. 1 + margin are no change
  double false_discovery = 0.01;  // rate
  // sd of the logarithm between processes, in place of answers/prior.hpp
  std::optional<double> assumed_spread = {};
};

// Devices are matched by name, and by platform, label and UUID (else id) where a side has several of a name;
// where either side has only one, that is meant. Throws `usage` when no device is on both sides. Findings
// have no time and take no part.
RunComparison compare_runs(const ResultsSet& before, const ResultsSet& after,
                           const std::vector<ResultsSet>& noise, const ChangeRules& = {});

struct FailOn {
  std::optional<double> slower_than;  // fraction
  bool broken = false;
};
// "slower", "slower:5%", "broken", joined by commas. Throws `usage`.
FailOn fail_on_of(const std::string&);

// Which must outlive it.
Report report_of(const RunComparison&, bool every_case);

}  // namespace clweave::compare
