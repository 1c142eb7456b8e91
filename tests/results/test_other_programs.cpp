// SPDX-License-Identifier: Apache-2.0
// test_other_programs: rows that pandas, R and spreadsheets wrote again, rows that were edited, and what lies
// in a folder beside them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "analysis/compared_rows.hpp"
#include "base/number.hpp"
#include "base/zip.hpp"
#include "commands/read_results.hpp"
#include "results/contradictions.hpp"
#include "results/merge.hpp"
#include "results/results_files.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

namespace {

namespace fs = std::filesystem;

// Two rows of real axes and numbers, of which each lacks what the other has.
std::vector<Record> two_rows() {
  Record one = row({{"kernel", "grid"}, {"n", "1024"}, {"kept", "0.5"}}, 1.5e-6);
  Record other = row({{"kernel", "row"}, {"group", "16x16"}}, 2.25e-6, 2);
  one.samples = 30;
  one.gb_per_s = 8000 / 1.5e-6 / 1e9;
  one.time_low_s = 1.25e-6;
  one.time_high_s = 1.75e-6;
  one.throttled = 0;
  other.flops = 1'000'000;
  other.gflop_per_s = 1e6 / 2.25e-6 / 1e9;
  other.steps_s = "1e-06;1.25e-06";
  one.driver = other.driver = "1.2.3";
  return {one, other};
}

using Edit = std::function<std::string(const std::string& cell, bool column_has_gaps)>;

// Writes a table again, each cell as another program would.
std::string again(const CsvTable& table, const Edit& edit, const std::string& separator = ",",
                  const std::string& end = "\n") {
  std::vector<bool> gaps(table.header.size());
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < gaps.size(); ++c) gaps[c] = gaps[c] || row.cells[c].empty();
  }
  std::string out = fmt::format("{}{}", fmt::join(table.header, separator), end);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < gaps.size(); ++c) cells.push_back(edit(row.cells[c], gaps[c]));
    out += fmt::format("{}{}", fmt::join(cells, separator), end);
  }
  return out;
}

std::string in_quotes(const std::string& cell) { return '"' + cell + '"'; }

CsvTable table_of(const std::string& text) { return parse_csv(text, "x.csv"); }

void expect_two_rows(const std::string& text) {
  const auto records = records_of(table_of(text), "x.csv"), right = two_rows();
  ASSERT_THAT(records, SizeIs(2)) << text;
  for (std::size_t r = 0; r < right.size(); ++r) {
    for (const auto& column : columns())
      std::visit([&](auto member) { EXPECT_EQ(records[r].*member, right[r].*member) << column.name; },
                 column.member);
    EXPECT_EQ(records[r].axes, right[r].axes);
  }
  EXPECT_EQ(complaint(text), "accepted");
}

// A set of two rows with one cell changed.
std::string with(const std::string& column, const std::string& cell, std::size_t r = 0) {
  CsvTable table = table_of(csv_of(two_rows()));
  const auto at = std::ranges::find(table.header, column) - table.header.begin();
  table.rows.at(r).cells.at(static_cast<std::size_t>(at)) = cell;
  std::string text = csv_line(table.header);
  for (const auto& row : table.rows) text += csv_line(row.cells);
  return text;
}

class Folder : public testing::Test {
 public:
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

 protected:
  Folder() { fs::create_directories(folder_); }
  ~Folder() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  ResultsFiles files() const { return results_files({folder_.string()}, ResultsFiles::all); }

  fs::path folder_ = fs::temp_directory_path() / fmt::format("clweave-other-{}", getpid());
};

}  // namespace

// ---- Written again ---------------------------------------------------------------------------------------

// pandas has no whole numbers in a column with a gap, and writes a column without a name first.
TEST(OtherPrograms, RowsComeBackFromPandas) {
  const CsvTable table = table_of(csv_of(two_rows()));
  const auto pandas = [](const std::string& cell, bool gaps) {
    return gaps && number_of<std::int64_t>(cell) ? cell + ".0"
           : cell.find(',') != std::string::npos ? in_quotes(cell)
                                                 : cell;
  };
  std::string text = again(table, pandas);
  EXPECT_THAT(text, HasSubstr(",1024.0,"));
  EXPECT_THAT(text, HasSubstr("2.0,"));
  expect_two_rows(text);
  std::string indexed;
  int line = 0;
  for (const auto& each : {text.substr(0, text.find('\n') + 1), text.substr(text.find('\n') + 1)}) {
    for (std::size_t at = 0; at < each.size(); ++line) {
      const auto end = each.find('\n', at) + 1;
      indexed += (line == 0 ? "" : std::to_string(line - 1)) + "," + each.substr(at, end - at);
      at = end;
    }
  }
  expect_two_rows(indexed);
}

TEST(OtherPrograms, RowsComeBackFromR) {
  const CsvTable table = table_of(csv_of(two_rows()));
  expect_two_rows(again(table, [](const std::string& cell, bool) {
    if (cell.empty()) return std::string("NA");
    if (cell == "1000000") return std::string("1e+06");
    return number_of<double>(cell) ? cell : in_quotes(cell);
  }));
}

TEST(OtherPrograms, RowsComeBackFromSpreadsheets) {
  const CsvTable table = table_of(csv_of(two_rows()));
  const auto german = [](const std::string& cell, bool) {
    std::string out = cell;
    if (number_of<double>(cell)) std::ranges::replace(out, '.', ',');
    return out.find(';') == std::string::npos ? out : in_quotes(out);
  };
  expect_two_rows("\xEF\xBB\xBF" + again(table, german, ";", "\r\n"));
  expect_two_rows(again(table, [](const std::string& cell, bool) { return in_quotes(cell); }));
}

TEST(OtherPrograms, WhatTheyDamagedIsRefusedWithWhatToDo) {
  EXPECT_THAT(complaint(with("bytes", "8.00012E+15")),
              AllOf(StartsWith("x.csv:2: column bytes: '8.00012E+15' is no number"),
                    HasSubstr("read all its columns as text")));
  EXPECT_THAT(complaint(with("seed", "1.2345678901234568e+18")), HasSubstr("another program has rounded it"));
  EXPECT_THAT(complaint(with("samples", "30.5")), "x.csv:2: column samples: '30.5' is no number");
  EXPECT_THAT(complaint(with("time_s", "0,0000015")), "x.csv:2: column time_s: '0,0000015' is no number")
      << "a comma separates cells here";
  const CsvTable table = table_of(csv_of(two_rows()));
  const auto mixed = [](const std::string& cell, bool) {
    return cell == "1.5e-06" ? "1,5e-06" : cell.find(';') == std::string::npos ? cell : in_quotes(cell);
  };
  EXPECT_THAT(complaint(again(table, mixed, ";")), HasSubstr("save the file again with one mark"));
}

TEST(OtherPrograms, TextThatASpreadsheetWouldRunIsInert) {
  auto rows = two_rows();
  rows[0].label = "=HYPERLINK(\"http://example.org\")";
  rows[1].label = "'=1";
  const std::string text = csv_of(rows);
  EXPECT_THAT(text, HasSubstr("\"'=HYPERLINK("));
  EXPECT_THAT(text, HasSubstr(",''=1,"));
  const auto back = records_of(table_of(text), "x.csv");
  EXPECT_EQ(back[0].label, rows[0].label);
  EXPECT_EQ(back[1].label, rows[1].label);
}

// ---- Edited ----------------------------------------------------------------------------------------------

TEST(EditedCells, AreRefusedWhereTheyContradictTheCase) {
  EXPECT_EQ(complaint(with("n", "2048")),
            "x.csv:2: column n: '2048', but its case is "
            "loom/kernel=grid/n=1024/kept=0.5: one of the two was changed");
  EXPECT_THAT(complaint(with("n", "1024.5")), StartsWith("x.csv:2: column n: "));
  EXPECT_THAT(complaint(with("kernel", "grid", 1)),
              StartsWith("x.csv:3: column kernel: 'grid', but its case"));
  EXPECT_THAT(complaint(with("n", "")), StartsWith("x.csv:2: column n: empty, but its case is"));
  EXPECT_THAT(complaint(with("family", "tapestry")), StartsWith("x.csv:2: column family: 'tapestry', but"));
  EXPECT_THAT(complaint(with("case_id", "loom/kernel=grid/n=2048/kept=0.5")),
              StartsWith("x.csv:2: column n: "));
}

TEST(EditedCells, AreRefusedWhereTheyContradictOneAnother) {
  EXPECT_EQ(complaint(with("gb_per_s", "9999")),
            "x.csv:2: column gb_per_s: 9999, but bytes / time_s is 5.333333: one of these cells was "
            "changed");
  EXPECT_THAT(complaint(with("bytes", "80000")), HasSubstr("column gb_per_s: 5.33"));
  EXPECT_THAT(complaint(with("bytes", "")), HasSubstr("a cell of bytes / time_s is empty"));
  EXPECT_THAT(complaint(with("gflop_per_s", "1", 1)), StartsWith("x.csv:3: column gflop_per_s: 1, but"));
  EXPECT_THAT(complaint(with("time_low_s", "1.6e-06")),
              StartsWith("x.csv:2: column time_s: 1.5e-06 is less than time_low_s, 1.6e-06"));
  EXPECT_THAT(complaint(with("time_high_s", "1e-06")), StartsWith("x.csv:2: column time_high_s: "));
  EXPECT_THAT(complaint(with("throttled", "1.5")), HasSubstr("1.5 is not within 0 and 1"));
  EXPECT_THAT(complaint(with("outliers", "31")), HasSubstr("31 of 30 samples"));
  EXPECT_THAT(complaint(with("samples", "-1")), HasSubstr("-1 is negative"));
  EXPECT_EQ(complaint(with("gb_per_s", "5.33333")), "accepted") << "as a spreadsheet rounds";
}

// A row that says ok has no time where its output was wrong: it fails, and the others count.
TEST(EditedCells, AnOutputThatWasWrongLeavesNoTime) {
  ResultsSet set;
  set.add(with("verified", "no"), "x.csv");
  std::size_t failed = 0;
  for (const auto& row : set.devices.at(0).untimed) {
    ++failed;
    EXPECT_EQ(row.status, Status::wrong_result);
    EXPECT_EQ(row.reason, unverified);
  }
  EXPECT_EQ(failed, 1U);
}

TEST_F(Folder, AMergeRefusesEditedCellsToo) {
  const auto file = write("a.csv", with("gb_per_s", "9999"));
  EXPECT_THAT(complaint_of([&] { merge_files({file}, (folder_ / "out.csv").string(), true); }, ErrorCode::io),
              StartsWith(file + ":2: column gb_per_s"));
}

// Holds every committed file against the same rules.
TEST(EditedCells, AreInNoCommittedFile) {
  std::size_t rows = 0;
  for (const auto& file : clweave::commands::unpacked({CLWEAVE_SOURCE_DIR "/results"})) {
    if (file.ends_with("/published/figures.csv")) continue;  // what articles say has no rows
    CsvReader reader(file);
    RecordReader records(reader.header(), file, reader.dialect());
    CsvTable::Row row;
    for (Record record; reader.next(row);) {
      if (!records.read(row, record)) continue;
      EXPECT_NO_THROW(check_cells(record, file, row.line));
      ++rows;
    }
  }
  EXPECT_GT(rows, 5000U);
}

// ---- In a folder -----------------------------------------------------------------------------------------

TEST_F(Folder, NamesAndPassesOverWhatIsForeign) {
  const auto good = write("good.csv", csv_of(two_rows()));
  const auto twice = write("twice.csv", "a,a\n1,2\n"), nameless = write("nameless.csv", "a,,b\n1,2,3\n"),
             binary = write("binary.csv", std::string("PK\3\4\0\0,,", 8)),
             wide = write("wide.csv", std::string(2U << 20, 'x') + "\n"),
             catalog = write("catalog.csv", "schema,table\npublic,users\n"),
             torn = write("torn.csv", "\"open\nnever closed");
  const auto found = files();
  EXPECT_THAT(found.paths, ElementsAre(good));
  ASSERT_THAT(found.notes, SizeIs(6));
  for (const auto& foreign : {twice, nameless, binary, wide, catalog, torn})
    EXPECT_THAT(found.notes, testing::Contains(StartsWith(foreign + " is left out: no CSV of clweave run")));
  for (const auto& foreign : {twice, catalog})
    EXPECT_NE(complaint_of([&] { read_results({foreign}, {}); }, ErrorCode::io), "accepted")
        << "named itself";
}

TEST_F(Folder, PassesOverForeignArchivesAlone) {
  const auto good = write("good.csv", csv_of(two_rows()));
  const auto text = write("text.zip", "no archive\n"), cut = write("cut.zip", "PK\3\4 and no more");
  const auto photos = text + "2.zip", ours = text + "3.zip";
  write_zip(photos, {{"holiday.jpg", "x"}});
  write_zip(ours, {{"rows.csv", csv_of(two_rows())}});
  const auto found = files();
  EXPECT_THAT(found.paths, testing::UnorderedElementsAre(good, cut, ours)) << "a broken one may be ours";
  EXPECT_THAT(found.notes,
              testing::UnorderedElementsAre(text + " is left out: no archive of clweave run --share",
                                            photos + " is left out: no archive of clweave run --share"));
}

TEST_F(Folder, KeepsADamagedFileOfItsOwn) {
  const auto good = write("a.csv", csv_of(two_rows()));
  const auto damaged = write("b.csv", replaced(csv_of(two_rows()), ",run_id,", ",run_id,run_id,"));
  EXPECT_THAT(files().paths, ElementsAre(good, damaged)) << "its rows must not be lost without a word";
}

TEST_F(Folder, PassesOverAFileWithoutARow) {
  const auto good = write("a.csv", csv_of(two_rows()));
  const auto begun = write("b.csv", csv_line(header_cells({"kernel"})));
  const auto cut = write("c.csv", csv_line(header_cells({"kernel"})) + "clweave-1,R,1,\"a\nb");
  const auto found = files();
  EXPECT_THAT(found.paths, ElementsAre(good));
  EXPECT_THAT(found.notes, ElementsAre(begun + " is left out: it holds no row yet",
                                       cut + " is left out: it holds no row yet"));
  EXPECT_THAT(results_files({folder_.string()}, ResultsFiles::rows).paths, SizeIs(3))
      << "a merge counts tasks";
  fs::remove(good);
  EXPECT_THAT(complaint_of([&] { files(); }, ErrorCode::usage),
              HasSubstr("b.csv is left out: it holds no row yet"));
}
