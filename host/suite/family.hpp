// family: a kernel family: its axes, its presets, and the plan of each case.
//
// A Family is data plus pure functions, so every plan of every family is tested without a device.
//
// How the harness executes a plan
//   - It builds the sources, fills inputs, poisons outputs, executes all steps once, checks every output
//     and the guard behind every buffer, samples, and checks again. A wrong element makes the row
//     `wrong_result`.
//   - One execution is all steps in order, HostWork with its wait and its `compute` included.
//     Outcome::time_s is the median of such executions in one run (`--runs` gives an outcome per run), by
//     the device's clock if its time stamps were certified, else by the host's (column timer); always by
//     the host's if the plan is `timed_by_host`.
//   - Plan::cost over that time gives GB/s, Gop/s and G elements/s. A row that beats the rate of
//     Plan::peak (one of suite/peak.hpp, measured by family peak in the same run) by 5 % is `implausible`
//     and reaches no finding, unless its buffers fit the cache. So is one with at least twice the `n` or
//     `iterations` of an otherwise equal case in less than 0.7 of its time: the harness knows these two
//     axes by name (suite/axis.hpp).
//   - A check may measure a number, such as an error. Its maximum over the whole output is the row's
//     value, in Check::unit, and Outcome::value.
//   - Preset smoke checks rather than times: it measures no peaks, but its rows reach findings.
//   - Family::refine is called when all cases of a preset but smoke and glance are measured, unless the user
//   chose
//     cases by --set, --where or --filter; for family peak always. It must be deterministic, or an
//     interrupted run could not resume. DeviceInfo::cache_bytes is what the driver reports, or more if
//     family peak found more. Rows of these cases say `chosen_here` (results/record.hpp).
//   - `form=known_incorrect` must say in Plan::known_incorrect what is wrong, may give a wrong result, and
//     runs after all others.
//   - Axis::taken refuses a value that no case can have before anything runs, so plans need not check it.
//     Plan::need refuses impossible combinations of valid values: a row `unsupported`.
//   - An axis that does not apply to a case (Axis::when) has its default there, so that the case has one
//     id.
//   - View::rows and View::columns make a table per combination of the other axes. View::graphs are drawn
//     in View::chapter of the HTML report.
// `clweave check NAME` and the tests try the rules on every case (suite/check.hpp).
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "suite/all_families.hpp"
#include "suite/axis.hpp"
#include "suite/case.hpp"
#include "suite/outcome.hpp"
#include "suite/plan.hpp"

namespace clweave::suite {

// Sections of a device profile, in its order.
enum class TraitGroup { execution, memory, host_link, synchronisation, formats, algorithms };

// Finding that is a trait of the device profile. If several families have one of that name, the first with a
// value counts.
struct TraitSpec {
  std::string finding;
  std::string unit;
  std::string meaning;                   // a few words
  std::optional<TraitGroup> group = {};  // empty: Family::trait_group
  double scale = 1;                      // factor from the finding's unit
  bool with_tuned = false;               // from rows in tuned configurations, too
  std::string headline = {};             // its words on the report's overview; empty: it is not there
};

// Chart of a family's rows. Axes not named here get a panel per value, except launch parameters
// (Axis::tunable), of which the fastest counts.
struct Graph {
  enum class Kind {
    lines,     // a curve over x per `series`
    heat,      // a cell per x and series, shaded by the quantity
    bars,      // one per `series`, in the family's order
    launches,  // a point per case in the order of `series`, then x; its rank is the abscissa
    // A heat map of the steps of each case, which are the pairs of some units in the order (0, 1), (0, 2),
    // .., (1, 2), ..: nanoseconds per item. It has no x and no series.
    pairs,
  };
  std::string name;  // a few words
  Kind kind = Kind::lines;
  // Axes or derived columns; of lines one number, or the product of several.
  std::vector<std::string> x = {};
  std::vector<std::string> series = {}, apart = {};  // axes; apart: a panel per value
  std::string quantity = "rate";                     // as View::quantity
  std::vector<std::string> where = {};               // "axis=value,value": only these cases, as --where
  // Findings whose sentences make the title; `marks` are drawn at their values on x. {type} stands for the
  // panel's value of that axis, a final * for any suffix.
  std::vector<std::string> findings = {}, marks = {};
  bool parabola = false;    // fit one through each curve, over log2 of x
  std::string little = {};  // finding: bytes in flight for the peak by Little's law, marked on x
  // Bars of speed-ups: findings named this and a value of `series` stand beside what was published of the
  // same steps.
  std::string steps = {};
};

// Tables of a family's rows: of one quantity, one per combination of the other axes.
struct View {
  std::vector<std::string> rows, columns;  // axis names
  std::vector<std::string> apart = {};     // comparing devices: a table per value
  std::string quantity;            // rate: GB/s or Gop/s; items: G elements/s; slowdown: time over the best
  std::string chapter = {};        // of the HTML report; empty: its own
  std::vector<Graph> graphs = {};  // empty: drawn from the table
  bool headline = false;           // the report's overview names the best row
  // Other programs' rows of this family stand beside all rows that this peak bounds.
  Peak reference_of = Peak::none;
};

// `{}` has no case, `{""}` has one with every axis at its default.
struct Presets {
  Sweeps smoke = {};
  // At most 30 s with all families together: few cases that tell what a device can do.
  Sweeps glance = {};
  Sweeps quick = {};
  Sweeps profile = {};  // subset of quick for the device profile; default: all of it if the family has traits
  Sweeps paper = {}, full = {};
  // Starting points of `clweave tune`: designs that do the same task. Axes named here that are not tunable,
  // such as kernel and subgroup_impl, tell the design; the others, at their defaults, the task. Gains are
  // relative to the first configuration that the device can run.
  Sweeps tune = {};

  Sweeps& at(const std::string& preset);  // throws `usage` that names the presets
  const Sweeps& at(const std::string& preset) const;
};

// By convention `form=known_incorrect` marks known-incorrect published kernels; they run last.
struct Family {
  std::string name;        // and stem of its .cl file
  std::string question;    // one sentence
  std::string brief = {};  // the same in about eight words; empty: the question
  std::vector<Axis> axes;
  Presets presets;
  View view = {};
  std::vector<Derived> derived = {};
  std::function<bool(const Case&)> is_valid = {};  // empty: every combination is
  std::function<Plan(const Case&, const DeviceInfo&)> plan;
  // Returns the elements of a case per compute unit, 0 if they do not depend on the number of compute units.
  // Older files tell their device's compute units by this alone. May be empty.
  std::function<std::int64_t(const Case&)> items_per_unit = {};
  // Returns further cases to measure, given these outcomes, such as a size between one that fits a cache and
  // one that does not. Called again with their outcomes until it names no new one; may be empty.
  std::function<std::vector<Case>(const std::vector<Outcome>&, const DeviceInfo&)> refine = {};
  std::function<std::vector<Finding>(const std::vector<Outcome>&, const DeviceInfo&)> findings =
      {};                                          // may be empty
  TraitGroup trait_group = TraitGroup::execution;  // of its traits
  std::vector<TraitSpec> traits = {};
  // Returns whether a case is only there to compare with, such as a copy among scans.
  std::function<bool(const Case&)> for_comparison = {};
  // Returns whether a case's rate is no merit, because it moves or computes more than the task needs.
  std::function<bool(const Case&)> no_merit = {};
  bool memory_bound = false;  // its best rate over the copy's is a trait of the device

  const Axis* axis(const std::string& axis_name) const;   // by current or former name; null if none
  bool uses(const Case&, const std::string& axis) const;  // whether the axis exists and applies
};

// Builds a family and validates it. Throws `usage` that names the family, the preset and the word for an
// unknown axis, value or quantity.
Family checked(const std::string& name, const std::function<Family()>& make);

inline constexpr std::array<const char*, 7> preset_names = {"smoke", "glance", "quick", "profile",
                                                            "paper", "full",   "tune"};

// Returns the cases of the sweeps in order, each once, without invalid combinations. An axis that does not
// apply to a case has its default there.
std::vector<Case> cases_of(const Family&, const Sweeps&, std::uint64_t seed);

// Plans a case. Throws what Family::plan throws, and `unsupported` if a buffer or their sum does not fit the
// device, or a work-group is larger than it allows.
Plan plan_of(const Family&, const Case&, const DeviceInfo&);

// Makes a plan function that picks T by the case's `type` axis.
template <class... Ts, class F>
std::function<Plan(const Case&, const DeviceInfo&)> for_types(F plan) {
  return [plan](const Case& at, const DeviceInfo& device) -> Plan {
    std::optional<Plan> made;
    ((type_name<Ts>() == at.text("type") ? void(made = plan.template operator()<Ts>(at, device)) : void()),
     ...);
    if (!made) throw Error(ErrorCode::usage, at.family + " has no type '" + at.text("type") + "'");
    return *std::move(made);
  };
}

}  // namespace clweave::suite
