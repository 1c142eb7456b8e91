// SPDX-License-Identifier: Apache-2.0
// test_results_set: what results files say, by device, case and run, and what is refused.
#include "results/results_set.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "analysis/compare/changes.hpp"
#include "analysis/compared_rows.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST(Reader, ReducesRowsToRunsOfCases) {
  Record third = row({{"kernel", "grid"}, {"n", "64"}}, 3, 3);
  third.fraction_of_peak = 0.5;
  const auto set = set_of({row({{"kernel", "grid"}, {"n", "64"}}, 1, 1), row({{"kernel", "row"}}, 9, 1),
                           row({{"kernel", "grid"}, {"n", "64"}}, 2, 2), third});
  ASSERT_THAT(set.devices, SizeIs(1));
  EXPECT_EQ(set.runs, 3U);
  const CaseTimes* at = set.devices[0].find("loom/kernel=grid/n=64");
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(*at->name->axis("kernel"), Value("grid"));
  EXPECT_EQ(*at->name->axis("n"), Value(std::int64_t{64}));
  EXPECT_EQ(at->name->axis("type"), nullptr);
  EXPECT_EQ(at->median_s(), 2);
  EXPECT_EQ(at->fraction_of_peak(), 0.5);
  EXPECT_EQ(at->clock, "event, warm");
  EXPECT_TRUE(at->ok());
}

TEST(Reader, TheMiddleOfAnEvenNumberOfRunsLiesBetweenTwo) {
  std::vector<Record> rows;
  for (const int run : {1, 2, 3, 4}) {
    rows.push_back(row({}, std::array{0, 4, 1, 2, 100}.at(static_cast<std::size_t>(run)), run));
    rows.back().gb_per_s = 8e-6 / *rows.back().time_s;
    rows.back().wall_s = 2 * *rows.back().time_s;
  }
  rows[1].fraction_of_peak = 0.5;  // of 1 s
  rows[2].fraction_of_peak = 0.3;
  rows[2].converged = "no";
  rows[2].energy_j = 7;
  const auto set = set_of(rows);
  const auto run = set.devices[0].cases.at(0).typical();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->time_s, 3) << "of 1, 2, 4 and 100";
  EXPECT_EQ(run->time_s, set.devices[0].cases.at(0).median_s());
  EXPECT_EQ(run->wall_s, 6);
  EXPECT_NEAR(*run->gb_per_s, 8e-6 / 3, 1e-15) << "its bytes over its time";
  EXPECT_EQ(run->fraction_of_peak, 0.3) << "of the one that has it";
  EXPECT_EQ(run->energy_j, 7);
  EXPECT_TRUE(run->unsettled);
  EXPECT_FALSE(run->slowed);
  rows.pop_back();
  EXPECT_EQ(set_of(rows).devices[0].cases.at(0).typical()->time_s, 2) << "of 1, 2 and 4";
}

TEST(Reader, ACaseIsOkWhenAllItsRunsAre) {
  const auto set = set_of({row({}, 1, 1), bad(row({}, 1, 2), "wrong_result", "half"), row({}, 1, 3)});
  const CaseTimes& at = set.devices[0].cases.at(0);
  EXPECT_EQ(at.status, Status::wrong_result);
  EXPECT_EQ(at.bad, 1U);
  EXPECT_EQ(at.rows, 3U);
}

TEST(Reader, TheLastLookOfASearchCounts) {
  Record first = row({}, 2, 1), second = row({}, 1, 2);
  first.command = second.command = R"(["tune","--family","copy"])";
  EXPECT_THAT(set_of({first, second}).devices[0].cases.at(0).runs, SizeIs(1));
  EXPECT_EQ(set_of({first, second}).devices[0].cases.at(0).median_s(), 1);
}

TEST(Reader, SaysWhatWasInterrupted) {
  ResultsSet set;
  set.add(csv_of({row({}, 1)}, false), "x.csv");
  EXPECT_THAT(set.notes, ElementsAre("x.csv was interrupted after 1 rows"));
  EXPECT_THAT(set_of({row({}, 1)}).notes, IsEmpty());
}

TEST(Reader, SaysHowManyRowsWereDisturbed) {
  Record disturbed = row({{"kernel", "grid"}}, 1);
  disturbed.disturbed = "other processes used 1.9 processors";
  const ResultsSet set = set_of({disturbed, row({{"kernel", "row"}}, 1)});
  EXPECT_THAT(set.notes, ElementsAre(HasSubstr("1 of 2 rows were measured on a machine that was not quiet")));
  const RunTime& run = set.devices[0].cases.at(0).runs.at(0);
  EXPECT_TRUE(run.disturbed);
  EXPECT_TRUE(run.slowed) << "marked in tables as one beside a slow canary";
  EXPECT_FALSE(set.devices[0].cases.at(1).runs.at(0).slowed);
}

TEST(Reader, RefusesWhatIsNoResultsFileByLine) {
  const std::string good = csv_of({row({{"kernel", "grid"}}, 1), row({{"kernel", "row"}}, 2)});
  EXPECT_EQ(complaint(good), "accepted");
  EXPECT_EQ(complaint(""), "x.csv:1:1: the file is empty");
  EXPECT_EQ(complaint("kernel,us\na,1\n"), "x.csv:1: no column 'schema': not a CSV of clweave run");
  EXPECT_EQ(complaint(csv_line(header_cells({}))), "x.csv: no row to compare");
  EXPECT_EQ(complaint(replaced(good, "clweave-1", "clweave-2")),
            "x.csv:2: schema 'clweave-2', this clweave reads 'clweave-1'");
  // A newer schema may have other columns: that it is newer is said first.
  EXPECT_EQ(complaint(replaced(replaced(good, "clweave-1", "clweave-2"), "time_low_s", "time_min")),
            "x.csv:2: schema 'clweave-2', this clweave reads 'clweave-1'");
  EXPECT_EQ(complaint(replaced(good, "time_low_s", "time_min")),
            "x.csv:1: no column 'time_low_s': not a CSV of clweave run");
  EXPECT_EQ(complaint(replaced(good, "#end,2", "#end,3")),
            "x.csv:4: the footer counts 3 rows, but there are 2");
}

TEST(Reader, RefusesWhatIsCutOffOrMalformedByLineAndColumn) {
  const std::string good = csv_of({row({{"kernel", "grid"}}, 1), row({{"kernel", "row"}}, 2)}, false);
  EXPECT_EQ(complaint(good.substr(0, good.size() - 1)),
            "x.csv:3:192: the file ends within this row: clweave run --resume finishes what was interrupted");
  EXPECT_THAT(complaint(good + "\"clweave-1"), StartsWith("x.csv:4:11: the file ends within this row"));
  EXPECT_EQ(complaint(good + "clweave-1,2\n"),
            fmt::format("x.csv:4:1: 2 cells, but the header has {}", header_cells({"kernel"}).size()));
  EXPECT_EQ(complaint(replaced(good, "Loom 1", "Lo\"om")), "x.csv:2:50: a quote inside an unquoted cell");
  EXPECT_EQ(complaint(good + "\"x\n"), "x.csv:4:1: a quote that is never closed");
  EXPECT_THAT(complaint(replaced(good, ",8000,", ",many,")), "x.csv:2: column bytes: 'many' is no number");
}

TEST(Reader, OldRowsMeetNewOnesThatHaveALaterAxis) {
  Family loom;
  loom.name = "loom";
  loom.axes = {{"kernel", "", {"a", "b"}}, {"drop", "", {0, 2}}};
  const auto csv = [](std::vector<Record> records, const std::vector<std::string>& axes) {
    std::string text = csv_line(header_cells(axes));
    for (auto& record : records) {
      record.axes = {{"kernel", "a"}, {"drop", record.case_id.substr(record.case_id.size() - 1)}};
      text += csv_line(cells_of(record, axes));
    }
    return text + csv_line(footer_cells(records.size(), axes));
  };
  ResultsSet old, now;
  old.add(csv({row({{"kernel", "a"}}, 1)}, {"kernel"}), "old.csv", {}, {}, {loom});
  now.add(csv({row({{"kernel", "a"}, {"drop", "0"}}, 2), row({{"kernel", "a"}, {"drop", "2"}}, 3)},
              {"kernel", "drop"}),
          "new.csv", {}, {}, {loom});
  const RunComparison all = compare_runs(old, now, {}, {});
  std::map<Transition, int> found;
  for (const auto& at : all.cases) ++found[at.transition];
  EXPECT_EQ(found[Transition::compared], 1);
  EXPECT_EQ(found[Transition::added], 1);
}

// A merged file and its parts count once; other rows of the same run and case are separate.
TEST(Reader, ARowOfTwoFilesCountsOnce) {
  const Record first = row({{"kernel", "a"}}, 1), failed = bad(row({{"kernel", "b"}}, 1), "timeout", "late");
  Record finding = row({}, 1), baseline = row({{"kernel", "c"}}, 3);
  finding.finding = "width";
  finding.value = 32;
  baseline.api = "tbb";
  const std::vector<Record> part = {first, failed, finding, baseline};
  std::vector<Record> whole = part;
  for (auto& record : whole) record.label = "node1";
  whole.push_back(row({{"kernel", "a"}}, 2, 2));
  ResultsSet set;
  set.add(csv_of(part), "part.csv");
  set.add(csv_of(whole), "whole.csv");
  EXPECT_EQ(set.rows, 5U);
  EXPECT_THAT(set.baselines, SizeIs(1));
  ASSERT_THAT(set.devices, SizeIs(1)) << "a label makes no other device";
  EXPECT_THAT(set.devices[0].find("loom/kernel=a")->runs, SizeIs(2));
  EXPECT_EQ(set.devices[0].find("loom/kernel=b")->bad, 1U);
  EXPECT_THAT(set.devices[0].findings.at(0).runs, SizeIs(1));
  EXPECT_THAT(set.notes, ElementsAre("4 rows of whole.csv are in part.csv, too: read twice, counted once"));
  // The same devices in parallel, and another session.
  Record at_once = first, again = first;
  *at_once.time_s = 1.5;
  again.run_id = "S";
  set.add(csv_of({at_once}), "at-once.csv");
  set.add(csv_of({again}), "again.csv");
  EXPECT_THAT(set.devices[0].find("loom/kernel=a")->runs, SizeIs(4));
  EXPECT_THAT(set.notes, SizeIs(1));
}

TEST(Reader, RefusesARowThatIsThereTwice) {
  EXPECT_EQ(complaint(csv_of({row({{"kernel", "grid"}}, 1), row({{"kernel", "grid"}}, 2)})),
            "x.csv:3: a second row of run 1 of loom/kernel=grid");
  // Behind a row of another run, or copied under another number, it would count as a run more.
  const auto of_run = [](std::int64_t run, double call_s) {
    Record r = row({{"kernel", "grid"}}, 1);
    r.run = run;
    r.time_low_s = r.min_s = 0.99;
    r.time_high_s = 1.01;
    r.call_s = call_s;
    return r;
  };
  EXPECT_EQ(complaint(csv_of({of_run(1, 1.01), of_run(2, 1.02), of_run(1, 1.03)})),
            "x.csv:4: a second row of run 1 of loom/kernel=grid");
  EXPECT_EQ(complaint(csv_of({of_run(1, 1.0123456), of_run(2, 1.0123456)})),
            "x.csv:3: a second row of run 2 of loom/kernel=grid");
  EXPECT_EQ(complaint(csv_of({of_run(1, 1.0123456), of_run(2, 1.0123457)})), "accepted");
  Record native = of_run(1, 1);
  native.api = "cuda";
  EXPECT_EQ(complaint(csv_of({native, native})), "x.csv:3: a second row of run 1 of cuda, loom/kernel=grid");
}

TEST(Reader, RefusesAWordWhereANumberIsMeant) {
  const std::vector<Family> families = {
      {.name = "loom",
       .question = "?",
       .axes = {{.name = "n", .meaning = "", .values = {64}, .domain = whole(1, 64)}}}};
  const auto read = [&](const char* n) {
    return complaint_of(
        [&] {
          ResultsSet().add(csv_of({row({{"n", n}}, 1)}), "x.csv", "", "", families);
        },
        ErrorCode::io);
  };
  EXPECT_EQ(read("64"), "accepted");
  EXPECT_EQ(read("many"), "x.csv:2: column n: 'many' is no number");
}

TEST(Reader, RefusesATimeThatIsNoneByLineAndColumn) {
  Record zero = row({{"kernel", "row"}}, 0), negative = row({{"kernel", "row"}}, 1);
  negative.wall_s = -1;
  EXPECT_EQ(complaint(csv_of({row({{"kernel", "grid"}}, 1), zero})),
            "x.csv:3: column time_s: 0 s is no time");
  EXPECT_EQ(complaint(csv_of({negative})), "x.csv:2: column wall_s: -1 s is no time");
  // Refuses times whose ratios are not finite.
  for (const double s : {1e-320, 1e308})
    EXPECT_THAT(complaint(csv_of({row({{"kernel", "row"}}, s)})), HasSubstr("is no time")) << s;
  EXPECT_EQ(complaint(csv_of({bad(zero, "timeout")})), "accepted") << "what failed has no time";
}

TEST(Reader, ATunedCaseIsAnotherThanTheSameByDefault) {
  Record tuned = row({{"kernel", "grid"}}, 1);
  tuned.tuned = "yes";
  const auto set = set_of({row({{"kernel", "grid"}}, 2), tuned});
  ASSERT_THAT(set.devices.at(0).cases, SizeIs(2));
  EXPECT_EQ(set.devices[0].find("loom/kernel=grid")->median_s(), 2);
  EXPECT_EQ(set.devices[0].find("loom/kernel=grid", true)->median_s(), 1);
}

TEST(Reader, ReadsAFileInPiecesAndTheSameFileOnce) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("clweave-pieces-{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string one = folder / "one.csv", other = folder / "other.csv";
  std::vector<Record> records;
  for (int run = 1; run <= 6000; ++run) {
    records.push_back(row({{"kernel", "grid"}}, run, run));
    records.back().reason = "a, \"quoted\"\nreason";
  }
  for (const auto& path : {one, other}) std::ofstream(path) << csv_of(records);  // of several pieces
  const ResultsSet set = read_results({one, other, one}, {});
  EXPECT_EQ(set.rows, 6000U);
  EXPECT_EQ(set.devices.at(0).cases.at(0).median_s(), 3000.5);
  EXPECT_THAT(set.notes, ElementsAre(other + " is the same file as " + one + ": its rows count once",
                                     one + " is given twice: its rows count once"));
  std::ofstream(other) << csv_of(records, false) << "clweave-1,R";
  EXPECT_THAT(complaint_of([&] { read_results({other}, {}); }, ErrorCode::io),
              AllOf(StartsWith(other + ":12002:"), HasSubstr("the file ends within this row")));
  std::filesystem::remove_all(folder);
}

TEST(Reader, WhatFitsACacheIsCachedAlsoWhereTheRunLookedForNone) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("clweave-cached-{}", getpid());
  std::filesystem::create_directories(folder);
  Record found = row({}, 1);
  found.finding = "cache_bytes";
  found.value = 64e6;
  found.family = "peak";
  found.case_id = "peak/cache_bytes";
  const auto of_bytes = [](const char* kernel, std::int64_t bytes) {
    Record out = row({{"kernel", kernel}}, 1);
    out.peak = Peak::copy;
    out.bytes = bytes;
    return out;
  };
  Record looked = of_bytes("looked", 8'000'000);
  looked.fraction_of_peak = 0.5;
  looked.cached = "no";
  Record arithmetic = of_bytes("arithmetic", 8'000'000);
  arithmetic.peak = Peak::arithmetic_float;
  const std::string one = folder / "one.csv", other = folder / "other.csv";
  std::ofstream(one) << csv_of({found, looked});
  std::ofstream(other) << csv_of({of_bytes("small", 64'000'000), of_bytes("large", 64'000'001), arithmetic});
  const auto cached = [](const ResultsSet& set, const std::string& kernel) {
    return set.devices.at(0).find("loom/kernel=" + kernel)->runs.at(0).cached;
  };
  const ResultsSet both = read_results({one, other}, {}), alone = read_results({other}, {});
  EXPECT_TRUE(cached(both, "small"));
  EXPECT_FALSE(cached(both, "large"));
  EXPECT_FALSE(cached(both, "arithmetic"));
  EXPECT_FALSE(cached(both, "looked")) << "whose run knew";
  EXPECT_FALSE(cached(alone, "small")) << "nobody knows";
  std::filesystem::remove_all(folder);
}

TEST(Reader, SamplesReplaceTheMedianAndItsInterval) {
  const std::string header = "row,run,case_id,index,event_ns,host_ns,batch,throttled\n";
  const auto sample = [](int row, int index, double ns) {
    return fmt::format("{},1,x,{},{},9e9,1,\n", row, index, ns);
  };
  std::string samples = header;
  for (int i = 0; i < 15; ++i) samples += sample(2, i, 1000 + (i % 2 == 0 ? i : -i));
  const std::string text = csv_of({row({{"kernel", "a"}}, 5), row({{"kernel", "b"}}, 1e-6)});
  ResultsSet set;
  set.add(text, "x.csv", samples, "x.samples.csv");
  const RunTime& run = set.devices[0].find("loom/kernel=b")->runs.at(0);
  EXPECT_NEAR(run.time_s, 1e-6, 1e-18);
  EXPECT_GT(run.log_variance, 0);
  EXPECT_EQ(set.devices[0].find("loom/kernel=a")->runs.at(0).log_variance,
            0);  // neither samples nor interval

  EXPECT_EQ(complaint(text, header + sample(3, 0, 1)), "x.samples.csv:2: row 3 is not in x.csv, which has 2");
  EXPECT_EQ(complaint(text, header + sample(2, 0, 2000)),
            "x.samples.csv:2: row 2 has a median of 1e-06 s in x.csv, but 2e-06 s here: the samples are of "
            "another file");
  EXPECT_EQ(complaint(text, header + "2,1,x,0,fast,1,1,\n"),
            "x.samples.csv:2: column event_ns: 'fast' is no number");
  EXPECT_EQ(complaint(text, "a,b\n"), "x.samples.csv:1: no column 'row': not samples of clweave run");
  EXPECT_THAT(complaint(text, header + "2,1,x"),
              StartsWith("x.samples.csv:2:6: the file ends within this row"));
}

TEST(Reader, TakesPublishedFiguresByTheirHeader) {
  const std::string header = "source,year,device,case,seconds,fraction_of_peak,over,speedup,evidence,note\n";
  ResultsSet set;
  set.add(header +
              "H,2012,GTX 460,loom/kernel=grid,5e-4,,,,,\n"
              "H,2012,GTX 460,loom/kernel=row,1e-4,,,,void,touches two rows\n"
              "H,2012,GTX 460,,,,,,,a method\n",
          "figures.csv");
  ASSERT_THAT(set.devices, SizeIs(1));
  EXPECT_TRUE(set.devices[0].published);
  EXPECT_EQ(set.devices[0].name, "GTX 460 (2012)");
  EXPECT_EQ(set.devices[0].find("loom/kernel=grid")->median_s(), 5e-4);
  EXPECT_EQ(set.devices[0].find("loom/kernel=row")->status, Status::wrong_result);
  EXPECT_EQ(complaint(header + "H,2012,G,loom/kernel=grid,soon,,,,,\n"),
            "x.csv:2: column seconds: 'soon' is no number above 0");
  EXPECT_THAT(complaint(header + "H,2012,G,loom/kernel=grid,,,loom/kernel=row,,,\n"),
              HasSubstr("x.csv:2: a case needs seconds, or fraction_of_peak, or a speedup over another"));
  EXPECT_THAT(complaint(header + "H,2012,G,loom/kernel=grid,1,,loom/kernel=row,,,\n"),
              HasSubstr("a speedup over another"));
  EXPECT_THAT(complaint("source,year\n"),
              HasSubstr("neither a CSV of clweave run nor the published figures"));
}

TEST(Reader, TheFiguresOfTheRepositoryAreRead) {
  ResultsSet set;
  const std::string path = CLWEAVE_SOURCE_DIR "/results/published/figures.csv";
  set.add(read_text(path), path);
  const auto device = std::ranges::find(set.devices, "Tesla M2090 (2014)", &DeviceResults::name);
  ASSERT_NE(device, set.devices.end());
  // Every published case can be typed today.
  const auto& families = all_families();
  for (const auto& one : set.devices) {
    for (const auto& at : one.cases) {
      const auto family = std::ranges::find(families, at.family(), &Family::name);
      ASSERT_NE(family, families.end()) << at.id();
      for (const auto& [axis, value] : at.name->axes) {
        const Axis* known = family->axis(*axis);
        ASSERT_NE(known, nullptr) << at.id();
        EXPECT_TRUE(known->taken(*value)) << at.id();
      }
    }
  }
  EXPECT_GT(set.figures.size(), 60U);
}

TEST(Devices, AreToldApartByUuidAndLabelWhereTheseAreKnown) {
  const auto device_row = [](const std::string& kernel, const std::string& uuid, const std::string& label) {
    Record record = row({{"kernel", kernel}}, 1);
    record.uuid = uuid;
    record.label = label;
    return record;
  };
  // Gives all devices one address.
  const ResultsSet set =
      set_of({device_row("a", "", ""), device_row("b", "aa", ""), device_row("a", "bb", ""),
              device_row("b", "bb", ""), device_row("a", "", "node1"), device_row("b", "", "node2"),
              device_row("c", "", "")});
  ASSERT_THAT(set.devices, SizeIs(4));
  EXPECT_EQ(set.devices[0].uuid, "aa") << "rows from before that column may be of it";
  EXPECT_THAT(set.devices[0].cases, SizeIs(3));
  EXPECT_EQ(set.devices[1].uuid, "bb");
  EXPECT_THAT(set.devices[1].cases, SizeIs(2));
  EXPECT_EQ(set.devices[2].user_label, "node1");
  EXPECT_EQ(set.devices[3].user_label, "node2");
  ResultsSet merged = set_of({device_row("a", "bb", ""), device_row("d", "", "node2")});
  merged.merge(set_of({device_row("b", "bb", ""), device_row("d", "", "node1"), device_row("d", "cc", "")}));
  EXPECT_THAT(merged.devices, SizeIs(4));
  EXPECT_THAT(merged.devices[0].cases, SizeIs(2));
}
