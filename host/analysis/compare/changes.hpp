// SPDX-License-Identifier: Apache-2.0
// changes: compares one device before and after a change: which cases are faster or slower, and how certain
// that is.
//
// The unit of replication is the process, or the session (file) if a side has several: samples within a
// process share its luck, and processes of a session share the machine's. For each case a t test holds the
// difference of the mean log medians against its standard error, under the hypothesis that it lies within the
// margin. A few runs estimate their own spread badly, so it is moderated by the spread the cases have in
// common (Smyth 2004). The widest of these spreads is used:
//   runs      between the runs of one side, if there are two or more
//   sessions  between sessions without a change (--noise)
//   assumed   between processes of such a device (analysis/rows/prior.hpp), if there is one run a side, which
//             tells nothing of its own luck; or the scatter of the cases about their common change, if wider
// Verdicts keep a false discovery rate of 1 % (Benjamini and Hochberg 1995) over all cases of a comparison:
// one verdict in a hundred is expected to be false, and without any change one comparison in a hundred has
// one. Family-wise corrections would ask whether all verdicts of 300 cases are true, and lose most of the
// power.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/rows/case_labels.hpp"
#include "base/stats.hpp"
#include "report/report.hpp"

namespace clweave::compare {

// Describes how the status of a case changed.
enum class Transition {
  compared,
  broken,   // ok before, not ok now
  fixed,    // the other way round
  failing,  // ok on neither side
  apart,    // different clocks or different work
  gone,     // only before
  added     // only after
};
enum class Change { undecided, same, faster, slower };
const char* word_of(Transition);
const char* word_of(Change);

struct ComparedCase {
  std::string device, family, id, name;  // name: the id in few words
  Transition transition = Transition::compared;
  Change verdict = Change::undecided;
  std::string reason;  // why it was not compared
  Number old_s, new_s;
  std::size_t old_runs = 0, new_runs = 0;  // units
  double ratio = 0, low = 0, high = 0;     // new / old, with its 95 % interval
  double p = 1;                            // adjusted, under no change beyond the margin
  double least = 0;        // the smallest change that would be called if many others changed, too
  double least_alone = 0;  // or if this case alone changed; 0 if it was not tested
};

// The evidence that the verdicts on one device rest on.
struct Basis {
  enum class Source { assumed, runs, sessions };
  std::string device, old_driver, new_driver;
  Source source = Source::assumed;
  bool files = false;       // the units are sessions, a file each, not runs
  std::size_t slowed = 0;   // cases undecided because their only run was measured while the machine was not quiet
  std::size_t by_host = 0;  // cases timed by the host's clock, as the device's was not trusted in every run
  std::size_t old_units = 0, new_units = 0;
  double spread = 0;  // typical sd of the logarithm between units
  std::string prior;  // the assumed spread, for people
  double wider = 1;   // the factor by which the cases scatter more than that about their common change
};

struct RunComparison {
  std::vector<std::string> old_files, new_files, notes;
  double margin = 0;
  std::vector<Basis> devices;
  std::vector<ComparedCase> cases;  // by device, in the order met

  std::size_t count(Transition) const;
  std::size_t count(Change) const;  // of those compared
};

struct ChangeRules {
  double margin = 0.03;           // ratios within 1 / (1 + margin) .. 1 + margin are no change
  double false_discovery = 0.01;  // rate
  // sd of the logarithm between processes, instead of analysis/rows/prior.hpp
  std::optional<double> assumed_spread = {};
};

// Matches devices by name, and by platform, label and UUID (else id) if a side has several of a name; if both
// sides have a single device, these two. Throws `usage` if no device is on both sides. Findings have no time
// and are left out.
RunComparison compare_runs(const ResultsSet& before, const ResultsSet& after,
                           const std::vector<ResultsSet>& noise, const ChangeRules& = {});

// The comparison must outlive the report.
Report report_of(const RunComparison&, bool every_case);

}  // namespace clweave::compare
