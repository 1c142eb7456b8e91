// family: what one kernel family is: its axes, its presets, and the plan that each case asks for.
//
// A Family is data plus pure functions, so every plan of every family is tested without a device.
//
// What the harness does with a plan
//   - It builds the sources, fills inputs, poisons outputs, executes all steps once, checks every output and
//     what lies behind every buffer, samples, and checks again. A wrong element is a row `wrong_result`.
//   - One execution is all steps in order, HostWork with its wait and its `compute` included.
//     Outcome::time_s is the median of such executions in one run (`--runs` gives an outcome per run), by the
//     device's clock where its stamps passed their test, else by the host's (column timer), and by that
//     always where the plan is `by_host`.
//   - Plan::cost over that time is GB/s, Gop/s and G items/s. A row that beats the rate of Plan::peak (one
//     of suite/peak.hpp, measured by family peak in the same run) by 5 % is `implausible` and reaches
//     no finding, unless its buffers fit the cache. So is one with at least twice the `n` or `trips` of an
//     otherwise equal case in less than 0.7 of its time: these two axes are known by name (suite/axis.hpp).
//   - What a check measures besides right and wrong, the largest of its numbers over the whole output, is the
//     row's value, in Check::unit, and Outcome::value.
//   - Preset smoke is for checking, not for timing: it measures no peaks, but its rows reach findings.
//   - Family::refine is asked when all cases of a preset but smoke are measured, and not where the user chose
//     cases by --set, --where or --filter; of family peak always. It must name the same for the same
//     outcomes, or an interrupted run would not go on where it was. DeviceInfo::cache_bytes is what the
//     driver says, or more where family peak has found more. Their rows say `chosen_here`
//     (results/record.hpp).
//   - `form=known_incorrect` is known to be incorrect: it must say in Plan::known_incorrect what is wrong,
//   may give a wrong result,
//     and runs after all others.
//   - A value that no case can take is refused before anything runs, by Axis::takes: plans need not look
//     again. Values that are right by themselves and impossible together are Plan::need's: a row
//     `unsupported`.
//   - An axis that means nothing in a case (Axis::when) has its default there, so that the case has one id.
//   - View::rows and ::columns make one table; every combination of the axes in neither is a table of its
//     own. View::graphs are drawn beside them: View::chapter of the HTML report has them.
// `clweave check NAME` tries the rules on every case; the tests ask the same (suite/check.hpp).
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

// A finding that is a trait of the device profile. Where several families have one of the same name, the
// first that knows it tells it.
struct TraitSpec {
  std::string finding;
  std::string unit;
  std::string meaning;                   // a few words
  std::optional<TraitGroup> group = {};  // empty: Family::trait_group
  double scale = 1;                      // from the finding's unit to this one
  bool with_tuned = false;               // of rows in tuned configurations, too
};

// A chart of a family's rows. Cases that differ in an axis named nowhere here are panels of their own, but of
// launch parameters (Axis::tunable) the fastest count.
struct Graph {
  enum class Kind {
    lines,     // a curve over x for each of `series`
    heat,      // a cell for each x of each series, shaded by the quantity
    bars,      // one for each of `series`, in the family's order
    launches,  // a point for every case, in the order of `series`, then of x: its number is the abscissa
  };
  std::string name;  // a few words
  Kind kind = Kind::lines;
  // Axes, or what follows from them (Derived); of lines a number, or the product of several.
  std::vector<std::string> x = {};
  std::vector<std::string> series = {}, apart = {};  // axes; apart: a panel for each of their values
  std::string quantity = "rate";                     // as View::quantity
  std::vector<std::string> where = {};               // "axis=value,value": of these cases, as --where has it
  // Their sentences are the title; those in `marks` are lines at their values on x. {type} is the panel's
  // value of an axis, and a * at the end any rest.
  std::vector<std::string> findings = {}, marks = {};
  bool parabola = false;    // through each curve, over log2 of x
  std::string little = {};  // a finding: what Little's law says must be under way for the most, a place on x
};

// How people see a family's rows: a table of one quantity, one table per combination of the other axes.
struct View {
  std::vector<std::string> rows, columns;  // axis names
  std::vector<std::string> apart = {};     // between devices a table for each of their values
  std::string quantity;  // rate: GB/s, of arithmetic Gop/s; items: G items/s; slowdown: time over the best
  std::string chapter = {};        // of the HTML report; empty: one of its own
  std::vector<Graph> graphs = {};  // empty: the table's
};

// `{}` is no case at all, `{""}` is one with every axis at its default.
struct Presets {
  Sweeps smoke = {}, quick = {};
  Sweeps profile = {};  // what a device's profile needs of quick; left out: all, where the family has traits
  Sweeps paper = {}, full = {};
  // Where `clweave tune` begins: launches of designs that do the same work. Axes named here that are not
  // tunable say which design, as kernel and lanes do, and all others, at their defaults, what work. The first
  // launch that the device can run is what gains are told over.
  Sweeps tune = {};

  Sweeps& at(const std::string& preset);  // usage error that names them
  const Sweeps& at(const std::string& preset) const;
};

// By convention an axis `form` with the value `known_incorrect` marks known-incorrect published kernels; they
// run last.
struct Family {
  std::string name;      // also the stem of its .cl file
  std::string question;  // one sentence
  std::vector<Axis> axes;
  Presets presets;
  View view = {};
  std::vector<Derived> derived = {};
  std::function<bool(const Case&)> is_valid = {};  // empty: every combination does
  std::function<Plan(const Case&, const DeviceInfo&)> plan;
  // Returns the items that a case counts per compute unit, 0 where their number does not follow from that of
  // the units: older files tell their device's compute units by this alone. May be empty.
  std::function<std::int64_t(const Case&)> items_per_unit = {};
  // Cases that are worth measuring once these are known, such as a size between one that fits a cache and one
  // that does not. Asked again with theirs, until it names none that is new; may be empty.
  std::function<std::vector<Case>(const std::vector<Outcome>&, const DeviceInfo&)> refine = {};
  std::function<std::vector<Finding>(const std::vector<Outcome>&, const DeviceInfo&)> findings =
      {};                                          // may be empty
  TraitGroup trait_group = TraitGroup::execution;  // of its traits
  std::vector<TraitSpec> traits = {};
  // Cases that do something else than the family is for, to be compared with, such as a copy among scans.
  std::function<bool(const Case&)> for_comparison = {};
  // Cases whose rate is no merit, as they move or compute more than the task needs.
  std::function<bool(const Case&)> no_merit = {};
  bool memory_bound = false;  // its best rate over that of a copy is a trait of the device

  const Axis* axis(const std::string& axis_name) const;   // by its name or a former one; null without
  bool uses(const Case&, const std::string& axis) const;  // whether it has the axis and that means something
};

// What `make` gives. Throws `usage` that names the family, the preset and the word when it names an axis,
// a value or a quantity that is none.
Family checked(const std::string& name, Family (*make)());

inline constexpr std::array<const char*, 6> preset_names = {"smoke", "quick", "profile",
                                                            "paper", "full",  "tune"};

// The cases of the sweeps, in order, each once, without combinations that make no sense. An axis that means
// nothing in a case has its default there.
std::vector<Case> cases_of(const Family&, const Sweeps&, std::uint64_t seed);

// The plan of a case. Besides what Family::plan throws: `unsupported` when a buffer or their sum does not
// fit the device, or a work-group is larger than the device allows.
Plan plan_of(const Family&, const Case&, const DeviceInfo&);

// A plan function that picks T by the case's `type` axis.
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
