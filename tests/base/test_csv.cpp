// SPDX-License-Identifier: Apache-2.0
// test_csv: what is written comes back, and every way a file can be wrong is named by line and column.
#include "base/csv.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "base/error.hpp"

using namespace clweave::commands;

namespace {

using Cells = std::vector<std::string>;
using Mode = CsvWriter::Mode;

template <class F>
Error error_of(F&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::wrong_result, "no error");
}

std::string complaint(std::string_view text) {
  const Error error = error_of([&] { parse_csv(text, "x.csv"); });
  EXPECT_EQ(error.code, ErrorCode::io) << error.what();
  return error.what();
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CsvFile : public testing::Test {
 public:
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

 protected:
  CsvFile() {
    std::string name = std::filesystem::temp_directory_path() / "clweave-csv-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw Error(ErrorCode::io, "no temporary folder");
    folder_ = name;
  }
  ~CsvFile() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return folder_ / name; }

  std::filesystem::path folder_;
};

// Makes stdout the writing end of a pipe while it lives.
class StdoutPipe {
 public:
  explicit StdoutPipe(int flags = 0) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | flags) != 0) throw Error(ErrorCode::io, "no pipe");
    reader_ = ends[0];
    saved_ = dup(STDOUT_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
  }
  ~StdoutPipe() {
    dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
    stop_reading();
  }
  StdoutPipe(const StdoutPipe&) = delete;
  StdoutPipe& operator=(const StdoutPipe&) = delete;

  // Returns what one read(2) gets.
  std::string read_once() const {
    std::string out(1 << 16, '\0');
    const ssize_t n = ::read(reader_, out.data(), out.size());
    out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return out;
  }
  void stop_reading() {
    if (reader_ >= 0) ::close(reader_);
    reader_ = -1;
  }

 private:
  int reader_;
  int saved_;
};

}  // namespace

TEST(CsvLine, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(csv_line(Cells{"a", "", "b c"}), "a,,b c\n");
  EXPECT_EQ(csv_line(Cells{"pthread-x86, 8 cores", "say \"hi\""}),
            "\"pthread-x86, 8 cores\",\"say \"\"hi\"\"\"\n");
  EXPECT_EQ(csv_line(Cells{" a", "a ", "a\nb", "a\rb"}), "\" a\",\"a \",\"a\nb\",\"a\rb\"\n");
}

TEST(CsvLine, NeverGivesABlankLine) { EXPECT_EQ(csv_line(Cells{""}), "\"\"\n"); }

TEST(CsvLine, MakesANulByteVisible) { EXPECT_EQ(csv_line(Cells{std::string("a\0b", 3)}), "a\uFFFDb\n"); }

TEST(CsvLine, RefusesARowWithoutCells) {
  EXPECT_EQ(error_of([] { csv_line({}); }).code, ErrorCode::usage);
}

TEST(CsvParse, GivesHeaderRowsAndTheirLines) {
  const auto table = parse_csv("a,b\n1,\n\"x\ny\",\"\"\"\"\n,3\n", "x.csv");
  EXPECT_EQ(table.header, (Cells{"a", "b"}));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0].cells, (Cells{"1", ""}));
  EXPECT_EQ(table.rows[0].line, 2u);
  EXPECT_EQ(table.rows[1].cells, (Cells{"x\ny", "\""}));
  EXPECT_EQ(table.rows[1].line, 3u);
  EXPECT_EQ(table.rows[2].cells, (Cells{"", "3"}));
  EXPECT_EQ(table.rows[2].line, 5u);
  EXPECT_TRUE(table.complete_last_line);
}

TEST(CsvParse, TakesCarriageReturnsAndAByteOrderMark) {
  const auto table = parse_csv(
      "\xEF\xBB\xBF"
      "a,b\r\n1,\"2\"\r\n\"x\r\ny\",3\r\n",
      "x.csv");
  EXPECT_EQ(table.header, (Cells{"a", "b"}));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].cells, (Cells{"1", "2"}));
  EXPECT_EQ(table.rows[1].cells, (Cells{"x\r\ny", "3"}));
  EXPECT_TRUE(table.complete_last_line);
}

TEST(CsvParse, ABlankLineIsOneEmptyCell) {
  EXPECT_EQ(parse_csv("a\n\n", "x.csv").rows.at(0).cells, Cells{""});
  EXPECT_EQ(complaint("a,b\n1,2\n\n"), "x.csv:3:1: 1 cells, but the header has 2");
}

TEST(CsvParse, NamesWhatIsWrongAndWhere) {
  EXPECT_EQ(complaint(""), "x.csv:1:1: the file is empty");
  EXPECT_EQ(complaint("\xEF\xBB\xBF"), "x.csv:1:1: the file is empty");
  EXPECT_EQ(complaint("a,b\n1,\"x\n3,4\n"), "x.csv:2:3: a quote that is never closed");
  EXPECT_EQ(complaint("a,\"b"), "x.csv:1:3: a quote that is never closed");
  EXPECT_EQ(complaint("a,b\n1,\"x\ny\" z\n"), "x.csv:3:3: text after the closing quote");
  EXPECT_EQ(complaint("a,b\n\"1\"\"\"2,3\n"), "x.csv:2:6: text after the closing quote");
  EXPECT_EQ(complaint("a,b\n1,x\"y\"\n"), "x.csv:2:4: a quote inside an unquoted cell");
  EXPECT_EQ(complaint("a,b\n1, \"y\"\n"), "x.csv:2:4: a quote inside an unquoted cell");
  EXPECT_EQ(complaint("a,b\n1\r2,3\n"), "x.csv:2:2: a carriage return outside quotes");
  EXPECT_EQ(complaint("a,b\n1,2\n1,2,3\n"), "x.csv:3:1: 3 cells, but the header has 2");
  EXPECT_EQ(complaint("a,b\n\"1\n\n\",2\n1\n"), "x.csv:5:1: 1 cells, but the header has 2");
  EXPECT_EQ(complaint("a,,b\n"), "x.csv:1:3: a column without a name");
  EXPECT_EQ(complaint("\na,b\n"), "x.csv:1:1: a column without a name");
  EXPECT_EQ(complaint("a,\"b\nc\",a\n"), "x.csv:2:4: a second column named 'a'");
  EXPECT_EQ(complaint(std::string_view("a,b\n1,\0\n", 8)), "x.csv:2:3: a NUL byte");
}

TEST(CsvParse, LeavesOutARowThatHasNoLineEnd) {
  for (const char* cut : {"a,b\n1,2\n3", "a,b\n1,2\n3,", "a,b\n1,2\n3,4", "a,b\n1,2\n3,4\r", "a,b\n1,2\n3,\"",
                          "a,b\n1,2\n3,\"x,", "a,b\n1,2\n3,\"x\"", "a,b\n1,2\n3,\"x\"\""}) {
    const auto table = parse_csv(cut, "x.csv");
    EXPECT_FALSE(table.complete_last_line) << cut;
    ASSERT_EQ(table.rows.size(), 1u) << cut;
    EXPECT_EQ(table.rows[0].cells, (Cells{"1", "2"}));
  }
  const auto table = parse_csv("a,b", "x.csv");
  EXPECT_EQ(table.header, (Cells{"a", "b"}));
  EXPECT_TRUE(table.rows.empty());
  EXPECT_FALSE(table.complete_last_line);
}

TEST(CsvParse, ReturnsWhateverWasWritten) {
  std::mt19937 random(20120);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const Cells pieces{",",  "\"", "\n", "\r",   "\r\n",         " ", "a", "0.1", "é",
                     "\t", "'",  ";",  "\"\"", "\xEF\xBB\xBF", "\\"};
  for (int round = 0; round < 2000; ++round) {
    const std::size_t width = 1 + below(6);
    std::vector<Cells> rows(1 + below(5), Cells(width));
    Cells header;
    for (std::size_t c = 0; c < width; ++c)
      header.push_back("h" + std::to_string(c) + pieces[below(pieces.size())]);
    std::string text = csv_line(header);
    for (auto& row : rows) {
      for (auto& cell : row) {
        for (std::size_t n = below(6); n > 0; --n) cell += pieces[below(pieces.size())];
      }
      text += csv_line(row);
    }
    const auto table = parse_csv(text, "x.csv");
    ASSERT_EQ(table.header, header) << text;
    ASSERT_EQ(table.rows.size(), rows.size()) << text;
    for (std::size_t r = 0; r < rows.size(); ++r) ASSERT_EQ(table.rows[r].cells, rows[r]) << text;
    EXPECT_TRUE(table.complete_last_line);
  }
}

TEST(CsvParse, AnyBeginningOfAFileGivesItsWholeRows) {
  const std::string first = csv_line(Cells{"case", "note"});
  const std::string second = csv_line(Cells{"a \"quoted\", cell", ""});
  const std::string text = first + second + csv_line(Cells{"1", "\"last\""});
  for (std::size_t n = first.size(); n < text.size(); ++n) {
    const auto table = parse_csv(text.substr(0, n), "x.csv");
    EXPECT_EQ(table.rows.size(), n < first.size() + second.size() ? 0u : 1u) << n;
    EXPECT_EQ(table.complete_last_line, n == first.size() || n == first.size() + second.size()) << n;
  }
}

TEST(CsvParse, ACutRowMayHaveLineEndsWithinQuotes) {
  const std::string header = csv_line(Cells{"a", "b", "c"}), first = csv_line(Cells{"1", "x", "2"});
  const std::string text = header + first + csv_line(Cells{"3", "two\nlines, \"quoted\"\n", "y"});
  for (std::size_t n = header.size() + first.size() + 1; n < text.size(); ++n) {
    CsvReader reader(std::string_view(text).substr(0, n), "x.csv");
    CsvTable::Row row;
    EXPECT_TRUE(reader.next(row)) << n;
    EXPECT_FALSE(reader.next(row)) << n;
    EXPECT_FALSE(reader.complete_last_line()) << n;
    EXPECT_EQ(reader.whole_bytes(), header.size() + first.size()) << n;
  }
  EXPECT_EQ(complaint(header + "3,\"x\n1,2,3\n"), "x.csv:2:3: a quote that is never closed")
      << "a row follows";
  EXPECT_EQ(complaint(header + "\"x\n"), "x.csv:2:1: a quote that is never closed") << "it begins the row";
}

TEST(CsvParse, TakesSemicolonsWhereTheHeaderHasNoComma) {
  const auto table = parse_csv("a;\"b;,\";c\r\n1,5;\"x;y\";\r\n", "x.csv");
  EXPECT_EQ(table.header, (Cells{"a", "b;,", "c"}));
  EXPECT_EQ(table.rows.at(0).cells, (Cells{"1,5", "x;y", ""}));
  EXPECT_EQ(table.dialect.separator, ';');
  EXPECT_EQ(parse_csv("a;b,c;d\n1,2\n", "x.csv").header, (Cells{"a;b", "c;d"}));
  EXPECT_EQ(parse_csv("a;b\n1\n", "x.csv").header, (Cells{"a;b"})) << "one may be part of a name";
}

TEST(CsvParse, LeavesOutAColumnOfRowNames) {
  const auto table = parse_csv("\"\",\"a\",\"b\"\n\"1\",2,3\n\"2\",4,5\n", "x.csv");
  EXPECT_TRUE(table.dialect.row_names);
  EXPECT_EQ(table.header, (Cells{"a", "b"}));
  EXPECT_EQ(table.rows.at(1).cells, (Cells{"4", "5"}));
  EXPECT_EQ(complaint(",a\n1\n"), "x.csv:2:1: 0 cells, but the header has 1");
}

TEST(CsvParse, RefusesWhatWouldFillTheMemory) {
  const std::string cell(most_cell_bytes + 1, 'x');
  EXPECT_EQ(complaint("a,b\n1," + cell + "\n"), "x.csv:2:3: a cell of more than 1 MiB");
  EXPECT_EQ(complaint("a,b\n1,\"" + cell + "\"\n"),
            "x.csv:2:3: a cell of more than 1 MiB, or a quote that is never closed");
  std::string header = "c0";
  for (std::size_t c = 1; c <= most_columns; ++c) header += ",c" + std::to_string(c);
  EXPECT_NE(complaint(header + "\n").find(": more than 4096 columns"), std::string::npos);
  EXPECT_EQ(complaint("a\n" + std::string(5000, ',') + "\n"), "x.csv:2:1: more than 4096 cells");
  EXPECT_EQ(complaint(std::string_view("\xFF\xFE"
                                       "a\0,\0b\0",
                                       8)),
            "x.csv:1:1: text in UTF-16: save the file as CSV in UTF-8");
}

TEST_F(CsvFile, RefusesALongRowBeforeItIsRead) {
  std::ofstream out(file("long.csv"));
  out << "a,b\n";
  for (int n = 0; n < 40; ++n) out << std::string(most_cell_bytes / 2, 'x') << ',';
  out.close();
  EXPECT_EQ(error_of([&] {
              CsvReader reader(file("long.csv"));
              CsvTable::Row row;
              while (reader.next(row)) continue;
            }).what(),
            file("long.csv") + ":2:1: a row of more than 16 MiB");
}

TEST(CsvLine, EndsWhatTheReaderWouldNotTake) {
  const std::string whole(most_cell_bytes, 'x');
  EXPECT_EQ(csv_line(Cells{whole}), whole + "\n");
  const std::string line = csv_line(Cells{"1", whole + "y"});
  EXPECT_TRUE(line.ends_with("x .. (786433 more bytes)\n"));
  EXPECT_EQ(parse_csv("a,b\n" + line, "x.csv").rows.size(), 1U);
}

TEST(CsvCells, AreInertForASpreadsheet) {
  for (const char* formula : {"=1+1", "@SUM(1)", "+cmd|' /C calc'!A0", "-2+f(1)", "\tx", "'=1", "''=1"}) {
    EXPECT_EQ(inert(formula), std::string("'") + formula);
    EXPECT_EQ(from_inert(inert(formula)), formula);
  }
  for (const char* text : {"", "-1.5", "+3", "-cl-std=CL1.2", "a=b", "'quoted'", "-"}) {
    EXPECT_EQ(inert(text), text);
    EXPECT_EQ(from_inert(text), text);
  }
}

TEST(CsvCells, AreNumbersAsOtherProgramsWriteThem) {
  CsvNumbers commas{CsvDialect()}, semicolons{CsvDialect{.separator = ';'}};
  EXPECT_EQ(commas.whole("4.0"), 4);
  EXPECT_EQ(commas.whole("1e+05"), 100000);
  EXPECT_EQ(commas.whole("-9223372036854775807"), -9223372036854775807);
  for (const char* none : {"4.5", "1E+05", "9.3e15", "4,0", " 4", "", "nan", "inf", "0x4"})
    EXPECT_FALSE(commas.whole(none)) << none;
  EXPECT_FALSE(commas.number("1,5"));
  EXPECT_EQ(semicolons.number("1,5e-06"), 1.5e-6);
  EXPECT_FALSE(semicolons.number("1.5")) << "as either may part thousands";
  EXPECT_EQ(
      semicolons.refusal("1.5", false),
      "'1.5' is no number where other cells have decimals behind ',': save the file again with one mark");
  EXPECT_FALSE(semicolons.number("1,234,567"));
}

TEST_F(CsvFile, ReadsWhatTheWriterWrote) {
  const std::string path = file("some/new/folder/x.csv");
  CsvWriter writer(path);
  EXPECT_EQ(writer.path(), path);
  EXPECT_TRUE(writer.empty());
  writer.write(Cells{"a", "b"});
  EXPECT_EQ(content(path), "a,b\n");  // before close: a crash loses nothing
  writer.write(Cells{"1", "x,\ny"});
  writer.close();
  writer.close();
  const auto table = read_csv(path);
  EXPECT_EQ(table.header, (Cells{"a", "b"}));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].cells, (Cells{"1", "x,\ny"}));
}

TEST_F(CsvFile, RefusesToWriteOnceClosed) {
  CsvWriter writer(file("x.csv"));
  writer.close();
  EXPECT_EQ(error_of([&] { writer.write(Cells{"a"}); }).code, ErrorCode::usage);
}

TEST_F(CsvFile, NeverOverwritesUnasked) {
  const std::string path = file("x.csv");
  { CsvWriter empty(path); }
  CsvWriter(path).write(Cells{"a"});
  const Error error = error_of([&] { CsvWriter again(path); });
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_EQ(error.what(),
            path + " exists and is not empty: choose another name, or replace it by --overwrite");
  EXPECT_EQ(content(path), "a\n");
  CsvWriter(path, Mode::truncate).write(Cells{"b"});
  EXPECT_EQ(content(path), "b\n");
}

TEST_F(CsvFile, AppendsAfterWholeLinesOnly) {
  const std::string path = file("x.csv");
  EXPECT_TRUE(CsvWriter(path, Mode::append).empty());
  CsvWriter(path, Mode::append).write(Cells{"a"});
  CsvWriter more(path, Mode::append);
  EXPECT_FALSE(more.empty());
  more.write(Cells{"1"});
  EXPECT_EQ(content(path), "a\n1\n");
  std::ofstream(path, std::ios::app) << "2";
  const Error error = error_of([&] { CsvWriter again(path, Mode::append); });
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_NE(std::string(error.what()).find("ends within a line"), std::string::npos);
}

TEST_F(CsvFile, RowsOfSeveralWritersStayWhole) {
  const std::string path = file("x.csv");
  CsvWriter(path).write(Cells{"who", "text"});
  const auto fill = [&](const std::string& who) {
    CsvWriter writer(path, Mode::append);
    for (int n = 0; n < 200; ++n) writer.write(Cells{who, std::string(3000, who[0])});
  };
  std::thread other(fill, "a");
  fill("b");
  other.join();
  const auto table = read_csv(path);
  EXPECT_EQ(table.rows.size(), 400u);
  for (const auto& row : table.rows) EXPECT_EQ(row.cells[1], std::string(3000, row.cells[0][0]));
}

TEST_F(CsvFile, ALineOfAnotherWriterIsWaitedFor) {
  const std::string path = file("x.csv");
  std::ofstream(path) << "a\n1";
  std::thread other([&] { std::ofstream(path, std::ios::app) << "\n"; });
  EXPECT_NO_THROW(CsvWriter(path, Mode::append).write(Cells{"2"}));
  other.join();
  EXPECT_EQ(content(path), "a\n1\n2\n");
}

TEST_F(CsvFile, NamesFileAndReasonWhenItCannotRead) {
  Error error = error_of([&] { read_csv(file("none.csv")); });
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_EQ(error.what(), "cannot open " + file("none.csv") + ": No such file or directory");
  error = error_of([&] { read_csv(folder_); });
  EXPECT_EQ(error.what(), "cannot read " + folder_.string() + ": Is a directory");
  std::ofstream(file("bad.csv")) << "a\n1,2\n";
  error = error_of([&] { read_csv(file("bad.csv")); });
  EXPECT_EQ(error.what(), file("bad.csv") + ":2:1: 2 cells, but the header has 1");
}

TEST_F(CsvFile, NamesFileAndReasonWhenItCannotOpen) {
  Error error = error_of([&] { CsvWriter writer(folder_); });
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_EQ(error.what(), "cannot open " + folder_.string() + ": Is a directory");
  std::ofstream(file("plain")) << "x";
  error = error_of([&] { CsvWriter writer(file("plain/sub/x.csv")); });
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_EQ(error.what(), "cannot create the folder of " + file("plain/sub/x.csv") + ": Not a directory");
}

TEST_F(CsvFile, NamesAFolderThatForbidsWriting) {
  const bool root = geteuid() == 0;
  constexpr uid_t nobody = 65534;
  std::filesystem::permissions(folder_, std::filesystem::perms(0555));
  if (root && seteuid(nobody) != 0) GTEST_SKIP() << "root may write everywhere";
  const Error error = error_of([&] { CsvWriter writer(file("x.csv")); });
  ASSERT_TRUE(!root || seteuid(0) == 0);
  std::filesystem::permissions(folder_, std::filesystem::perms(0755));
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_EQ(error.what(), "cannot open " + file("x.csv") + ": Permission denied");
}

TEST_F(CsvFile, NamesAFullDisk) {
  CsvWriter writer("/dev/full");
  const Error error = error_of([&] { writer.write(Cells{"a"}); });
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_STREQ(error.what(), "cannot write /dev/full: No space left on device");
}

TEST_F(CsvFile, AddsNothingToARowThatATornWriteLeft) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{10, before.rlim_max};
  CsvWriter writer(file("x.csv"));
  writer.write(Cells{"a", "b"});
  setrlimit(RLIMIT_FSIZE, &small);
  const Error error = error_of([&] { writer.write(Cells{"123", "456789"}); });
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(error.what(), "cannot write " + file("x.csv") + ": File too large");
  EXPECT_EQ(error_of([&] { writer.write(Cells{"1", "2"}); }).code, ErrorCode::usage);
  EXPECT_EQ(content(file("x.csv")), "a,b\n123,45");
  const auto table = read_csv(file("x.csv"));
  EXPECT_TRUE(table.rows.empty());
  EXPECT_FALSE(table.complete_last_line);
}

TEST(CsvStdout, WritesEachRowAtOnce) {
  StdoutPipe out(O_DIRECT);  // each write(2) is a packet of its own
  CsvWriter writer("-");
  writer.write(Cells{"a", "b"});
  writer.write(Cells{"1", std::string(1000, 'x')});
  EXPECT_EQ(out.read_once(), "a,b\n");
  EXPECT_EQ(out.read_once(), "1," + std::string(1000, 'x') + "\n");
  writer.close();
  EXPECT_NE(fcntl(STDOUT_FILENO, F_GETFD), -1);
}

TEST(CsvStdout, WaitsForASlowReader) {
  StdoutPipe out(O_NONBLOCK);
  const Cells row{std::string(1 << 20, 'x')};
  std::thread writing([&] { CsvWriter("-").write(row); });
  std::string got;
  while (!got.ends_with('\n')) got += out.read_once();
  writing.join();
  EXPECT_EQ(got, row[0] + "\n");
}

TEST(CsvStdout, ReportsAReaderThatWentAway) {
  std::signal(SIGPIPE, SIG_IGN);  // as main does
  StdoutPipe out;
  CsvWriter writer("-");
  out.stop_reading();
  const Error error = error_of([&] { writer.write(Cells{"a"}); });
  EXPECT_EQ(error.code, ErrorCode::closed);
  EXPECT_STREQ(error.what(), "cannot write stdout: Broken pipe");
}
