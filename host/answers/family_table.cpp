// SPDX-License-Identifier: Apache-2.0
#include "answers/family_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "answers/curve.hpp"
#include "answers/quantity_shown.hpp"
#include "base/quantity.hpp"

namespace clweave {

namespace {

constexpr const char* device_axis = "device";
constexpr const char* doubtful_mark = "*";
constexpr const char* cached_mark = "c";

// A case and the device that it ran on.
struct Point {
  const MedianCase* of;
  std::size_t device;

  const Look& look() const { return of->look(); }
};

using Points = std::vector<Point>;
using Axes = std::vector<std::string>;

struct Marks {
  std::size_t cells = 0, disturbed = 0, unsettled = 0, cached = 0;
};

std::string device_letter(std::size_t device) {
  std::string out(1, static_cast<char>('A' + device % 26));
  return device < 26 ? out : out + std::to_string(device / 26);
}

bool has(const Axes& axes, const std::string& axis) { return std::ranges::find(axes, axis) != axes.end(); }

std::string value_at(const Point& point, const std::string& axis) {
  return axis == device_axis ? device_letter(point.device) : point.of->axis(axis);
}

std::string joined(const Point& point, const Axes& axes) {
  std::vector<std::string> parts;
  for (const auto& axis : axes) parts.push_back(value_at(point, axis));
  return fmt::format("{}", fmt::join(parts, " "));
}

// Cases run in a shuffled order; people look for them in that of the axes' values.
Points in_axis_order(Points points, const Family& family, const Axes& axes) {
  std::ranges::stable_sort(points, {}, [&](const Point& point) {
    std::vector<std::pair<std::ptrdiff_t, Value>> key;  // a word's place among the known, else the number
    for (const auto& name : axes) {
      const Axis* axis = family.axis(name);
      const Value value = value_of(value_at(point, name));
      const bool word = std::holds_alternative<std::string>(value) && axis != nullptr;
      key.emplace_back(word ? std::ranges::find(axis->values, value) - axis->values.begin() : 0, value);
    }
    return key;
  });
  return points;
}

// The different keys of the points, in the axes' order.
Axes keys_of(const Points& points, const Family& family, const Axes& axes) {
  Axes keys;
  std::set<std::string> known;
  for (const auto& point : in_axis_order(points, family, axes)) {
    if (auto key = joined(point, axes); known.insert(key).second) keys.push_back(std::move(key));
  }
  return keys;
}

// What one table or plot shows: every point has its row and column.
struct Block {
  const Family& family;
  const ShownQuantity& quantity;
  Axes rows, columns;
  std::vector<std::string> named;  // "n=1024": the axes that all its points have in common
  Points points;
};

std::vector<Block> blocks_of(const Points& points, const Family& family, const Axes& rows,
                             const Axes& columns, const ShownQuantity& quantity) {
  Axes rest;
  for (const auto& axis : family.axes) {
    if (!has(rows, axis.name) && !has(columns, axis.name)) rest.push_back(axis.name);
  }
  if (!has(rows, device_axis) && !has(columns, device_axis)) rest.insert(rest.begin(), device_axis);
  // An axis that goes with the row or the column, such as the shape each kernel was published with, splits no
  // table.
  const auto goes_with = [&](const std::string& axis, const Axes& keys) {
    std::map<std::string, std::string> values;
    return std::ranges::all_of(points, [&](const Point& point) {
      const std::string value = value_at(point, axis);
      return values.try_emplace(joined(point, keys), value).first->second == value;
    });
  };
  std::erase_if(rest,
                [&](const std::string& axis) { return goes_with(axis, rows) || goes_with(axis, columns); });
  std::vector<Block> out;
  std::map<std::string, std::size_t> known;
  for (const auto& point : in_axis_order(points, family, rest)) {
    const auto [at, is_new] = known.try_emplace(joined(point, rest), out.size());
    if (is_new) {
      out.push_back({family, quantity, rows, columns, {}, {}});
      for (const auto& axis : rest) out.back().named.push_back(axis + "=" + value_at(point, axis));
    }
    out[at->second].points.push_back(point);
  }
  return out;
}

std::map<std::pair<std::string, std::string>, Point> grid_of(const Block& block) {
  std::map<std::pair<std::string, std::string>, Point> out;
  for (const auto& point : block.points)
    out.insert_or_assign({joined(point, block.rows), joined(point, block.columns)}, point);
  return out;
}

// What times are held against: the first row of each column, and the best of all.
struct Against {
  Against(const Block& block, const Axes& rows) {
    for (const auto& point : block.points) {
      if (!point.look().ok() || !point.look().time_s) continue;
      const double time_s = *point.look().time_s;
      best_s = best_s > 0 ? std::min(best_s, time_s) : time_s;
      if (joined(point, block.rows) == rows.front()) first_s[joined(point, block.columns)] = time_s;
    }
  }
  double best_s = 0;
  std::map<std::string, double> first_s;
};

Number shown_value(const Block& block, const Point& point, const Against& against) {
  if (!point.look().ok()) return {};
  const auto first = against.first_s.find(joined(point, block.columns));
  return block.quantity.of(point.look(), first == against.first_s.end() ? 0 : first->second, against.best_s);
}

std::string cell_text(const Block& block, const Point& point, const Against& against, Marks& marks) {
  const Look& look = point.look();
  if (!look.ok())
    return paint(
        look.exhibit && look.status == Status::wrong_result ? "exhibit: wrong" : text_of(look.status),
        look.failed() ? Style::red : Style::dim);
  if (!look.time_s) return "-";
  ++marks.cells;
  const Number value = shown_value(block, point, against);
  const bool factor = *block.quantity.suffix != 0;
  std::string text = !value   ? seconds_text(*look.time_s)
                     : factor ? fmt::format("{:.2f}{}", *value, block.quantity.suffix)
                              : fmt::format("{:.4g}", *value);
  if (look.doubtful()) {
    text += doubtful_mark;
    ++(look.disturbed ? marks.disturbed : marks.unsettled);
  }
  if (look.of_ceiling) {
    const bool alone = std::string_view(block.quantity.name) == "of_ceiling";
    if (!alone) text += paint(fmt::format(" {:3.0f}%", 100 * *look.of_ceiling), Style::dim);
    text += look.cached ? cached_mark : "";
    marks.cached += look.cached ? 1 : 0;
  }
  return text;
}

const char* unit_of(const Block& block) {
  if (std::string_view(block.quantity.name) != "rate") return block.quantity.meaning;
  const auto operations =
      std::ranges::count_if(block.points, [](const Point& p) { return p.look().of_operations; });
  return operations == 0                                                  ? "GB/s"
         : operations == static_cast<std::ptrdiff_t>(block.points.size()) ? "Gop/s"
                                                                          : block.quantity.meaning;
}

std::string title_of(const Block& block) {
  return fmt::format("{}{}{}, {}{}{}", paint(block.family.name, Style::bold), block.named.empty() ? "" : "  ",
                     fmt::join(block.named, " "), unit_of(block), block.columns.empty() ? "" : " by ",
                     fmt::join(block.columns, " "));
}

void add_table(Report& out, const Block& block, Marks& marks) {
  const auto rows = keys_of(block.points, block.family, block.rows);
  const auto columns = keys_of(block.points, block.family, block.columns);
  const auto grid = grid_of(block);
  const Against against(block, rows);
  std::vector<Table::Column> heads = {
      {fmt::format("{}", fmt::join(block.rows, " ")), Align::left, Give::cut}};
  for (const auto& column : columns) heads.push_back({column, Align::right});
  Table table(heads);
  for (const auto& row : rows) {
    std::vector<std::string> cells = {row};
    for (const auto& column : columns) {
      const auto it = grid.find({row, column});
      cells.push_back(it != grid.end() ? cell_text(block, it->second, against, marks) : "");
    }
    table.add(std::move(cells));
  }
  out.line(title_of(block));
  out.table(std::move(table));
  out.line();
}

// A curve per row over the columns' numbers; else a curve per column over the rows'; else bars.
void add_plot(Report& out, const Block& block) {
  const auto rows = keys_of(block.points, block.family, block.rows);
  const auto columns = keys_of(block.points, block.family, block.columns);
  const Against against(block, rows);
  const auto numeric = [](const Axes& keys) {
    return keys.size() > 1 && std::ranges::all_of(keys, [](const std::string& key) {
             return !std::holds_alternative<std::string>(value_of(key));
           });
  };
  const bool by_column = numeric(columns);
  const bool by_row = !by_column && numeric(rows);
  Plot plot{.x_name = fmt::format("{}", fmt::join(by_row ? block.rows : block.columns, " ")),
            .y_name = unit_of(block),
            .curves = {}};
  std::map<std::string, std::size_t> known;
  for (const auto& point : in_axis_order(block.points, block.family, block.rows)) {
    const Number value = shown_value(block, point, against);
    if (!value) continue;
    const std::string row = joined(point, block.rows), column = joined(point, block.columns);
    std::string name = by_column ? row : by_row ? column : fmt::format("{} {}", row, column);
    const auto [at, is_new] = known.try_emplace(name, plot.curves.size());
    if (is_new) plot.curves.push_back({std::move(name), {}});
    const Value x = value_of(by_column ? column : by_row ? row : "0");
    plot.curves[at->second].points.emplace_back(
        std::visit(
            [](const auto& v) -> double {
              if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
                return 0;
              else
                return static_cast<double>(v);
            },
            x),
        *value);
  }
  if (plot.curves.empty()) return;
  out.line(title_of(block));
  out.drawing([plot, curves = by_column || by_row](const Screen& screen) {
    return curves ? curves_text(plot, screen) : bars_text(plot, screen);
  });
  out.line();
}

std::string axes_of(const MedianCase& of, const Family& family, bool tunable) {
  std::vector<std::string> parts;
  for (const auto& axis : family.axes) {
    if (axis.tunable == tunable) parts.push_back(axis.name + "=" + of.axis(axis.name));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

// Each tuned case beside the same work in the default configuration.
void add_tuned(Report& out, const Points& tuned, const Points& usual, const Family& family, bool devices) {
  std::map<std::pair<std::size_t, std::string>, double> default_s;
  for (const auto& point : usual) {
    if (point.look().time_s)
      default_s.try_emplace({point.device, axes_of(*point.of, family, false)}, *point.look().time_s);
  }
  Table table({{family.name + ", tuned", Align::left, Give::cut},
               {"gain", Align::right},
               {"default", Align::right},
               {"tuned", Align::right},
               {"configuration", Align::left, Give::wrap}});
  for (const auto& point : tuned) {
    const std::string variant = axes_of(*point.of, family, false);
    const auto other = default_s.find({point.device, variant});
    const Number time_s = point.look().time_s;
    table.add({(devices ? device_letter(point.device) + " " : "") + variant,
               other != default_s.end() && time_s ? fmt::format("{:.2f}x", other->second / *time_s) : "-",
               other != default_s.end() ? seconds_text(other->second) : "-",
               time_s ? seconds_text(*time_s) : text_of(point.look().status),
               axes_of(*point.of, family, true)});
  }
  out.table(std::move(table));
  out.line();
}

void check(const Family& family, const Axes& axes) {
  Axes names = {device_axis};
  for (const auto& axis : family.axes) names.push_back(axis.name);
  for (const auto& axis : axes) {
    if (!has(names, axis))
      throw Error(Kind::usage, fmt::format("family {} has no axis {}; it has {}", family.name, axis,
                                           fmt::join(names, ", ")));
  }
}

void add_family(Report& out, const MedianCases& all, const Family& family, const TableChoice& choice,
                Marks& marks) {
  Points usual, tuned, findings;
  for (std::size_t d = 0; d < all.devices().size(); ++d) {
    for (const auto& one : all.devices()[d].cases) {
      if (one.family == family.name)
        (!one.finding.empty() ? findings : one.tuned ? tuned : usual).push_back({&one, d});
    }
  }
  const bool devices = all.devices().size() > 1;
  const View& view = family.view;
  Axes rows = !choice.rows.empty() ? choice.rows : view.rows;
  Axes columns = !choice.columns.empty() ? choice.columns : devices ? Axes{device_axis} : view.columns;
  std::erase_if(columns, [&](const std::string& axis) { return has(rows, axis); });
  if (choice.rows.empty()) std::erase_if(rows, [&](const std::string& axis) { return has(columns, axis); });
  const ShownQuantity& quantity = shown_quantity(!choice.quantity.empty() ? choice.quantity
                                                 : view.quantity.empty()  ? "rate"
                                                                          : view.quantity);
  if (rows.empty()) rows = {family.axes.front().name};
  for (const bool cold : {false, true}) {
    Points here;
    std::ranges::copy_if(usual, std::back_inserter(here), [&](const Point& p) { return p.of->cold == cold; });
    if (here.empty()) continue;
    if (cold) out.line("with emptied caches:");
    for (const auto& block : blocks_of(here, family, rows, columns, quantity)) {
      if (choice.plot)
        add_plot(out, block);
      else
        add_table(out, block, marks);
    }
  }
  if (!tuned.empty() && !choice.plot) add_tuned(out, tuned, usual, family, devices);
  for (const auto& point : findings) {
    const Look& look = point.look();
    out.line(fmt::format("  {}{} {} {}: {}", devices ? device_letter(point.device) + " " : "",
                         paint(point.of->finding, Style::cyan),
                         look.value ? fmt::format("{:.3g}", *look.value) : "-", point.of->unit, look.reason));
  }
  if (!findings.empty()) out.line();
}

std::string counted(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

void add_marks(Report& out, const Marks& marks) {
  if (const auto doubtful = marks.disturbed + marks.unsettled; doubtful > 0) {
    std::vector<std::string> why;
    if (marks.disturbed > 0) why.push_back(fmt::format("the device ran slow during {}", marks.disturbed));
    if (marks.unsettled > 0)
      why.push_back(fmt::format("the median of {} is not known as well as was asked", marks.unsettled));
    out.line(fmt::format("{}  {} of {}: {}", doubtful_mark, doubtful, counted(marks.cells, "cell"),
                         fmt::join(why, "; ")));
  }
  if (marks.cached > 0)
    out.line(fmt::format("{}  {} of {}: the buffers fit a cache, which a ceiling of memory does not bound",
                         cached_mark, marks.cached, counted(marks.cells, "cell")));
}

Cell cell_of(const Number& number) { return number ? Cell(*number) : Cell(); }

Cell cell_of(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

void add_data(Report& out, const MedianCases& all, const std::vector<const Family*>& families) {
  Axes axes;
  for (const auto* family : families) {
    for (const auto& axis : family->axes) {
      if (!has(axes, axis.name)) axes.push_back(axis.name);
    }
  }
  Axes names = {"device",    "platform",     "driver",     "family",  "case_id", "status",
                "exhibit",   "tuned",        "cold",       "runs",    "time_s",  "gb_per_s",
                "gop_per_s", "gitems_per_s", "of_ceiling", "ceiling", "cached",  "disturbed",
                "unsettled", "finding",      "value",      "unit",    "reason"};
  names.insert(names.end(), axes.begin(), axes.end());
  out.columns(names);
  for (const auto& device : all.devices()) {
    for (const auto& one : device.cases) {
      if (std::ranges::find(families, one.family, &Family::name) == families.end()) continue;
      const Look& look = one.look();
      std::vector<Cell> cells = {device.name,
                                 device.platform,
                                 device.driver,
                                 one.family,
                                 one.id,
                                 text_of(look.status),
                                 look.exhibit,
                                 one.tuned,
                                 one.cold,
                                 static_cast<std::int64_t>(one.looks.size()),
                                 cell_of(look.time_s),
                                 cell_of(look.gb_per_s),
                                 cell_of(look.gop_per_s),
                                 cell_of(look.gitems_per_s),
                                 cell_of(look.of_ceiling),
                                 cell_of(text_of(look.ceiling)),
                                 look.cached,
                                 look.disturbed,
                                 look.unsettled,
                                 cell_of(one.finding),
                                 cell_of(look.value),
                                 cell_of(one.unit),
                                 cell_of(look.reason)};
      for (const auto& axis : axes) cells.push_back(cell_of(one.axis(axis)));
      out.row(std::move(cells));
    }
  }
}

}  // namespace

Report family_tables(const MedianCases& all, const std::vector<Family>& families, const TableChoice& choice) {
  std::set<std::string> present;
  for (const auto& device : all.devices()) {
    for (const auto& one : device.cases) present.insert(one.family);
  }
  for (const auto& name : choice.families) {
    if (std::ranges::find(families, name, &Family::name) == families.end() || !present.contains(name))
      throw Error(Kind::usage, fmt::format("there are no rows of family {}; there are some of {}", name,
                                           fmt::join(present, ", ")));
  }
  std::vector<const Family*> chosen;
  for (const auto& family : families) {
    if (present.contains(family.name) && (choice.families.empty() || has(choice.families, family.name)))
      chosen.push_back(&family);
  }
  if (!choice.quantity.empty()) shown_quantity(choice.quantity);
  // An axis must be one of all families chosen by name; else families without it are left out.
  const auto has_all = [&](const Family* family, const Axes& axes) {
    return std::ranges::all_of(
        axes, [&](const std::string& axis) { return axis == device_axis || family->axis(axis) != nullptr; });
  };
  Axes asked = choice.rows;
  asked.insert(asked.end(), choice.columns.begin(), choice.columns.end());
  if (!choice.families.empty() ||
      std::ranges::none_of(chosen, [&](const Family* f) { return has_all(f, asked); })) {
    for (const auto* family : chosen) check(*family, asked);
  }
  std::erase_if(chosen, [&](const Family* family) { return !has_all(family, asked); });

  Report out;
  for (const auto& note : all.notes()) out.line(paint("note: " + note, Style::yellow));
  const bool devices = all.devices().size() > 1;
  for (std::size_t d = 0; d < all.devices().size(); ++d) {
    const auto& device = all.devices()[d];
    out.line(fmt::format("{}{}  {}, driver {}", devices ? device_letter(d) + "  " : "",
                         paint(device.name, Style::bold), device.platform, device.driver));
  }
  out.line();
  Marks marks;
  for (const auto* family : chosen) add_family(out, all, *family, choice, marks);
  add_marks(out, marks);
  add_data(out, all, chosen);
  return out;
}

}  // namespace clweave
