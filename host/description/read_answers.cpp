// SPDX-License-Identifier: Apache-2.0
// read_answers: what is made of the measurements: cost, view and findings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/near_word.hpp"
#include "description/case_text.hpp"
#include "description/parts.hpp"

namespace clweave::description {

namespace {

std::string bound_in(const Field& field, const Parts& parts) {
  const Description& made = parts.made;
  for (const auto& at : cases_of_text(field.line(), field.place(), parts)) {
    const std::string word = text_at(field.line(), at);
    const suite::Peak peak = peak_bounding(word);
    if (peak == suite::Peak::none)
      field.refuse(fmt::format("unknown bound '{}'{}", word, suggestion(word, bound_names())));
    const bool is_known =
        suite::of_arithmetic(peak) ? made.operations.has_value() : made.read || made.written;
    if (!is_known)
      field.refuse(fmt::format(
          "bound '{}' needs {}", word,
          suite::of_arithmetic(peak) ? "'operations' of the cost" : "'read' or 'written' of the cost"));
  }
  return field.line();
}

std::string one_of(const Field& field, const std::vector<std::string>& known) {
  std::string word = field.line();
  if (std::ranges::find(known, word) == known.end())
    field.refuse(fmt::format("unknown {} '{}'{}", field.label(), word, suggestion(word, known)));
  return word;
}

std::string quantity_in(const Field& field, const std::vector<std::string>& known, const Description& made) {
  std::string word = one_of(field, known);
  if (word == "rate" && !made.read && !made.written && !made.operations)
    field.refuse("quantity 'rate' needs 'read', 'written' or 'operations' of the cost");
  if (word == "items" && !made.items) field.refuse("quantity 'items' needs 'items' of the cost");
  return word;
}

std::vector<std::string> axes_in(const Field& field, const Parts& parts) {
  std::vector<std::string> out;
  for (const auto& one : field.one_or_more()) {
    const std::string name = one.line();
    if (axis_named(parts, name) == nullptr)
      one.refuse(fmt::format("unknown axis '{}'{}", name, suggestion(name, axis_names(parts))));
    out.push_back(name);
  }
  return out;
}

// Returns the cases that a finding is about, as written.
std::string cases_in(const Field& field, const Parts& parts) {
  sweep_in(field, parts);
  return field.line();
}

void refuse_unless(const Table& table, const char* key, bool takes_it, const std::string& kind) {
  if (const auto found = table.find(key); found && !takes_it)
    refuse(found->key_place(), fmt::format("a finding of kind '{}' has no '{}'", kind, key));
}

FindingOf finding_in(const Field& field, const Parts& parts) {
  const Table table =
      field.table({"name", "kind", "quantity", "where", "of", "to", "over", "unit", "meaning"});
  FindingOf out;
  const Field name = table.need("name");
  out.name = name.line();
  const auto belongs = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (out.name[0] < 'a' || out.name[0] > 'z' || !std::ranges::all_of(out.name, belongs))
    name.refuse(
        fmt::format("'{}': a name begins with a letter and has lower-case letters, digits and _", out.name));
  if (std::ranges::find(parts.made.findings, out.name, &FindingOf::name) != parts.made.findings.end())
    name.refuse(fmt::format("there is a finding '{}' already", out.name));
  const std::string kind = one_of(table.need("kind").named("kind"), {"best", "ratio", "slope"});
  const bool is_ratio = kind == "ratio", is_slope = kind == "slope";
  out.kind = is_ratio ? FindingOf::Kind::ratio : is_slope ? FindingOf::Kind::slope : FindingOf::Kind::best;
  refuse_unless(table, "where", !is_ratio, kind);
  refuse_unless(table, "of", is_ratio, kind);
  refuse_unless(table, "to", is_ratio, kind);
  refuse_unless(table, "over", is_slope, kind);
  if (is_ratio) {
    out.of = cases_in(table.need("of"), parts);
    out.to = cases_in(table.need("to"), parts);
  } else if (const auto where = table.find("where")) {
    out.of = cases_in(*where, parts);
  }
  if (is_slope) {
    const Field over = table.need("over");
    out.over = axes_in(over, parts).front();
    if (parts.names.words.contains(out.over))
      over.refuse(fmt::format("axis '{}' has words, over which nothing slopes", out.over));
  }
  out.quantity = is_ratio ? "time" : out.quantity;
  if (const auto quantity = table.find("quantity")) {
    out.quantity = quantity_in(quantity->named("quantity"), {"rate", "items", "time"}, parts.made);
  } else if (!is_ratio && !parts.made.read && !parts.made.written && !parts.made.operations) {
    out.quantity = parts.made.items ? "items" : "time";
  }
  if (const auto unit = table.find("unit")) out.unit = unit->line();
  if (const auto meaning = table.find("meaning")) out.meaning = meaning->line();
  return out;
}

}  // namespace

void read_cost(const Field& cost, Parts& parts) {
  const Table table = cost.table({"read", "written", "operations", "items", "bound"});
  const Names names = plan_names(parts);
  const auto read = [&](const char* key, std::optional<Expression>& to) {
    if (const auto given = table.find(key)) to = given->expression(names);
  };
  read("read", parts.made.read);
  read("written", parts.made.written);
  read("operations", parts.made.operations);
  read("items", parts.made.items);
  if (const auto bound = table.find("bound")) parts.made.bound = bound_in(*bound, parts);
}

void read_view(const Field& view, Parts& parts) {
  const Table table = view.table({"rows", "columns", "apart", "quantity"});
  auto& made = parts.made.view;
  if (const auto rows = table.find("rows")) made.rows = axes_in(*rows, parts);
  if (const auto columns = table.find("columns")) made.columns = axes_in(*columns, parts);
  if (const auto apart = table.find("apart")) made.apart = axes_in(*apart, parts);
  for (const auto& name : made.rows) {
    if (std::ranges::find(made.columns, name) != made.columns.end())
      view.refuse(fmt::format("axis '{}' is among both rows and columns", name));
  }
  if (const auto quantity = table.find("quantity"))
    made.quantity = quantity_in(quantity->named("quantity"), {"rate", "items", "slowdown"}, parts.made);
}

void read_findings(const Field& findings, Parts& parts) {
  constexpr std::size_t most = 50;
  const auto list = findings.list();
  if (list.size() > most) findings.refuse(fmt::format("{} findings, and there may be {}", list.size(), most));
  for (std::size_t i = 0; i < list.size(); ++i)
    parts.made.findings.push_back(finding_in(list[i].named(fmt::format("finding {}", i + 1)), parts));
}

}  // namespace clweave::description
