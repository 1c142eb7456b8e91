// axis: what is swept: values, the axes they belong to, and their cross products.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace clweave {

using Value = std::variant<std::int64_t, double, std::string>;
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

// One swept parameter. The first value is the default, and of an axis that a family gets later what its rows
// had before: rows of older files are read with it. A list of words is closed: `--set` accepts no other
// word, unless `open` says that the plan understands more (shapes such as 16x16).
struct Axis {
  std::string name;
  std::string meaning;
  Values values;
  bool open = false;
  bool tunable = false;  // changes how the work is done, not what is computed: `clweave tune` searches it
};

// A column that a plan fills beside its axes, such as the length of a sequence that follows from them.
struct Derived {
  std::string name;
  std::string meaning;
};

// A cross product: the values of the axes named; an axis not named stays at its default.
using Sweep = std::map<std::string, Values>;
inline std::vector<Sweep> operator+(std::vector<Sweep> all, const std::vector<Sweep>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace clweave
