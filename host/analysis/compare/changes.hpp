// SPDX-License-Identifier: Apache-2.0
// changes: compares one device before and after a change: which cases are faster or slower, and how certain
// that is.
//
// The unit of replication is the process, or the session (file) if a side has several: samples within a
// process share its luck, and processes of a session share the machine's. The steps, each in a file:
//   case_noise     how far the sides of a case differ without a change, of all that its cases do not share
//   common_change  what many cases changed by alike, in one group or in two
//   unit_shares    what the units of a side differ by among each other, in all cases alike
//   partly_known   what is left of a change if the session made the part that cases share
// A case is called if no session's clock explains its change (shared_by_session of analysis/rows/prior.hpp
// for one session a side; several show their own), if it changed at a false discovery rate of 1 % (Benjamini
// and Hochberg 1995) over all cases of a comparison, and if it lies beyond the margin with a confidence of 99
// %. One verdict in a hundred is expected to be false, and without any change one comparison in a hundred has
// one. Family-wise corrections would ask whether all verdicts of 300 cases are true, and lose most of the
// power. Exchanging the sides exchanges slower and faster, and nothing else.
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
  double p = 1;            // adjusted, under no change; at least that of a change within the margin
  double least = 0;        // the smallest change that would be called if all changed alike
  double least_alone = 0;  // or if this case alone changed; 0 if it was not tested
};

// Cases that changed by the same factor. A verdict on them is one on what was measured: whether the program
// or the session's clock did it is told by the cases' own verdicts. Undecided within what the units of a side
// differ by among each other.
struct Together {
  double ratio = 1, low = 1, high = 1;  // new / old, with its 95 % interval
  std::size_t cases = 0;
  Change verdict = Change::undecided;
  // Only of a change that the cases agree in, but not the units of a side: by what factor these differ, and
  // the one that differs from its side's others, if it is one.
  double units_ratio = 1;
  std::string odd_unit;
};

// The evidence that the verdicts on one device rest on.
struct Basis {
  enum class Source { assumed, runs, sessions };
  std::string device, old_driver, new_driver;
  Source source = Source::assumed;
  bool files = false;   // the units are sessions, a file each, not runs
  std::string machine;  // the host that the sides name
  std::size_t slowed =
      0;  // cases undecided because most runs of a side were beside other work or a low clock
  std::size_t by_host = 0;  // cases timed by the host's clock, as the device's was not trusted in every run
  std::size_t old_units = 0, new_units = 0;
  // By what the units of a side differ in most cases alike, if that is beyond the margin, and the odd one.
  double units_ratio = 1;
  std::string odd_unit;
  double spread = 0;  // typical sd of the logarithm between units
  std::string prior;  // the assumed spread, for people
  double wider = 1;   // the factor by which the cases scatter more than that about their common change
  double shared = 0;  // a change of the logarithm that a session's clock may explain
  std::vector<Together> together;  // the group of most cases first; empty of too few
  // Why the sides are of different devices of one model, or may be: their UUIDs, or the scatter of the cases.
  enum class AnotherCard { no, by_scatter, by_uuid };
  AnotherCard another_card = AnotherCard::no;
};

struct RunComparison {
  std::vector<std::string> old_files, new_files, notes;
  double margin = 0;
  std::vector<Basis> devices;
  std::vector<ComparedCase> cases;   // by device, in the order met
  std::size_t of_other_drivers = 0;  // new cases of a device that was compared with another driver

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
