// SPDX-License-Identifier: Apache-2.0
// axis: what is swept: values, the axes they belong to, and their cross products.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/enum_names.hpp"

namespace clweave::suite {

using Value = std::variant<std::int64_t, double, std::string>;
using base::text_of;
std::string text_of(const Value&);
Value value_of(const std::string& text);  // "4" is a number, "0.5" too, "row" is text

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

// What an axis takes beside the values that it lists; nothing unless said.
struct Domain {
  enum class Of { listed, whole, powers_of_two, multiples, fractions, shapes };
  Of of = Of::listed;
  double least = 0, most = 0;  // of each number, exact up to 2^53
  std::int64_t step = 1;       // of multiples

  bool number(double) const;
  std::string text() const;  // "1 to 64, powers of two"
};
Domain whole(std::int64_t least, std::int64_t most);
Domain powers_of_two(std::int64_t least, std::int64_t most);
Domain multiples_of(std::int64_t step, std::int64_t least, std::int64_t most);
Domain fractions(double least, double most);
Domain shapes(std::int64_t least, std::int64_t most);  // 256 or 16x16, of extents from least to most

// For Axis::alike: any two values; two of the same list.
bool all_alike(const Value&, const Value&);
std::function<bool(const Value&, const Value&)> alike_within(std::vector<Values> lists);

struct Case;
struct DeviceInfo;

// Axes that the harness knows by name: a case with more of them does more of the same work, which takes
// longer; rows that contradict are `implausible`.
inline constexpr const char* elements_axis = "n";
inline constexpr const char* steps_axis = "iterations";
inline bool is_size(const std::string& axis) { return axis == elements_axis || axis == steps_axis; }

// One swept parameter. The first value is the default, and of an axis that a family gets later what its rows
// had before: rows of older files are read with it.
struct Axis {
  std::string name;
  std::string meaning;
  Values values;
  bool tunable = false;  // changes how the work is done, not what is computed: `clweave tune` searches it
  std::vector<std::string> former = {};  // names it had, which files and the command line may say
  std::vector<std::pair<std::string, std::string>> former_values = {};  // the same of its values, and today's
  Domain domain = {};
  // Whether the axis means anything in this case, empty: always. Where it does not, it has its default.
  std::function<bool(const Case&)> when = {};
  // What `clweave tune` tries of a tunable axis in such a case on such a device; empty: `values`. The default
  // alone where the kernel does not heed the axis and `when` says nothing of it.
  std::function<Values(const Case&, const DeviceInfo&)> search_values = {};
  // Whether works of these two values are so alike that the launch which suits one is worth a try at the
  // other where nothing nearer was searched; empty: no two are.
  std::function<bool(const Value&, const Value&)> alike = {};

  // The value as this axis holds it (local=256 may be a shape); none when it takes no such value.
  std::optional<Value> taken(const Value&) const;
  std::string domain_text() const;  // for people: all values, or the rule
  bool has_name(const std::string& word) const;
  const std::string& todays(const std::string& value) const;  // of a former value, else the same
};

// A column that a plan fills beside its axes, such as the length of a sequence that follows from them.
struct Derived {
  std::string name;
  std::string meaning;
};

// "n=1024,4096". Throws `usage` that says how to write it.
std::pair<std::string, Values> setting_of(const std::string& text);

// A cross product: the values of the axes named; an axis not named stays at its default. Written as --set
// takes it, with spaces between: "kernel=pascal tuple=3 n=4099,1000003".
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

// "1,2,4", as a line of a sweep takes it: "n=" + sizes + " width=4".
std::string text_of(const Values&);
inline std::string operator+(const std::string& line, const Values& values) { return line + text_of(values); }

}  // namespace clweave::suite
