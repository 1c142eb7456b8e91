// SPDX-License-Identifier: Apache-2.0
#include "answers/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/quantity.hpp"
#include "base/table.hpp"
#include "base/terminal.hpp"

namespace clweave {

namespace {

using Records = std::vector<const Record*>;

std::string joined(const Record& record, const std::vector<std::string>& axes) {
  std::vector<std::string> parts;
  for (const auto& axis : axes) parts.push_back(record.axis(axis));
  return fmt::format("{}", fmt::join(parts, " "));
}

// The different keys of the records, in the order met.
template <class F>
std::vector<std::string> keys_of(const Records& records, const F& key) {
  std::vector<std::string> keys;
  for (const auto* record : records) {
    if (std::string k = key(*record); std::ranges::find(keys, k) == keys.end()) keys.push_back(std::move(k));
  }
  return keys;
}

std::string cell_text(const Record& record, const std::string& quantity, double best_s, bool colour) {
  if (!record.ok())
    return paint(
        !record.exhibit.empty() && record.status == Status::wrong_result ? "exhibit: wrong" : text_of(record.status),
        record.failed() ? Style::red : Style::dim, colour);
  if (!record.time_s) return "-";
  std::string text;
  if (quantity == "slowdown") {
    text = fmt::format("{:.2f}x", *record.time_s / best_s);
  } else {
    const Number rate = quantity == "items" ? record.gitems_per_s : rate_of(record);
    text = rate ? fmt::format("{:.4g}", *rate) : seconds_text(*record.time_s);
  }
  if (record.of_ceiling)
    text += paint(fmt::format(" {:3.0f}%", 100 * *record.of_ceiling), Style::dim, colour);
  return text;
}

const char* unit_text(const std::string& quantity) {
  if (quantity == "slowdown") return "time over the best of the table";
  if (quantity == "items") return "G items/s";
  return "GB/s, Gop/s of arithmetic";
}

// Cases run in a shuffled order; people look for them in that of the axes' values.
Records in_axis_order(Records records, const Family& family, const std::vector<std::string>& axes) {
  const auto place = [&](const Record* record) {
    std::vector<std::pair<std::ptrdiff_t, Value>> key;  // a word's place among the known, else the number
    for (const auto& axis : family.axes) {
      if (std::ranges::find(axes, axis.name) == axes.end()) continue;
      const Value value = value_of(record->axis(axis.name));
      const bool word = std::holds_alternative<std::string>(value);
      key.emplace_back(word ? std::ranges::find(axis.values, value) - axis.values.begin() : 0, value);
    }
    return key;
  };
  std::ranges::stable_sort(records, {}, place);
  return records;
}

// One table per combination of the axes that the view leaves over.
std::string family_text(Records records, const Family& family, bool colour) {
  const View& view = family.view;
  std::vector<std::string> rest;
  for (const auto& axis : family.axes) {
    if (std::ranges::find(view.rows, axis.name) == view.rows.end() &&
        std::ranges::find(view.columns, axis.name) == view.columns.end())
      rest.push_back(axis.name);
  }
  // An axis that goes with the row, such as the shape each kernel was published with, splits no table.
  std::erase_if(rest, [&](const std::string& axis) {
    std::map<std::string, std::set<std::string>> per_row;
    for (const auto* record : records) per_row[joined(*record, view.rows)].insert(record->axis(axis));
    return std::ranges::all_of(per_row, [](const auto& row) { return row.second.size() == 1; });
  });
  std::string out;
  records = in_axis_order(records, family, rest);
  for (const auto& block : keys_of(records, [&](const Record& r) { return joined(r, rest); })) {
    Records here;
    std::ranges::copy_if(records, std::back_inserter(here),
                         [&](const Record* r) { return joined(*r, rest) == block; });
    std::map<std::pair<std::string, std::string>, const Record*> at;
    double best_s = 1e300;
    for (const auto* record : here) {
      at[{joined(*record, view.rows), joined(*record, view.columns)}] = record;
      if (record->ok()) best_s = std::min(best_s, record->time_s.value_or(best_s));
    }
    const auto columns = keys_of(in_axis_order(here, family, view.columns),
                                 [&](const Record& r) { return joined(r, view.columns); });
    std::vector<Table::Column> heads = {{fmt::format("{}", fmt::join(view.rows, " "))}};
    for (const auto& column : columns) heads.push_back({column, Align::right});
    Table table(heads);
    for (const auto& row : keys_of(in_axis_order(here, family, view.rows),
                                   [&](const Record& r) { return joined(r, view.rows); })) {
      std::vector<std::string> cells = {row};
      for (const auto& column : columns) {
        const auto it = at.find({row, column});
        cells.push_back(it != at.end() ? cell_text(*it->second, view.quantity, best_s, colour) : "");
      }
      table.add(cells);
    }
    std::vector<std::string> named;
    for (const auto& axis : rest) named.push_back(axis + "=" + here.front()->axis(axis));
    out += fmt::format("{}{}{}, {} by {}\n{}\n", paint(family.name, Style::bold, colour),
                       named.empty() ? "" : "  ", fmt::join(named, " "), unit_text(view.quantity),
                       fmt::join(view.columns, " "), table.text(colour));
  }
  return out;
}

// Each tuned row beside that of the same work in the default configuration.
std::string tuned_text(const Records& tuned, const Records& usual, const Family& family, bool colour) {
  Table table({{family.name + ", tuned"},
               {"configuration"},
               {"default", Align::right},
               {"tuned", Align::right},
               {"gain", Align::right}});
  for (const auto* record : tuned) {
    const std::string variant = axes_text(*record, family, false);
    const auto other = std::ranges::find_if(
        usual, [&](const Record* r) { return r->time_s && axes_text(*r, family, false) == variant; });
    const bool both = other != usual.end() && record->time_s;
    table.add({variant, axes_text(*record, family, true),
               other != usual.end() ? seconds_text(*(*other)->time_s) : "-",
               record->time_s ? seconds_text(*record->time_s) : text_of(record->status),
               both ? fmt::format("{:.2f}x", *(*other)->time_s / *record->time_s) : "-"});
  }
  return table.text(colour) + "\n";
}

// Of each case's and finding's repetitions, the one with the median time or value.
Records median_runs(const Records& records) {
  std::map<std::string, Records> repetitions;
  for (const auto* record : records) repetitions[record->case_id].push_back(record);
  for (auto& [id, runs] : repetitions) {
    const bool any_bad = std::ranges::any_of(runs, [](const Record* r) { return !r->ok(); });
    std::ranges::stable_sort(runs, {}, [&](const Record* r) {
      return any_bad ? (r->ok() ? 1.0 : 0.0) : r->time_s.value_or(r->value.value_or(0));
    });
    runs = {any_bad ? runs.front() : runs[runs.size() / 2]};
  }
  Records out;
  for (const auto* record : records) {
    if (repetitions.at(record->case_id).front() == record) out.push_back(record);
  }
  return out;
}

std::string device_text(const Records& records, const std::vector<Family>& families, bool colour) {
  const Record& any = *records.front();
  std::string out =
      fmt::format("\n{}  {}, driver {}\n", paint(any.device, Style::bold, colour), any.platform, any.driver);
  std::map<Ceiling, double> ceilings;
  for (const auto* record : records) {
    if (record->family != "ceiling" || !record->ok() || record->ceiling == Ceiling::none) continue;
    double& best = ceilings[record->ceiling];
    best = std::max(best, rate_of(*record).value_or(0));
  }
  std::vector<std::string> parts;
  for (const auto& [ceiling, best] : ceilings)
    parts.push_back(fmt::format("{} {:.4g} {}", ceiling, best, unit_of(ceiling)));
  if (!parts.empty()) out += fmt::format("measured ceilings: {}\n", fmt::join(parts, ", "));
  out += "\n";
  for (const auto& family : families) {
    Records rows, tuned, findings;
    for (const auto* record : median_runs(records)) {
      if (record->family != family.name) continue;
      (!record->finding.empty() ? findings : record->tuned.empty() ? rows : tuned).push_back(record);
    }
    if (!rows.empty()) out += family_text(rows, family, colour);
    if (!tuned.empty()) out += tuned_text(tuned, rows, family, colour);
    for (const auto* finding : findings)
      out += fmt::format("  {} {} {}: {}\n", paint(finding->finding, Style::cyan, colour),
                         finding->value ? fmt::format("{:.3g}", *finding->value) : "-", finding->unit,
                         finding->reason);
    if (!findings.empty()) out += "\n";
  }
  std::map<std::string, int> counts;
  for (const auto* record : records) {
    if (record->finding.empty())
      ++counts[(record->exhibit.empty() ? "" : "exhibit ") + text_of(record->status)];
  }
  std::vector<std::string> totals;
  for (const auto& [status, count] : counts) totals.push_back(fmt::format("{} {}", count, status));
  out += fmt::format("{} rows: {}\n",
                     std::ranges::count_if(records, [](const Record* r) { return r->finding.empty(); }),
                     fmt::join(totals, ", "));
  int shown = 0;
  for (const auto* record : records) {
    if (!record->failed() || ++shown > 20) continue;
    out += fmt::format("  {}  {}\n    {}\n", paint(text_of(record->status), Style::red, colour), record->case_id,
                       record->reason);
  }
  if (shown > 20) out += fmt::format("  and {} more\n", shown - 20);
  return out;
}

}  // namespace

std::string axes_text(const Record& record, const Family& family, bool tunable) {
  std::vector<std::string> parts;
  for (const auto& axis : family.axes) {
    if (axis.tunable == tunable) parts.push_back(axis.name + "=" + record.axis(axis.name));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string summary_text(const std::vector<Record>& records, const std::vector<Family>& families,
                         bool colour) {
  Records all;
  for (const auto& record : records) all.push_back(&record);
  std::string out;
  for (const auto& device : keys_of(all, std::mem_fn(&Record::device_key))) {
    Records here;
    std::ranges::copy_if(all, std::back_inserter(here),
                         [&](const Record* r) { return r->device_key() == device; });
    out += device_text(here, families, colour);
  }
  return out;
}

}  // namespace clweave
