// SPDX-License-Identifier: Apache-2.0
// test_family_table: tables and curves of families, from invented records.
#include "analysis/profile/family_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/invented_records.hpp"
#include "base/error.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string shown(const std::vector<Record>& records, const TableChoice& choice, const Screen& screen,
                  const char* format = "text", const std::vector<Family>& families = invented()) {
  const ResultsSet set = results_of(records, families);
  return text_of(family_tables(set, families, choice), format, screen);
}

std::string plain(const std::vector<Record>& records) { return shown(records, {}, {.ascii = false}); }

}  // namespace

TEST(FamilyTable, ShowsOneTablePerFamily) {
  EXPECT_EQ(plain({ceiling_row("copy", "float", "copy", 200), ceiling_row("read", "float", "read", 250),
                   ceiling_row("arithmetic", "float", "arithmetic_float", 4000),
                   ceiling_row("arithmetic", "int", "arithmetic_int", 2000), grid_row("plain", "row", 50),
                   grid_row("plain", "column", 123.456), grid_row("clever", "row", 60),
                   grid_row("clever", "column", 190)}),
            "Loom 1  Invented, OpenCL 3.0, driver 1.2\n"
            "\n"
            "peak, GB/s, of arithmetic Gop/s by type\n"
            "kernel      float   int\n"
            "───────────────────────\n"
            "copy          200\n"
            "read          250\n"
            "arithmetic   4000  2000\n"
            "\n"
            "grid, GB/s by mapping\n"
            "kernel      row      column\n"
            "───────────────────────────\n"
            "plain   50  25%  123.5  62%\n"
            "clever  60  30%    190  95%\n"
            "\n");
}

TEST(FamilyTable, ShowsOneTablePerValueOfAnAxisThatIsLeft) {
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

TEST(FamilyTable, ShowsSlowdownsOverTheBestOfTheTable) {
  const std::string text = plain(
      {lanes_row(16, 1, 8e-3), lanes_row(2, 1, 1.5e-3), lanes_row(2, 16, 5e-4), lanes_row(16, 2, 1e-3)});
  EXPECT_THAT(text, HasSubstr("branch_divergence, time over the best of the table by granularity\n"
                              "paths       1      2     16\n"
                              "───────────────────────────\n"
                              "2       3.00x         1.00x\n"
                              "16     16.00x  2.00x\n"));
}

// Derived columns can be rows or columns like axes; a case without one is left out.
TEST(FamilyTable, ShowsWhatFollowsFromTheAxes) {
  std::vector<Family> families = invented();
  families[1].derived = {{"measurement", "number in a plot"}};
  const auto numbered = [](const char* kernel, const char* mapping, double gb_per_s,
                           const char* measurement) {
    Record record = grid_row(kernel, mapping, gb_per_s);
    record.axes.emplace_back("measurement", measurement);
    return record;
  };
  const std::vector<Record> records = {numbered("plain", "row", 50, "10"),
                                       numbered("plain", "column", 40, "9"), grid_row("clever", "row", 60)};
  EXPECT_THAT(shown(records, {.families = {"grid"}, .rows = {"kernel"}, .columns = {"measurement"}},
                    {.ascii = false}, "text", families),
              AllOf(HasSubstr("by measurement\n"
                              "kernel        9       10\n"),
                    Not(HasSubstr("clever"))));
  EXPECT_THAT(shown(records, {.families = {"grid"}}, {.ascii = false}, "text", families),
              HasSubstr("clever"));
  EXPECT_THAT(
      [&] { shown(records, {.families = {"grid"}, .columns = {"color"}}, {}, "text", families); },
      testing::Throws<Error>(testing::Property(
          &Error::what, HasSubstr("there are device, kernel, mapping, n, local, form, measurement"))));
}

TEST(FamilyTable, ShowsItemsAndTimesWhereThereIsNoRate) {
  Record items = row("sort", {{"n", "64"}});
  items.gitems_per_s = 2.5;
  Record timed = row("sort", {{"n", "128"}});
  timed.time_s = 4.5e-6;
  EXPECT_THAT(plain({items, timed}), AllOf(HasSubstr("sort, G items/s"), HasSubstr("\n64       2.5\n"),
                                           HasSubstr("\n128  4.50 us\n")));
}

TEST(FamilyTable, GivesProgramsClocksAndWhatOtherProgramsTook) {
  Record ours = grid_row("plain", "row", 50), theirs = row("grid", {{"kernel", "loop"}, {"threads", "2"}});
  ours.core_mhz = 1980;
  ours.power_w = 700;
  ours.temperature_c = 61;
  ours.throttle_reasons = "power cap";
  theirs.api = "std";
  theirs.platform = "native, C++20";
  std::vector<Record> records = {ours, grid_row("clever", "row", 60)};
  for (const double time_s : {3e-3, 1e-3, 2e-3}) {
    theirs.time_s = time_s;
    records.push_back(theirs);
  }
  theirs.case_id = "branch_divergence/kernel=loop";
  theirs.family = "branch_divergence";
  records.push_back(theirs);
  const auto json = nlohmann::json::parse(shown(records, {.families = {"grid"}}, {}, "json"));
  ASSERT_EQ(json.size(), 3U);
  EXPECT_EQ(json[0]["api"], "opencl");
  EXPECT_EQ(json[0]["core_mhz"], 1980);
  EXPECT_EQ(json[0]["memory_mhz"], nullptr);
  EXPECT_EQ(json[0]["power_w"], 700);
  EXPECT_EQ(json[0]["temperature_c"], 61);
  EXPECT_EQ(json[0]["throttle_reasons"], "power cap");
  EXPECT_EQ(json[0]["threads"], nullptr);
  EXPECT_EQ(json[1]["core_mhz"], nullptr) << "nothing was told of it";
  EXPECT_EQ(json[2]["api"], "std");
  EXPECT_EQ(json[2]["platform"], "native, C++20");
  EXPECT_EQ(json[2]["case_id"], "grid/kernel=loop/threads=2");
  EXPECT_EQ(json[2]["kernel"], "loop");
  EXPECT_EQ(json[2]["threads"], 2);
  EXPECT_EQ(json[2]["status"], "ok");
  EXPECT_EQ(json[2]["runs"], 3);
  EXPECT_EQ(json[2]["time_s"], 2e-3) << "that of median time";
}

TEST(FamilyTable, ShowsEnergyOfBytesOperationsAndItems) {
  Record copy = grid_row("plain", "row", 50),
         compute = ceiling_row("arithmetic", "float", "arithmetic_float", 4000);
  for (auto* record : {&copy, &compute}) {
    record->bytes = 4'000'000;
    record->flops = record == &compute ? 800'000'000 : 0;
    record->items = 1'000'000;
    record->energy_j = 120e-6;
  }
  EXPECT_THAT(shown({copy}, {.quantity = "energy"}, {.ascii = false}), HasSubstr("30"));
  EXPECT_THAT(shown({compute}, {.quantity = "energy"}, {.ascii = false}), HasSubstr("0.15"));
  EXPECT_THAT(shown({compute}, {.quantity = "nj"}, {.ascii = false}), HasSubstr("0.12"));
  const auto json = nlohmann::json::parse(shown({copy}, {}, {}, "json"));
  EXPECT_EQ(json[0]["energy_j"], 120e-6);
  EXPECT_EQ(json[0]["energy_low_j"], nullptr);
}

TEST(FamilyTable, ShowsRowsThatFailed) {
  const std::string text =
      plain({grid_row("plain", "row", 50),
             broken(grid_row("plain", "column", 0), "wrong_result", "3 of 4 elements correct"),
             broken(grid_row("clever", "row", 0), "unsupported", "no double precision"),
             broken(grid_row("clever", "column", 0), "launch_failed", "CL_OUT_OF_RESOURCES")});
  EXPECT_THAT(text, HasSubstr("plain       50  25%   wrong_result\n"
                              "clever  unsupported  launch_failed\n"));
}

TEST(FamilyTable, ShowsKnownIncorrectApartFromFailures) {
  const std::string text = plain(
      {grid_row("plain", "row", 50), broken(grid_row("plain", "row", 0, "64", "known_incorrect"),
                                            "wrong_result", "known incorrect: an unsigned factor", "yes")});
  EXPECT_THAT(text, HasSubstr("grid  form=corrected, "));
  EXPECT_THAT(text, HasSubstr("grid  form=known_incorrect, "));
  EXPECT_THAT(text, HasSubstr("plain   known incorrect: wrong\n"));
}

// Calls nothing wrong that the device could not run.
TEST(FamilyTable, CallsAKnownIncorrectCaseWrongOnlyWhereItIs) {
  for (const char* status : {"unsupported", "build_failed", "timeout"}) {
    const std::string text =
        plain({broken(grid_row("plain", "row", 0, "64", "known_incorrect"), status, "why", "yes")});
    EXPECT_THAT(text, AllOf(HasSubstr(status), Not(HasSubstr("known incorrect: wrong"))));
  }
  Record right = grid_row("plain", "row", 50, "64", "known_incorrect");
  right.known_incorrect = "yes";
  EXPECT_THAT(plain({right}), HasSubstr("50  25%"));
}

TEST(FamilyTable, ShowsFindingsUnderTheirFamily) {
  const std::string text = plain({lanes_row(2, 1, 2e-3), lanes_row(2, 2, 1e-3), grid_row("plain", "row", 50),
                                  finding("branch_divergence", "simd_width", 32, "items"),
                                  finding("grid", "uncoalesced_slowdown", 2.34567, "ratio")});
  const auto grid = text.find("  uncoalesced_slowdown 2.35x: because of uncoalesced_slowdown\n");
  const auto lanes_table = text.find("branch_divergence, ");
  const auto lanes = text.find("  simd_width 32 items: because of simd_width\n");
  ASSERT_NE(grid, std::string::npos) << text;
  ASSERT_NE(lanes, std::string::npos) << text;
  EXPECT_LT(grid, lanes_table);
  EXPECT_LT(lanes_table, lanes);
}

TEST(FamilyTable, ShowsTheMedianOfRepetitions) {
  std::vector<Record> records;
  for (const double time_s : {3e-3, 1e-3, 2e-3}) {
    records.push_back(grid_row("plain", "row", 0.1 / time_s));
    records.back().time_s = time_s;
    records.back().run = static_cast<std::int64_t>(records.size());
  }
  std::string text = plain(records);
  EXPECT_THAT(text, HasSubstr("\nplain   50  25%\n"));
  // Shows a failure even if other rows of the cell have numbers.
  records.push_back(broken(grid_row("plain", "row", 0), "timeout", "30 s without a sign of life"));
  text = plain(records);
  EXPECT_THAT(text, HasSubstr("\nplain   timeout\n"));
}

TEST(FamilyTable, LeavesOutFamiliesItDoesNotKnow) {
  EXPECT_THAT(plain({row("fft", {{"n", "8"}}), grid_row("plain", "row", 50)}), Not(HasSubstr("fft")));
}

TEST(FamilyTable, UsesColourOnlyWhenAsked) {
  const std::vector<Record> records = {
      ceiling_row("copy", "float", "copy", 200), grid_row("plain", "row", 50),
      broken(grid_row("plain", "column", 0), "wrong_result", "r"),
      broken(grid_row("clever", "row", 0, "64", "known_incorrect"), "wrong_result", "r", "yes"),
      finding("grid", "gain", 2, "ratio")};
  const std::string uncoloured = plain(records);
  EXPECT_EQ(uncoloured.find('\x1b'), std::string::npos);
  std::string coloured = shown(records, {}, {.colour = true, .ascii = false});
  EXPECT_THAT(coloured,
              AllOf(HasSubstr("\x1b[1mgrid\x1b[0m"), HasSubstr("\x1b[31mwrong_result\x1b[0m"),
                    HasSubstr("\x1b[2mknown incorrect: wrong\x1b[0m"), HasSubstr("\x1b[36mgain\x1b[0m")));
  // The same text but for the colours.
  for (auto at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b'))
    coloured.erase(at, coloured.find('m', at) - at + 1);
  EXPECT_EQ(coloured, uncoloured);
}

// Files come from elsewhere too: what is missing is not zero.
TEST(FamilyTable, InventsNoNumberThatARowLacks) {
  Record timeless = lanes_row(2, 1, 1);
  timeless.time_s.reset();
  Record nameless = finding("branch_divergence", "width", 1, "items");
  nameless.value.reset();
  Record rateless = row("sort", {{"n", "64"}});
  rateless.time_s.reset();
  const std::string text = plain({timeless, nameless, rateless});
  EXPECT_THAT(text,
              AllOf(HasSubstr("\n2      -\n"), HasSubstr("\n64  -\n"), HasSubstr("  width undecided: ")));
}

TEST(FamilyTable, MarksWhatIsDoubtfulOrCachedAndCountsIt) {
  Record slow = grid_row("plain", "row", 50), unsure = grid_row("plain", "column", 60),
         cached = grid_row("clever", "row", 300);
  slow.throttled = 0.6;
  unsure.converged = "no";
  cached.cached = "yes";
  Record fine = grid_row("clever", "column", 70);
  fine.throttled = 0.5;
  fine.converged = "yes";
  EXPECT_THAT(plain({slow, unsure, cached, fine}),
              AllOf(HasSubstr("plain    50*  25%  60*  30%\n"), HasSubstr("clever  300 150%c   70  35%\n"),
                    HasSubstr("*  2 of 4 cells: the machine was not quiet during 1; the median of 1 is not "
                              "known as well as was "
                              "asked\nc  1 of 4 cells: ")));
}

TEST(FamilyTable, ShowsOperationsOfArithmetic) {
  Record one = ceiling_row("arithmetic", "float", "arithmetic_float", 4000);
  EXPECT_THAT(plain({one}), AllOf(HasSubstr("peak, Gop/s by type\n"), HasSubstr("4000")));
}

TEST(FamilyTable, PutsSeveralDevicesSideBySide) {
  Record other = grid_row("plain", "row", 70), twin = grid_row("plain", "row", 90);
  other.device = "Loom 2";
  twin.device_id = "0:1";
  EXPECT_THAT(plain({grid_row("plain", "row", 50), other, twin}),
              HasSubstr("A  Loom 1  Invented, OpenCL 3.0, driver 1.2\n"
                        "B  Loom 2  Invented, OpenCL 3.0, driver 1.2\n"
                        "C  Loom 1  Invented, OpenCL 3.0, driver 1.2\n"
                        "\n"
                        "grid, GB/s by device\n"
                        "kernel        A        B        C\n"
                        "─────────────────────────────────\n"
                        "plain   50  25%  70  35%  90  45%\n"));
}

TEST(FamilyTable, TakesOtherAxesAndQuantities) {
  std::vector<Record> records;
  for (const auto* n : {"64", "1024"}) {
    for (const auto* kernel : {"plain", "clever"}) {
      records.push_back(grid_row(kernel, "row", 50, n));
      records.back().time_s = std::string(kernel) == "plain" ? 4e-3 : 1e-3;
    }
  }
  const auto tables = [&](const TableChoice& choice) { return shown(records, choice, {.ascii = false}); };
  EXPECT_THAT(tables({.columns = {"n"}, .quantity = "ms"}), HasSubstr("grid, ms by n\n"));
  EXPECT_THAT(
      tables({.columns = {"n"}, .quantity = "speedup"}),
      HasSubstr(
          "kernel          64        1024\n──────────────────────────────\nplain   1.00x  25%  1.00x  25%\n"
          "clever  4.00x  25%  4.00x  25%\n"));
  EXPECT_THAT(
      tables({.rows = {"n"}, .columns = {"kernel"}, .quantity = "fraction_of_peak"}),
      HasSubstr("n     plain  clever\n───────────────────\n64       25      25\n1024     25      25\n"));
  for (const auto& [choice, hint] : std::vector<std::pair<TableChoice, std::string>>{
           {{.families = {"branch_divergence"}},
            "there are no rows of family branch_divergence; there are grid"},
           {{.rows = {"width"}},
            "family grid has no axis width; there are device, kernel, mapping, n, local, form"},
           {{.columns = {"kernle"}}, "family grid has no axis kernle; did you mean 'kernel'?"},
           {{.quantity = "rates"}, "there is no quantity rates; did you mean 'rate'?"},
           {{.quantity = "watts"},
            "there is no quantity watts; there are rate, ms, ns, gb, gop, items, fraction_of_peak, speedup, "
            "slowdown"}}) {
    try {
      tables(choice);
      FAIL() << hint;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::usage);
      EXPECT_THAT(error.what(), HasSubstr(hint));
    }
  }
}

TEST(FamilyTable, TakesAnAxisByItsFormerName) {
  auto families = invented();
  families[1].axes[3].former = {"work_group"};
  EXPECT_THAT(shown({grid_row("plain", "row", 50)}, {.columns = {"work_group"}}, {}, "text", families),
              HasSubstr("grid, GB/s by local\nkernel    16x16\n"));
}

// Rows with emptied caches are cases of their own, whatever file the others stand in.
TEST(FamilyTable, ShowsColdCasesApart) {
  Record cold = grid_row("plain", "row", 20);
  cold.cache = "cold";
  EXPECT_THAT(shown({grid_row("plain", "row", 50), cold}, {}, {}),
              HasSubstr("plain   50  25%\n\nwith emptied caches:\ngrid, GB/s by mapping\n"));
}

TEST(FamilyTable, ShowsWhereAFindingLies) {
  Record sure = finding("branch_divergence", "cost", 2, "ratio");
  sure.value_low = 1.9;
  sure.value_high = 2.1;
  const std::vector<Record> records = {lanes_row(2, 1, 2e-3), sure};
  EXPECT_THAT(shown(records, {}, {}), HasSubstr("  cost 2x (1.9 to 2.1): because of cost\n"));
  EXPECT_THAT(shown(records, {}, {}, "csv"), HasSubstr(",cost,2,1.9,2.1,ratio,because of cost,"));
}

TEST(FamilyTable, ShowsWhatTuningGained) {
  Record usual = grid_row("plain", "row", 50), tuned = grid_row("plain", "row", 100);
  tuned.case_id += "x";
  tuned.tuned = "yes";
  tuned.time_s = 5e-4;
  tuned.axes[3].second = "256";
  auto families = invented();
  families[1].axes[3].tunable = true;
  EXPECT_THAT(shown({usual, tuned}, {}, {}, "text", families),
              HasSubstr("2.00x  1.00 ms  500 us  local=256\n"));
}

// Compares a tuned row of another design with the fastest default launch of the same work.
TEST(FamilyTable, ShowsWhatAnotherDesignGained) {
  Record slow = grid_row("plain", "row", 25), fast = grid_row("plain", "column", 50),
         tuned = grid_row("clever", "row", 100);
  slow.time_s = 2e-3;
  tuned.tuned = "yes";
  tuned.time_s = 5e-4;
  auto families = invented();
  families[1].axes[3].tunable = true;
  EXPECT_THAT(shown({slow, fast, tuned}, {}, {}, "text", families), HasSubstr("     -        -  500 us"));
  families[1].presets.tune = {"kernel=plain,clever mapping=row,column"};
  EXPECT_THAT(shown({slow, fast, tuned}, {}, {}, "text", families), HasSubstr("2.00x  1.00 ms  500 us"));
}

TEST(FamilyTable, IsDataToo) {
  Record odd = grid_row("plain", "row", 50);
  odd.device = "Loom \xff";
  const auto json = nlohmann::json::parse(shown({odd, finding("grid", "gain", 2, "ratio")}, {}, {}, "json"));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["device"], "Loom \uFFFD");
  EXPECT_EQ(json[0]["gb_per_s"], 50);
  EXPECT_EQ(json[0]["mapping"], "row");
  EXPECT_EQ(json[1]["finding"], "gain");
  EXPECT_EQ(json[1]["time_s"], nullptr);
}

TEST(FamilyPlot, DrawsCurvesOverNumbersAndBarsOverWords) {
  std::vector<Record> records;
  for (const auto& [n, rate] : {std::pair("64", 1.0), std::pair("1024", 10.0), std::pair("16384", 100.0)}) {
    records.push_back(grid_row("plain", "row", rate, n));
    records.push_back(grid_row("clever", "row", 2 * rate, n));
  }
  const auto plot = [&](const TableChoice& choice, const Screen& screen) {
    return shown(records, choice, screen);
  };
  const TableChoice curve{.columns = {"n"}, .plot = true}, bars{.columns = {"mapping"}, .plot = true};
  const std::string drawn = plot(curve, {.ascii = false, .width = 60});
  EXPECT_THAT(drawn, AllOf(HasSubstr("n, logarithmic"), HasSubstr("  A  plain\n  B  clever\n"),
                           HasSubstr("│"), HasSubstr("200 "), HasSubstr("16.4 k\n")));
  std::istringstream lines(drawn);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 60U) << line;
  const std::string plain_text = plot(curve, {.width = 60});
  EXPECT_TRUE(std::ranges::all_of(plain_text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
      << plain_text;
  EXPECT_THAT(plot(bars, {.width = 60}), HasSubstr("#"));
  EXPECT_THAT(plot(bars, {.ascii = false, .width = 60}), HasSubstr("█"));
}
