// SPDX-License-Identifier: Apache-2.0
// claim: a published claim as data: its sentence, its source, and the rules by which measured rows decide it.
#pragma once
#include <array>
#include <map>
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

// A condition on a number and its interval.
struct Bound {
  enum class Is { above, below, equal };
  Is is = Is::above;
  double bound = 1;
  double margin = 0.03;  // relative: a number this near the bound is noise; for `equal`, what counts as equal
};

// Describes how a number is computed from rows, and what the claim says about it.
struct Rule : Bound {
  enum class Kind {
    ratio,   // quantity of the best of `of` over that of the best of `to`; without `to` the quantity itself
    gain,    // speed-up of `of` over `of_before`, over the speed-up of `to` over `to_before`
    spread,  // worst over best of the bests at each value of `along`, or each combination
    most,    // largest of the bests at each combination of `along`
    trend,   // change from the first to the last value of `along`; no step may go against it
    step,    // change from each value of `along` to the next, none left out: the one that says least
    finding  // finding of the family, over `finding_to` if given; of several names the claim needs each
  };
  // Condition on a further finding of the same rows; the worse verdict counts.
  struct Also : Bound {
    std::string finding;
  };

  Kind kind = Kind::ratio;
  RowQuery of, to, of_before, to_before;
  // time, gb_per_s, gflop_per_s, gitems_per_s, fraction_of_peak; value: what the check of a case measured; or
  // a derived column of the family, such as auxiliary_bytes of scan.
  std::string quantity = "time", quantity_to = "time";
  std::vector<std::string> along;
  std::vector<std::string> same;  // axes equal on both sides; the claim must hold for each of their values
  std::vector<std::string> each;  // axes of `to`: the claim must hold against each of their values
  std::vector<std::string> findings;
  std::string finding_to;
  std::vector<Also> also;
  double times = 1;      // ratio: units of `to`'s quantity that one of `of`'s stands for, such as bytes
  std::size_t runs = 1;  // needed to decide: a count that varies by chance has no interval in one run
  std::string unit = "x";
  bool memory = false;  // the claim is about memory: rows whose buffers fit a cache do not decide it
};

constexpr auto enum_names(Rule::Kind) {
  return std::array{"ratio", "gain", "spread", "most", "trend", "step", "finding"};
}

// The sides of a rule, by their names in the file.
inline constexpr std::array<std::pair<const char*, RowQuery Rule::*>, 4> rule_sides = {
    {{"of", &Rule::of}, {"to", &Rule::to}, {"of_before", &Rule::of_before}, {"to_before", &Rule::to_before}}};

// Returns whether a side asks for rows of a native baseline, of any API unless one is named.
bool has_natives(const Rule&, const std::string& api = {});

struct PublishedValue {
  std::string device;
  double value = 0;
  std::string note;  // may be empty
};

// Launch configurations that decide.
enum class Launched {
  as_published,  // as in the source, or the claim leaves nothing to choose
  at_best  // the fastest of equally many for each side beside those of the source, or a claim of this project
};

constexpr auto enum_names(Launched) { return std::array{"as published", "at its best"}; }

struct Decision {
  Launched launched;
  Rule rule;
  std::vector<Rule> given = {};  // at most one: the rule that must hold for the claim to say anything
};

struct Claim {
  std::string id, statement, source;
  std::vector<PublishedValue> published;
  std::vector<Decision> decisions;  // none, or one per launch configuration, as published first
  std::string untestable;           // why there is none
  std::string given;                // id of an earlier claim in the file that must hold
  std::string fault;                // why the published evidence is void
  RowQuery known_incorrect;         // rows that show the fault
  std::string check;                // a command that shows it, where no row does

  bool ours() const { return source == "clweave"; }  // a claim of this project, not of the literature
  // Returns the queries of each rule and of the fault, those of one rule together, as they are to be measured
  // at equal sizes. Without `cuda`, rules that ask for rows of CUDA are left out.
  std::vector<std::vector<const RowQuery*>> queries(bool cuda = true) const;
};

}  // namespace clweave::claims
