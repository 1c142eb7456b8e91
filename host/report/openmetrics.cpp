// SPDX-License-Identifier: Apache-2.0
#include "report/openmetrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "results/record.hpp"

namespace clweave::report {

namespace {

// Columns of sentences, and of what the next measurement may see otherwise.
constexpr std::array explains = {"reason",  "note",   "meaning",   "command",   "values",
                                 "verdict", "cached", "disturbed", "unsettled", "throttle_reasons"};
constexpr const char* status_column = "status";

// Suffixes of column names that tell the unit, with its base unit. Longest first.
struct Unit {
  std::string_view suffix, base;
  double factor;
};
constexpr std::array<Unit, 9> units = {{{"gitems_per_s", "items_per_second", 1e9},
                                        {"gflop_per_s", "operations_per_second", 1e9},
                                        {"gb_per_s", "bytes_per_second", 1e9},
                                        {"_mhz", "_hertz", 1e6},
                                        {"_ms", "_seconds", 1e-3},
                                        {"_w", "_watts", 1},
                                        {"_c", "_celsius", 1},
                                        {"_j", "_joules", 1},
                                        {"_s", "_seconds", 1}}};

struct Gauge {
  std::string name, help;
  double factor = 1;
  std::vector<std::pair<std::size_t, double>> samples;  // by row
};

std::string help_of(const std::string& column) {
  if (column == status_column) return "Whether the case was measured and its output right";
  const auto known = std::ranges::find(columns(), column, &Column::name);
  std::string text = known != columns().end() ? known->meaning : "Column " + column + " of clweave's tables";
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

Gauge gauge_of(const std::string& column) {
  if (column == status_column) return {"clweave_ok", help_of(column), 1, {}};
  Gauge out{"clweave_" + column, help_of(column), 1, {}};
  for (const auto& [suffix, base, factor] : units) {
    if (!column.ends_with(suffix)) continue;
    out.name = fmt::format("clweave_{}{}", column.substr(0, column.size() - suffix.size()), base);
    out.factor = factor;
    break;
  }
  return out;
}

// In UTF-8, as JSON has it.
std::string quoted(const std::string& text) {
  const std::string safe = shown(text, Screen{.ascii = false});
  std::string out = "\"";
  for (const char c : safe) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::optional<double> number_of(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  const auto* value = std::get_if<double>(&cell);
  return value != nullptr && std::isfinite(*value) ? std::optional(*value) : std::nullopt;
}

std::string label_of(const Cell& cell, bool axis) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "yes" : "no";
  if (const auto* list = std::get_if<std::vector<std::string>>(&cell))
    return fmt::format("{}", fmt::join(*list, ","));
  if (!axis) return {};
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  const auto* value = std::get_if<double>(&cell);
  return value != nullptr ? fmt::format("{}", *value) : "";
}

}  // namespace

void openmetrics(const Report& report, const Screen&, const Sink& write) {
  const auto& names = report.column_names();
  std::vector<Gauge> gauges;
  for (const auto& name : names) gauges.push_back(gauge_of(name));
  // Gauges stand one behind the other, so all rows are held: their labels once, and not for each number.
  std::vector<std::string> labels_of_row;
  report.each_row([&](const Report::Row& row) {
    std::string labels;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (names[c] == status_column || std::ranges::find(explains, names[c]) != explains.end()) continue;
      if (const std::string label = label_of(row[c], report.is_axis(c)); !label.empty())
        labels += fmt::format("{}{}={}", labels.empty() ? "" : ",", names[c], quoted(label));
    }
    for (std::size_t c = 0; c < row.size(); ++c) {
      auto value = report.is_axis(c) ? std::nullopt : number_of(row[c]);
      if (names[c] == status_column) value = label_of(row[c], false) == "ok" ? 1 : 0;
      if (value) gauges[c].samples.emplace_back(labels_of_row.size(), *value * gauges[c].factor);
    }
    labels.shrink_to_fit();
    labels_of_row.push_back(std::move(labels));
  });
  for (const auto& gauge : gauges) {
    if (gauge.samples.empty()) continue;
    write(fmt::format("# TYPE {} gauge\n# HELP {} {}\n", gauge.name, gauge.name, gauge.help));
    for (const auto& [row, value] : gauge.samples)
      write(fmt::format("{}{{{}}} {}\n", gauge.name, labels_of_row[row], value));
  }
  write("# EOF\n");
}

}  // namespace clweave::report
