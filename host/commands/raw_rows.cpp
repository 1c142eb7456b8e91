// SPDX-License-Identifier: Apache-2.0
#include "commands/raw_rows.hpp"

#include <algorithm>

#include "commands/read_results.hpp"
#include "results/each_row.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

Cell cell_of(const Record& record, const Column& column) {
  return std::visit(
      [&](auto member) -> Cell {
        const auto& field = record.*member;
        using Field = std::decay_t<decltype(field)>;
        if constexpr (NamedEnum<Field> || std::is_same_v<Field, std::string>) {
          const std::string text = fmt::format("{}", field);
          return text.empty() ? Cell() : Cell(text);
        } else {
          return field ? Cell(*field) : Cell();
        }
      },
      column.member);
}

Cell axis_cell(const std::string& text) {
  if (text.empty()) return {};
  return std::visit([](const auto& value) { return Cell(value); }, value_of(text));
}

}  // namespace

Report raw_rows(const std::vector<std::string>& files, const std::vector<Family>& all,
                const std::vector<std::string>& chosen) {
  const auto is_wanted = [chosen](const Record& record) {
    return chosen.empty() || std::ranges::find(chosen, record.family) != chosen.end();
  };
  std::vector<std::string> axes;
  tell_notes(each_row(files, all, [&](const Record& record) {
    if (!is_wanted(record)) return;
    for (const auto& [axis, value] : record.axes) {
      if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
    }
  }));
  Report out;
  std::vector<std::string> names;
  for (const auto& column : columns()) names.push_back(column.name);
  out.columns(std::move(names), axes);
  out.rows([=, &all](const std::function<void(Report::Row)>& take) {
    each_row(files, all, [&](const Record& record) {
      if (!is_wanted(record)) return;
      Report::Row row;
      for (const auto& column : columns()) row.push_back(cell_of(record, column));
      for (const auto& axis : axes) row.push_back(axis_cell(record.axis(axis)));
      take(std::move(row));
    });
  });
  return out;
}

}  // namespace clweave::commands
