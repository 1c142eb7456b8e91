// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/family_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/profile/published.hpp"
#include "analysis/rows/case_labels.hpp"
#include "analysis/rows/metric.hpp"
#include "base/near_word.hpp"
#include "base/number.hpp"
#include "base/quantity.hpp"
#include "report/text_chart.hpp"
#include "suite/family.hpp"
#include "suite/tuned_store.hpp"

namespace clweave::profile {

namespace {

constexpr const char* device_axis = "device";
constexpr const char* doubtful_cell_mark = "*";
constexpr const char* cached_cell_mark = "c";
constexpr const char* unverified_mark = " unverified";

using Axes = std::vector<std::string>;
using Places = std::vector<std::uint32_t>;  // index of a value, for each of some axes

// A case and the device that it ran on.
struct Point {
  const CaseTimes* of;
  std::size_t device;
  std::optional<RunTime> run;  // the typical one; empty: a row of it was not ok
  std::size_t index;           // into a Frame
};

using Points = std::vector<Point>;

struct Marks {
  std::size_t cells = 0, disturbed = 0, unsettled = 0, cached = 0, unverified = 0;
};

bool has(const Axes& axes, const std::string& axis) { return std::ranges::find(axes, axis) != axes.end(); }

bool derives(const Family& family, const std::string& name) {
  return std::ranges::find(family.derived, name, &Derived::name) != family.derived.end();
}

// Indexes the values of a family's axes, derived columns and device. Values are numbered in the order that
// people expect, as cases run shuffled: words as the family lists them, numbers by size. Points are sorted
// and compared by these indices alone, so there may be a million.
class Frame {
 public:
  Frame(const Family& family, const Points& points) {
    for (const auto& axis : family.axes) names_.push_back(axis.name);
    for (const auto& column : family.derived) names_.push_back(column.name);
    names_.push_back(device_axis);
    places_.resize(points.size() * names_.size());
    texts_.resize(names_.size());
    for (std::size_t a = 0; a < names_.size(); ++a) number(a, family, points);
  }

  Places columns_of(const Axes& axes) const {
    Places out;
    for (const auto& axis : axes)
      out.push_back(static_cast<std::uint32_t>(std::ranges::find(names_, axis) - names_.begin()));
    return out;
  }

  std::uint32_t place(const Point& point, std::uint32_t axis) const {
    return places_[point.index * names_.size() + axis];
  }
  Places places(const Point& point, const Places& axes) const {
    Places out;
    for (const auto axis : axes) out.push_back(place(point, axis));
    return out;
  }
  const std::string& text(const Point& point, std::uint32_t axis) const {
    return texts_[axis][place(point, axis)];
  }
  std::string joined(const Places& at, const Places& axes) const {
    std::string out;
    for (std::size_t i = 0; i < axes.size(); ++i)
      out.append(i == 0 ? "" : " ").append(texts_[axes[i]][at[i]]);
    return out;
  }

  bool alike(const Point& one, const Point& other, const Places& axes) const {
    return std::ranges::all_of(axes, [&](auto axis) { return place(one, axis) == place(other, axis); });
  }
  void sort(Points& points, const Places& axes) const {
    std::ranges::stable_sort(points, [&](const Point& one, const Point& other) {
      for (const auto axis : axes) {
        if (place(one, axis) != place(other, axis)) return place(one, axis) < place(other, axis);
      }
      return false;
    });
  }

 private:
  void number(std::size_t a, const Family& family, const Points& points) {
    static const Value none{std::string()};
    static const Values words_of_no_axis;
    using Key = std::pair<std::ptrdiff_t, Value>;  // index of a word among the family's, then the value
    std::unordered_map<const Value*, std::uint32_t> met;
    std::map<Key, std::uint32_t> keys;
    const auto value_of = [&](const Point& point) {
      const Value* value = point.of->cell(names_[a]);
      return value != nullptr ? value : &none;
    };
    const bool device = a + 1 == names_.size();
    for (const auto& point : points) {
      std::uint32_t& place = places_[point.index * names_.size() + a] = 0;
      if (device) {
        place = static_cast<std::uint32_t>(point.device);
        while (texts_[a].size() <= place) texts_[a].push_back(letter_of(texts_[a].size()));
        continue;
      }
      const Value* value = value_of(point);
      if (!met.try_emplace(value, 0).second) continue;
      const Values& known = a < family.axes.size() ? family.axes[a].values : words_of_no_axis;
      const bool word = std::holds_alternative<std::string>(*value);
      keys.try_emplace({word ? std::ranges::find(known, *value) - known.begin() : 0, *value}, 0);
    }
    if (device) return;
    std::map<Value, std::uint32_t> by_value;
    for (const auto& [key, unused] : keys) {
      by_value[key.second] = static_cast<std::uint32_t>(texts_[a].size());
      texts_[a].push_back(text_of(key.second));
    }
    for (auto& [value, place] : met) place = by_value[*value];
    for (const auto& point : points) places_[point.index * names_.size() + a] = met[value_of(point)];
  }

  Axes names_;
  std::vector<std::uint32_t> places_;            // by point and axis
  std::vector<std::vector<std::string>> texts_;  // by axis and place
};

// The points of one table or plot: each has its row and column.
struct Block {
  const Family& family;
  const Metric& quantity;
  const Frame& frame;
  Axes row_axes, column_axes;
  std::vector<std::string> named;  // "n=1024": the axes that all its points have in common
  Points points;
  Places by_row, by_column;           // the axes' numbers
  std::vector<Places> rows, columns;  // the different ones, in order

  std::string row_text(std::size_t row) const { return frame.joined(rows[row], by_row); }
  std::string column_text(std::size_t column) const { return frame.joined(columns[column], by_column); }
  std::size_t row_of(const Point& point) const { return index(rows, frame.places(point, by_row)); }
  std::size_t column_of(const Point& point) const { return index(columns, frame.places(point, by_column)); }

 private:
  static std::size_t index(const std::vector<Places>& all, const Places& wanted) {
    return static_cast<std::size_t>(std::ranges::lower_bound(all, wanted) - all.begin());
  }
};

std::vector<Places> different(const Points& points, const Frame& frame, const Places& axes) {
  std::vector<Places> out;
  for (const auto& point : points) out.push_back(frame.places(point, axes));
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Block> blocks_of(Points points, const Frame& frame, const Family& family, const Axes& rows,
                             const Axes& columns, const Metric& quantity) {
  Axes rest = {device_axis};
  for (const auto& axis : family.axes) rest.push_back(axis.name);
  std::erase_if(rest, [&](const std::string& axis) { return has(rows, axis) || has(columns, axis); });
  // An axis that is determined by the row or column, such as the shape each kernel was published with, does
  // not split a table.
  const Places by_row = frame.columns_of(rows), by_column = frame.columns_of(columns);
  for (const auto* keys : {&by_row, &by_column}) {
    frame.sort(points, *keys);
    std::erase_if(rest, [&](const std::string& axis) {
      const Places one = frame.columns_of({axis});
      return std::ranges::adjacent_find(points, [&](const Point& a, const Point& b) {
               return frame.alike(a, b, *keys) && !frame.alike(a, b, one);
             }) == points.end();
    });
  }
  std::ranges::sort(points, {}, &Point::index);  // in the order met
  const Places by_rest = frame.columns_of(rest);
  frame.sort(points, by_rest);
  std::vector<Block> out;
  for (auto from = points.begin(); from != points.end();) {
    const auto to = std::find_if(from, points.end(),
                                 [&](const Point& point) { return !frame.alike(*from, point, by_rest); });
    Block& block = out.emplace_back(
        Block{family, quantity, frame, rows, columns, {}, Points(from, to), by_row, by_column, {}, {}});
    for (std::size_t i = 0; i < rest.size(); ++i)
      block.named.push_back(rest[i] + "=" + frame.text(*from, by_rest[i]));
    block.rows = different(block.points, frame, by_row);
    block.columns = different(block.points, frame, by_column);
    from = to;
  }
  return out;
}

// Reference times: the first row of each column, and the best of all.
struct Against {
  explicit Against(const Block& block) : first_s(block.columns.size()) {
    for (const auto& point : block.points) {
      if (!point.run || point.of->unverified) continue;
      best_s = best_s > 0 ? std::min(best_s, point.run->time_s) : point.run->time_s;
      if (block.row_of(point) == 0) first_s[block.column_of(point)] = point.run->time_s;
    }
  }
  double best_s = 0;
  std::vector<double> first_s;  // by column; 0: there is none
};

Number shown_value(const Block& block, const Point& point, const Against& against) {
  if (!point.run) return {};
  return block.quantity.of(*point.run, against.first_s[block.column_of(point)], against.best_s);
}

std::string status_text(const Point& point) {
  if (point.of->status == Status::none) return "-";  // ok, but without a time
  return paint(point.of->known_incorrect && point.of->status == Status::wrong_result
                   ? "known incorrect: wrong"
                   : text_of(point.of->status),
               point.of->failed() ? Style::red : Style::dim);
}

std::string cell_text(const Block& block, const Point& point, const Against& against, Marks& marks) {
  if (!point.run) return status_text(point);
  const RunTime& run = *point.run;
  ++marks.cells;
  const Number value = shown_value(block, point, against);
  const bool factor = *block.quantity.suffix != 0;
  std::string text = !value   ? seconds_text(run.time_s)
                     : factor ? fmt::format("{:.2f}{}", *value, block.quantity.suffix)
                              : fmt::format("{:.4g}", *value);
  if (run.doubtful()) {
    text += doubtful_cell_mark;
    ++(run.slowed ? marks.disturbed : marks.unsettled);
  }
  if (run.fraction_of_peak) {
    const bool alone = std::string_view(block.quantity.name) == "fraction_of_peak";
    if (!alone) text += paint(fmt::format(" {:3.0f}%", 100 * *run.fraction_of_peak), Style::dim);
    text += run.cached ? cached_cell_mark : "";
    marks.cached += run.cached ? 1 : 0;
  }
  if (point.of->unverified) {
    text += paint(unverified_mark, Style::yellow);
    ++marks.unverified;
  }
  return text;
}

const char* unit_of(const Block& block) {
  if (std::string_view(block.quantity.name) != "rate") return block.quantity.meaning;
  const auto operations =
      std::ranges::count_if(block.points, [](const Point& p) { return p.run && p.run->of_operations(); });
  return operations == 0                                                  ? "GB/s"
         : operations == static_cast<std::ptrdiff_t>(block.points.size()) ? "Gop/s"
                                                                          : block.quantity.meaning;
}

std::string title_of(const Block& block) {
  return fmt::format("{}{}{}, {}{}{}", paint(block.family.name, Style::bold), block.named.empty() ? "" : "  ",
                     fmt::join(block.named, " "), unit_of(block), block.column_axes.empty() ? "" : " by ",
                     fmt::join(block.column_axes, " "));
}

void add_table(Report& out, const Block& block, Marks& marks) {
  const Against against(block);
  std::vector<Table::Column> heads = {
      {fmt::format("{}", fmt::join(block.row_axes, " ")), Align::left, Overflow::cut}};
  for (std::size_t c = 0; c < block.columns.size(); ++c)
    heads.push_back({block.column_text(c), Align::right});
  std::vector<std::vector<std::string>> rows(block.rows.size(), std::vector<std::string>(heads.size()));
  for (const auto& point : block.points)
    rows[block.row_of(point)][1 + block.column_of(point)] = cell_text(block, point, against, marks);
  Table table(heads);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r][0] = block.row_text(r);
    table.add(std::move(rows[r]));
  }
  out.line(title_of(block));
  out.table(std::move(table));
  out.line();
}

// Returns the keys as numbers; none if one is not a number, or there is only one.
std::vector<double> numbers_of(std::size_t keys, const std::function<std::string(std::size_t)>& text) {
  std::vector<double> out;
  for (std::size_t i = 0; i < keys && keys > 1; ++i) {
    const auto number = number_of<double>(text(i));
    if (!number) return {};
    out.push_back(*number);
  }
  return out;
}

// Builds a curve per row over the columns if all of these are numbers; else a curve per column over the rows;
// else bars.
DrawnGraph graph_of_block(const Block& block) {
  const Against against(block);
  const auto across = numbers_of(block.columns.size(), [&](std::size_t c) { return block.column_text(c); });
  const auto down = !across.empty()
                        ? std::vector<double>()
                        : numbers_of(block.rows.size(), [&](std::size_t r) { return block.row_text(r); });
  const bool curves = !across.empty() || !down.empty();
  DrawnGraph graph{.kind = curves ? DrawnGraph::Kind::lines : DrawnGraph::Kind::bars,
                   .name = block.family.name + ": table"};
  graph.x_title = fmt::format("{}", fmt::join(down.empty() ? block.column_axes : block.row_axes, " "));
  graph.y_title = unit_of(block);
  GraphPanel& panel = graph.panels.emplace_back();
  std::map<std::string, std::size_t> known;
  std::vector<double> xs, ys;
  Points points = block.points;
  block.frame.sort(points, block.by_row);
  for (const auto& point : points) {
    const Number value = shown_value(block, point, against);
    if (!value) continue;
    const std::size_t row = block.row_of(point), column = block.column_of(point);
    std::string name = !across.empty() ? block.row_text(row)
                       : !down.empty() ? block.column_text(column)
                                       : block.row_text(row) + " " + block.column_text(column);
    const auto [at, is_new] = known.try_emplace(name, graph.series.size());
    if (is_new) graph.series.push_back(std::move(name));
    GraphPoint& drawn = panel.points.emplace_back();
    drawn.series = at->second;
    drawn.x = !across.empty() ? across[column] : !down.empty() ? down[row] : 0;
    drawn.y = drawn.low = drawn.high = *value;
    xs.push_back(drawn.x);
    ys.push_back(drawn.y);
  }
  graph.log_x = spans_a_decade(xs);
  graph.log_y = spans_a_decade(ys);
  return graph;
}

void add_plot(Report& out, const Block& block) {
  const DrawnGraph graph = graph_of_block(block);
  if (graph.series.empty()) return;
  out.line(title_of(block));
  out.drawing([graph](const Screen& screen) { return text_of(graph, screen); });
  out.line();
}

std::string axes_of(const CaseName& of, const Family& family, bool tunable, const Axes& without = {}) {
  std::vector<std::string> parts;
  for (const auto& axis : family.axes) {
    if (axis.tunable != tunable || has(without, axis.name)) continue;
    const Value* value = of.axis(axis.name);
    parts.push_back(axis.name + "=" + (value != nullptr ? text_of(*value) : ""));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

// Compares each tuned case with the default configuration of its variant, or, for a design without one, with
// the fastest that does the same work.
void add_tuned(Report& out, const Points& tuned, const Points& usual, const Family& family, bool devices) {
  const Axes designs = design_axes(family);
  using Key = std::pair<std::size_t, std::string>;
  std::map<Key, double> of_variant, of_work;
  for (const auto& point : usual) {
    if (!point.run) continue;
    const CaseName& name = *point.of->name;
    of_variant.try_emplace({point.device, axes_of(name, family, false)}, point.run->time_s);
    const auto [best, is_new] =
        of_work.try_emplace({point.device, axes_of(name, family, false, designs)}, point.run->time_s);
    best->second = std::min(best->second, point.run->time_s);
  }
  Table table({{family.name + ", tuned", Align::left, Overflow::cut},
               {"gain", Align::right},
               {"default", Align::right},
               {"tuned", Align::right},
               {"configuration", Align::left, Overflow::wrap}});
  for (const auto& point : tuned) {
    const CaseName& name = *point.of->name;
    const std::string variant = axes_of(name, family, false);
    std::optional<double> default_s;
    if (const auto it = of_variant.find({point.device, variant}); it != of_variant.end())
      default_s = it->second;
    else if (const auto work = of_work.find({point.device, axes_of(name, family, false, designs)});
             work != of_work.end())
      default_s = work->second;
    table.add({(devices ? letter_of(point.device) + " " : "") + variant,
               default_s && point.run ? fmt::format("{:.2f}x", *default_s / point.run->time_s) : "-",
               default_s ? seconds_text(*default_s) : "-",
               point.run ? seconds_text(point.run->time_s) : status_text(point),
               axes_of(name, family, true)});
  }
  out.table(std::move(table));
  out.line();
}

void check(const Family& family, const Axes& axes) {
  Axes names = {device_axis};
  for (const auto& axis : family.axes) names.push_back(axis.name);
  for (const auto& column : family.derived) names.push_back(column.name);
  for (const auto& axis : axes) {
    if (!has(names, axis))
      throw Error(ErrorCode::usage,
                  fmt::format("family {} has no axis {}{}", family.name, axis, suggestion(axis, names)));
  }
}

// Selects the cases of a family: tuned or default, with emptied caches or without.
Points points_of(const std::vector<const DeviceResults*>& devices, const Family& family, bool tuned,
                 bool cold) {
  Points out;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (const auto& at : devices[d]->cases) {
      if (at.family() != family.name || at.tuned != tuned) continue;
      if (at.was_run(cold)) out.push_back({&at, d, at.typical(cold), out.size()});
    }
  }
  return out;
}

void add_findings(Report& out, const std::vector<const DeviceResults*>& all, const Family& family) {
  bool any = false;
  for (std::size_t d = 0; d < all.size(); ++d) {
    for (const auto& found : all[d]->findings) {
      if (found.family != family.name) continue;
      const Finding& one = found.typical();
      const std::string found_text = one.value ? " " + figure_text(*one.value, one.low, one.high, one.unit)
                                     : one.text.starts_with("none found") ? ""
                                                                          : " undecided";
      out.line(fmt::format("  {}{}{}: {}", all.size() > 1 ? letter_of(d) + " " : "",
                           paint(one.name, Style::cyan), found_text, one.text));
      any = true;
    }
  }
  if (any) out.line();
}

void add_family(Report& out, const std::vector<const DeviceResults*>& all, const Family& family,
                const TableChoice& choice, Marks& marks) {
  const bool devices = all.size() > 1;
  const View& view = family.view;
  Axes rows = !choice.rows.empty() ? choice.rows : view.rows;
  Axes columns = !choice.columns.empty() ? choice.columns : devices ? Axes{device_axis} : view.columns;
  for (auto* axes : {&rows, &columns}) {  // former names to current ones
    for (auto& axis : *axes) {
      if (const Axis* known = family.axis(axis)) axis = known->name;
    }
  }
  std::erase_if(columns, [&](const std::string& axis) { return has(rows, axis); });
  if (choice.rows.empty()) std::erase_if(rows, [&](const std::string& axis) { return has(columns, axis); });
  const Metric& quantity = metric_named(!choice.quantity.empty() ? choice.quantity
                                        : view.quantity.empty()  ? "rate"
                                                                 : view.quantity);
  if (rows.empty()) rows = {family.axes.front().name};
  const auto lacks = [&](const Point& point) {  // a requested column that only some cases derive
    return std::ranges::any_of(std::array{&rows, &columns}, [&](const Axes* axes) {
      return std::ranges::any_of(*axes, [&](const std::string& axis) {
        return derives(family, axis) && point.of->cell(axis) == nullptr;
      });
    });
  };
  for (const bool cold : {false, true}) {
    Points points = points_of(all, family, false, cold);
    std::erase_if(points, lacks);
    for (std::size_t i = 0; i < points.size(); ++i) points[i].index = i;
    if (cold && !points.empty()) out.line("with emptied caches:");
    const Frame frame(family, points);
    for (const auto& block : blocks_of(points, frame, family, rows, columns, quantity)) {
      if (choice.plot)
        add_plot(out, block);
      else
        add_table(out, block, marks);
    }
    const Points tuned = points_of(all, family, true, cold);
    if (!tuned.empty() && !choice.plot) add_tuned(out, tuned, points, family, devices);
  }
  add_findings(out, all, family);
}

std::string counted(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

void add_marks(Report& out, const Marks& marks) {
  if (const auto doubtful = marks.disturbed + marks.unsettled; doubtful > 0) {
    std::vector<std::string> why;
    if (marks.disturbed > 0)
      why.push_back(fmt::format("the machine was not quiet during {}", marks.disturbed));
    if (marks.unsettled > 0)
      why.push_back(fmt::format("the median of {} is not known as well as was asked", marks.unsettled));
    out.line(fmt::format("{}  {} of {}: {}", doubtful_cell_mark, doubtful, counted(marks.cells, "cell"),
                         fmt::join(why, "; ")));
  }
  if (marks.cached > 0)
    out.line(fmt::format("{}  {} of {}: the buffers fit a cache, which a peak of memory does not bound",
                         cached_cell_mark, marks.cached, counted(marks.cells, "cell")));
  if (marks.unverified > 0)
    out.line(fmt::format("unverified  {} of {}: nothing checked the output, as --unchecked allows",
                         marks.unverified, counted(marks.cells, "cell")));
}

Cell cell_of(const Number& number) { return number ? Cell(*number) : Cell(); }

Cell cell_of(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

// A data row: a case of a device, one of its findings, or a baseline program's time.
struct DataRow {
  const DeviceKey& device;
  std::ptrdiff_t runs = 0;
  const CaseTimes* at = nullptr;  // of these three one is not null
  const FindingRows* found = nullptr;
  const BaselineTime* native = nullptr;
  std::optional<RunTime> run = {};  // the typical one; empty if a row was not ok
  bool cold = false;

  const CaseName* name() const { return at != nullptr ? at->name : native != nullptr ? native->of : nullptr; }
  Cell of_run(auto value) const { return run ? cell_of(value(*run)) : Cell(); }
  Cell of_found(auto value) const { return found != nullptr ? cell_of(value(found->typical())) : Cell(); }
  Cell sensed(auto Sensed::*what) const {
    return run && run->sensed != nullptr ? cell_of((*run->sensed).*what) : Cell();
  }
};

struct DataColumn {
  const char* name;
  Cell (*cell)(const DataRow&);
};

const std::vector<DataColumn>& case_columns() {
  static const std::vector<DataColumn> all = {
      {"device", [](const DataRow& r) { return Cell(r.device.name); }},
      {"platform", [](const DataRow& r) { return Cell(r.device.platform); }},
      {"driver", [](const DataRow& r) { return Cell(r.device.driver); }},
      {"device_id", [](const DataRow& r) { return cell_of(r.device.id); }},
      {"uuid", [](const DataRow& r) { return cell_of(r.device.uuid); }},
      {"label", [](const DataRow& r) { return cell_of(r.device.user_label); }},
      {"family",
       [](const DataRow& r) { return Cell(r.name() != nullptr ? r.name()->family : r.found->family); }},
      {"case_id", [](const DataRow& r) { return Cell(r.name() != nullptr ? r.name()->id : r.found->id); }},
      {"status",
       [](const DataRow& r) { return cell_of(text_of(r.at != nullptr ? r.at->status : Status::ok)); }},
      {"known_incorrect", [](const DataRow& r) { return Cell(r.at != nullptr && r.at->known_incorrect); }},
      {"unverified", [](const DataRow& r) { return Cell(r.at != nullptr && r.at->unverified); }},
      {"tuned", [](const DataRow& r) { return Cell(r.at != nullptr && r.at->tuned); }},
      {"cold", [](const DataRow& r) { return Cell(r.cold); }},
      {"runs", [](const DataRow& r) { return Cell(std::int64_t{r.runs}); }},
      {"time_s",
       [](const DataRow& r) { return r.of_run([](const auto& run) { return Number(run.time_s); }); }},
      {"time_low_s",
       [](const DataRow& r) {
         return r.of_run([](const auto& run) { return run.has_interval ? Number(run.low_s) : Number(); });
       }},
      {"time_high_s",
       [](const DataRow& r) {
         return r.of_run([](const auto& run) { return run.has_interval ? Number(run.high_s) : Number(); });
       }},
      {"gb_per_s", [](const DataRow& r) { return r.of_run([](const auto& run) { return run.gb_per_s; }); }},
      {"gflop_per_s",
       [](const DataRow& r) { return r.of_run([](const auto& run) { return run.gflop_per_s; }); }},
      {"gitems_per_s",
       [](const DataRow& r) { return r.of_run([](const auto& run) { return run.gitems_per_s; }); }},
      {"energy_j", [](const DataRow& r) { return r.of_run([](const auto& run) { return run.energy_j; }); }},
      {"energy_low_j",
       [](const DataRow& r) { return r.of_run([](const auto& run) { return run.energy_low_j; }); }},
      {"energy_high_j",
       [](const DataRow& r) { return r.of_run([](const auto& run) { return run.energy_high_j; }); }},
      {"fraction_of_peak",
       [](const DataRow& r) { return r.of_run([](const auto& run) { return run.fraction_of_peak; }); }},
      {"peak", [](const DataRow& r) { return r.of_run([](const auto& run) { return text_of(run.peak); }); }},
      {"cached", [](const DataRow& r) { return Cell(r.run && r.run->cached); }},
      {"disturbed", [](const DataRow& r) { return Cell(r.run && r.run->slowed); }},
      {"unsettled", [](const DataRow& r) { return Cell(r.run && r.run->unsettled); }},
      {"finding", [](const DataRow& r) { return r.of_found([](const auto& found) { return found.name; }); }},
      {"value", [](const DataRow& r) { return r.of_found([](const auto& found) { return found.value; }); }},
      {"value_low", [](const DataRow& r) { return r.of_found([](const auto& found) { return found.low; }); }},
      {"value_high",
       [](const DataRow& r) { return r.of_found([](const auto& found) { return found.high; }); }},
      {"unit", [](const DataRow& r) { return r.of_found([](const auto& found) { return found.unit; }); }},
      {"reason",
       [](const DataRow& r) {
         return r.at != nullptr ? cell_of(r.at->reason)
                                : r.of_found([](const auto& found) { return found.text; });
       }},
      {"api", [](const DataRow& r) { return Cell(r.native != nullptr ? r.native->api : opencl_api); }},
      {"core_mhz", [](const DataRow& r) { return r.sensed(&Sensed::core_mhz); }},
      {"memory_mhz", [](const DataRow& r) { return r.sensed(&Sensed::memory_mhz); }},
      {"power_w", [](const DataRow& r) { return r.sensed(&Sensed::power_w); }},
      {"temperature_c", [](const DataRow& r) { return r.sensed(&Sensed::temperature_c); }},
      {"throttle_reasons", [](const DataRow& r) { return r.sensed(&Sensed::throttle_reasons); }}};
  return all;
}

// Returns the axes of the families and of baselines.
Axes axes_of_all(const std::vector<const Family*>& families) {
  Axes out;
  for (const auto* family : families) {
    for (const auto& axis : family->axes) {
      if (!has(out, axis.name)) out.push_back(axis.name);
    }
  }
  out.emplace_back(threads_axis);
  return out;
}

Report::Row cells_of(const DataRow& one, const Axes& axes) {
  Report::Row row;
  for (const auto& column : case_columns()) row.push_back(column.cell(one));
  for (const auto& axis : axes) {
    const Value* value = one.name() != nullptr ? one.name()->axis(axis) : nullptr;
    row.push_back(value != nullptr ? std::visit([](const auto& v) { return Cell(v); }, *value) : Cell());
  }
  return row;
}

}  // namespace

void add_cases(Report& out, const ResultsSet& set, const std::vector<const Family*>& families) {
  std::vector<std::string> names;
  for (const auto& column : case_columns()) names.emplace_back(column.name);
  out.columns(std::move(names), axes_of_all(families));
  out.rows([&set, families](const std::function<void(Report::Row)>& take) {
    const Axes axes = axes_of_all(families);
    const auto add = [&](const DataRow& one) { take(cells_of(one, axes)); };
    const auto chosen = [&](const std::string& name) {
      return std::ranges::find(families, name, &Family::name) != families.end();
    };
    for (const auto* device : measured(set)) {
      for (const auto& at : device->cases) {
        if (!chosen(at.family())) continue;
        for (const bool cold : {false, true}) {
          if (at.was_run(cold))
            add({.device = *device,
                 .runs = std::ranges::count(at.runs, cold, &RunTime::cold) + at.bad,
                 .at = &at,
                 .run = at.typical(cold),
                 .cold = cold});
        }
      }
      for (const auto& found : device->findings) {
        if (chosen(found.family)) add({.device = *device, .runs = std::ssize(found.runs), .found = &found});
      }
    }
    for (const auto& looks : baseline_times(set)) {
      if (!chosen(looks.front()->of->family)) continue;
      const BaselineTime native = typical(looks);
      add({.device = native.device, .runs = std::ssize(looks), .native = &native, .run = native.run});
    }
  });
}

Report family_tables(const ResultsSet& all, const std::vector<Family>& families, const TableChoice& choice) {
  const auto devices = measured(all);
  std::set<std::string> present;
  for (const auto* device : devices) {
    for (const auto& at : device->cases) present.insert(at.family());
    for (const auto& found : device->findings) present.insert(found.family);
  }
  for (const auto& name : choice.families) {
    if (std::ranges::find(families, name, &Family::name) == families.end() || !present.contains(name))
      throw Error(ErrorCode::usage, fmt::format("there are no rows of family {}{}", name,
                                                suggestion(name, {present.begin(), present.end()})));
  }
  std::vector<const Family*> chosen;
  for (const auto& family : families) {
    if (present.contains(family.name) && (choice.families.empty() || has(choice.families, family.name)))
      chosen.push_back(&family);
  }
  if (!choice.quantity.empty()) metric_named(choice.quantity);
  // Families chosen by name must all have an axis; otherwise those without it are left out.
  const auto has_all = [&](const Family* family, const Axes& axes) {
    return std::ranges::all_of(axes, [&](const std::string& axis) {
      return axis == device_axis || family->axis(axis) != nullptr || derives(*family, axis);
    });
  };
  Axes asked = choice.rows;
  asked.insert(asked.end(), choice.columns.begin(), choice.columns.end());
  if (!choice.families.empty() ||
      std::ranges::none_of(chosen, [&](const Family* f) { return has_all(f, asked); })) {
    for (const auto* family : chosen) check(*family, asked);
  }
  std::erase_if(chosen, [&](const Family* family) { return !has_all(family, asked); });

  Report out;
  for (const auto& note : all.notes) out.line(paint("note: " + note, Style::yellow));
  for (std::size_t d = 0; d < devices.size(); ++d)
    out.line(fmt::format("{}{}  {}, driver {}", devices.size() > 1 ? letter_of(d) + "  " : "",
                         paint(devices[d]->name + devices[d]->called(), Style::bold), devices[d]->platform,
                         devices[d]->driver));
  out.line();
  Marks marks;
  for (const auto* family : chosen) add_family(out, devices, *family, choice, marks);
  add_marks(out, marks);
  add_published(out, all, chosen);
  add_cases(out, all, chosen);
  return out;
}

}  // namespace clweave::profile
