// SPDX-License-Identifier: Apache-2.0
#include "suite/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/near_word.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "suite/case.hpp"
#include "suite/range.hpp"

namespace clweave::suite {

std::string text_of(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return std::to_string(*n);
  if (const auto* x = std::get_if<double>(&value)) return fmt::format("{}", *x);
  return std::get<std::string>(value);
}

bool Axis::has_name(const std::string& word) const {
  return word == name || std::ranges::find(former, word) != former.end();
}

const std::string& Axis::todays(const std::string& value) const {
  for (const auto& [old, now] : former_values) {
    if (old == value) return now;
  }
  return value;
}

Value value_of(const std::string& text) {
  if (const auto n = number_of<std::int64_t>(text)) return *n;
  if (const auto x = number_of<double>(text)) return *x;
  return text;
}

std::string text_of(const Values& values) {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(text_of(value));
  return fmt::format("{}", fmt::join(texts, ","));
}

bool Domain::number(double v) const {
  if (!(v >= least && v <= most)) return false;
  if (of == Of::fractions) return true;
  if (v != std::floor(v)) return false;
  const auto n = static_cast<std::int64_t>(v);
  if (of == Of::powers_of_two) return n > 0 && (n & (n - 1)) == 0;
  return of != Of::multiples || n % step == 0;
}

std::string Domain::text() const {
  std::string range = fmt::format("{} to {}", least, most);
  switch (of) {
    case Of::listed: break;
    case Of::whole: return range;
    case Of::powers_of_two: return range + ", powers of two";
    case Of::multiples: return fmt::format("{}, multiples of {}", range, step);
    case Of::fractions: return range + ", fractions too";
    case Of::shapes: return "1 to 3 numbers joined by x, each " + range;
  }
  return {};
}

namespace {

// 2^53: larger integers are not exact in a double.
constexpr double largest = 9007199254740992.0;

Domain numbers(Domain::Of of, std::int64_t least, std::int64_t most, std::int64_t step = 1) {
  return {of, static_cast<double>(least), std::min(static_cast<double>(most), largest), step};
}

}  // namespace

Domain whole(std::int64_t least, std::int64_t most) { return numbers(Domain::Of::whole, least, most); }
Domain powers_of_two(std::int64_t least, std::int64_t most) {
  return numbers(Domain::Of::powers_of_two, least, most);
}
Domain multiples_of(std::int64_t step, std::int64_t least, std::int64_t most) {
  return numbers(Domain::Of::multiples, least, most, step);
}
Domain fractions(double least, double most) { return {Domain::Of::fractions, least, most}; }
Domain shapes(std::int64_t least, std::int64_t most) { return numbers(Domain::Of::shapes, least, most); }

std::optional<Value> Axis::taken(const Value& value) const {
  if (std::ranges::find(values, value) != values.end()) return value;
  const std::string said = text_of(value), &text = todays(said);
  for (const auto& listed : values) {
    if (text_of(listed) == text) return listed;
  }
  if (domain.of == Domain::Of::listed) return {};
  if (domain.of == Domain::Of::shapes) {
    const auto shape = range_in(text);
    if (!shape) return {};
    const bool fits =
        std::ranges::all_of(*shape, [&](auto extent) { return domain.number(static_cast<double>(extent)); });
    return fits ? std::optional<Value>(text_of(*shape)) : std::nullopt;
  }
  // Compares integers as such: as a double, 2^53 + 1 would equal its neighbour.
  const auto* whole_number = std::get_if<std::int64_t>(&value);
  if (whole_number != nullptr && std::abs(static_cast<double>(*whole_number)) > largest) return {};
  const auto* real = std::get_if<double>(&value);
  if (whole_number == nullptr && real == nullptr) return {};
  const double number = real != nullptr ? *real : static_cast<double>(*whole_number);
  if (!domain.number(number)) return {};
  if (domain.of == Domain::Of::fractions) return number;
  return static_cast<std::int64_t>(number);
}

std::string Axis::domain_text() const {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(text_of(value));
  return domain.of == Domain::Of::listed ? fmt::format("{}", fmt::join(texts, ", ")) : domain.text();
}

std::string Axis::refusal(const Value& value) const { return suite::refusal(value, {this}); }

std::string refusal(const Value& value, const std::vector<const Axis*>& axes) {
  std::vector<std::string> words, rules;
  const auto add = [](std::vector<std::string>& list, std::string one) {
    if (std::ranges::find(list, one) == list.end()) list.push_back(std::move(one));
  };
  for (const auto* axis : axes) {
    add(rules, axis->domain_text());
    for (const auto& known : axis->values) {
      if (const auto* word = std::get_if<std::string>(&known)) add(words, *word);
    }
  }
  if (const auto near = near_word(text_of(value), words); !near.empty())
    return fmt::format("did you mean '{}'?", near);
  constexpr std::size_t most = 4;
  if (rules.size() <= most) return fmt::format("{} takes {}", axes.front()->name, fmt::join(rules, "; or "));
  return fmt::format(
      "each of {} families has values of {} of its own; clweave list --family FAMILY shows them", axes.size(),
      axes.front()->name);
}

std::function<bool(const Case&)> more_than_zero(std::string axis) {
  return [axis = std::move(axis)](const Case& at) { return at.number(axis) > 0; };
}

bool all_alike(const Value&, const Value&) { return true; }

std::function<bool(const Value&, const Value&)> alike_within(std::vector<Values> lists) {
  return [lists = std::move(lists)](const Value& a, const Value& b) {
    return std::ranges::any_of(lists, [&](const Values& list) {
      const auto has = [&](const Value& value) { return std::ranges::find(list, value) != list.end(); };
      return has(a) && has(b);
    });
  };
}

std::pair<std::string, Values> setting_of(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    throw Error(ErrorCode::usage, text + ": write axis=value[,value], such as n=1024,4096");
  Values values;
  for (const auto& word : split(text.substr(equals + 1), ',')) values.push_back(value_of(word));
  return {text.substr(0, equals), values};
}

Sweep::Sweep(const std::string& line) {
  for (const auto& words : split(line, ' ')) {
    if (words.empty()) continue;
    auto [axis, values] = setting_of(words);
    if (!emplace(axis, std::move(values)).second)
      throw Error(ErrorCode::usage, fmt::format("'{}' says {} twice", line, axis));
  }
}
Sweep::Sweep(const char* line) : Sweep(std::string(line)) {}

}  // namespace clweave::suite
