// SPDX-License-Identifier: Apache-2.0
// test_page: charts and pages of invented rows; tests/html opens pages in a browser.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "analysis/invented_records.hpp"
#include "base/error.hpp"
#include "base/terminal.hpp"
#include "charts/graph.hpp"
#include "charts/svg.hpp"
#include "charts/titles.hpp"
#include "page/page.hpp"
#include "report/text_chart.hpp"
#include "suite/added_families.hpp"

using namespace clweave::commands;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

namespace {

// Axis `launch` is tunable; `n` and `kernel` place a case, `type` splits charts into panels.
Family tower() {
  Family out;
  out.name = "tower";
  out.question = "How high?";
  out.axes = {{.name = "kernel", .meaning = "", .values = {"slow", "fast"}},
              {.name = "n", .meaning = "floors: of it", .values = {1, 10, 100, 1000}},
              {.name = "launch", .meaning = "", .values = {1, 2}, .tunable = true},
              {.name = "type", .meaning = "", .values = {"brick", "glass"}}};
  out.view = {.rows = {"kernel"}, .columns = {"n"}, .quantity = "ms"};
  return out;
}

Record tower_row(const std::string& kernel, int n, double time_s, const std::string& type = "brick",
                 int launch = 1) {
  Record out =
      row("tower",
          {{"kernel", kernel}, {"n", std::to_string(n)}, {"launch", std::to_string(launch)}, {"type", type}});
  out.time_s = time_s;
  out.time_low_s = 0.9 * time_s;
  out.time_high_s = 1.2 * time_s;
  out.gb_per_s = 1e-9 / time_s;
  return out;
}

std::vector<Record> tower_rows() {
  std::vector<Record> out;
  for (const int n : {1, 10, 100, 1000}) {
    out.push_back(tower_row("slow", n, 4e-3 * n));
    out.push_back(tower_row("slow", n, 5e-3 * n, "brick", 2));
    out.push_back(tower_row("fast", n, 1e-3 * n));
  }
  return out;
}

TEST(Graph, AFamilyOfTwoFilesGetsTheChartOfItsTable) {
  const Family family = tower();
  const ResultsSet set = results_of(tower_rows(), {family});
  const auto graphs = graphs_of(family, set);
  ASSERT_THAT(graphs, SizeIs(1));
  EXPECT_EQ(graphs[0].kind, DrawnGraph::Kind::lines);
  EXPECT_THAT(graphs[0].series, ElementsAre("slow", "fast"));
  EXPECT_EQ(graphs[0].x_title, "n: floors");
  EXPECT_EQ(graphs[0].y_title, "ms");
  EXPECT_TRUE(graphs[0].log_x && graphs[0].log_y);
  ASSERT_THAT(graphs[0].panels, SizeIs(1));
  EXPECT_THAT(graphs[0].panels[0].points, SizeIs(8));
}

TEST(Graph, OfLaunchParametersTheFastestCounts) {
  const Family family = tower();
  const ResultsSet set = results_of(tower_rows(), {family});
  const auto graph = graphs_of(family, set).at(0);
  for (const auto& point : graph.panels[0].points) {
    EXPECT_NEAR(point.y, (point.series == 0 ? 4 : 1) * point.x, 1e-9);
    EXPECT_NEAR(point.low, 0.9 * point.y, 1e-9);
    EXPECT_NEAR(point.high, 1.2 * point.y, 1e-9);
    EXPECT_EQ(point.note, "launch=1");
  }
}

TEST(Graph, OneColumnOfAHeatMapIsBars) {
  Family family = tower();
  family.view = {.rows = {"kernel"}, .columns = {"n", "launch"}, .quantity = "gb"};
  const ResultsSet set = results_of({tower_row("slow", 1, 4e-9), tower_row("fast", 1, 1e-9)}, {family});
  const auto graph = graphs_of(family, set).at(0);
  EXPECT_EQ(graph.kind, DrawnGraph::Kind::bars);
  EXPECT_EQ(graph.panels.at(0).finding, "fast reaches 1 GB/s, slow 0.25 GB/s");
}

TEST(Graph, ACurveOfOneOrTwoPointsIsBars) {
  const Family family = tower();
  std::vector<Record> rows;
  for (const int n : {1, 10}) {
    rows.push_back(tower_row("slow", n, 4e-3 * n));
    rows.push_back(tower_row("fast", n, 1e-3 * n));
  }
  const auto graph = graphs_of(family, results_of(rows, {family})).at(0);
  EXPECT_EQ(graph.kind, DrawnGraph::Kind::bars);
  ASSERT_THAT(graph.panels, SizeIs(2));
  EXPECT_EQ(graph.panels[0].at, "n=10");
  EXPECT_EQ(graph.panels[0].finding, "fast takes 10 ms, slow 40 ms");
}

TEST(Graph, AnotherAxisSplitsItIntoPanels) {
  const Family family = tower();
  auto rows = tower_rows();
  for (const int n : {1, 10, 100}) rows.push_back(tower_row("fast", n, 2e-3 * n, "glass"));
  const ResultsSet set = results_of(rows, {family});
  const auto graph = graphs_of(family, set).at(0);
  ASSERT_THAT(graph.panels, SizeIs(2));
  EXPECT_EQ(graph.panels[0].at, "type=brick");  // the one with the most points
  EXPECT_EQ(graph.panels[1].at, "type=glass");
}

TEST(Graph, SaysWhatItsPointsSay) {
  const Family family = tower();
  const ResultsSet set = results_of(tower_rows(), {family});
  EXPECT_EQ(graphs_of(family, set).at(0).panels[0].finding,
            "fast takes 1000 ms at n=1000, slow 4 times as long");
  Graph heat{
      .name = "heat", .kind = Graph::Kind::heat, .x = {"n"}, .series = {"kernel"}, .quantity = "slowdown"};
  EXPECT_EQ(drawn(heat, family, set).panels.at(0).finding, "slow loses 4x to fast at 1");
}

// A matrix of one case's steps: every pair twice, none of a unit with itself, as many cells as a page can
// hold.
TEST(Graph, StepsThatArePairsAreAHeatMap) {
  Family family = tower();
  const Graph graph{.name = "pairs", .kind = Graph::Kind::pairs, .quantity = "ns"};
  const auto drawn_of = [&](int units) {
    Record one = tower_row("fast", 10, 1);
    one.items = units * (units - 1) / 2;
    for (int a = 0; a < units; ++a) {
      for (int b = a + 1; b < units; ++b)
        one.steps_s +=
            fmt::format("{}{:.4g}", one.steps_s.empty() ? "" : ";", 1e-9 * (100 + 50 * (a % 2 + b % 2)));
    }
    return drawn(graph, family, results_of({one}, {family}));
  };
  const DrawnGraph small = drawn_of(10);
  ASSERT_THAT(small.panels, SizeIs(1));
  EXPECT_EQ(small.kind, DrawnGraph::Kind::heat);
  EXPECT_THAT(small.panels[0].points, SizeIs(90));
  EXPECT_EQ(small.panels[0].finding, "Pairs take 100 ns to 200 ns per item, in 2 clusters of 5 and 5 units");
  // The even units see everybody sooner: they are the first cluster.
  EXPECT_THAT(small.series,
              ElementsAre("A 0", "A 2", "A 4", "A 6", "A 8", "B 1", "B 3", "B 5", "B 7", "B 9"));
  const DrawnGraph large = drawn_of(132);
  EXPECT_THAT(large.panels[0].points, SizeIs(33 * 33));
  EXPECT_THAT(large.panels[0].note, HasSubstr("4x4"));
  EXPECT_THAT(svg_of(large), HasSubstr("<rect"));
  EXPECT_THAT(drawn_of(2).panels, IsEmpty());
}

TEST(Graph, FindingsAreItsTitleAndItsMarks) {
  Family family = tower();
  family.view.graphs = {{.name = "height",
                         .x = {"n"},
                         .series = {"kernel"},
                         .quantity = "ms",
                         .findings = {"limit_{type}"},
                         .marks = {"limit_{type}"}}};
  auto rows = tower_rows();
  Record finding = row("tower", {});
  finding.case_id = "tower/limit_brick";
  finding.finding = "limit_brick";
  finding.value = 100;
  finding.unit = "floors";
  finding.reason = "it ends at 100 floors";
  finding.time_s = {};
  rows.push_back(finding);
  const ResultsSet set = results_of(rows, {family});
  const auto panel = graphs_of(family, set).at(0).panels.at(0);
  EXPECT_EQ(panel.finding, "It ends at 100 floors");
  ASSERT_THAT(panel.marks, SizeIs(1));
  EXPECT_EQ(panel.marks[0].x, 100);
}

TEST(Graph, AParabolaGoesThroughPointsOfOne) {
  const Family family = tower();
  std::vector<Record> rows;
  for (const int n : {1, 2, 4, 8, 16})
    rows.push_back(tower_row("fast", n, 1e-3 * (5 + std::pow(std::log2(n) - 2, 2))));
  const ResultsSet set = results_of(rows, {family});
  const Graph graph{.name = "g", .x = {"n"}, .series = {"kernel"}, .quantity = "ms", .parabola = true};
  const auto fits = drawn(graph, family, set).panels.at(0).fits;
  ASSERT_THAT(fits, SizeIs(25));
  const auto least = std::ranges::min_element(fits, {}, &GraphPoint::y);
  EXPECT_NEAR(least->x, 4, 1e-6);
  EXPECT_NEAR(least->y, 5, 1e-6);
}

Record found(const std::string& name, double value) {
  Record out = row("tower", {});
  out.case_id = "tower/" + name;
  out.finding = name;
  out.value = value;
  out.reason = "so many";
  out.time_s = {};
  return out;
}

TEST(Graph, LittlesLawIsALineToTheMost) {
  const Family family = tower();
  auto rows = tower_rows();
  rows.push_back(found("needed_brick", 100));
  const ResultsSet set = results_of(rows, {family});
  const Graph graph{.name = "g", .x = {"n"}, .series = {"kernel"}, .little = "needed_{type}"};
  const auto panel = drawn(graph, family, set).panels.at(0);
  ASSERT_THAT(panel.references, SizeIs(1));
  EXPECT_EQ(panel.references[0].name, "Little's law");
  const double most = std::ranges::max_element(panel.points, {}, &GraphPoint::y)->y;
  bool bend = false;
  for (const auto& [x, y] : panel.references[0].points) {
    EXPECT_NEAR(y, most * std::min(1.0, x / 100), 1e-9 * most);
    bend = bend || x == 100;
  }
  EXPECT_TRUE(bend);
}

TEST(Graph, ACopyIsALineWhereRowsKnowTheirFractionOfIt) {
  const Family family = tower();
  auto rows = tower_rows();
  for (auto& one : rows) {
    one.peak = Peak::copy;
    one.fraction_of_peak = *one.gb_per_s / 8;
  }
  const Graph graph{.name = "g", .x = {"n"}, .series = {"kernel"}};
  const ResultsSet set = results_of(rows, {family});
  const auto panel = drawn(graph, family, set).panels.at(0);
  ASSERT_THAT(panel.references, SizeIs(1));
  for (const auto& [x, y] : panel.references[0].points) EXPECT_NEAR(y, 8, 1e-9);
  for (auto& one : rows) one.peak = Peak::read;  // something else bounds them
  const ResultsSet read = results_of(rows, {family});
  EXPECT_THAT(drawn(graph, family, read).panels.at(0).references, IsEmpty());
}

// A program of the same device whose axes are the panel's is a curve, on the page and in a picture.
TEST(Graph, AnotherProgramIsALine) {
  Family family = tower();
  family.name = "compaction";
  family.axes.push_back({.name = "selectivity", .meaning = "", .values = {0.5, 0.1}});
  std::vector<Record> rows;
  for (const int n : {1, 10, 100}) {
    rows.push_back(row("compaction", {{"kernel", "slow"},
                                      {"n", std::to_string(n)},
                                      {"launch", "1"},
                                      {"type", "uint"},
                                      {"selectivity", "0.5"}}));
    rows.back().time_s = 1e-3 * n;
    rows.back().gb_per_s = 1;
  }
  const auto select = [&](int n, const char* type, const char* kept, double time_s, double rate) {
    Record& one = rows.emplace_back(
        row("compaction",
            {{"kernel", "cub_select"}, {"n", std::to_string(n)}, {"type", type}, {"selectivity", kept}}));
    one.api = "cuda";
    one.platform = "native, CUDA 13.0";
    one.time_s = time_s;
    one.gb_per_s = rate;
  };
  select(1, "uint", "0.5", 1e-6, 8);
  select(100, "uint", "0.5", 3e-6, 7);
  select(100, "uint", "0.5", 2e-6, 8);
  select(100, "uint", "0.5", 1e-6, 9);
  select(10, "uint", "0.1", 1e-6, 70);
  select(10, "float", "0.5", 1e-6, 70);
  ResultsSet set = results_of(rows, {family});
  const Graph graph{.name = "g", .x = {"n"}, .series = {"kernel"}};
  const auto panel = drawn(graph, family, set).panels.at(0);
  ASSERT_THAT(panel.references, SizeIs(1));
  EXPECT_EQ(panel.references[0].name, "cub_select");
  EXPECT_THAT(panel.references[0].points, ElementsAre(std::pair(1.0, 8.0), std::pair(100.0, 8.0)))
      << "of three looks that of median time";
  EXPECT_THAT(panel.note, HasSubstr("other programs on the same device"));
  const std::string svg = svg_of(drawn(graph, family, set));
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray"));
  EXPECT_THAT(svg, HasSubstr(">cub_select</text>"));
  for (auto& native : set.baselines) native.device.name = "another";
  EXPECT_THAT(drawn(graph, family, set).panels.at(0).references, IsEmpty());
}

TEST(Graph, ACopyAmongOthersIsNotTheBest) {
  Family family = tower();
  family.axes[0].values.emplace_back("copy");
  family.for_comparison = [](const Case& at) { return at.is("kernel", "copy"); };
  auto rows = tower_rows();
  for (const int n : {1, 10, 100, 1000}) rows.push_back(tower_row("copy", n, 1e-4 * n));
  const ResultsSet set = results_of(rows, {family});
  EXPECT_EQ(graphs_of(family, set).at(0).panels[0].finding,
            "fast takes 1000 ms at n=1000, slow 4 times as long");
}

TEST(Graph, ProductsAreTheAbscissa) {
  const Family family = tower();
  const ResultsSet set = results_of(tower_rows(), {family});
  const Graph graph{.name = "g", .x = {"n", "launch"}, .series = {"kernel"}, .quantity = "ms"};
  const auto points = drawn(graph, family, set).panels.at(0).points;
  EXPECT_NE(std::ranges::find(points, 2000.0, &GraphPoint::x), points.end());
}

TEST(Graph, DevicesOfOneNameGetDifferentLabels) {
  auto rows = tower_rows();
  rows.push_back(tower_row("fast", 1, 1));
  rows.back().driver = "another";
  const ResultsSet set = results_of(rows, {tower()});
  const auto labels = device_labels(measured(set));
  ASSERT_THAT(labels, SizeIs(2));
  EXPECT_NE(labels[0], labels[1]);
}

TEST(Svg, DrawsWhatTheGraphHas) {
  const Family family = tower();
  auto rows = tower_rows();
  for (auto& one : rows) one.device = "<Loom> & \"1\"";
  const ResultsSet set = results_of(rows, {family});
  const auto graph = graphs_of(family, set).at(0);
  const std::string svg = svg_of(graph);
  EXPECT_THAT(svg, HasSubstr("&lt;Loom&gt; &amp; &quot;1&quot;"));
  EXPECT_THAT(svg, Not(HasSubstr("<Loom>")));
  EXPECT_THAT(svg, HasSubstr("fast takes 1000 ms"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  EXPECT_THROW(svg_of(drawn({.name = "none", .x = {"n"}, .series = {"kernel"}, .where = {"kernel=other"}},
                            family, set)),
               Error);
}

// A text of a picture: where it begins and ends, if a letter is as wide as in common fonts.
struct DrawnText {
  std::string words;
  double from = 0, to = 0, y = 0;
};

std::vector<DrawnText> texts_of(const std::string& svg) {
  static const std::regex element(R"re(<text x="([-0-9.]+)" y="([-0-9.]+)"([^>]*)>([^<]*)</text>)re");
  std::vector<DrawnText> out;
  for (std::sregex_iterator it(svg.begin(), svg.end(), element), last; it != last; ++it) {
    const double x = std::stod((*it)[1]), wide = 7 * static_cast<double>(width_of((*it)[4].str()));
    const std::string how = (*it)[3];
    const double before = how.find("\"end\"") != std::string::npos      ? wide
                          : how.find("\"middle\"") != std::string::npos ? wide / 2
                                                                        : 0;
    out.push_back({(*it)[4], x - before, x - before + wide, std::stod((*it)[2])});
  }
  return out;
}

struct Crowd {
  std::size_t series, letters, devices;  // how many, and how long each name is
};

DrawnGraph crowded(DrawnGraph::Kind kind, const Crowd& crowd) {
  const std::string words(crowd.letters, 'w');
  DrawnGraph graph{.kind = kind, .name = "g", .x_title = words, .y_title = words};
  graph.columns = {"1", words};
  for (std::size_t one = 0; one < crowd.series; ++one)
    graph.series.push_back(fmt::format("{}{}", one, words));
  for (std::size_t device = 0; device < crowd.devices; ++device) {
    GraphPanel& panel = graph.panels.emplace_back();
    panel.device = device;
    panel.device_label = panel.finding = words;
    for (const double x : {1.0, 2.0}) {
      panel.marks.push_back({x, words});
      panel.references.push_back({words, {{x, 1.0}}});
      for (std::size_t one = 0; one < crowd.series; ++one)
        panel.points.push_back(
            {.series = one, .column = x > 1 ? 1U : 0U, .x = x, .y = 1, .low = 1, .high = 1});
    }
  }
  return graph;
}

std::pair<double, double> size_of(const std::string& svg) {
  std::smatch size;
  EXPECT_TRUE(std::regex_search(svg, size, std::regex("viewBox=\"0 0 ([0-9]+) ([0-9]+)\"")));
  return {std::stod(size[1]), std::stod(size[2])};
}

// Returns how many names the legend under a chart of lines has; none is over the one before it.
std::size_t legend_names(const std::string& svg) {
  std::map<double, double> ends;  // of the legend's lines
  std::size_t named = 0;
  for (const auto& one : texts_of(svg)) {
    if (one.y < 58 + 300 + 50) continue;
    ++named;
    EXPECT_GE(one.from, ends[one.y]) << one.words << " is over the name before it";
    ends[one.y] = one.to;
  }
  return named;
}

// However many series a chart has and however long their names are, all of it is within the picture.
TEST(Svg, EveryTextLiesWithinThePicture) {
  for (const auto kind : {DrawnGraph::Kind::lines, DrawnGraph::Kind::launches, DrawnGraph::Kind::heat,
                          DrawnGraph::Kind::bars}) {
    for (const std::size_t series : {1, 8, 40}) {
      for (const std::size_t letters : {3, 30, 300}) {
        for (const std::size_t devices : {1, 2}) {
          const std::string svg = svg_of(crowded(kind, {series, letters, devices}));
          const auto [wide, tall] = size_of(svg);
          for (const auto& one : texts_of(svg)) {
            EXPECT_GE(one.from, 0) << one.words;
            EXPECT_LE(one.to, wide) << one.words;
            EXPECT_LE(one.y, tall) << one.words;
          }
          if (kind == DrawnGraph::Kind::lines) EXPECT_EQ(legend_names(svg), series);
        }
      }
    }
  }
}

TEST(Svg, MoreLinesMakeAChartHigher) {
  double height = 0;
  for (const std::size_t series : {1, 8, 40}) {
    const double tall = size_of(svg_of(crowded(DrawnGraph::Kind::lines, {series, 30, 1}))).second;
    EXPECT_GT(tall, height);
    height = tall;
  }
}

nlohmann::json page(const ResultsSet& set, const std::vector<Family>& families) {
  return page_of(input_of({.set = &set,
                           .families = &families,
                           .claims = {},
                           .origins = {},
                           .changes = nullptr,
                           .command = "clweave report"}));
}

nlohmann::json page(const std::vector<Record>& rows, const std::vector<Family>& families) {
  return page(results_of(rows, families), families);
}

TEST(Page, PeaksOfABusyMachineMakeNoRooflineAndItSaysSo) {
  ResultsSet set = results_of(tower_rows(), {tower()});
  const auto said = [&] {
    const auto all = page(set, {tower()});
    const auto it =
        std::ranges::find(all["sections"], "Roofline", [](const auto& one) { return one["title"]; });
    return (*it)["absent"].get<std::string>();
  };
  EXPECT_THAT(said(), HasSubstr("without --no-peak"));
  set.devices.front().peaks[Peak::copy] = 100;
  EXPECT_THAT(said(), HasSubstr("--wait-quiet 5m"));
}

TEST(Page, SectionsWithoutDataSaySo) {
  const auto all = page(tower_rows(), {tower()});
  std::vector<std::string> titles;
  for (const auto& section : all["sections"]) {
    titles.push_back(section["title"]);
    EXPECT_EQ(section.contains("absent"), section["parts"].empty()) << section["title"];
  }
  EXPECT_THAT(titles, testing::IsSupersetOf({"Overview", "Tower", "Roofline", "Comparison", "Claims",
                                             "Failures", "Measurement"}));
}

std::vector<std::string> titles_of(const nlohmann::json& all) {
  std::vector<std::string> out;
  for (const auto& one : all["sections"]) out.push_back(one["title"]);
  return out;
}

// Families of the suite, and three that a user added: towers, and two without rows.
std::vector<Family> with_own() {
  std::vector<Family> out(5, tower());
  out[0].name = "bridge";
  out[0].view.chapter = "Bridges";
  out[1].name = "canal";
  out[2].name = "own_tower";
  out[3].name = "well";
  out[4].name = "own_bridge";
  out[4].view.chapter = "Bridges";
  if (!is_added("well")) {
    add_family(out[2], "own_tower.cl");
    add_family(out[3], "my well.cl");
    add_family(out[4]);
  }
  return out;
}

std::vector<Record> rows_of(const std::string& family) {
  auto out = tower_rows();
  for (auto& one : out) {
    one.case_id.replace(0, one.family.size(), family);
    one.family = family;
  }
  return out;
}

TEST(Page, OwnKernelsComeFirstAndAloneWhereNothingElseWasMeasured) {
  auto families = with_own();
  families.pop_back();
  const auto all = page(rows_of("own_tower"), families);
  EXPECT_THAT(titles_of(all), ElementsAre("Overview", "Own_tower", "Well", "Roofline", "Comparison", "Claims",
                                          "Failures", "Measurement"));
  EXPECT_EQ(all["sections"][2]["absent"], R"(clweave run "my well.cl")") << "its file, not a family alone";
  auto rows = rows_of("own_tower");
  for (const auto& one : rows_of("canal")) rows.push_back(one);
  EXPECT_THAT(titles_of(page(rows, families)),
              ElementsAre("Overview", "Own_tower", "Well", "Bridges", "Canal", "Roofline", "Comparison",
                          "Claims", "Failures", "Measurement"));
}

TEST(Page, AChapterOfOwnKernelsAndOthersNamesBothInItsCommand) {
  const auto all = page(rows_of("own_tower"), with_own());
  EXPECT_EQ(all["sections"][1]["title"], "Bridges");
  EXPECT_EQ(all["sections"][1]["absent"], "clweave run FILE.cl --family bridge,own_bridge");
}

// A family of one row has no picture, but it was measured.
TEST(Page, AFamilyOfOneRowShowsIt) {
  const auto all = page({tower_row("slow", 1, 4e-3)}, {tower()});
  const auto& sections = all["sections"];
  const auto it = std::ranges::find_if(sections, [](const auto& one) { return one["title"] == "Tower"; });
  ASSERT_NE(it, sections.end());
  EXPECT_FALSE(it->contains("absent")) << it->dump();
  EXPECT_THAT(it->dump(), testing::HasSubstr("best row"));
}

// The facts of a device link to the section that shows them: the count of failures to those of the device.
TEST(Page, FactsLeadToTheirSections) {
  auto rows = tower_rows();
  rows.push_back(tower_row("slow", 5, 1, "glass"));
  rows.back().status = Status::wrong_result;
  rows.back().time_s = {};
  const auto all = page(rows, {tower()});
  const auto device = all["sections"][0]["parts"][0]["devices"][0];
  const auto wrong = device["facts"].back();
  EXPECT_EQ(wrong[0], "failures");
  EXPECT_EQ(wrong[1], "1 case");
  EXPECT_EQ(wrong[3], "failures");
  EXPECT_EQ(wrong[4]["device"], device["name"]);
  for (const auto& fact : device["facts"]) {
    if (fact.size() > 3 && !fact[3].get<std::string>().empty())
      EXPECT_TRUE(std::ranges::any_of(all["sections"], [&](const auto& one) { return one["id"] == fact[3]; }))
          << fact;
  }
  EXPECT_EQ(all["axes"]["tower"][1], nlohmann::json::array({"n", "floors: of it"}));
}

TEST(Page, KernelsStandBesideBaselines) {
  auto rows = tower_rows();
  EXPECT_THAT(page(rows, {tower()}).dump(), Not(HasSubstr("Family tower: baselines")));
  rows.front().bytes = 1000;
  Record theirs = rows.front();
  theirs.api = "cuda";
  theirs.platform = "native, CUDA 13.0";
  theirs.case_id = "tower/kernel=cub/n=" + theirs.axis("n");
  theirs.time_s = 3 * *theirs.time_s;
  rows.push_back(theirs);
  const auto all = page(rows, {tower()});
  const auto tower_section =
      std::ranges::find_if(all["sections"], [](const auto& one) { return one["title"] == "Tower"; });
  const auto& parts = (*tower_section)["parts"];
  const auto beside = std::ranges::find_if(
      parts, [](const auto& one) { return one.value("title", "") == "Family tower: baselines"; });
  ASSERT_NE(beside, parts.end());
  ASSERT_EQ((*beside)["rows"].size(), 1U);
  EXPECT_EQ((*beside)["rows"][0].size(), (*beside)["columns"].size());
  EXPECT_EQ((*beside)["rows"][0][4], "cuda cub");
  EXPECT_THAT((*beside)["rows"][0][6].get<std::string>(), HasSubstr("3.00x"));
}

// A single case has no chart, but its baseline is shown.
TEST(Page, OneKernelStandsBesideItToo) {
  Record ours = tower_row("slow", 1, 1e-3), theirs = ours;
  theirs.api = "cuda";
  theirs.platform = "native, CUDA 13.0";
  theirs.case_id = "tower/kernel=cub/n=1";
  const auto all = page({ours, theirs}, {tower()});
  const auto section =
      std::ranges::find_if(all["sections"], [](const auto& one) { return one["title"] == "Tower"; });
  ASSERT_EQ((*section)["parts"].size(), 1U) << section->dump();
  EXPECT_EQ((*section)["parts"][0]["title"], "Family tower: baselines");
  EXPECT_FALSE(section->contains("absent"));
}

TEST(Page, FailuresAreGroupedByReason) {
  auto rows = tower_rows();
  for (int i = 0; i < 3; ++i) {
    rows.push_back(tower_row("slow", 5 + i, 1, "glass"));
    rows.back().status = Status::wrong_result;
    rows.back().reason = fmt::format("element {} is wrong", 7 * i + 1);
    rows.back().time_s = {};
  }
  const auto all = page(rows, {tower()});
  for (const auto& section : all["sections"]) {
    if (section["title"] != "Failures") continue;
    const auto& listed = section["parts"][0]["rows"];
    ASSERT_THAT(listed, SizeIs(1));
    EXPECT_EQ(listed[0][1], "wrong_result");
    EXPECT_EQ(listed[0][3], 3);
  }
}

// Nothing that a file contains ends an element of the page.
TEST(Page, NamesAreData) {
  auto rows = tower_rows();
  for (auto& one : rows) one.device = "</script><script>alert(1)</script><!--\xff";
  const std::string html = html_of(page(rows, {tower()}));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, Not(HasSubstr("<!--")));
  EXPECT_THAT(html, HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
  EXPECT_THAT(html, Not(HasSubstr("@DATA@")));
}

TEST(Page, AsksNothingOfTheNetwork) {
  const std::string html = html_of(page(tower_rows(), {tower()}));
  EXPECT_THAT(html, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("<script src")));
}

TEST(Page, ManyPointsAreThinnedAndThatIsSaid) {
  Family family = tower();
  family.view.graphs = {
      {.name = "every launch", .kind = Graph::Kind::launches, .x = {"n"}, .series = {"kernel"}}};
  std::vector<Record> rows;
  for (int n = 1; n <= 4000; ++n) rows.push_back(tower_row("fast", n, n == 3001 ? 1e-4 : 1e-3));
  const ResultsSet set = results_of(rows, {family});
  const auto panel = graphs_of(family, set).at(0).panels.at(0);
  EXPECT_LE(panel.points.size(), 1500U);
  EXPECT_THAT(panel.note, HasSubstr("drawn: one in 3 of 4000 points"));
  EXPECT_NEAR(std::ranges::max_element(panel.points, {}, &GraphPoint::y)->y, 10 * panel.points[0].y, 1e-9);
}

// A curve, bars and a roofline in a terminal: a letter at each point.
TEST(TextChart, DrawsTheSameModel) {
  DrawnGraph graph{.name = "g", .x_title = "n", .series = {"slow", "fast"}};
  GraphPanel& panel = graph.panels.emplace_back();
  for (const double x : {1.0, 10.0, 1000.0}) {
    panel.points.push_back({.series = 0, .x = x, .y = x});
    panel.points.push_back({.series = 1, .x = x, .y = 2 * x});
  }
  graph.log_x = graph.log_y = true;
  const Screen screen{.ascii = true, .width = 60};
  const std::string curves = without_colour(text_of(graph, screen));
  EXPECT_THAT(curves, HasSubstr("n, logarithmic"));
  EXPECT_THAT(curves, HasSubstr("  B  fast"));
  EXPECT_EQ(std::ranges::count(curves, 'A'), 4) << curves;
  graph.kind = DrawnGraph::Kind::bars;
  EXPECT_THAT(text_of(graph, screen), HasSubstr("fast "));
  graph.kind = DrawnGraph::Kind::roofline;
  graph.unit = "Gop/s";
  panel.references.push_back({.name = "copy", .points = {{1, 10}, {100, 1000}}});
  const std::string roofline = without_colour(text_of(graph, screen));
  EXPECT_THAT(roofline, HasSubstr("2.00 Top/s |"));
  EXPECT_THAT(roofline, HasSubstr("..."));
  EXPECT_THAT(text_of(DrawnGraph(), screen), IsEmpty());
}

}  // namespace
