// SPDX-License-Identifier: Apache-2.0
// test_report: one value, printed in every format.
#include "answers/report.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

using namespace clweave;

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

TEST(Report, ShowsADocumentInsteadOfRowsInJson) {
  Report report = sample();
  report.document({{"mode", "regression \xff"}});
  EXPECT_EQ(nlohmann::json::parse(text_of(report, "json", Screen{})),
            nlohmann::json({{"mode", "regression \uFFFD"}}));
}

TEST(Report, RefusesARowOfAnotherWidthAndAFormatThatThereIsNot) {
  Report report = sample();
  EXPECT_THROW(report.row({std::string("one")}), Error);
  EXPECT_THROW(text_of(report, "xml", Screen{}), Error);
}
