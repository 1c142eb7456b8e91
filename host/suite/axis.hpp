// SPDX-License-Identifier: Apache-2.0
// axis: axes, their values, and sweeps, which are cross products of them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

using Value = std::variant<std::int64_t, double, std::string>;
std::string text_of(const Value&);
// Parses "4" and "0.5" as numbers, "row" as text.
Value value_of(const std::string& text);

struct Values : std::vector<Value> {
  Values() = default;
  explicit Values(Value value) { push_back(std::move(value)); }
  Values(std::initializer_list<int> numbers) {
    for (auto v : numbers) emplace_back(std::int64_t{v});
  }
  Values(std::initializer_list<std::int64_t> numbers) {
    for (auto v : numbers) emplace_back(v);
  }
  Values(std::initializer_list<double> numbers) {
    for (auto v : numbers) emplace_back(v);
  }
  Values(std::initializer_list<const char*> words) {
    for (const auto* v : words) emplace_back(std::string(v));
  }
};

// Values that an axis accepts beside those that it lists; none by default.
struct Domain {
  enum class Of { listed, whole, powers_of_two, multiples, fractions, shapes };
  Of of = Of::listed;
  double least = 0, most = 0;  // inclusive; exact up to 2^53
  std::int64_t step = 1;       // for multiples

  bool number(double) const;
  std::string text() const;  // "1 to 64, powers of two"
};
Domain whole(std::int64_t least, std::int64_t most);
Domain powers_of_two(std::int64_t least, std::int64_t most);
Domain multiples_of(std::int64_t step, std::int64_t least, std::int64_t most);
Domain fractions(double least, double most);
Domain shapes(std::int64_t least, std::int64_t most);  // 256 or 16x16, each extent from least to most

// Predicates for Axis::alike: any two values; two values of the same list.
bool all_alike(const Value&, const Value&);
std::function<bool(const Value&, const Value&)> alike_within(std::vector<Values> lists);

struct Case;
struct DeviceInfo;

// For Axis::per_compute_unit: returns whether a case has more than zero of this axis.
std::function<bool(const Case&)> more_than_zero(std::string axis);

// Axes that the harness knows by name: a case with a larger value does more of the same work and must take
// longer; rows that contradict are `implausible`.
inline constexpr const char* elements_axis = "n";
inline constexpr const char* steps_axis = "iterations";
// Axes that answers know by name: the algorithm or variant, and the element type.
inline constexpr const char* kernel_axis = "kernel";
inline constexpr const char* type_axis = "type";
inline bool is_size(const std::string& axis) { return axis == elements_axis || axis == steps_axis; }

// One swept parameter. The first value is the default; for an axis added to a family later it must be what
// older rows had, as they are read with it.
struct Axis {
  std::string name;
  std::string meaning;
  Values values;
  bool tunable = false;                  // changes how, not what is computed: `clweave tune` searches it
  std::vector<std::string> former = {};  // former names, accepted in files and on the command line
  std::vector<std::pair<std::string, std::string>> former_values = {};  // former and current value
  Domain domain = {};
  // Returns whether the axis applies to a case; empty: always. Where it does not, it has its default.
  std::function<bool(const Case&)> when = {};
  // Returns the values that `clweave tune` tries for a case on a device; empty: `values`. Only the default
  // where the kernel ignores the axis but `when` does not say so.
  std::function<Values(const Case&, const DeviceInfo&)> search_values = {};
  // Returns whether a configuration tuned at one value is worth trying at the other if nothing nearer was
  // searched; empty: never.
  std::function<bool(const Value&, const Value&)> alike = {};
  bool implementation = false;  // how a kernel is implemented, which is no part of a launch as published
  std::vector<std::string> vendor_values = {};  // values that only the devices of some vendors can run
  // Returns whether a case launches so many work-groups per compute unit; empty if the axis counts none.
  std::function<bool(const Case&)> per_compute_unit = {};

  // Converts to the type of this axis (group=256 may be a shape); std::nullopt if the axis does not accept
  // it.
  std::optional<Value> taken(const Value&) const;
  std::string domain_text() const;  // for messages: all values, or the rule
  // Says what a value that it does not take may have meant: "did you mean 'grid'?", else "kernel takes grid".
  std::string refusal(const Value&) const;
  bool has_name(const std::string& word) const;
  const std::string& todays(const std::string& value) const;  // replaces a former value
};

// The same of axes of several families, which have one name.
std::string refusal(const Value&, const std::vector<const Axis*>&);

// Column that a plan computes from its axes, such as the length of a sequence.
struct Derived {
  std::string name;
  std::string meaning;
};

// Parses "n=1024,4096". Throws `usage` that says how to write it.
std::pair<std::string, Values> setting_of(const std::string& text);

// Cross product of the values of the axes named; other axes stay at their defaults. Written like --set,
// separated by spaces: "kernel=binomial tuple=3 n=4099,1000003".
struct Sweep : std::map<std::string, Values> {
  using map::map;
  Sweep(const char* line);
  Sweep(const std::string& line);
};
using Sweeps = std::vector<Sweep>;
inline Sweeps operator+(Sweeps all, const Sweeps& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Formats "1,2,4" for use in a sweep: "n=" + sizes + " width=4".
std::string text_of(const Values&);
inline std::string operator+(const std::string& line, const Values& values) { return line + text_of(values); }

}  // namespace clweave::suite
