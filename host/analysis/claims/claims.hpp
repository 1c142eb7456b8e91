// SPDX-License-Identifier: Apache-2.0
// claims: what was published about the kernels here, and what the rows of a device say to it.
//
// results/published/claims.json holds the claims: each names the rows that decide it by family and axis
// values. The file is part of the program, as the kernels are; --claims-file reads another.
#pragma once
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/rows/device_rows.hpp"
#include "report/report.hpp"
#include "suite/selection.hpp"

namespace clweave::claims {

// Rows of one family. An axis that is not named is at its default, and a value that is not listed never
// counts: a file with a longer search must not change a verdict.
struct Rows {
  struct Want {
    enum class How {
      one_of,   // 4, or [4, 8]
      tried,    // {"try": [..]}: the best of these decides
      largest,  // {"largest": [..]}: compared at the largest of these that all sides have
      first     // {"first": [..]}: at the first of these that all sides have
    };
    How how = How::one_of;
    Values values;

    bool operator==(const Want&) const = default;
  };
  using Axes = std::map<std::string, Want>;

  std::string family;
  std::string api;  // of a native baseline, whose ids have no axes but those of the work; empty: ours
  Axes axes;
  std::vector<Axes> any_of;  // with each of these beside `axes`: kernels that are launched differently

  bool empty() const { return family.empty(); }
  std::vector<Axes> whole() const;  // `axes` with each of `any_of`
  // What they ask of an axis, in their order; empty: nothing.
  Values values(const std::string& axis) const;
};

// How many values of such axes are tried, together.
std::size_t tries_of(const Rows::Axes&);

// What number decides, and which numbers agree with the claim.
struct Rule {
  enum class Kind {
    ratio,     // quantity of the best of `of` over that of the best of `to`; without `to` the quantity itself
    gain,      // how much faster `of` is than `of_before`, over what `to` is faster than `to_before`
    spread,    // worst over best of the bests at each value of `along`, or each combination
    most,      // the largest of what lies along `along`
    search,    // the mean of the bests along `along` over the least: what a guess loses, beyond noise
    trend,     // change from the first to the last value of `along`; no step may go against it
    step,      // change from a value of `along` to the next, none left out: what says least for the claim
    between,   // `of` over what lies at its place between the two of `to`, both axes logarithmic
    interior,  // time at the better end of `along` over the least time between the ends
    parabola,  // R^2 of a parabola through the time over log2 of `along`, whose least is to lie inside
    minima,    // how many valleys along the last axis in which rows differ, of all values of the others:
               // deeper than the margin and than noise between neighbours
    reach,     // where `along` (the product of several) reaches `fraction` of the best; over where `to` does,
               // of the lower of both bests; undecided where the first place has it, or the last alone
    little,    // that over the prediction by Little's law: as many times the least place as the best of `to`
               // is times its rate
    finding    // the finding `along` of the family, over the finding `along_to`
  };
  enum class Is { above, below, equal };
  Kind kind = Kind::ratio;
  Rows of, to, of_before, to_before;
  // Or gb_per_s, gflop_per_s, gitems_per_s, fraction_of_peak; value: what the check of a case measured; or
  // what a family derives from its cases, such as auxiliary_bytes of scan.
  std::string quantity = "time", quantity_to = "time";
  std::vector<std::string> along;
  std::vector<std::string> same;  // axes equal on both sides; the claim must hold for each of their values
  std::vector<std::string> each;  // axes of `to`: the claim must hold against each of their values
  Value at = std::string();       // interior: where the best is said to be; empty text: anywhere between
  double fraction = 0.9;
  std::vector<double> fractions;  // where what reaches a plateau is a matter of taste: the number is as
                                  // uncertain as these make it, `fraction` the one in the middle
  double times =
      1;  // ratio: what one of `of`'s quantity stands for in that of `to`, such as bytes of operands
  Is is = Is::above;
  double bound = 1;
  double margin = 0.03;  // relative; what lies so near the bound is noise. For `equal` what counts as equal
  std::size_t runs = 1;  // that decide, at least: of a count that chance has a part in, which has no interval
  std::string unit = "x";
  bool memory = false;  // the sentence is about memory: rows whose buffers fit a cache do not decide it
};

struct Published {
  std::string device;
  double value = 0;
  std::string note;  // may be empty
};

// How the kernels are launched that decide.
enum class Setting {
  as_published,  // as the source did; or its sentence leaves nothing to choose
  at_best        // as they are fastest here, of as many launches for each side beside those of the source;
                 // or this project says so
};

struct Decision {
  Setting setting;
  Rule rule;
  std::vector<Rule> given = {};  // one, or none: what must hold for the sentence to say anything
};

struct Claim {
  std::string id, statement, source;
  std::vector<Published> published;
  std::vector<Decision> decisions;  // none, or one per setting, as published first
  std::string untestable;           // why there is none
  std::string given;                // the claim before it in the file that must hold
  std::string fault;                // of the published evidence: why it is void
  Rows known_incorrect;             // rows that show the fault
  std::string check;                // a command that shows it, where no row does

  bool ours() const { return source == "clweave"; }  // a sentence of this project, not of the literature
  // Of the decisions and of the fault: what is to be measured with equal sizes. Without `cuda` not of the
  // rules that ask for rows of CUDA, which decide nothing elsewhere.
  std::vector<std::vector<const Rows*>> selections(bool cuda = true) const;
};

// Throws `io` that names the file, the claim and what is wrong with it.
std::vector<Claim> parse_claims(std::string_view text, const std::string& name);
std::vector<Claim> load_claims(const std::string& path);  // empty: the built-in ones

// Those with these ids, all without any. Throws `usage` with the ids there are.
std::vector<Claim> chosen_claims(std::vector<Claim>, const std::vector<std::string>& ids);

// All claims are to be answered in ten minutes, on two cores, too: what has a case that takes the device
// longer, to be measured, is left out where it is not asked for by its name.
inline constexpr double longest_unnamed_s = 1.2;

// The cases that decide them on this device, peaks first. Sizes are the largest that the device holds and
// does in about a second; a rule of fixed sizes is left out that has a case which takes longer
// than `longest_s`. Throws `usage` as select_jobs does.
std::vector<Job> claim_jobs(const std::vector<Claim>&, const std::vector<Family>&, const Selection&,
                            const DeviceInfo&, double longest_s = std::numeric_limits<double>::infinity());

enum class Verdict { holds, fails, within_noise, not_measured, undecided, not_testable, no_evidence };

// not_measured: rows are missing. undecided: those that are there cannot decide. not_testable: none could.
// no_evidence: no rule decides the claim, and what was published for it is void.
struct Ruling {
  const Claim* claim = nullptr;
  const Decision* decision = nullptr;  // null: the claim has none
  Verdict verdict = Verdict::not_testable;
  std::optional<Figure> number;
  std::string place;               // the size and type that were chosen for this device; where the most is
  std::string note;                // the cells that all deciding rows share, which value decided; or why none
  std::string without;             // of the note: what could not take part, as it cannot run here
  bool cached = false;             // the buffers of some of the rows fit a cache
  std::vector<std::string> cases;  // ids of the rows it follows from
  std::size_t runs = 0;            // fewest repetitions of a row
  std::string
      known_incorrect;  // what the known-incorrect cases of the fault did here; empty where they were not run
  std::string more;     // what the command adds: larger sizes, native baselines
  std::string command;  // that would measure what is missing
};

// A number against a rule: holds or fails where its whole interval lies beyond bound and margin.
Verdict verdict_of(const Figure&, const Rule&);

// One per decision, or one that says why there is none.
std::vector<Ruling> rulings_of(const Claim&, const DeviceRows&, const std::vector<Family>&);

// What a published figure says of its own sentence. None where no rule decides, or the figure is void.
std::optional<Verdict> verdict_of(const Published&, const Claim&);

// The notes of claims that only wait for a run.
inline constexpr const char* no_rows = "rows are missing";
inline constexpr const char* in_cache = "the buffers fit a cache: the rows say nothing of memory";
// And what rows about memory that beat it by a tenth say.
inline constexpr const char* beyond_memory =
    "faster than memory was found to be: a cache held a part, or the peak was measured in a bad moment";
// And what launches say that were counted by the units of a driver that calls the whole GPU one.
inline constexpr const char* one_unit =
    "groups_per_cu counts by compute units, and the driver says that the GPU is one";

// For people: "holds"; what was published, then what is thought of it.
using suite::text_of;
std::string text_of(Verdict);
std::string text_of(Setting);
std::string evidence_text(const Claim&);

struct DeviceRulings {
  std::string device, name;  // name: with platform and driver
  std::vector<Ruling> rulings;
};

// Its rows are the rulings; `with_cases` names the rows behind each, for people.
Report report_of(const std::vector<DeviceRulings>&, bool with_cases);

}  // namespace clweave::claims
