// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/near_word.hpp"
#include "base/number.hpp"
#include "description/parts.hpp"
#include "results/record.hpp"
#include "suite/former_names.hpp"

namespace clweave::description {

namespace {

constexpr std::size_t most_axes = 20, longest_word = 60;

// Columns that tables of results have beside those of files.
constexpr const char* table_columns[] = {"cold", "runs"};

bool is_column(const std::string& name) {
  return name == results::threads_axis || suite::column_now(name) != name ||
         std::ranges::find(table_columns, name) != std::end(table_columns) ||
         std::ranges::find(results::columns(), name, &results::Column::name) != results::columns().end();
}

bool is_word(const std::string& text) {
  const auto belongs = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '+';
  };
  return !text.empty() && text.size() <= longest_word && std::ranges::all_of(text, belongs) &&
         text.front() != '.' && text.front() != '-' && !number_of<double>(text);
}

constexpr std::int64_t largest_whole = 1LL << 53U;  // all up to it are exact in a double

suite::Value value_in(const Field& field) {
  if (field.is_text()) {
    const std::string word = field.line();
    if (number_of<double>(word))
      field.refuse(fmt::format("{} is a number in quotes: leave them out", field.label()));
    if (!is_word(word))
      field.refuse(fmt::format("{} is '{}': a word has letters, digits and _ . + -, at most {}",
                               field.label(), word, longest_word));
    return word;
  }
  if (!field.is_whole()) {
    if (!field.is_number()) field.refuse_as("a number or a word");
    return field.number();
  }
  if (field.whole() > largest_whole || field.whole() < -largest_whole)
    field.refuse(fmt::format("{} is {}, and may be 2^53 at most", field.label(), field.whole()));
  return field.whole();
}

// Numbers are whole if all are: 1e6 is what people write for 1000000.
void make_whole(suite::Values& values) {
  const auto is_whole = [](const suite::Value& value) {
    const auto* real = std::get_if<double>(&value);
    return real == nullptr ||
           (*real == std::floor(*real) && std::abs(*real) <= static_cast<double>(largest_whole));
  };
  const bool all_whole = std::ranges::all_of(values, is_whole);
  for (auto& value : values) {
    if (const auto* whole = std::get_if<std::int64_t>(&value); whole != nullptr && !all_whole)
      value = static_cast<double>(*whole);
    else if (const auto* real = std::get_if<double>(&value); real != nullptr && all_whole)
      value = static_cast<std::int64_t>(*real);
  }
}

suite::Values values_in(const Field& list) {
  suite::Values values;
  for (const auto& one : list.list()) {
    suite::Value value = value_in(one);
    if (!values.empty() &&
        std::holds_alternative<std::string>(value) != std::holds_alternative<std::string>(values.front()))
      one.refuse(fmt::format("{} is of another kind than the first: all are numbers, or all are words",
                             one.label()));
    const auto same = [&](const suite::Value& other) {
      return suite::text_of(other) == suite::text_of(value);
    };
    if (std::ranges::any_of(values, same))
      one.refuse(fmt::format("{} is {} again", one.label(), suite::text_of(value)));
    values.push_back(std::move(value));
  }
  make_whole(values);
  return values;
}

// Axes that the harness knows by name have values of the kind that it expects.
void check_kind(const Field& field, const suite::Axis& axis) {
  const suite::Value& value = axis.values.front();
  const bool is_word = std::holds_alternative<std::string>(value);
  const bool is_whole =
      std::holds_alternative<std::int64_t>(value) && axis.domain.of != suite::Domain::Of::fractions;
  const suite::Value known_incorrect = std::string("known_incorrect");
  if (axis.name == "form" &&
      (!is_word || std::ranges::find(axis.values, known_incorrect) != axis.values.end()))
    field.refuse(
        "axis 'form' has words, and known_incorrect, which the suite's own kernels are marked with, is not "
        "among them");
  if ((axis.name == suite::kernel_axis || axis.name == suite::type_axis) && !is_word)
    field.refuse(fmt::format("axis '{}' has words: the names of implementations or types", axis.name));
  if (suite::is_size(axis.name) && !is_whole)
    field.refuse(fmt::format("axis '{}' has whole numbers: how much is done", axis.name));
}

std::int64_t limit_in(const Table& axis, const char* key) {
  const Field field = axis.need(key);
  if (!field.is_whole()) field.refuse_as("a whole number");
  return field.whole();
}

suite::Domain domain_in(const Table& axis) {
  constexpr const char* kinds[] = {"powers_of_two", "multiples_of", "fractions"};
  std::vector<std::string> given;
  for (const auto* kind : kinds) {
    if (axis.has(kind)) given.emplace_back(kind);
  }
  if (given.size() > 1) axis.refuse(fmt::format("{} has both {} and {}", axis.label(), given[0], given[1]));
  if (given.empty() && !axis.has("from") && !axis.has("to")) return {};
  if (axis.has("fractions")) {
    if (!axis.need("fractions").flag())
      axis.need("fractions").refuse("fractions = false is what holds without it");
    const double least = axis.need("from").number(), most = axis.need("to").number();
    if (least > most) axis.need("to").refuse("'to' is less than 'from'");
    return suite::fractions(least, most);
  }
  const std::int64_t least = limit_in(axis, "from"), most = limit_in(axis, "to");
  if (least > most) axis.need("to").refuse("'to' is less than 'from'");
  if (axis.has("multiples_of")) {
    const std::int64_t step = limit_in(axis, "multiples_of");
    if (step < 1) axis.need("multiples_of").refuse(fmt::format("multiples of {}: of 1 or more", step));
    return suite::multiples_of(step, least, most);
  }
  if (!axis.has("powers_of_two")) return suite::whole(least, most);
  if (!axis.need("powers_of_two").flag())
    axis.need("powers_of_two").refuse("powers_of_two = false is what holds without it");
  return suite::powers_of_two(least, most);
}

const std::vector<std::string>& axis_keys() {
  static const std::vector<std::string> keys = {"values", "meaning",       "tunable",      "when",     "from",
                                                "to",     "powers_of_two", "multiples_of", "fractions"};
  return keys;
}

suite::Axis axis_in(const std::string& name, const Field& field, Parts& parts) {
  check_name(name, field.key_place(), "axis", parts);
  if (is_column(name))
    refuse(field.key_place(),
           fmt::format("axis '{0}': results have a column '{0}' already; take another name", name));
  suite::Axis axis;
  axis.name = axis.meaning = name;
  if (field.is_list()) {
    axis.values = values_in(field);
    return axis;
  }
  if (!field.is_table())
    field.refuse_as("a list of values, or a table with values; what is no axis stands above the first [..]");
  const Table table = field.table(axis_keys());
  axis.values = values_in(table.need("values").named("'values' of axis '" + name + "'"));
  if (const auto meaning = table.find("meaning")) axis.meaning = meaning->line();
  if (const auto tunable = table.find("tunable")) axis.tunable = tunable->flag();
  axis.domain = domain_in(table);
  if (axis.domain.of != suite::Domain::Of::listed && std::holds_alternative<std::string>(axis.values.front()))
    table.refuse(fmt::format("axis '{}' has words, of which there is no range", name));
  return axis;
}

void read_when(const Field& field, suite::Axis& axis, const Parts& parts) {
  if (!field.is_table()) return;
  const auto when = field.table(axis_keys()).find("when");
  if (!when) return;
  const Expression condition = when->expression(parts.names);
  if (condition.names(axis.name))
    when->refuse(fmt::format("whether axis '{0}' applies cannot depend on '{0}' itself", axis.name));
  axis.when = [condition](const suite::Case& at) { return condition.is_true(at); };
}

}  // namespace

const suite::Axis* axis_named(const Parts& parts, const std::string& name) {
  const auto& axes = parts.made.axes;
  const auto found = std::ranges::find(axes, name, &suite::Axis::name);
  return found == axes.end() ? nullptr : &*found;
}

std::vector<std::string> axis_names(const Parts& parts) {
  std::vector<std::string> out;
  for (const auto& axis : parts.made.axes) out.push_back(axis.name);
  return out;
}

void check_name(const std::string& name, const Place& place, const std::string& what, const Parts& parts) {
  constexpr std::size_t longest = 40;
  const auto belongs = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > longest || name[0] < 'a' || name[0] > 'z' ||
      !std::ranges::all_of(name, belongs))
    refuse(place,
           fmt::format(
               "{} '{}': a name begins with a letter and has lower-case letters, digits and _, {} at most",
               what, name.substr(0, longest), longest));
  if (is_reserved(name) || name == "i" || std::ranges::find(device_names, name) != std::end(device_names))
    refuse(place, fmt::format("{} '{}': expressions know '{}' as something else; take another name", what,
                              name, name));
  if (axis_named(parts, name) != nullptr)
    refuse(place, fmt::format("{0} '{1}': there is an axis '{1}'", what, name));
  if (std::ranges::find(parts.names.buffers, name) != parts.names.buffers.end())
    refuse(place, fmt::format("{0} '{1}': there is a buffer '{1}'", what, name));
}

void read_axes(const Field& axes, Parts& parts) {
  const auto entries = axes.entries();
  if (entries.empty()) axes.refuse("there is no axis: write one, such as n = [1048576] below [axes]");
  if (entries.size() > most_axes)
    axes.refuse(fmt::format("{} axes, and there may be {}", entries.size(), most_axes));
  for (const auto& [name, entry] : entries) {
    const Field field = entry.named("axis '" + name + "'");
    suite::Axis axis = axis_in(name, field, parts);
    check_kind(field, axis);
    if (!std::holds_alternative<std::string>(axis.values.front())) {
      parts.names.numbers.push_back(name);
    } else {
      for (const auto& value : axis.values) parts.names.words[name].push_back(suite::text_of(value));
    }
    parts.made.axes.push_back(std::move(axis));
  }
  for (std::size_t a = 0; a < entries.size(); ++a)
    read_when(entries[a].second.named("axis '" + entries[a].first + "'"), parts.made.axes[a], parts);
}

suite::Sweep sweep_in(const Field& field, const Parts& parts) {
  const std::string line = field.line();
  suite::Sweep sweep;
  try {
    sweep = suite::Sweep(line);
  } catch (const Error& error) {
    field.refuse(error.what());
  }
  for (const auto& [name, values] : sweep) {
    const auto* axis = axis_named(parts, name);
    if (axis == nullptr)
      field.refuse(
          fmt::format("{} names axis '{}'{}", field.label(), name, suggestion(name, axis_names(parts))));
    for (const auto& value : values) {
      if (!axis->taken(value))
        field.refuse(fmt::format("{} says {}={}: {}", field.label(), name, suite::text_of(value),
                                 axis->refusal(value)));
    }
  }
  return sweep;
}

}  // namespace clweave::description
