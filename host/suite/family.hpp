// family: what one kernel family is: its axes, its presets, and the plan that each case asks for.
//
// A Family is data plus pure functions, so every plan of every family is tested without a device.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "suite/axis.hpp"
#include "suite/case.hpp"
#include "suite/plan.hpp"

namespace clweave {

// A measured case, as a family sees it when it draws conclusions.
struct Outcome {
  Case at;
  double time_s = 0;
};

// A conclusion from several cases of one family on one device, such as the inferred lock-step width.
struct Finding {
  std::string name;  // lower_snake, part of the row's case id
  double value;
  std::string unit;
  std::string text;  // one sentence for people
};

// How people see a family's rows: a table of one quantity, one table per combination of the other axes.
struct View {
  std::vector<std::string> rows, columns;  // axis names
  std::string quantity;  // rate: GB/s, of arithmetic Gop/s; items: G items/s; slowdown: time over the best
};

// `{}` is no case at all, `{""}` is one with every axis at its default.
struct Presets {
  Sweeps smoke = {}, quick = {}, paper = {}, full = {};

  Sweeps& at(const std::string& preset);  // usage error that names them
  const Sweeps& at(const std::string& preset) const;
};

// By convention an axis `form` with the value `published` marks exhibits of known errors; they run last.
struct Family {
  std::string name;      // also the stem of its .cl file
  std::string question;  // one sentence
  std::vector<Axis> axes;
  Presets presets;
  View view = {};
  std::vector<Derived> derived = {};
  std::function<bool(const Case&)> makes_sense = {};  // empty: every combination does
  std::function<Plan(const Case&, const DeviceInfo&)> plan;
  std::function<std::vector<Finding>(const std::vector<Outcome>&, const DeviceInfo&)> findings =
      {};  // may be empty

  const Axis* axis(const std::string& axis_name) const;  // by its name or a former one; null without
};

std::vector<Family> all_families();  // generated: one call per host/families/*.cpp

// What `make` gives. Throws `usage` that names the family, the preset and the word when it names an axis,
// a value or a quantity that is none.
Family checked(const std::string& name, Family (*make)());

inline constexpr std::array<const char*, 4> preset_names = {"smoke", "quick", "paper", "full"};

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
    if (!made) throw Error(Kind::usage, at.family + " has no type '" + at.text("type") + "'");
    return *std::move(made);
  };
}

}  // namespace clweave
