// SPDX-License-Identifier: Apache-2.0
#include "description/field.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.hpp"
#include "base/near_word.hpp"
#include "base/text.hpp"

namespace {

// Is thrown where toml++ takes something for granted of a text. It asserts that, and in programs without
// assertions goes on as if it were so; version 3.3 does with the key in "[=]".
struct Unforeseen {};

constexpr void take_for_granted(bool condition) {
  if (!condition) throw Unforeseen{};
}

}  // namespace

#undef NDEBUG
#define TOML_ASSERT(condition) take_for_granted(static_cast<bool>(condition))
#define TOML_ENABLE_FORMATTERS 0  // it writes none
#include <toml++/toml.h>

namespace clweave::description {

namespace {

constexpr std::size_t longest_text = 500, longest_expression = 5000, longest_list = 1000;

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }

}  // namespace

struct Field::Entry {
  std::string key;
  Place place;  // of the key
  Field value;
};

void refuse(const Place& place, const std::string& what) {
  throw Error(ErrorCode::usage, place.text() + ": " + what);
}

// Turns the nodes of toml++ into fields. Its tables are sorted by key; these are in the order of the text.
struct FieldMaker {
  std::string shown;
  std::vector<std::string> lines;

  Place place_of(const toml::source_position& at) const {
    return {shown, static_cast<int>(at.line), static_cast<int>(at.column)};
  }

  // The place behind the quotes that a text begins with.
  Place inside(const Place& quote) const {
    const auto index = static_cast<std::size_t>(quote.line) - 1;
    if (quote.line < 1 || index >= lines.size()) return quote;
    const std::string& line = lines[index];
    std::size_t at = 0;
    for (int column = 1; column < quote.column && at < line.size(); ++at) {
      const bool begins_next =
          at + 1 < line.size() && (static_cast<unsigned char>(line[at + 1]) & 0xC0U) != 0x80U;
      if (begins_next) ++column;
    }
    const std::string_view rest = std::string_view(line).substr(std::min(at, line.size()));
    if (!rest.starts_with(R"(""")") && !rest.starts_with("'''")) return {shown, quote.line, quote.column + 1};
    if (trimmed(std::string(rest.substr(3))).empty()) return {shown, quote.line + 1, 1};
    return {shown, quote.line, quote.column + 3};
  }

  Field made(const toml::node& node) const {
    const Place place = place_of(node.source().begin);
    Field::Node out{place, place, false};
    if (const auto* text = node.as_string()) {
      out.inside = inside(place);
      out.value = text->get();
    } else if (const auto* whole = node.as_integer()) {
      out.value = whole->get();
    } else if (const auto* real = node.as_floating_point()) {
      out.value = real->get();
    } else if (const auto* flag = node.as_boolean()) {
      out.value = flag->get();
    } else if (const auto* list = node.as_array()) {
      out.value = list_of(*list);
    } else if (const auto* table = node.as_table()) {
      out.value = entries_of(*table);
    } else {
      refuse(place, "a date or a time, which no description has");
    }
    return field(std::move(out));
  }

 private:
  static Field field(Field::Node node) {
    Field made;
    made.node_ = std::make_shared<const Field::Node>(std::move(node));
    return made;
  }

  std::vector<Field> list_of(const toml::array& list) const {
    std::vector<Field> out;
    for (const auto& one : list) out.push_back(made(one));
    return out;
  }

  std::vector<Field::Entry> entries_of(const toml::table& table) const {
    std::vector<Field::Entry> out;
    for (const auto& [key, value] : table) {
      const Place place = place_of(key.source().begin);
      if (std::ranges::any_of(key.str(), is_control)) refuse(place, "a key with a control character");
      out.push_back({std::string(key.str()), place, made(value)});
    }
    std::ranges::sort(out, {},
                      [](const auto& entry) { return std::pair(entry.place.line, entry.place.column); });
    return out;
  }
};

namespace {

bool is_unforeseen(std::string_view text) {
  try {
    (void)toml::parse(text);
  } catch (const toml::parse_error&) {
    return false;
  } catch (const Unforeseen&) {
    return true;
  }
  return false;
}

// Returns the first line with which a text is unforeseen, as it is with more lines, too.
int unforeseen_line(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') ends.push_back(at + 1);
  }
  const auto first = std::ranges::partition_point(
      ends, [&](std::size_t end) { return !is_unforeseen(text.substr(0, end)); });
  return static_cast<int>(first - ends.begin()) + 1;
}

toml::table read(std::string_view text, const std::string& shown) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    refuse({shown, static_cast<int>(at.line), static_cast<int>(at.column)},
           "no TOML: " + std::string(error.description()));
  } catch (const Unforeseen&) {
    refuse({shown, unforeseen_line(text), 1}, "no TOML: a line that begins like no entry and no [table]");
  }
}

}  // namespace

Field parse_toml(const std::string& text, const std::string& shown) {
  Field all = FieldMaker{shown, split(text, '\n')}.made(read(text, shown)).named("the description");
  // The whole begins where its first entry does, not with what stands before it.
  const auto& entries = std::get<std::vector<Field::Entry>>(all.node_->value);
  if (!entries.empty()) {
    Field::Node node = *all.node_;
    node.place = entries.front().place;
    all.node_ = std::make_shared<const Field::Node>(std::move(node));
  }
  return all;
}

bool Field::is_table() const { return std::holds_alternative<std::vector<Entry>>(node_->value); }

std::string Field::kind() const {
  constexpr const char* kinds[] = {"true or false", "a number", "a number", "a text", "a list", "a table"};
  return kinds[node_->value.index()];
}

void Field::refuse(const std::string& what) const { description::refuse(place(), what); }

void Field::refuse_as(const std::string& must_be) const {
  refuse(fmt::format("{} is {}, and must be {}", label_, kind(), must_be));
}

Field Field::named(std::string label) const {
  Field out = *this;
  out.label_ = std::move(label);
  return out;
}

std::string Field::text_within(std::size_t most) const {
  if (!is_text()) refuse_as("a text in quotes");
  const auto& text = std::get<std::string>(node_->value);
  if (trimmed(text).empty()) refuse(label_ + " is empty");
  if (text.size() > most) refuse(fmt::format("{} has {} bytes, and may have {}", label_, text.size(), most));
  const auto is_refused = [](char c) { return is_control(c) && c != '\n' && c != '\r' && c != '\t'; };
  if (std::ranges::any_of(text, is_refused)) refuse(label_ + " has a control character");
  return text;
}

std::string Field::text() const { return text_within(longest_text); }

std::string Field::line() const {
  std::string line = text();
  if (line.find_first_of("\r\n") != std::string::npos)
    refuse(label_ + " is on several lines, and must be on one");
  return line;
}

double Field::number() const {
  if (!is_number()) refuse_as("a number");
  if (is_whole()) return static_cast<double>(whole());
  const double value = std::get<double>(node_->value);
  if (!std::isfinite(value)) refuse(fmt::format("{} is {}, and must be a finite number", label_, value));
  return value;
}

bool Field::flag() const {
  if (!std::holds_alternative<bool>(node_->value)) refuse_as("true or false");
  return std::get<bool>(node_->value);
}

std::vector<Field> Field::list(std::size_t least) const {
  if (!is_list()) refuse_as("a list");
  const auto& list = std::get<std::vector<Field>>(node_->value);
  if (list.size() < least) refuse(label_ + " is empty");
  if (list.size() > longest_list)
    refuse(fmt::format("{} has {} values, and may have {}", label_, list.size(), longest_list));
  std::vector<Field> out;
  for (const auto& one : list)
    out.push_back(one.named(fmt::format("value {} of {}", out.size() + 1, label_)));
  return out;
}

std::vector<Field> Field::one_or_more() const { return is_list() ? list() : std::vector<Field>{*this}; }

std::vector<std::pair<std::string, Field>> Field::entries() const {
  if (!is_table()) refuse_as("a table");
  std::vector<std::pair<std::string, Field>> out;
  for (const auto& entry : std::get<std::vector<Entry>>(node_->value)) {
    if (out.size() == longest_list) description::refuse(entry.place, label_ + " has too many entries");
    Field value = entry.value.named(fmt::format("'{}' of {}", entry.key, label_));
    value.key_place_ = entry.place;
    out.emplace_back(entry.key, std::move(value));
  }
  return out;
}

Table Field::table(std::vector<std::string> keys) const {
  if (!is_table()) refuse_as(fmt::format("a table with {}", fmt::join(keys, ", ")));
  for (const auto& entry : std::get<std::vector<Entry>>(node_->value)) {
    if (std::ranges::find(keys, entry.key) == keys.end())
      description::refuse(entry.place, fmt::format("unknown key '{}' of {}{}", entry.key, label_,
                                                   suggestion(entry.key, keys)));
  }
  return Table(*this);
}

Expression Field::word_or_number(const Names& known) const {
  if (is_number()) return {fmt::format("{}", number()), place(), known};
  if (!is_text()) refuse_as("an expression, as text or a number");
  return {text_within(longest_expression), node_->inside, known};
}

Expression Field::expression(const Names& known) const {
  Expression made = word_or_number(known);
  if (made.is_word()) description::refuse(made.place(), label_ + " gives a word, and must give a number");
  return made;
}

std::optional<Field> Table::find(const std::string& key) const {
  for (const auto& [name, field] : of_.entries()) {
    if (name == key) return field;
  }
  return {};
}

Field Table::need(const std::string& key) const {
  auto found = find(key);
  if (!found) refuse(fmt::format("{} has no '{}'", label(), key));
  return *std::move(found);
}

}  // namespace clweave::description
