// SPDX-License-Identifier: Apache-2.0
#include "commands/searches_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/quantity.hpp"
#include "base/stats.hpp"
#include "base/terminal.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

bool is_tied(const Record& row, const Record& best) {
  return &row != &best && row.time_low_s && best.time_high_s && *row.time_low_s <= *best.time_high_s;
}

// Returns the family and the axes by which the space differs from others of the table.
std::string work_text(const SearchSpace& space, const std::vector<Search>& all) {
  std::vector<std::string> parts;
  for (const auto& axis : space.family->axes) {
    if (axis.tunable || std::ranges::find(space.among, axis.name) != space.among.end()) continue;
    const std::string value = text_of(space.cases.front().at(axis.name));
    const bool varies = std::ranges::any_of(all, [&](const Search& other) {
      return other.space->family == space.family && !other.space->cases.empty() &&
             text_of(other.space->cases.front().at(axis.name)) != value;
    });
    const bool size = axis.name == elements_axis && !space.among.empty();
    if (varies || size) parts.push_back(axis.name + "=" + value);
  }
  return space.family->name + (parts.empty() ? "" : " ") + fmt::format("{}", fmt::join(parts, " "));
}

std::string speed_text(const Record& row) {
  const Number rate = rate_of(row);
  if (!rate) return seconds_text(*row.time_s);
  return fmt::format("{:.4g} {}", *rate, unit_of(row.peak));
}

constexpr const char* disturbed_mark = " *";
constexpr const char* brief_mark = " ~";

std::string time_text(const Record& row) {
  return seconds_text(*row.time_s) + (row.disturbed.empty() ? "" : disturbed_mark);
}

std::string interval_text(const Record& row) {
  if (!row.time_low_s || !row.time_high_s) return "-";
  return seconds_text(*row.time_low_s) + " .. " + seconds_text(*row.time_high_s);
}

}  // namespace

Table searches_table(const std::vector<Search>& searches) {
  Table table({{"best configuration", Align::left, Overflow::cut},
               {"work"},
               {"speed", Align::right, Overflow::keep, 7},
               {"default / best", Align::right},
               {"time", Align::right, Overflow::keep, 8},
               {"95 % interval", Align::right, Overflow::keep, 6},
               {"median / best", Align::right, Overflow::keep, 3},
               {"worst / best", Align::right, Overflow::keep, 2},
               {"as good", Align::right, Overflow::keep, 4},
               {"minima", Align::right, Overflow::keep, 1},
               {"measured", Align::right, Overflow::keep, 5},
               {"took", Align::right, Overflow::keep, 5}});
  for (const auto& found : searches) {
    const SearchSpace& space = *found.space;
    const auto rows = found.fastest_first();
    const std::string work = work_text(space, searches);
    const std::string measured = fmt::format("{} of {}", rows.size(), space.configurations.size());
    const Record* best = found.best();
    if (best == nullptr) {
      const char* why = found.rows.empty() ? "not measured: the budget ended" : "none was right";
      table.add({why, work, "-", "-", "-", "-", "-", "-", "-", "-", measured, seconds_text(found.took_s)});
      continue;
    }
    std::vector<double> times;
    for (const auto* row : rows) times.push_back(*row->time_s);
    std::vector<std::optional<double>> times_by_point;
    for (const auto& at : space.cases) {
      const Record* row = found.row_of(at);
      times_by_point.push_back(row != nullptr ? row->time_s : Number());
    }
    const Record* usual = found.row_of(space.cases.front());
    const auto over_best = [&](double seconds) { return fmt::format("{:.2f}x", seconds / *best->time_s); };
    table.add(
        {launch_text(space, space.case_of(*best)), work, speed_text(*best),
         usual != nullptr ? paint(over_best(*usual->time_s), Style::bold) : "-", time_text(*best),
         interval_text(*best), over_best(median(times)), over_best(times.back()),
         std::to_string(std::ranges::count_if(rows, [&](const Record* r) { return is_tied(*r, *best); })),
         std::to_string(local_minima(space.configurations, times_by_point).size()), measured,
         seconds_text(found.took_s)});
  }
  return table;
}

std::optional<Table> designs_table(const std::vector<Search>& searches) {
  Table table({{"best of each design", Align::left, Overflow::cut},
               {"work", Align::left, Overflow::keep, 1},
               {"time, ~ of few samples", Align::right},
               {"95 % interval", Align::right, Overflow::keep, 2},
               {"over the best", Align::right}});
  bool any = false;
  for (const auto& found : searches) {
    const auto designs = found.best_of_designs();
    if (designs.size() < 2) continue;
    any = true;
    const std::int64_t rounds = designs.front()->run.value_or(1);
    for (const auto* row : designs) {
      const bool brief = row->run.value_or(1) < rounds;
      table.add({launch_text(*found.space, found.space->case_of(*row)), work_text(*found.space, searches),
                 time_text(*row) + (brief ? brief_mark : ""), interval_text(*row),
                 fmt::format("{:.2f}x", *row->time_s / *designs.front()->time_s)});
    }
  }
  return any ? std::optional(std::move(table)) : std::nullopt;
}

std::string disturbed_note(const std::vector<Search>& searches, bool waited) {
  std::size_t disturbed = 0, all = 0;
  for (const auto& found : searches) {
    all += found.rows.size();
    disturbed += static_cast<std::size_t>(
        std::ranges::count_if(found.rows, [](const Record& row) { return !row.disturbed.empty(); }));
  }
  if (disturbed == 0) return "";
  return fmt::format("{} of {} rows were measured while the machine was not quiet{}{}", disturbed, all,
                     disturbed_mark, waited ? "" : "; --wait-quiet 5m waits for quiet moments");
}

}  // namespace clweave::commands
