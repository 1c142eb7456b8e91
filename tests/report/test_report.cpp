// SPDX-License-Identifier: Apache-2.0
// test_report: one value, printed in every format.
#include "report/report.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"

using namespace clweave::commands;

namespace {

Report sample() {
  Report report;
  report.heading("Loom 1");
  report.line("a sentence that is longer than the screen is wide");
  report.line();
  report.command("clweave run --device \"Loom 1\" --claim 000-b,000-c");
  Table table({{"case"}, {"time", Align::right}});
  table.add({paint("a|b", Style::red), "1 ms"});
  report.table(std::move(table));
  report.drawing([](const Screen& screen) { return std::string(screen.ascii ? "##" : "██") + "\n"; });
  report.columns({"name", "value", "runs", "ok", "cases", "note"});
  report.row({std::string("Loom, \xff"), 0.5, std::int64_t{3}, true, std::vector<std::string>{"a", "b"}, {}});
  report.row({std::string("never"),
              std::numeric_limits<double>::infinity(),
              std::int64_t{0},
              false,
              std::vector<std::string>{},
              {}});
  return report;
}

}  // namespace

TEST(Report, IsPrintedForPeople) {
  EXPECT_EQ(text_of(sample(), "text", Screen{.ascii = false, .width = 30}),
            "Loom 1\n"
            "a sentence that is longer than\n"
            "  the screen is wide\n"
            "\n"
            "clweave run --device \"Loom 1\" --claim 000-b,000-c\n"
            "case  time\n"
            "──────────\n"
            "a|b   1 ms\n"
            "██\n");
}

TEST(Report, IsPrintedAsMarkdown) {
  EXPECT_EQ(text_of(sample(), "markdown", Screen{}),
            "\n### Loom 1\n\n"
            "a sentence that is longer than the screen is wide  \n"
            "\n```\nclweave run --device \"Loom 1\" --claim 000-b,000-c\n```\n"
            "\n| case | time |\n| --- | ---: |\n| a\\|b | 1 ms |\n\n"
            "\n```\n##\n```\n");
}

TEST(Report, IsPrintedAsData) {
  EXPECT_EQ(text_of(sample(), "csv", Screen{}),
            "name,value,runs,ok,cases,note\n\"Loom, \xff\",0.5,3,yes,a;b,\nnever,,0,no,,\n");
  const auto json = nlohmann::json::parse(text_of(sample(), "json", Screen{}));
  EXPECT_EQ(json, nlohmann::json::parse(
                      R"([
    {"name": "Loom, )"
                      "\uFFFD"
                      R"(", "value": 0.5, "runs": 3, "ok": true, "cases": ["a", "b"], "note": null},
    {"name": "never", "value": null, "runs": 0, "ok": false, "cases": [], "note": null}])"));
}

TEST(Report, IsPrintedAsLinesOfJson) {
  EXPECT_EQ(text_of(sample(), "jsonl", Screen{}),
            "{\"name\":\"Loom, \uFFFD\",\"value\":0.5,\"runs\":3,\"ok\":true,\"cases\":[\"a\",\"b\"]}\n"
            "{\"name\":\"never\",\"runs\":0,\"ok\":false,\"cases\":[]}\n")
      << "what is not known is not there";
  EXPECT_EQ(text_of(Report(), "jsonl", Screen{}), "");
}

TEST(Report, IsPrintedAsOpenMetrics) {
  EXPECT_EQ(
      text_of(sample(), "openmetrics", Screen{}),
      "# TYPE clweave_value gauge\n"
      "# HELP clweave_value Value of the finding, in the unit of column `unit`; empty: undecided, `reason` "
      "says "
      "why. In the row of a case: the maximum that its check measured over the whole output, such as an "
      "error; of a launch behind another kernel the part of that kernel's remaining time that it took\n"
      "clweave_value{name=\"Loom, ?\",ok=\"yes\",cases=\"a,b\"} 0.5\n"
      "# TYPE clweave_runs gauge\n"
      "# HELP clweave_runs Column runs of clweave's tables\n"
      "clweave_runs{name=\"Loom, ?\",ok=\"yes\",cases=\"a,b\"} 3\n"
      "clweave_runs{name=\"never\",ok=\"no\"} 0\n"
      "# EOF\n");
}

TEST(Report, HasBaseUnitsAndOneWayOfQuotingInOpenMetrics) {
  Report report;
  report.columns({"case_id", "status", "time_s", "build_ms", "gb_per_s", "core_mhz", "power_w",
                  "temperature_c", "throttle_reasons", "reason"});
  report.row({std::string("a \"b\"\\c\nd"), std::string("ok"), 1.5e-6, 20.0, 3.5, 1980.0, 700.5, 61.0,
              std::string("power cap"), std::string("because")});
  report.row({std::string("e"), std::string("crashed"), {}, {}, {}, {}, {}, {}, {}, std::string("of this")});
  const std::string text = text_of(report, "openmetrics", Screen{});
  for (const char* line :
       {R"(
clweave_ok{case_id="a \"b\"\\c\nd"} 1
clweave_ok{case_id="e"} 0
)",
        "clweave_time_seconds{", "} 1.5e-06\n", "clweave_build_seconds{", "} 0.02\n",
        "clweave_bytes_per_second{", "} 3500000000\n", "clweave_core_hertz{", "} 1980000000\n",
        "clweave_power_watts{", "} 700.5\n", "clweave_temperature_celsius{", "} 61\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(text.find("power cap"), std::string::npos) << "no more is what was throttled just now";
  EXPECT_EQ(text.find("because"), std::string::npos) << "each wording would be another time series";
  EXPECT_EQ(text.find("clweave_time_seconds{case_id=\"e\""), std::string::npos) << "what failed has no time";
}

TEST(Report, HasAxesAsNumbersAndAsLabels) {
  Report report;
  report.columns({"case_id", "time_s"}, {"n", "share", "kernel"});
  report.row({std::string("copy"), 0.5, std::int64_t{1} << 60, 0.25, std::string("grid")});
  EXPECT_EQ(text_of(report, "csv", Screen{}),
            "case_id,time_s,n,share,kernel\ncopy,0.5,1152921504606846976,0.25,grid\n");
  EXPECT_EQ(text_of(report, "jsonl", Screen{}),
            R"({"case_id":"copy","time_s":0.5,"n":1152921504606846976,"share":0.25,"kernel":"grid"})"
            "\n");
  const std::string text = text_of(report, "openmetrics", Screen{});
  EXPECT_NE(text.find("clweave_time_seconds{case_id=\"copy\",n=\"1152921504606846976\",share=\"0.25\",kernel="
                      "\"grid\"} 0.5\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("clweave_n"), std::string::npos) << "an axis is no measured number";
}

TEST(Report, ShowsADocumentInsteadOfRowsInJson) {
  Report report = sample();
  report.document({{"mode", "regression \xff"}});
  EXPECT_EQ(nlohmann::json::parse(text_of(report, "json", Screen{})),
            nlohmann::json({{"mode", "regression \uFFFD"}}));
}

TEST(Report, NestsRowsInJson) {
  Report report;
  report.columns({"family", "variant", "device", "speed", "portability"});
  report.row({"copy", "linear", "a", 1.0, 0.5});
  report.row({"copy", "linear", "b", 2.0, 0.5});
  report.row({"copy", "grid", "a", 3.0, {}});
  report.row({"scan", "grid", "a", 4.0, {}});
  report.nest({{"", {"family"}}, {"variants", {"variant", "portability"}}, {"devices"}});
  const auto rows = nlohmann::json::parse(R"([
    {"family": "copy", "variants": [
      {"variant": "linear", "portability": 0.5,
       "devices": [{"device": "a", "speed": 1.0}, {"device": "b", "speed": 2.0}]},
      {"variant": "grid", "portability": null, "devices": [{"device": "a", "speed": 3.0}]}]},
    {"family": "scan", "variants": [
      {"variant": "grid", "portability": null, "devices": [{"device": "a", "speed": 4.0}]}]}])");
  EXPECT_EQ(nlohmann::json::parse(text_of(report, "json", Screen{})), rows);
  report.nest({{"families", {"family"}}, {"variants", {"variant", "portability"}}, {"devices"}}, [] {
    return nlohmann::ordered_json{{"mode", "devices \xff"}};
  });
  EXPECT_EQ(nlohmann::json::parse(text_of(report, "json", Screen{})),
            nlohmann::json({{"mode", "devices \uFFFD"}, {"families", rows}}));
  Report empty;
  empty.columns({"case_id"});
  empty.nest({{"cases"}});
  EXPECT_EQ(nlohmann::json::parse(text_of(empty, "json", Screen{})),
            nlohmann::json({{"cases", nlohmann::json::array()}}));
}

TEST(Report, RefusesARowOfAnotherWidthAndAFormatThatThereIsNot) {
  Report report = sample();
  EXPECT_THROW(report.row({std::string("one")}), Error);
  EXPECT_THROW(text_of(report, "xml", Screen{}), Error);
}

TEST(Report, FitsAnyScreenAndSaysOnceWhatThatCost) {
  Report report = sample();
  Table wide({{"statement", Align::left, Overflow::wrap}, {"numbers"}, {"more numbers"}});
  wide.add({"a sentence of several words and one_that_is_very_long_indeed", "1234567890123", "1234567890"});
  wide.title("a title that is wider than many screens are");
  report.table(wide);
  report.drawing([](const Screen&) { return std::string(50, '#') + "\n"; });
  for (int width = 1; width <= 60; ++width) {
    std::size_t said = 0;
    for (const auto& line : split(text_of(report, "text", Screen{.ascii = false, .width = width}), '\n')) {
      if (line.starts_with("clweave run")) continue;  // for copying
      EXPECT_LE(width_of(line), static_cast<std::size_t>(width)) << line;
      if (line.starts_with("lines were cut")) ++said;
    }
    if (width >= 15) EXPECT_EQ(said, width < 50 ? 1U : 0U) << width;
  }
}

// Text of files and drivers: a terminal, a spreadsheet and a page obey none of it in any format.
TEST(Report, LetsNoTextCommandWhatReadsIt) {
  const std::string name = "=cmd|x\u009b2J\x1b[2J\x7f<img src=x>![a](http://example.org)";
  Report report;
  report.heading(name);
  report.line(name);
  report.command("```\n" + name);
  Table table({{"name"}});
  table.add({name});
  report.table(std::move(table));
  report.columns({"name", "value"});
  report.row({name, 1.0});
  for (const auto& printer : printers()) {
    const std::string out = text_of(report, printer.name, Screen{.ascii = false});
    EXPECT_EQ(out.find('\x1b'), std::string::npos) << printer.name;
    EXPECT_EQ(out.find('\x7f'), std::string::npos) << printer.name;
    EXPECT_EQ(out.find("\u009b"), std::string::npos) << printer.name;
  }
  for (const char* format : {"json", "jsonl"}) {
    const std::string out = text_of(report, format, Screen{});
    EXPECT_THAT(out, testing::HasSubstr("\\u009b2J\\u001b[2J\\u007f<img")) << format;
    const auto back = nlohmann::json::parse(out);
    EXPECT_EQ(back.is_array() ? back[0]["name"] : back["name"], name) << "the name itself";
  }
  EXPECT_THAT(text_of(report, "csv", Screen{}), testing::HasSubstr("\n'=cmd|x?2J?<img"));
  const std::string page = text_of(report, "markdown", Screen{});
  const auto code = page.find("````\n```\n");
  ASSERT_NE(code, std::string::npos) << page;
  for (const std::string& part : {page.substr(0, code), page.substr(page.find("\n````\n", code + 4))}) {
    EXPECT_EQ(part.find("<img"), std::string::npos) << part;
    EXPECT_EQ(part.find("!["), std::string::npos) << part;
    EXPECT_EQ(part.find("]("), std::string::npos) << part;
  }
}
