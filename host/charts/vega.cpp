// SPDX-License-Identifier: Apache-2.0
#include "charts/vega.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/quantity.hpp"

namespace clweave::charts {

namespace {

constexpr std::size_t colours = 8, most_labels = 16;

// On a logarithmic scale the lines between the decades are faint.
Json grid(Json axis) {
  axis["gridOpacity"] = {
      {"condition",
       {{"test", "datum.value > 0 && abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 0.001"},
        {"value", 1}}},
      {"value", 0.3}};
  return axis;
}

// 2k and 3M, but 0.2: of milli nobody thinks in a unit that has a prefix of its own.
Json value_axis(const std::string& title) {
  return {{"title", title},
          {"tickCount", 6},
          {"labelExpr", "format(datum.value, datum.value < 1 ? '~g' : '~s')"}};
}

Json text(const std::string& field, const char* type, const std::string& title) {
  return {{"field", field}, {"type", type}, {"title", title}};
}

// References are no series: black.
Json colour_of(const std::vector<std::string>& series, const std::vector<std::string>& references = {}) {
  Json domain = Json::array(), range = Json::array();
  for (std::size_t i = 0; i < series.size(); ++i) {
    domain.push_back(series[i]);
    range.push_back(colour(i));
  }
  for (const auto& reference : references) {
    domain.push_back(reference);
    range.push_back("var(--ink)");
  }
  return {{"field", "series"},
          {"type", "nominal"},
          {"scale", {{"domain", domain}, {"range", range}}},
          {"legend", nullptr}};
}

// Beyond the palette's colours the shape tells.
Json shape_of(const std::vector<std::string>& series) {
  static const char* shapes[] = {"circle", "square", "triangle-up", "diamond"};
  Json domain = Json::array(), range = Json::array();
  for (std::size_t i = 0; i < series.size(); ++i) {
    domain.push_back(series[i]);
    range.push_back(shapes[i / colours % std::size(shapes)]);
  }
  return {{"field", "series"},
          {"type", "nominal"},
          {"scale", {{"domain", domain}, {"range", range}}},
          {"legend", nullptr}};
}

Json scale_of(bool log, int base) {
  Json scale = {{"type", log ? "log" : "linear"}, {"nice", false}};
  if (log)
    scale["base"] = base;
  else
    scale["zero"] = base == 10;
  return scale;
}

// Bytes in KiB and MiB; large powers of two as such.
Json x_axis(const DrawnGraph& graph) {
  Json axis = {{"labelOverlap", true}, {"title", graph.x_title}, {"grid", false}};
  if (!graph.log_x) return axis;
  axis["tickCount"] = 10;
  const bool bytes = graph.x_title.find("bytes") != std::string::npos;
  axis["labelExpr"] =
      bytes
          ? "datum.value < 1024 ? datum.value + ' B' : datum.value < 1048576 ? datum.value / 1024 + ' KiB' : "
            "datum.value < 1073741824 ? datum.value / 1048576 + ' MiB' : datum.value / 1073741824 + ' GiB'"
          : "datum.value >= 65536 ? '2^' + round(log(datum.value) / log(2)) : datum.value < 1 ? "
            "format(datum.value, '.3~g') : datum.value";
  return axis;
}

Json tooltip(const DrawnGraph& graph, const char* x) {
  return Json::array({text("series", "nominal", fmt::format("{}", fmt::join(graph.graph.series, " "))),
                      text(x, x[0] == 'x' ? "quantitative" : "nominal", graph.x_title),
                      text("label", "nominal", graph.y_title), text("launch", "nominal", "launch")});
}

double label_place(double value, double low, double high, bool log) {
  if (log) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

std::vector<std::string> references_of(const DrawnGraph& graph) {
  std::vector<std::string> out;
  for (const auto& panel : graph.panels) {
    for (const auto& reference : panel.references) {
      if (std::ranges::find(out, reference.name) == out.end()) out.push_back(reference.name);
    }
  }
  return out;
}

// Names at the ends of curves, moved apart.
Json end_labels(const DrawnGraph& graph, const GraphPanel& panel, double apart) {
  struct Label {
    std::string name;
    double x = 0, y = 0, place = 0;
  };
  std::map<std::size_t, Label> last;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& point : panel.points) {
    low = std::min(low, point.low > 0 || !graph.log_y ? point.low : point.y);
    high = std::max(high, point.high);
    const Label label{graph.series[point.series], point.x, point.y, 0};
    auto [at, is_new] = last.try_emplace(point.series, label);
    if (!is_new && point.x >= at->second.x) at->second = label;
  }
  for (const auto& reference : panel.references) {
    for (const auto& [x, y] : reference.points) {
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  if (!graph.log_y) low = std::min(low, 0.0);
  if (!(high > low)) high = low + 1;
  std::vector<Label> labels;
  for (auto& [series, label] : last) {
    label.place = label_place(label.y, low, high, graph.log_y);
    labels.push_back(label);
  }
  std::ranges::sort(labels, [&](const Label& a, const Label& b) { return a.place < b.place; });
  if (labels.size() > most_labels) {  // the best ones; the table has all
    if (graph.low_is_good)
      labels.resize(most_labels);
    else
      labels.erase(labels.begin(), labels.end() - most_labels);
  }
  for (const auto& reference : panel.references) {
    const auto& [x, y] = reference.points.back();
    labels.push_back({reference.name, x, y, label_place(y, low, high, graph.log_y)});
  }
  std::ranges::stable_sort(labels, {}, &Label::place);
  for (std::size_t i = 1; i < labels.size(); ++i)
    labels[i].place = std::max(labels[i].place, labels[i - 1].place + apart);
  for (std::size_t i = labels.size(); i-- > 0;) {
    const double most = i + 1 == labels.size() ? 1 : labels[i + 1].place - apart;
    labels[i].place = std::min(labels[i].place, most);
  }
  double right = -HUGE_VAL;
  for (const auto& label : labels) right = std::max(right, label.x);
  Json out = Json::array();
  for (const auto& label : labels) {
    const double y = graph.log_y ? low * std::pow(high / low, label.place) : low + (high - low) * label.place;
    out.push_back(Json::array({label.name, right, y}));
  }
  return out;
}

Json lines_spec(const DrawnGraph& graph, double height) {
  const Json colour = colour_of(graph.series, references_of(graph));
  const Json x = {
      {"field", "x"}, {"type", "quantitative"}, {"scale", scale_of(graph.log_x, 2)}, {"axis", x_axis(graph)}};
  Json y_scale = scale_of(graph.log_y, 10);
  const Json y = {{"field", "y"},
                  {"type", "quantitative"},
                  {"scale", y_scale},
                  {"axis", graph.log_y ? grid(value_axis(graph.y_title)) : value_axis(graph.y_title)}};
  Json layers = Json::array();
  layers.push_back({{"data", {{"name", "marks"}}},
                    {"mark", {{"type", "rule"}, {"strokeDash", {4, 3}}, {"color", "var(--dim)"}}},
                    {"encoding", {{"x", x}}}});
  layers.push_back(
      {{"data", {{"name", "marks"}}},
       {"mark",
        {{"type", "text"}, {"align", "left"}, {"baseline", "top"}, {"dx", 3}, {"color", "var(--dim)"}}},
       {"encoding", {{"x", x}, {"y", {{"value", 0}}}, {"text", text("text", "nominal", "")}}}});
  layers.push_back({{"mark", {{"type", "rule"}, {"opacity", 0.5}}},
                    {"encoding",
                     {{"x", x},
                      {"y", {{"field", "low"}, {"type", "quantitative"}, {"scale", y_scale}}},
                      {"y2", {{"field", "high"}}},
                      {"color", colour}}}});
  if (graph.graph.parabola)
    layers.push_back({{"data", {{"name", "fits"}}},
                      {"mark", {{"type", "line"}, {"strokeDash", {2, 3}}, {"strokeWidth", 1.5}}},
                      {"encoding", {{"x", x}, {"y", y}, {"color", colour}}}});
  layers.push_back({{"data", {{"name", "references"}}},
                    {"mark", {{"type", "line"}, {"strokeDash", {6, 3}}, {"strokeWidth", 1.5}}},
                    {"encoding", {{"x", x}, {"y", y}, {"color", colour}}}});
  layers.push_back({{"mark", {{"type", "line"}, {"strokeWidth", 2}}},
                    {"encoding", {{"x", x}, {"y", y}, {"color", colour}}}});
  layers.push_back({{"mark", {{"type", "point"}, {"filled", true}, {"size", 36}, {"opacity", 1}}},
                    {"encoding",
                     {{"x", x},
                      {"y", y},
                      {"color", colour},
                      {"shape", shape_of(graph.series)},
                      {"tooltip", tooltip(graph, "x")}}}});
  layers.push_back(
      {{"data", {{"name", "labels"}}},
       {"mark", {{"type", "text"}, {"align", "left"}, {"dx", 9}, {"limit", {{"expr", "room"}}}}},
       {"encoding", {{"x", x}, {"y", y}, {"text", text("series", "nominal", "")}, {"color", colour}}}});
  return spec_of(std::move(layers), height);
}

Json launches_spec(const DrawnGraph& graph) {
  const Json colour = colour_of(graph.series);
  const Json x = {{"field", "x"},
                  {"type", "quantitative"},
                  {"axis", {{"title", graph.x_title}, {"grid", false}, {"tickCount", 6}}}};
  const Json y = {{"field", "y"},
                  {"type", "quantitative"},
                  {"scale", {{"zero", true}}},
                  {"axis", value_axis(graph.y_title)}};
  Json layers = Json::array();
  layers.push_back({{"mark", {{"type", "rule"}, {"opacity", 0.4}}},
                    {"encoding",
                     {{"x", x},
                      {"y", {{"field", "low"}, {"type", "quantitative"}}},
                      {"y2", {{"field", "high"}}},
                      {"color", colour}}}});
  layers.push_back({{"mark", {{"type", "point"}, {"filled", true}, {"size", 14}, {"opacity", 0.8}}},
                    {"encoding", {{"x", x}, {"y", y}, {"color", colour}, {"tooltip", tooltip(graph, "x")}}}});
  layers.push_back(
      {{"data", {{"name", "labels"}}},
       {"mark", {{"type", "text"}, {"align", "center"}, {"fontWeight", "bold"}}},
       {"encoding", {{"x", x}, {"y", y}, {"text", text("series", "nominal", "")}, {"color", colour}}}});
  return spec_of(std::move(layers), 320);
}

// Above the points of each series, at two heights in turns.
Json run_labels(const DrawnGraph& graph, const GraphPanel& panel) {
  std::map<std::size_t, std::pair<double, double>> runs;
  double high = 0;
  for (const auto& point : panel.points) {
    auto [at, is_new] = runs.try_emplace(point.series, point.x, point.x);
    at->second = {std::min(at->second.first, point.x), std::max(at->second.second, point.x)};
    high = std::max(high, point.y);
  }
  Json out = Json::array();
  std::size_t i = 0;
  for (const auto& [series, run] : runs) {
    if (run.second - run.first < 0.03 * static_cast<double>(panel.points.size())) continue;
    out.push_back(Json::array({graph.series[series], (run.first + run.second) / 2,
                               high * (1.06 + 0.08 * static_cast<double>(i++ % 3))}));
  }
  return out;
}

}  // namespace

std::string colour(std::size_t series) { return fmt::format("var(--c{})", series % colours + 1); }

Json spec_of(Json layers, double height) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"data", {{"name", "rows"}}},
          {"params", Json::array({Json::object({{"name", "room"}, {"value", 100}})})},
          {"height", height},
          {"layer", std::move(layers)}};
}

Json heat_spec(const std::vector<std::string>& series, const std::vector<std::string>& columns,
               const std::string& x_title, const std::string& y_title, const Scale& shade, bool low_is_good) {
  // Numbers of several axes do not fit side by side.
  bool wide = false;
  for (const auto& column : columns) wide = wide || column.size() > 6;
  const Json x = {
      {"field", "column"},
      {"type", "ordinal"},
      {"sort", columns},
      {"axis",
       {{"title", x_title}, {"labelAngle", wide ? -35 : 0}, {"labelOverlap", true}, {"labelLimit", 130}}}};
  const Json y = {{"field", "series"},
                  {"type", "ordinal"},
                  {"sort", series},
                  {"axis", {{"title", y_title}, {"labelLimit", 150}}}};
  Json layers = Json::array();
  layers.push_back(
      {{"mark", {{"type", "rect"}}},
       {"encoding",
        {{"x", x},
         {"y", y},
         {"color",
          {{"field", "y"},
           {"type", "quantitative"},
           {"scale",
            {{"type", shade.log ? "log" : "linear"}, {"scheme", "viridis"}, {"reverse", !low_is_good}}},
           {"legend",
            {{"title", shade.title}, {"orient", "bottom"}, {"gradientLength", 180}, {"tickCount", 4}}}}},
         {"tooltip",
          Json::array({text("series", "nominal", y_title), text("column", "nominal", x_title),
                       text("label", "nominal", shade.title), text("launch", "nominal", "note")})}}}});
  layers.push_back(
      {{"mark", {{"type", "text"}, {"fontSize", 11}, {"opacity", {{"expr", "room > 30 ? 1 : 0"}}}}},
       {"encoding",
        {{"x", x},
         {"y", y},
         {"text", text("label", "nominal", "")},
         {"color", {{"condition", {{"test", "datum.dark"}, {"value", "#ffffff"}}}, {"value", "#000000"}}}}}});
  layers.push_back({{"data", {{"name", "marks"}}},
                    {"mark", {{"type", "rule"}, {"strokeWidth", 3}, {"color", "var(--accent)"}}},
                    {"encoding", {{"x", x}}}});
  return spec_of(std::move(layers), static_cast<double>(std::max<std::size_t>(2, series.size())) * 24);
}

Json dot_spec(const std::vector<std::string>& series, const Scale& shown, double at) {
  const Json x = {{"field", "y"},
                  {"type", "quantitative"},
                  {"scale", shown.log ? Json{{"type", "log"}} : Json{{"type", "linear"}, {"zero", true}}},
                  {"axis", shown.log ? grid(value_axis(shown.title)) : value_axis(shown.title)}};
  const Json y = {{"field", "series"},
                  {"type", "ordinal"},
                  {"sort", series},
                  {"axis", {{"title", nullptr}, {"labelLimit", 170}, {"grid", true}}}};
  Json layers = Json::array();
  if (at != 0)
    layers.push_back({{"mark", {{"type", "rule"}, {"strokeDash", {4, 3}}, {"color", "var(--dim)"}}},
                      {"encoding", {{"x", {{"datum", at}, {"type", "quantitative"}}}}}});
  layers.push_back(
      {{"mark", {{"type", "rule"}, {"strokeWidth", 2}, {"color", "var(--c1)"}}},
       {"encoding",
        {{"x", {{"field", "low"}, {"type", "quantitative"}}}, {"x2", {{"field", "high"}}}, {"y", y}}}});
  layers.push_back(
      {{"mark", {{"type", "point"}, {"filled", true}, {"size", 60}, {"opacity", 1}, {"color", "var(--c1)"}}},
       {"encoding",
        {{"x", x},
         {"y", y},
         {"tooltip", Json::array({text("series", "nominal", "what"), text("label", "nominal", shown.title),
                                  text("launch", "nominal", "note")})}}}});
  layers.push_back({{"mark", {{"type", "text"}, {"align", "left"}, {"dx", 8}, {"limit", {{"expr", "room"}}}}},
                    {"encoding", {{"x", x}, {"y", y}, {"text", text("label", "nominal", "")}}}});
  return spec_of(std::move(layers), static_cast<double>(std::max<std::size_t>(2, series.size())) * 22);
}

namespace {

bool is_by_number(const DrawnGraph& graph) {
  return graph.graph.kind == Graph::Kind::lines || graph.graph.kind == Graph::Kind::launches;
}

double with_five_digits(double value) { return std::stod(fmt::format("{:.5g}", value)); }

double height_of(const DrawnGraph& graph) {
  return std::clamp(18.0 * static_cast<double>(std::min(most_labels, graph.series.size())), 280.0, 400.0);
}

// The points, in the order of the chart's columns.
Json rows_of(const DrawnGraph& graph, const GraphPanel& panel) {
  const bool is_heat = graph.graph.kind == Graph::Kind::heat;
  double low = HUGE_VAL, high = 0;
  for (const auto& point : panel.points) {
    low = std::min(low, point.y);
    high = std::max(high, point.y);
  }
  Json rows = Json::array();
  for (const auto& point : panel.points) {
    std::string label =
        graph.unit == "x" || is_heat ? fmt::format("{:.3g}", point.y) : number_text(point.y, graph.unit);
    if (point.doubtful) label += "*";
    const double place = high > low ? label_place(point.y, low, high, graph.log_y) : 0;
    const bool dark = (graph.low_is_good ? place : 1 - place) < 0.55;
    Json row = Json::array({graph.series[point.series]});
    if (is_by_number(graph))
      row.push_back(with_five_digits(point.x));
    else
      row.push_back(point.column < graph.columns.size() ? graph.columns[point.column] : "");
    row.insert(row.end(), {with_five_digits(point.y), with_five_digits(point.low),
                           with_five_digits(point.high), label, point.launch, dark});
    rows.push_back(std::move(row));
  }
  return rows;
}

Json panel_of(const DrawnGraph& graph, const GraphPanel& panel,
              const std::vector<const DeviceResults*>& devices) {
  const auto kind = graph.graph.kind;
  Json one = {{"device", std::ranges::find(devices, panel.device) - devices.begin()},
              {"at", panel.at},
              {"title", panel.finding},
              {"note", panel.note},
              {"rows", rows_of(graph, panel)}};
  if (std::ranges::any_of(panel.points, &GraphPoint::doubtful)) {
    const std::string why = "* while the device ran slow, or its median is not settled";
    one["note"] = panel.note.empty() ? why : panel.note + "; " + why;
  }
  Json marks = Json::array(), fits = Json::array(), references = Json::array();
  for (const auto& mark : panel.marks)
    marks.push_back(is_by_number(graph) ? Json::array({mark.x, mark.text})
                                        : Json::array({fmt::format("{:.10g}", mark.x), mark.text}));
  for (const auto& fit : panel.fits)
    fits.push_back(Json::array({graph.series[fit.series], with_five_digits(fit.x), with_five_digits(fit.y)}));
  for (const auto& reference : panel.references) {
    for (const auto& [x, y] : reference.points)
      references.push_back(Json::array({reference.name, with_five_digits(x), with_five_digits(y)}));
  }
  one["marks"] = std::move(marks);
  one["fits"] = std::move(fits);
  one["references"] = std::move(references);
  one["labels"] = kind == Graph::Kind::lines      ? end_labels(graph, panel, 15 / height_of(graph))
                  : kind == Graph::Kind::launches ? run_labels(graph, panel)
                                                  : Json::array();
  return one;
}

}  // namespace

Json chart_of(const DrawnGraph& graph, const std::vector<const DeviceResults*>& devices) {
  Json chart = {{"kind", "chart"},
                {"name", graph.family->name + ": " + graph.graph.name},
                {"family", graph.family->name},
                {"where", fmt::format("{}", fmt::join(graph.graph.where, " "))}};
  const auto kind = graph.graph.kind;
  const Scale scale{graph.y_title, graph.log_y};
  const std::string names = fmt::format("{}", fmt::join(graph.graph.series, " "));
  switch (kind) {
    case Graph::Kind::lines: chart["spec"] = lines_spec(graph, height_of(graph)); break;
    case Graph::Kind::launches: chart["spec"] = launches_spec(graph); break;
    case Graph::Kind::heat:
      chart["spec"] = heat_spec(graph.series, graph.columns, graph.x_title, names, scale, graph.low_is_good);
      break;
    case Graph::Kind::bars: chart["spec"] = dot_spec(graph.series, scale); break;
  }
  const char* const place = is_by_number(graph) ? "x" : "column";
  chart["columns"] = Json::array({{"series", names},
                                  {place, kind == Graph::Kind::bars ? "" : graph.x_title},
                                  {"y", graph.y_title},
                                  {"low", "low (95 %)"},
                                  {"high", "high (95 %)"},
                                  {"label", "shown"},
                                  {"launch", "launch"},
                                  {"dark", ""}});
  Json panels = Json::array();
  for (const auto& panel : graph.panels) panels.push_back(panel_of(graph, panel, devices));
  chart["panels"] = std::move(panels);
  chart["marks"] = Json::array({place, "text"});
  return chart;
}

}  // namespace clweave::charts
