// SPDX-License-Identifier: Apache-2.0
#include "charts/vega.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/quantity.hpp"

namespace clweave::charts {

namespace {

using Json = nlohmann::json;
using Kind = DrawnGraph::Kind;

constexpr std::size_t palette = 8, most_labels = 16;
constexpr const char* dim = "var(--dim)";

// Returns the palette's colour of a series, as the page's style defines it.
std::string colour(std::size_t series) { return fmt::format("var(--c{})", series % palette + 1); }

// ---- Parts of a specification -----------------------------------------------------------------------------

Json field(const std::string& name, const char* type, const std::string& title) {
  return {{"field", name}, {"type", type}, {"title", title}};
}

Json text_field(const char* name) { return field(name, "nominal", ""); }

Json data_named(const char* name) { return {{"name", name}}; }

// Begins a specification: the panel's rows and the space for labels, which the script fills in.
Json spec_of(Json layers, double height) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"data", data_named("rows")},
          {"params", Json::array({Json::object({{"name", "room"}, {"value", 100}})})},
          {"height", height},
          {"layer", std::move(layers)}};
}

// Makes the lines between the decades of a logarithmic axis faint.
Json faint_grid(Json axis) {
  axis["gridOpacity"] = {
      {"condition",
       {{"test", "datum.value > 0 && abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 0.001"},
        {"value", 1}}},
      {"value", 0.3}};
  return axis;
}

// Writes 2k and 3M, but 0.2: nobody reads milli in front of a unit that has a prefix of its own.
Json value_axis(const std::string& title) {
  return {{"title", title},
          {"tickCount", 6},
          {"labelExpr", "format(datum.value, datum.value < 1 ? '~g' : '~s')"}};
}

Json quantity(const char* name, Json scale, Json axis) {
  return {{"field", name}, {"type", "quantitative"}, {"scale", std::move(scale)}, {"axis", std::move(axis)}};
}

// Channels of an interval share the scale of its middle.
Json end_of(const char* name) { return {{"field", name}, {"type", "quantitative"}}; }

Json legend_below(double label_limit) {
  return {{"title", nullptr}, {"orient", "bottom"}, {"columns", 1}, {"labelLimit", label_limit}};
}

Json nominal(const char* name, const Json& domain, const Json& range, Json legend) {
  return {{"field", name},
          {"type", "nominal"},
          {"scale", {{"domain", domain}, {"range", range}}},
          {"legend", std::move(legend)}};
}

// Returns the names of all panels' references, each once.
std::vector<std::string> reference_names(const DrawnGraph& graph) {
  std::vector<std::string> out;
  for (const auto& panel : graph.panels) {
    for (const auto& reference : panel.references) {
      if (std::ranges::find(out, reference.name) == out.end()) out.push_back(reference.name);
    }
  }
  return out;
}

// Colours series by the palette; references, which are no series, like text.
Json series_colour(const DrawnGraph& graph) {
  Json domain = graph.series, range = Json::array();
  for (std::size_t i = 0; i < graph.series.size(); ++i) range.push_back(colour(i));
  for (const auto& name : reference_names(graph)) {
    domain.push_back(name);
    range.push_back("var(--ink)");
  }
  return nominal("series", domain, range, nullptr);
}

// Tells series by shape where the palette's colours repeat.
Json series_shape(const DrawnGraph& graph) {
  static constexpr std::array shapes = {"circle", "square", "triangle-up", "diamond"};
  Json range = Json::array();
  for (std::size_t i = 0; i < graph.series.size(); ++i)
    range.push_back(shapes.at(i / palette % shapes.size()));
  return nominal("series", graph.series, range, nullptr);
}

Json column_colour(const DrawnGraph& graph, Json legend) {
  Json range = graph.colours;
  if (graph.colours.empty()) {
    range = Json::array();
    for (std::size_t i = 0; i < graph.columns.size(); ++i) range.push_back(colour(i));
  }
  return nominal("column", graph.columns, range, std::move(legend));
}

Json tooltip(const DrawnGraph& graph) {
  Json out = Json::array({field("series", "nominal", graph.series_title)});
  if (graph.is_numeric())
    out.push_back(field("x", "quantitative", graph.x_title));
  else if (!graph.columns.empty())
    out.push_back(field("column", "nominal", graph.x_title));
  if (graph.kind == Kind::roofline) {
    out.push_back(field("y", "quantitative", graph.y_title));
    out.push_back(field("label", "nominal", graph.label_title));
  } else {
    out.push_back(field("label", "nominal", graph.y_title));
  }
  if (!graph.note_title.empty()) out.push_back(field("note", "nominal", graph.note_title));
  return out;
}

Json scale_of(bool log, int base) {
  Json scale = {{"type", log ? "log" : "linear"}, {"nice", false}};
  if (log)
    scale["base"] = base;
  else
    scale["zero"] = base == 10;
  return scale;
}

Json mark_of(const char* type, Json more) {
  more["type"] = type;
  return more;
}

Json layer(Json mark, Json encoding) {
  return {{"mark", std::move(mark)}, {"encoding", std::move(encoding)}};
}

Json layer_of(const char* data, Json mark, Json encoding) {
  Json out = layer(std::move(mark), std::move(encoding));
  out["data"] = data_named(data);
  return out;
}

double height_by_series(const DrawnGraph& graph, double each) {
  return static_cast<double>(std::max<std::size_t>(2, graph.series.size())) * each;
}

// ---- Specifications, by kind of chart
// -----------------------------------------------------------------------

// Labels bytes in KiB and MiB, and large powers of two as such.
Json x_axis(const DrawnGraph& graph) {
  Json axis = {{"labelOverlap", true}, {"title", graph.x_title}, {"grid", false}};
  if (!graph.log_x) return axis;
  axis["tickCount"] = 10;
  axis["labelExpr"] =
      graph.x_in_bytes
          ? "datum.value < 1024 ? datum.value + ' B' : datum.value < 1048576 ? datum.value / 1024 + ' KiB' : "
            "datum.value < 1073741824 ? datum.value / 1048576 + ' MiB' : datum.value / 1073741824 + ' GiB'"
          : "datum.value >= 65536 ? '2^' + round(log(datum.value) / log(2)) : datum.value < 1 ? "
            "format(datum.value, '.3~g') : datum.value";
  return axis;
}

double lines_height(const DrawnGraph& graph) {
  return std::clamp(18.0 * static_cast<double>(std::min(most_labels, graph.series.size())), 280.0, 400.0);
}

// Adds the vertical lines at x and their texts.
void add_marks(Json& layers, const Json& x) {
  layers.push_back(layer_of("marks", mark_of("rule", {{"strokeDash", {4, 3}}, {"color", dim}}), {{"x", x}}));
  layers.push_back(
      layer_of("marks", mark_of("text", {{"align", "left"}, {"baseline", "top"}, {"dx", 3}, {"color", dim}}),
               {{"x", x}, {"y", {{"value", 0}}}, {"text", text_field("text")}}));
}

Json lines_spec(const DrawnGraph& graph) {
  const Json colour = series_colour(graph), y_scale = scale_of(graph.log_y, 10);
  const Json x = quantity("x", scale_of(graph.log_x, 2), x_axis(graph));
  const Json axis = value_axis(graph.y_title),
             y = quantity("y", y_scale, graph.log_y ? faint_grid(axis) : axis);
  const Json curve = {{"x", x}, {"y", y}, {"color", colour}};
  Json low = end_of("low");
  low["scale"] = y_scale;
  Json layers = Json::array();
  add_marks(layers, x);
  layers.push_back(layer(mark_of("rule", {{"opacity", 0.5}}),
                         {{"x", x}, {"y", low}, {"y2", {{"field", "high"}}}, {"color", colour}}));
  if (std::ranges::any_of(graph.panels, [](const GraphPanel& panel) { return !panel.fits.empty(); }))
    layers.push_back(
        layer_of("fits", mark_of("line", {{"strokeDash", {2, 3}}, {"strokeWidth", 1.5}}), curve));
  layers.push_back(
      layer_of("references", mark_of("line", {{"strokeDash", {6, 3}}, {"strokeWidth", 1.5}}), curve));
  layers.push_back(layer(mark_of("line", {{"strokeWidth", 2}}), curve));
  layers.push_back(layer(
      mark_of("point", {{"filled", true}, {"size", 36}, {"opacity", 1}}),
      {{"x", x}, {"y", y}, {"color", colour}, {"shape", series_shape(graph)}, {"tooltip", tooltip(graph)}}));
  layers.push_back(layer_of("labels",
                            mark_of("text", {{"align", "left"}, {"dx", 9}, {"limit", {{"expr", "room"}}}}),
                            {{"x", x}, {"y", y}, {"text", text_field("series")}, {"color", colour}}));
  return spec_of(std::move(layers), lines_height(graph));
}

Json launches_spec(const DrawnGraph& graph) {
  const Json colour = series_colour(graph);
  const Json x = {{"field", "x"},
                  {"type", "quantitative"},
                  {"axis", {{"title", graph.x_title}, {"grid", false}, {"tickCount", 6}}}};
  const Json y = quantity("y", {{"zero", true}}, value_axis(graph.y_title));
  Json layers = Json::array();
  layers.push_back(layer(mark_of("rule", {{"opacity", 0.4}}),
                         {{"x", x}, {"y", end_of("low")}, {"y2", {{"field", "high"}}}, {"color", colour}}));
  layers.push_back(layer(mark_of("point", {{"filled", true}, {"size", 14}, {"opacity", 0.8}}),
                         {{"x", x}, {"y", y}, {"color", colour}, {"tooltip", tooltip(graph)}}));
  layers.push_back(layer_of("labels", mark_of("text", {{"align", "center"}, {"fontWeight", "bold"}}),
                            {{"x", x}, {"y", y}, {"text", text_field("series")}, {"color", colour}}));
  return spec_of(std::move(layers), 320);
}

Json heat_spec(const DrawnGraph& graph) {
  // Numbers of several axes do not fit side by side.
  const bool wide = std::ranges::any_of(graph.columns, [](const auto& column) { return column.size() > 6; });
  const Json x = {{"field", "column"},
                  {"type", "ordinal"},
                  {"sort", graph.columns},
                  {"axis",
                   {{"title", graph.x_title},
                    {"labelAngle", wide ? -35 : 0},
                    {"labelOverlap", true},
                    {"labelLimit", 130}}}};
  const Json y = {{"field", "series"},
                  {"type", "ordinal"},
                  {"sort", graph.series},
                  {"axis", {{"title", graph.series_title}, {"labelLimit", 150}}}};
  const Json shade = {
      {"field", "y"},
      {"type", "quantitative"},
      {"scale",
       {{"type", graph.log_y ? "log" : "linear"}, {"scheme", "viridis"}, {"reverse", !graph.low_is_good}}},
      {"legend",
       {{"title", graph.y_title}, {"orient", "bottom"}, {"gradientLength", 180}, {"tickCount", 4}}}};
  const Json ink = {{"condition", {{"test", "datum.dark"}, {"value", "#ffffff"}}}, {"value", "#000000"}};
  Json layers = Json::array();
  layers.push_back(layer(mark_of("rect", Json::object()),
                         {{"x", x}, {"y", y}, {"color", shade}, {"tooltip", tooltip(graph)}}));
  layers.push_back(layer(mark_of("text", {{"fontSize", 11}, {"opacity", {{"expr", "room > 30 ? 1 : 0"}}}}),
                         {{"x", x}, {"y", y}, {"text", text_field("label")}, {"color", ink}}));
  layers.push_back(
      layer_of("marks", mark_of("rule", {{"strokeWidth", 3}, {"color", "var(--accent)"}}), {{"x", x}}));
  return spec_of(std::move(layers), height_by_series(graph, 24));
}

// Draws a labelled dot with its interval for each series; a dot for each column, told apart by colour, where
// there are columns.
Json bars_spec(const DrawnGraph& graph) {
  const bool coloured = !graph.columns.empty();
  const Json axis = value_axis(graph.y_title);
  const Json x = quantity("y", graph.log_y ? Json{{"type", "log"}} : Json{{"type", "linear"}, {"zero", true}},
                          graph.log_y ? faint_grid(axis) : axis);
  const Json y = {{"field", "series"},
                  {"type", "ordinal"},
                  {"sort", graph.series},
                  {"axis", {{"title", nullptr}, {"labelLimit", 170}, {"grid", true}}}};
  Json layers = Json::array();
  if (graph.rule)
    layers.push_back(layer(mark_of("rule", {{"strokeDash", {4, 3}}, {"color", dim}}),
                           {{"x", {{"datum", *graph.rule}, {"type", "quantitative"}}}}));
  layers.push_back(layer(mark_of("rule", {{"strokeWidth", 2}, {"color", "var(--c1)"}}),
                         {{"x", end_of("low")}, {"x2", {{"field", "high"}}}, {"y", y}}));
  Json dot = mark_of("point", {{"filled", true}, {"size", 60}, {"opacity", coloured ? 0.9 : 1}});
  Json encoding = {{"x", x}, {"y", y}, {"tooltip", tooltip(graph)}};
  if (coloured)
    encoding["color"] = column_colour(graph, legend_below(300));
  else
    dot["color"] = "var(--c1)";
  layers.push_back(layer(std::move(dot), std::move(encoding)));
  if (!coloured)
    layers.push_back(layer(mark_of("text", {{"align", "left"}, {"dx", 8}, {"limit", {{"expr", "room"}}}}),
                           {{"x", x}, {"y", y}, {"text", text_field("label")}}));
  return spec_of(std::move(layers), height_by_series(graph, 22));
}

Json roofline_spec(const DrawnGraph& graph) {
  const Json x = quantity("x", {{"type", "log"}, {"nice", false}},
                          {{"title", graph.x_title}, {"tickCount", 6}, {"grid", false}, {"format", "~g"}});
  const Json y =
      quantity("y", {{"type", "log"}}, {{"title", graph.y_title}, {"tickCount", 6}, {"format", "~s"}});
  Json layers = Json::array();
  add_marks(layers, x);
  layers.push_back(layer_of("references", mark_of("line", {{"color", dim}, {"strokeWidth", 1.5}}),
                            {{"x", x}, {"y", y}, {"detail", {{"field", "series"}}}}));
  const auto add_labels = [&](const char* place, Json mark) {
    Json names = layer_of("labels", std::move(mark), {{"x", x}, {"y", y}, {"text", {{"field", "series"}}}});
    names["transform"] = Json::array({{{"filter", {{"field", "place"}, {"equal", place}}}}});
    layers.push_back(std::move(names));
  };
  const auto roof_name = [](const char* align, int dy) {
    return mark_of("text",
                   {{"align", align}, {"baseline", "bottom"}, {"dy", dy}, {"fontSize", 10}, {"color", dim}});
  };
  add_labels("slope", roof_name("left", -8));
  add_labels("flat", roof_name("right", -3));
  layers.push_back(
      layer(mark_of("point", {{"filled", true}, {"size", 50}, {"opacity", 0.9}, {"color", "var(--c1)"}}),
            {{"x", x}, {"y", y}, {"tooltip", tooltip(graph)}}));
  add_labels("point", mark_of("text", {{"align", "left"},
                                       {"dx", 6},
                                       {"dy", 4},
                                       {"fontSize", 9},
                                       {"opacity", {{"expr", "room > 60 ? 1 : 0"}}}}));
  return spec_of(std::move(layers), 380);
}

Json slopes_spec(const DrawnGraph& graph) {
  const Json x = {{"field", "column"},
                  {"type", "ordinal"},
                  {"sort", graph.columns},
                  {"axis", {{"title", nullptr}, {"labelAngle", 0}}}};
  const Json y =
      quantity("y", {{"type", "log"}}, {{"title", graph.y_title}, {"tickCount", 6}, {"format", "~g"}});
  Json range = Json::array(), layers = Json::array();
  for (std::size_t i = 0; i < palette; ++i) range.push_back(colour(i));
  if (graph.rule)
    layers.push_back(layer(mark_of("rule", {{"color", dim}, {"strokeDash", {4, 3}}}),
                           {{"y", {{"datum", *graph.rule}, {"type", "quantitative"}}}}));
  layers.push_back(layer(mark_of("line", {{"point", true}}),
                         {{"x", x},
                          {"y", y},
                          {"color", nominal("series", graph.series, range, legend_below(330))},
                          {"tooltip", tooltip(graph)}}));
  return spec_of(std::move(layers), 320);
}

Json stack_spec(const DrawnGraph& graph) {
  const Json y = {{"field", "series"},
                  {"type", "nominal"},
                  {"sort", graph.series},
                  {"axis", {{"title", nullptr}, {"labelLimit", 170}}}};
  const Json x = {
      {"field", "y"}, {"type", "quantitative"}, {"axis", {{"title", graph.y_title}, {"tickMinStep", 1}}}};
  const Json legend = {{"title", nullptr}, {"orient", "bottom"}};
  return spec_of(
      Json::array({layer(
          mark_of("bar", Json::object()),
          {{"x", x}, {"y", y}, {"color", column_colour(graph, legend)}, {"tooltip", tooltip(graph)}})}),
      30.0 * static_cast<double>(graph.series.size()) + 10);
}

struct Shape {
  Kind kind;
  const char* name;  // as the script knows it
  Json (*spec)(const DrawnGraph&);
};

const Shape& shape_of(const DrawnGraph& graph) {
  static constexpr std::array<Shape, 7> shapes = {{{Kind::lines, "lines", lines_spec},
                                                   {Kind::launches, "launches", launches_spec},
                                                   {Kind::heat, "heat", heat_spec},
                                                   {Kind::bars, "bars", bars_spec},
                                                   {Kind::roofline, "roofline", roofline_spec},
                                                   {Kind::slopes, "slopes", slopes_spec},
                                                   {Kind::stack, "stack", stack_spec}}};
  return *std::ranges::find(shapes, graph.kind, &Shape::kind);
}

// ---- Data
// ---------------------------------------------------------------------------------------------------

double with_five_digits(double value) { return std::stod(fmt::format("{:.5g}", value)); }

Json number(double value) { return std::isnan(value) ? Json() : Json(with_five_digits(value)); }

// The extent of a panel's values, linear scales from 0.
Scale scale_of(const DrawnGraph& graph, const GraphPanel& panel) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& point : panel.points) {
    low = std::min(low, point.low > 0 || !graph.log_y ? point.low : point.y);
    high = std::max(high, point.high);
  }
  for (const auto& reference : panel.references) {
    for (const auto& [unused, y] : reference.points) {
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  return {low, high, graph.log_y};
}

struct EndLabel {
  std::string name;
  double x = 0, y = 0, place = 0;
};

// Moves labels apart that are closer than `apart`, and back into the chart from its upper end on.
void spread(std::vector<EndLabel>& labels, double apart) {
  std::ranges::stable_sort(labels, {}, &EndLabel::place);
  for (std::size_t i = 1; i < labels.size(); ++i)
    labels[i].place = std::max(labels[i].place, labels[i - 1].place + apart);
  for (std::size_t i = labels.size(); i-- > 0;) {
    const double most = i + 1 == labels.size() ? 1 : labels[i + 1].place - apart;
    labels[i].place = std::min(labels[i].place, most);
  }
}

// Names curves at their ends: the best ones, as many as fit; the table has all.
Json end_labels(const DrawnGraph& graph, const GraphPanel& panel) {
  const Scale scale = scale_of(graph, panel);
  std::map<std::size_t, EndLabel> last;
  for (const auto& point : panel.points) {
    const EndLabel label{graph.series[point.series], point.x, point.y, scale.place(point.y)};
    auto [at, is_new] = last.try_emplace(point.series, label);
    if (!is_new && point.x >= at->second.x) at->second = label;
  }
  std::vector<EndLabel> labels;
  for (const auto& [unused, label] : last) labels.push_back(label);
  std::ranges::sort(labels, {}, &EndLabel::place);
  if (labels.size() > most_labels) {
    if (graph.low_is_good)
      labels.resize(most_labels);
    else
      labels.erase(labels.begin(), labels.end() - most_labels);
  }
  for (const auto& reference : panel.references) {
    const auto& [x, y] = reference.points.back();
    labels.push_back({reference.name, x, y, scale.place(y)});
  }
  spread(labels, 15 / lines_height(graph));
  double right = -HUGE_VAL;
  for (const auto& label : labels) right = std::max(right, label.x);
  Json out = Json::array();
  for (const auto& label : labels) out.push_back(Json::array({label.name, right, scale.value(label.place)}));
  return out;
}

// Names each series above its points, at three heights in turns.
Json launch_labels(const DrawnGraph& graph, const GraphPanel& panel) {
  std::map<std::size_t, std::pair<double, double>> extents;
  double high = 0;
  for (const auto& point : panel.points) {
    auto [at, is_new] = extents.try_emplace(point.series, point.x, point.x);
    at->second = {std::min(at->second.first, point.x), std::max(at->second.second, point.x)};
    high = std::max(high, point.y);
  }
  Json out = Json::array();
  std::size_t i = 0;
  for (const auto& [series, extent] : extents) {
    const auto& [first, last] = extent;
    if (last - first < 0.03 * static_cast<double>(panel.points.size())) continue;
    out.push_back(Json::array(
        {graph.series[series], (first + last) / 2, high * (1.06 + 0.08 * static_cast<double>(i++ % 3))}));
  }
  return out;
}

// Names roofs, slopes at their low end and flat ones at their high end, and the kernels that have space for
// it; tooltip and table have all.
Json roofline_labels(const DrawnGraph& graph, const GraphPanel& panel) {
  Json out = Json::array();
  const auto add = [&](const std::string& text, double x, double y, const char* place) {
    out.push_back(Json::array({text, with_five_digits(x), with_five_digits(y), place}));
  };
  for (const auto& roof : panel.references) {
    const auto &first = roof.points.front(), &last = roof.points.back();
    const bool flat = first.second == last.second;
    const auto& [x, y] = flat ? last : first;
    if (!roof.label.empty()) add(roof.label, x, y, flat ? "flat" : "slope");
  }
  std::vector<const GraphPoint*> named;
  for (const auto& point : panel.points) {
    const bool crowded = std::ranges::any_of(named, [&](const GraphPoint* other) {
      return std::abs(std::log10(other->x / point.x)) < 0.6 && std::abs(std::log10(other->y / point.y)) < 0.2;
    });
    if (crowded) continue;
    named.push_back(&point);
    add(graph.series[point.series], point.x, point.y, "point");
  }
  return out;
}

Json labels_of(const DrawnGraph& graph, const GraphPanel& panel) {
  switch (graph.kind) {
    case Kind::lines: return end_labels(graph, panel);
    case Kind::launches: return launch_labels(graph, panel);
    case Kind::roofline: return roofline_labels(graph, panel);
    default: return Json::array();
  }
}

std::string label_of(const DrawnGraph& graph, const GraphPoint& point) {
  if (!point.label.empty()) return point.label;
  const bool short_number = graph.unit == "x" || graph.kind == Kind::heat;
  return (short_number ? fmt::format("{:.3g}", point.y) : number_text(point.y, graph.unit)) +
         (point.doubtful ? "*" : "");
}

// Returns the points as rows of the chart's columns.
Json rows_of(const DrawnGraph& graph, const GraphPanel& panel) {
  double low = HUGE_VAL, high = 0;
  for (const auto& point : panel.points) {
    low = std::fmin(low, point.y);
    high = std::fmax(high, point.y);
  }
  Json rows = Json::array();
  for (const auto& point : panel.points) {
    Json row = Json::array({graph.series[point.series]});
    if (graph.is_numeric())
      row.push_back(with_five_digits(point.x));
    else
      row.push_back(point.column < graph.columns.size() ? graph.columns[point.column] : "");
    // A label on a dark cell is white.
    const double place = !(high > low) ? 0
                         : graph.log_y ? std::log(point.y / low) / std::log(high / low)
                                       : (point.y - low) / (high - low);
    const bool dark = (graph.low_is_good ? place : 1 - place) < 0.55;
    row.insert(row.end(), {number(point.y), number(point.low), number(point.high), label_of(graph, point),
                           point.note, dark});
    rows.push_back(std::move(row));
  }
  return rows;
}

Json panel_of(const DrawnGraph& graph, const GraphPanel& panel) {
  std::string note = panel.note;
  if (std::ranges::any_of(panel.points, &GraphPoint::doubtful))
    note += std::string(note.empty() ? "" : "; ") +
            "* while the machine was not quiet, or its median is not settled";
  Json marks = Json::array(), fits = Json::array(), references = Json::array();
  for (const auto& mark : panel.marks)
    marks.push_back(graph.is_numeric() ? Json::array({mark.x, mark.text})
                                       : Json::array({fmt::format("{:.10g}", mark.x), mark.text}));
  for (const auto& fit : panel.fits)
    fits.push_back(Json::array({graph.series[fit.series], with_five_digits(fit.x), with_five_digits(fit.y)}));
  for (const auto& reference : panel.references) {
    for (const auto& [x, y] : reference.points)
      references.push_back(Json::array({reference.name, with_five_digits(x), with_five_digits(y)}));
  }
  return {{"device", panel.device ? Json(*panel.device) : Json()},
          {"at", panel.at},
          {"title", panel.finding},
          {"note", note},
          {"rows", rows_of(graph, panel)},
          {"marks", std::move(marks)},
          {"fits", std::move(fits)},
          {"references", std::move(references)},
          {"labels", labels_of(graph, panel)}};
}

}  // namespace

Json chart_of(const DrawnGraph& graph) {
  const Shape& shape = shape_of(graph);
  const char* const place = graph.is_numeric() ? "x" : "column";
  Json panels = Json::array();
  for (const auto& panel : graph.panels) panels.push_back(panel_of(graph, panel));
  // The columns by the names of the specification, and by those that people read; those without are not for
  // people.
  Json columns = Json::array({{"series", graph.series_title},
                              {place, graph.is_numeric() || !graph.columns.empty() ? graph.x_title : ""},
                              {"y", graph.y_title},
                              {"low", graph.intervals ? "low (95 %)" : ""},
                              {"high", graph.intervals ? "high (95 %)" : ""},
                              {"label", graph.label_title},
                              {"note", graph.note_title},
                              {"dark", ""}});
  return {{"kind", "chart"},
          {"shape", shape.name},
          {"name", graph.name},
          {"family", graph.family},
          {"where", graph.where},
          {"wide", graph.wide},
          {"spec", shape.spec(graph)},
          {"columns", std::move(columns)},
          {"marks", Json::array({place, "text"})},
          {"panels", std::move(panels)}};
}

}  // namespace clweave::charts
