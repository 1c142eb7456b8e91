// SPDX-License-Identifier: Apache-2.0
// test_report: one value, printed in every format.
#include "report/report.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

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
      "error\n"
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
