// SPDX-License-Identifier: Apache-2.0
// claim: a published claim as data: its sentence, its source, and the rules by which measured rows decide it.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/axis.hpp"

namespace clweave::claims {

// Selects rows of one family. An axis that is not named is at its default, and a value that is not listed
// never counts: a file with a longer search must not change a verdict.
struct RowQuery {
  struct AxisQuery {
    enum class How {
      one_of,   // 4, or [4, 8]
      tried,    // {"try": [..]}: the best of these decides
      largest,  // {"largest": [..]}: compared at the largest of these that all sides have
      first     // {"first": [..]}: at the first of these that all sides have
    };
    How how = How::one_of;
    Values values;

    bool operator==(const AxisQuery&) const = default;
    bool depends_on_device() const { return how == How::largest || how == How::first; }
  };
  using Axes = std::map<std::string, AxisQuery>;

  std::string family;
  std::string api;  // of a native baseline, whose ids have no axes but those of the work; empty: OpenCL
  Axes axes;
  std::vector<Axes> any_of;  // alternatives, each added to `axes`: kernels that are launched differently

  bool empty() const { return family.empty(); }
  std::vector<Axes> alternatives() const;  // `axes` with each of `any_of`
  // Returns the values asked of an axis by any alternative, in their order; none if it is not named.
  Values values(const std::string& axis) const;
};

// Counts the launches that such axes try, all combinations.
std::size_t tries_of(const RowQuery::Axes&);

// What only compilers tell: registers of a work-item.
inline constexpr const char* registers_quantity = "registers";

// A condition on an estimate and its interval.
struct Bound {
  enum class Direction { above, below, equal };
  Direction direction = Direction::above;
  double bound = 1;
  double margin = 0.03;  // relative: a number this near the bound is noise; for `equal`, what counts as equal
};

// Describes what is estimated from rows, and what the claim says about it.
struct Rule : Bound {
  enum class Kind {
    ratio,   // best of the numerator's rows over best of the denominator's; without a denominator the best
    gain,    // ratio of ratios: numerator over numerator_before_change, over denominator over
             // denominator_before_change
    spread,  // largest over smallest of the bests at each combination of the varied axes
    most,    // largest of the bests at each combination of the varied axes
    trend,   // change from the first to the last value of the varied axes; no step may go against it
    step,    // change from each value of the varied axes to the next: the one that least supports the claim
    finding  // finding of the family, over denominator_finding if given; of several names, each counts
  };
  // A condition on another finding of the same rows; the less favourable verdict counts.
  struct ExtraCondition : Bound {
    std::string finding;
  };

  Kind kind = Kind::ratio;
  RowQuery numerator, denominator;  // rows that are compared, such as the new kernel's and the old one's
  RowQuery numerator_before_change,
      denominator_before_change;  // of a gain: the rows that each side improves on
  // time, gb_per_s, gflop_per_s, gitems_per_s, fraction_of_peak; value: what the check of a case measured; a
  // derived column of the family, such as auxiliary_bytes of scan; or registers, as compilers tell.
  std::string quantity = "time", denominator_quantity = "time";
  std::vector<std::string> varied_axes;   // the curve's: spread, most, trend and step compare their values
  std::vector<std::string> matched_axes;  // equal on both sides; the claim must hold for each of their values
  std::vector<std::string> competitor_axes;  // of the denominator: it must hold against each of their values
  std::vector<std::string> findings;
  std::string denominator_finding;
  std::vector<ExtraCondition> extra_conditions;
  double factor = 1;  // of a ratio: the denominator's units per unit of the numerator, such as bytes per item
  std::size_t min_runs = 1;  // to decide: a count that varies by chance has no interval in one run
  std::string unit = "x";
  // Compares the number between devices, GPUs alone: its largest over its smallest, or its least on devices
  // that one of the words of `numerator` names over its largest on those of `denominator`.
  struct AcrossDevices {
    std::vector<std::string> numerator, denominator;  // parts of names and platforms; empty: a spread

    bool is_spread() const { return numerator.empty(); }
  };
  std::optional<AcrossDevices> across;
  bool bandwidth_bound = false;  // a claim about memory: rows whose buffers fit a cache do not decide it

  // Returns whether compilers' figures decide it (compiled.hpp), no row of a run.
  bool is_of_compilers() const { return quantity == registers_quantity; }
};

constexpr auto enum_names(Rule::Kind) {
  return std::array{"ratio", "gain", "spread", "most", "trend", "step", "finding"};
}

// The sides of a rule, by their names in the file.
inline constexpr std::array<std::pair<const char*, RowQuery Rule::*>, 4> rule_sides = {
    {{"of", &Rule::numerator},
     {"to", &Rule::denominator},
     {"of_before", &Rule::numerator_before_change},
     {"to_before", &Rule::denominator_before_change}}};

// Returns whether a side asks for rows of a native baseline, of any API unless one is named.
bool needs_baselines(const Rule&, const std::string& api = {});

struct PublishedValue {
  std::string device;
  double value = 0;
  std::string note;  // may be empty
};

// The launch configurations that a criterion compares.
enum class LaunchChoice {
  as_published,  // as in the source, or the claim leaves nothing to choose
  at_best  // the fastest of equally many for each side beside those of the source, or a claim of this project
};

constexpr auto enum_names(LaunchChoice) { return std::array{"as published", "at its best"}; }

// Decides a claim: a rule, for one choice of launch configurations.
struct Criterion {
  LaunchChoice launches;
  Rule rule;
  std::vector<Rule> preconditions = {};  // at most one: a rule that must hold for the claim to say anything
};

struct Claim {
  std::string id, statement, source;
  std::vector<PublishedValue> published;
  std::vector<Criterion> criteria;  // none, or one per launch configuration, as published first
  std::string untestable;           // why there is none
  std::string precondition;         // id of an earlier claim in the file that must hold
  std::string published_bug;        // what is wrong with the published program; its numbers are discarded
  RowQuery known_incorrect;         // rows that show the published bug
  std::string check;                // a command that shows it, where no row does
  bool only_if_named = false;  // measured where it is asked for by id alone, as it takes hundreds of cases

  bool ours() const { return source == "clweave"; }  // a claim of this project, not of the literature
  // Returns the queries of each rule that rows decide and of known_incorrect, those of one rule together, as
  // they are to be measured at equal sizes. Without `cuda`, rules that ask for rows of CUDA are left out.
  std::vector<std::vector<const RowQuery*>> queries(bool cuda = true) const;
};

}  // namespace clweave::claims
