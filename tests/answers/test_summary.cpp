// SPDX-License-Identifier: Apache-2.0
// test_summary: what people read at the end of a run, from invented records.
#include "answers/summary.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

using namespace clweave;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

using Cells = std::vector<std::string>;

// One family per quantity, as far as a summary looks at them.
std::vector<Family> invented() {
  Family ceiling;
  ceiling.name = "ceiling";
  ceiling.axes = {{"kernel", "", {"copy", "read", "arithmetic"}}, {"type", "", {"float", "int"}}};
  ceiling.view = {.rows = {"kernel"}, .columns = {"type"}, .quantity = "rate"};
  Family grid;
  grid.name = "grid";
  grid.axes = {{"kernel", "", {"plain", "clever"}},
               {"mapping", "", {"row", "column"}},
               {"n", "", {64, 1024}},
               {"local", "", {"16x16", "256"}, true},
               {"form", "", {"corrected", "published"}}};
  grid.view = {.rows = {"kernel"}, .columns = {"mapping"}, .quantity = "rate"};
  Family lanes;
  lanes.name = "lanes";
  lanes.axes = {{"paths", "", {1, 2, 16}}, {"granularity", "", {1, 2, 16}}};
  lanes.view = {.rows = {"paths"}, .columns = {"granularity"}, .quantity = "slowdown"};
  Family sort;
  sort.name = "sort";
  sort.axes = {{"n", "", {64}}};
  sort.view = {.rows = {"n"}, .columns = {}, .quantity = "items"};
  return {ceiling, grid, lanes, sort};
}

Record row(const std::string& family, const std::vector<std::pair<std::string, std::string>>& axes) {
  Record record;
  record.platform = "Invented, OpenCL 3.0";
  record.device = "Loom 1";
  record.device_id = "0:0";
  record.driver = "1.2";
  record.family = family;
  record.case_id = family;
  record.axes = axes;
  for (const auto& [name, value] : axes) record.case_id += "/" + name + "=" + value;
  record.status = Status::ok;
  record.time_s = 1e-3;
  return record;
}

Record grid_row(const std::string& kernel, const std::string& mapping, double gb_per_s,
                const std::string& n = "64", const std::string& form = "corrected") {
  Record record = row("grid", {{"kernel", kernel},
                               {"mapping", mapping},
                               {"n", n},
                               {"local", kernel == "plain" ? "16x16" : "256"},
                               {"form", form}});
  record.ceiling = Ceiling::copy;
  record.gb_per_s = gb_per_s;
  record.gflop_per_s = 777;
  record.of_ceiling = gb_per_s / 200;
  return record;
}

Record lanes_row(int paths, int granularity, double time_s) {
  Record record =
      row("lanes", {{"paths", std::to_string(paths)}, {"granularity", std::to_string(granularity)}});
  record.time_s = time_s;
  return record;
}

Record ceiling_row(const std::string& kernel, const std::string& type, const std::string& ceiling,
                   double rate) {
  Record record = row("ceiling", {{"kernel", kernel}, {"type", type}});
  record.ceiling = value_named<Ceiling>(ceiling).value();
  record.gb_per_s = ceiling.starts_with("arithmetic") ? 1 : rate;
  record.gflop_per_s = ceiling.starts_with("arithmetic") ? rate : 1;
  return record;
}

Record finding(const std::string& family, const std::string& name, double value, const std::string& unit) {
  Record record = row(family, {});
  record.case_id = family + "/finding=" + name;
  record.time_s.reset();
  record.finding = name;
  record.value = value;
  record.unit = unit;
  record.reason = "because of " + name;
  return record;
}

// A record that is not ok: without a time.
Record broken(Record record, const std::string& status, const std::string& reason,
              const std::string& exhibit = "") {
  record.status = value_named<Status>(status).value();
  record.reason = reason;
  record.exhibit = exhibit;
  record.time_s.reset();
  record.gb_per_s.reset();
  record.gflop_per_s.reset();
  record.of_ceiling.reset();
  return record;
}

std::string plain(const std::vector<Record>& records) { return summary_text(records, invented(), false); }

}  // namespace

TEST(Summary, IsEmptyWithoutRecords) { EXPECT_EQ(plain({}), ""); }

TEST(Summary, ShowsOneTablePerFamily) {
  EXPECT_EQ(plain({ceiling_row("copy", "float", "copy", 200), ceiling_row("read", "float", "read", 250),
                   ceiling_row("arithmetic", "float", "arithmetic_float", 4000),
                   ceiling_row("arithmetic", "int", "arithmetic_int", 2000), grid_row("plain", "row", 50),
                   grid_row("plain", "column", 123.456), grid_row("clever", "row", 60),
                   grid_row("clever", "column", 190)}),
            "\n"
            "Loom 1  Invented, OpenCL 3.0, driver 1.2\n"
            "measured ceilings: arithmetic_float 4000 Gop/s, arithmetic_int 2000 Gop/s, copy 200 GB/s, read "
            "250 GB/s\n"
            "\n"
            "ceiling, GB/s, Gop/s of arithmetic by type\n"
            "kernel      float   int\n"
            "───────────────────────\n"
            "copy          200\n"
            "read          250\n"
            "arithmetic   4000  2000\n"
            "\n"
            "grid, GB/s, Gop/s of arithmetic by mapping\n"
            "kernel      row      column\n"
            "───────────────────────────\n"
            "plain   50  25%  123.5  62%\n"
            "clever  60  30%    190  95%\n"
            "\n"
            "8 rows: 8 ok\n");
}

TEST(Summary, ShowsOneTablePerValueOfAnAxisThatIsLeft) {
  const std::string text =
      plain({grid_row("plain", "row", 10, "1024"), grid_row("plain", "row", 20, "64"),
             grid_row("clever", "row", 30, "1024"), grid_row("clever", "row", 40, "64")});
  // `local` goes with the kernel and splits nothing; `form` has one value. Numbers in their order.
  const auto small = text.find("grid  n=64, GB/s");
  const auto large = text.find("grid  n=1024, GB/s");
  ASSERT_NE(small, std::string::npos) << text;
  ASSERT_NE(large, std::string::npos) << text;
  EXPECT_LT(small, large);
  EXPECT_EQ(text.find("local="), std::string::npos);
  EXPECT_EQ(text.find("form="), std::string::npos);
  EXPECT_THAT(text.substr(small, large - small), AllOf(HasSubstr("20  10%"), HasSubstr("40  20%")));
  EXPECT_THAT(text.substr(large), AllOf(HasSubstr("10   5%"), HasSubstr("30  15%")));
}

TEST(Summary, ShowsSlowdownsOverTheBestOfTheTable) {
  const std::string text = plain(
      {lanes_row(16, 1, 8e-3), lanes_row(2, 1, 1.5e-3), lanes_row(2, 16, 5e-4), lanes_row(16, 2, 1e-3)});
  EXPECT_THAT(text, HasSubstr("lanes, time over the best of the table by granularity\n"
                              "paths       1      2     16\n"
                              "───────────────────────────\n"
                              "2       3.00x         1.00x\n"
                              "16     16.00x  2.00x\n"));
}

TEST(Summary, ShowsItemsAndTimesWhereThereIsNoRate) {
  Record items = row("sort", {{"n", "64"}});
  items.gitems_per_s = 2.5;
  Record timed = row("sort", {{"n", "128"}});
  timed.time_s = 4.5e-6;
  EXPECT_THAT(plain({items, timed}), AllOf(HasSubstr("sort, G items/s"), HasSubstr("\n64       2.5\n"),
                                           HasSubstr("\n128  4.50 us\n")));
}

TEST(Summary, ShowsRowsThatFailed) {
  const std::string text =
      plain({grid_row("plain", "row", 50),
             broken(grid_row("plain", "column", 0), "wrong_result", "3 of 4 elements correct"),
             broken(grid_row("clever", "row", 0), "unsupported", "no double precision"),
             broken(grid_row("clever", "column", 0), "launch_failed", "CL_OUT_OF_RESOURCES")});
  EXPECT_THAT(text, HasSubstr("plain       50  25%   wrong_result\n"
                              "clever  unsupported  launch_failed\n"));
  EXPECT_THAT(text,
              HasSubstr("4 rows: 1 launch_failed, 1 ok, 1 unsupported, 1 wrong_result\n"
                        "  wrong_result  grid/kernel=plain/mapping=column/n=64/local=16x16/form=corrected\n"
                        "    3 of 4 elements correct\n"
                        "  launch_failed  grid/kernel=clever/mapping=column/n=64/local=256/form=corrected\n"
                        "    CL_OUT_OF_RESOURCES\n"));
  EXPECT_THAT(text, Not(HasSubstr("no double precision")));
}

TEST(Summary, ShowsExhibitsApartFromFailures) {
  const std::string text =
      plain({grid_row("plain", "row", 50), broken(grid_row("plain", "row", 0, "64", "published"),
                                                  "wrong_result", "exhibit: an unsigned factor", "yes")});
  EXPECT_THAT(text, HasSubstr("grid  form=corrected, "));
  EXPECT_THAT(text, HasSubstr("grid  form=published, "));
  EXPECT_THAT(text, HasSubstr("plain   exhibit: wrong\n"));
  EXPECT_THAT(text, testing::EndsWith("2 rows: 1 exhibit wrong_result, 1 ok\n"));
}

// It is not wrong on a device that cannot run it.
TEST(Summary, CallsAnExhibitWrongOnlyWhereItIs) {
  for (const char* status : {"unsupported", "build_failed", "timeout"}) {
    const std::string text =
        plain({broken(grid_row("plain", "row", 0, "64", "published"), status, "why", "yes")});
    EXPECT_THAT(text, AllOf(HasSubstr(status), Not(HasSubstr("exhibit: wrong"))));
  }
  Record right = grid_row("plain", "row", 50, "64", "published");
  right.exhibit = "yes";
  EXPECT_THAT(plain({right}), AllOf(HasSubstr("50  25%"), HasSubstr("1 rows: 1 exhibit ok")));
}

TEST(Summary, ShowsFindingsUnderTheirFamily) {
  const std::string text = plain({lanes_row(2, 1, 2e-3), lanes_row(2, 2, 1e-3), grid_row("plain", "row", 50),
                                  finding("lanes", "lockstep_width", 32, "items"),
                                  finding("grid", "coalescing_penalty", 2.34567, "ratio")});
  const auto grid = text.find("  coalescing_penalty 2.35 ratio: because of coalescing_penalty\n");
  const auto lanes_table = text.find("lanes, ");
  const auto lanes = text.find("  lockstep_width 32 items: because of lockstep_width\n");
  ASSERT_NE(grid, std::string::npos) << text;
  ASSERT_NE(lanes, std::string::npos) << text;
  EXPECT_LT(grid, lanes_table);
  EXPECT_LT(lanes_table, lanes);
  EXPECT_THAT(text, testing::EndsWith("3 rows: 3 ok\n"));
}

TEST(Summary, ShowsTheBestOfEachCeiling) {
  Record broken_one = broken(ceiling_row("copy", "int", "copy", 0), "wrong_result", "");
  EXPECT_THAT(plain({ceiling_row("copy", "float", "copy", 150), ceiling_row("read", "float", "copy", 180),
                     ceiling_row("copy", "int", "copy", 20), broken_one}),
              HasSubstr("measured ceilings: copy 180 GB/s\n"));
  EXPECT_THAT(plain({grid_row("plain", "row", 50)}), Not(HasSubstr("measured ceilings")));
}

TEST(Summary, ShowsTheMedianOfRepetitions) {
  std::vector<Record> records;
  for (const double time_s : {3e-3, 1e-3, 2e-3}) {
    records.push_back(grid_row("plain", "row", 0.1 / time_s));
    records.back().time_s = time_s;
    records.back().run = static_cast<std::int64_t>(records.size());
  }
  std::string text = plain(records);
  EXPECT_THAT(text, AllOf(HasSubstr("\nplain   50  25%\n"), HasSubstr("3 rows: 3 ok\n")));
  // One that failed is shown, whatever the others say.
  records.push_back(broken(grid_row("plain", "row", 0), "timeout", "30 s without a sign of life"));
  text = plain(records);
  EXPECT_THAT(text, AllOf(HasSubstr("\nplain   timeout\n"), HasSubstr("4 rows: 3 ok, 1 timeout\n")));
}

TEST(Summary, KeepsDevicesApart) {
  Record other = grid_row("plain", "row", 70);
  Record twin = grid_row("plain", "row", 90);
  other.device = "Loom 2";
  twin.device_id = "0:1";
  const std::string text = plain({grid_row("plain", "row", 50), other, twin});
  const auto first = text.find("\nLoom 1  Invented"), second = text.find("\nLoom 2  Invented");
  const auto third = text.rfind("\nLoom 1  Invented");
  ASSERT_NE(second, std::string::npos) << text;
  ASSERT_LT(first, second);
  ASSERT_LT(second, third);
  EXPECT_THAT(text.substr(first, second - first), AllOf(HasSubstr("50  25%"), HasSubstr("1 rows: 1 ok")));
  EXPECT_THAT(text.substr(second, third - second), HasSubstr("70  35%"));
  EXPECT_THAT(text.substr(third), HasSubstr("90  45%"));
}

TEST(Summary, NamesNoMoreThanTwentyFailures) {
  std::vector<Record> records;
  for (int n = 1; n <= 23; ++n)
    records.push_back(
        broken(grid_row("plain", "row", 0, std::to_string(n)), "timeout", fmt::format("reason {}.", n)));
  const std::string text = plain(records);
  EXPECT_THAT(text,
              AllOf(HasSubstr("reason 20."), Not(HasSubstr("reason 21.")), HasSubstr("23 rows: 23 timeout")));
  EXPECT_THAT(text, testing::EndsWith("  and 3 more\n"));
}

TEST(Summary, CountsRowsOfFamiliesItDoesNotKnow) {
  const std::string text = plain({row("fft", {{"n", "8"}}), grid_row("plain", "row", 50)});
  EXPECT_THAT(text, testing::EndsWith("2 rows: 2 ok\n"));
}

TEST(Summary, UsesColourOnlyWhenAsked) {
  const std::vector<Record> records = {
      ceiling_row("copy", "float", "copy", 200), grid_row("plain", "row", 50),
      broken(grid_row("plain", "column", 0), "wrong_result", "r"),
      broken(grid_row("clever", "row", 0, "64", "published"), "wrong_result", "r", "yes"),
      finding("grid", "gain", 2, "ratio")};
  const std::string uncoloured = plain(records);
  EXPECT_EQ(uncoloured.find('\x1b'), std::string::npos);
  std::string coloured = summary_text(records, invented(), true);
  EXPECT_THAT(coloured, AllOf(HasSubstr("\x1b[1mgrid\x1b[0m"), HasSubstr("\x1b[31mwrong_result\x1b[0m"),
                              HasSubstr("\x1b[2mexhibit: wrong\x1b[0m"), HasSubstr("\x1b[36mgain\x1b[0m")));
  // The same text but for the colours.
  for (auto at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b'))
    coloured.erase(at, coloured.find('m', at) - at + 1);
  EXPECT_EQ(coloured, uncoloured);
}

// Files come from elsewhere too: what is missing is not zero.
TEST(Summary, InventsNoNumberThatARowLacks) {
  Record timeless = lanes_row(2, 1, 1);
  timeless.time_s.reset();
  Record nameless = finding("lanes", "width", 1, "items");
  nameless.value.reset();
  Record rateless = row("sort", {{"n", "64"}});
  rateless.time_s.reset();
  const std::string text = plain({timeless, nameless, rateless});
  EXPECT_THAT(text, AllOf(HasSubstr("\n2      -\n"), HasSubstr("\n64  -\n"), HasSubstr("  width - items: ")));
}
