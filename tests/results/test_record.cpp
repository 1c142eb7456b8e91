// SPDX-License-Identifier: Apache-2.0
// test_record: a record becomes cells and comes back, and what is no record is refused by file and line.
#include "results/record.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include "commands/read_results.hpp"
#include "results/provenance.hpp"
#include "results/row.hpp"
#include "suite/family.hpp"
#include "suite/selection.hpp"

using namespace clweave::commands;
using testing::HasSubstr;

namespace {

using Cells = std::vector<std::string>;

const Cells axes = {"kernel", "n", "unused"};

// Every column filled with a value of its own, hard to write where that is possible.
Record full() {
  Record record;
  int k = 0;
  for (const auto& column : columns()) {
    ++k;
    std::visit(
        [&](auto member) {
          auto& field = record.*member;
          if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>) {
            field = fmt::format("{} \"quoted\", and\nmore", column.name);
          } else if constexpr (std::is_same_v<std::decay_t<decltype(field)>, Count>) {
            field = std::numeric_limits<std::int64_t>::max() - k;
          } else if constexpr (NamedEnum<std::decay_t<decltype(field)>>) {
            field = static_cast<std::decay_t<decltype(field)>>(2);
          } else {
            field = std::nextafter(1.0 / (3 * k), 1);
          }
        },
        column.member);
  }
  record.schema = Record().schema;
  record.axes = {{"kernel", "grid"}, {"n", "1024"}};
  return record;
}

void expect_equal(const Record& a, const Record& b) {
  for (const auto& column : columns())
    std::visit([&](auto member) { EXPECT_EQ(a.*member, b.*member) << column.name; }, column.member);
  EXPECT_EQ(a.axes, b.axes);
}

std::string csv_of(const std::vector<Record>& records) {
  std::string text = csv_line(header_cells(axes));
  for (const auto& record : records) text += csv_line(cells_of(record, axes));
  return text;
}

std::vector<Record> read_back(const std::string& text) {
  return records_of(parse_csv(text, "x.csv"), "x.csv");
}

// A table of one record with changed cells.
CsvTable table_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  CsvTable table = parse_csv(csv_of({full()}), "x.csv");
  for (const auto& [column, cell] : changes) {
    const auto it = std::ranges::find(table.header, column);
    table.rows.at(0).cells.at(static_cast<std::size_t>(it - table.header.begin())) = cell;
  }
  return table;
}

std::string complaint(const CsvTable& table) {
  try {
    records_of(table, "x.csv");
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::io);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST(Columns, HaveNamesOfTheirOwnAndMeanings) {
  std::set<std::string> names;
  for (const auto& column : columns()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_EQ(column.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos);
    EXPECT_FALSE(column.meaning.empty()) << column.name;
    EXPECT_EQ((column.unit + column.meaning).find_first_of("|\n"), std::string::npos) << "breaks the table";
    const bool text = std::holds_alternative<std::string Record::*>(column.member);
    EXPECT_TRUE(!text || column.unit.empty()) << column.name;
  }
}

TEST(Columns, SayTheUnitThatTheirNamesEndIn) {
  const std::vector<std::pair<std::string, std::string>> units = {
      {"gb_per_s", "GB/s"}, {"gflop_per_s", "Gop/s"}, {"gitems_per_s", "G/s"},
      {"_ms", "ms"},        {"_mhz", "MHz"},          {"_s", "s"}};
  for (const auto& column : columns()) {
    if (std::holds_alternative<std::string Record::*>(column.member)) continue;
    const auto it =
        std::ranges::find_if(units, [&](const auto& u) { return column.name.ends_with(u.first); });
    EXPECT_TRUE(it == units.end() || column.unit == it->second) << column.name;
  }
}

// Checks that the columns' members fill the record exactly, so that no member was forgotten or has two
// columns.
TEST(Columns, CoverTheWholeRecord) {
  std::size_t bytes = sizeof(decltype(Record::axes));
  for (const auto& column : columns())
    bytes +=
        std::visit([]<class T>(T Record::*) { return round_up(sizeof(T), alignof(Record)); }, column.member);
  EXPECT_EQ(bytes, sizeof(Record));
  const Cells cells = cells_of(full(), {});
  EXPECT_EQ(std::set<std::string>(cells.begin(), cells.end()).size(), cells.size());
}

// Earlier versions wrote "never" so.
TEST(Columns, AnInfiniteValueOfAFindingIsNone) {
  const auto records = records_of(table_with({{"value", "inf"}}), "x.csv");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records.front().value, std::nullopt);
  EXPECT_THAT(complaint(table_with({{"time_s", "inf"}})), HasSubstr("'inf' is no number"));
}

TEST(Columns, ShareNoNameWithAnAxis) {
  const Cells header = header_cells(axis_names(all_families()));
  EXPECT_EQ(std::set<std::string>(header.begin(), header.end()).size(), header.size());
  EXPECT_NO_THROW(parse_csv(csv_line(header), "x.csv"));
}

TEST(Cells, StandUnderTheirHeaders) {
  const Cells header = header_cells(axes);
  const Cells cells = cells_of(full(), axes);
  ASSERT_EQ(header.size(), columns().size() + axes.size());
  ASSERT_EQ(cells.size(), header.size());
  const auto under = [&](const std::string& name) {
    return cells.at(static_cast<std::size_t>(std::ranges::find(header, name) - header.begin()));
  };
  EXPECT_EQ(header.front(), "schema");
  EXPECT_EQ(under("schema"), "clweave-1");
  EXPECT_EQ(under("device"), "device \"quoted\", and\nmore");
  EXPECT_EQ(under("kernel"), "grid");
  EXPECT_EQ(under("n"), "1024");
  EXPECT_EQ(under("unused"), "");
  EXPECT_EQ(cells_of(full(), {}).size(), columns().size());
}

TEST(Cells, AreEmptyForWhatIsNotKnown) {
  const Record empty;
  const Cells header = header_cells(axes);
  const Cells cells = cells_of(empty, axes);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const bool known = header[c] == "schema" || header[c] == "api";
    EXPECT_EQ(cells[c].empty(), !known) << header[c];
  }
  Record zero;
  zero.time_s = 0.0;
  zero.samples = 0;
  const Cells zeros = cells_of(zero, {});
  EXPECT_EQ(std::ranges::count(zeros, "0"), 2);
}

TEST(Records, ComeBackFromACsv) {
  const auto back = read_back(csv_of({full(), Record(), full()}));
  ASSERT_EQ(back.size(), 3U);
  expect_equal(back[0], full());
  expect_equal(back[1], Record());
  expect_equal(back[2], full());
}

TEST(Records, ComeBackEmptyWhereTheyWereAndZeroWhereTheyWere) {
  Record zero;
  zero.time_s = 0.0;
  zero.flops = 0;
  const auto back = read_back(csv_of({Record(), zero}));
  for (const auto& column : columns()) {
    std::visit([&](auto member) { EXPECT_EQ(back.at(0).*member, Record().*member) << column.name; },
               column.member);
  }
  EXPECT_EQ(back.at(1).time_s, 0.0);
  EXPECT_EQ(back.at(1).flops, 0);
  EXPECT_FALSE(back.at(1).wall_s.has_value());
}

TEST(Records, KeepEveryBitOfANumber) {
  for (const double value : {1e-300, 1.0 / 3, 123456789.123456789, 5e-324, 1.7976931348623157e308, -0.1}) {
    Record record;
    record.value = value;
    EXPECT_EQ(read_back(csv_of({record})).at(0).value, value);
  }
}

TEST(Records, TakeColumnsInAnyOrderAndOthersAsAxes) {
  Cells header = header_cells({"kernel", "width"});
  Record record = full();
  record.axes = {{"kernel", "grid"}, {"width", "8"}};
  Cells cells = cells_of(record, {"kernel", "width"});
  std::ranges::reverse(header);
  std::ranges::reverse(cells);
  const auto back = read_back(csv_line(header) + csv_line(cells));
  record.axes = {{"width", "8"}, {"kernel", "grid"}};  // in the order of the file
  expect_equal(back.at(0), record);
}

TEST(Records, EndAtTheFooter) {
  const Cells footer = footer_cells(2, axes);
  ASSERT_EQ(footer.size(), header_cells(axes).size());
  EXPECT_EQ(footer[0], "#end");
  EXPECT_EQ(footer[1], "2");
  EXPECT_EQ(read_back(csv_of({full(), full()}) + csv_line(footer)).size(), 2U);
  EXPECT_THAT(read_back(csv_line(header_cells(axes)) + csv_line(footer_cells(0, axes))), testing::IsEmpty());
}

TEST(Records, RefuseAFileThatLacksAColumn) {
  for (const char* lost : {"schema", "time_s", "kernel_hash"}) {
    CsvTable table = table_with({});
    const auto at = std::ranges::find(table.header, lost) - table.header.begin();
    table.header.erase(table.header.begin() + at);
    table.rows[0].cells.erase(table.rows[0].cells.begin() + at);
    EXPECT_EQ(complaint(table), fmt::format("x.csv:1: no column '{}': not a CSV of clweave run", lost));
  }
}

TEST(Records, RefuseWhatIsNoNumber) {
  // Rows span several lines: the line is that of the row's first character.
  EXPECT_EQ(complaint(table_with({{"time_s", "fast"}})), "x.csv:2: column time_s: 'fast' is no number");
  EXPECT_EQ(complaint(table_with({{"samples", "1.5"}})), "x.csv:2: column samples: '1.5' is no number");
  for (const char* cell : {" 1", "1 ", "1,5", "0x10", "1e999", "--1"})
    EXPECT_THAT(complaint(table_with({{"wall_s", cell}})), HasSubstr("is no number")) << cell;
  EXPECT_THAT(complaint(table_with({{"bytes", "9223372036854775808"}})), HasSubstr("is no number"));
  CsvTable second = parse_csv(csv_of({Record(), Record()}), "x.csv");
  second.rows.at(1).cells.at(
      static_cast<std::size_t>(std::ranges::find(second.header, "mean_s") - second.header.begin())) = "?";
  EXPECT_EQ(complaint(second), "x.csv:3: column mean_s: '?' is no number");
}

// Refuses NaN and infinity, which would spoil every later sum.
TEST(Records, RefuseNumbersThatAreNotFinite) {
  for (const char* cell : {"nan", "inf", "-inf", "infinity"})
    EXPECT_THAT(complaint(table_with({{"time_s", cell}})), HasSubstr("is no number")) << cell;
}

TEST(Records, RefuseAnotherSchema) {
  EXPECT_EQ(complaint(table_with({{"schema", "clweave-2"}})),
            "x.csv:2: schema 'clweave-2', this clweave reads 'clweave-1'");
  EXPECT_THAT(complaint(table_with({{"schema", ""}})), HasSubstr("schema ''"));
}

TEST(ARecord, FailedUnlessTheDeviceLacksSomethingOrItIsKnownIncorrect) {
  const auto with = [](const char* status, const char* known_incorrect) {
    Record record;
    record.status = enum_named<Status>(status).value();
    record.known_incorrect = known_incorrect;
    return record;
  };
  EXPECT_TRUE(with("ok", "").ok());
  EXPECT_FALSE(with("ok", "").failed());
  EXPECT_FALSE(with("unsupported", "").ok());
  EXPECT_FALSE(with("unsupported", "").failed());
  EXPECT_FALSE(with("wrong_result", "yes").failed());
  for (const char* status : {"wrong_result", "launch_failed", "build_failed", "timeout", "implausible", ""})
    EXPECT_TRUE(with(status, "").failed()) << status;
}

// A compiler may say megabytes, and every row that needed it would say them again.
TEST(ARecord, KeepsTheBeginningOfALongReason) {
  std::string log = "error: line one\nline two\n";
  const std::string letter = "\xC3\xA9";  // two bytes, so that a cut may fall between them
  for (int i = 0; i < 2500000; ++i) log += letter;
  for (const char* before : {"", "x"}) {
    Record record;
    fail(record, ErrorCode::build, before + log);
    EXPECT_EQ(record.status, Status::build_failed);
    EXPECT_LT(record.reason.size(), 5000U);
    EXPECT_THAT(record.reason, HasSubstr("error: line one | line two | "));
    EXPECT_THAT(record.reason, HasSubstr(letter + " .. ("));
    EXPECT_THAT(record.reason, HasSubstr(" more bytes)"));
    EXPECT_EQ(record.reason.find('\n'), std::string::npos);
  }
}

TEST(ARecord, IsHeldAgainstItsCeilingByTheRateThatBoundsIt) {
  Record record;
  EXPECT_FALSE(rate_of(record).has_value());
  record.gb_per_s = 10;
  record.gflop_per_s = 20;
  EXPECT_EQ(rate_of(record), 10.0);
  record.peak = Peak::copy;
  EXPECT_EQ(rate_of(record), 10.0);
  record.peak = Peak::arithmetic_float;
  EXPECT_EQ(rate_of(record), 20.0);
}

TEST(Record, HasAUuidOfCardsAndNoneOfProcessors) {
  DeviceInfo device;
  device.uuid = "0123456789abcdef0123456789abcdef";
  device.pci = "0000:17:00.0";
  device.type = "gpu";
  Record gpu, processor;
  describe_device(gpu, device);
  EXPECT_EQ(gpu.uuid, device.uuid);
  EXPECT_EQ(gpu.device_id, "0000:17:00.0");
  device.type = "cpu";
  describe_device(processor, device);
  EXPECT_EQ(processor.uuid, "") << "its driver gives every processor the same";
}

TEST(Dictionary, ExplainsEveryColumnOnce) {
  const std::string dictionary = column_dictionary();
  EXPECT_TRUE(dictionary.starts_with("| column | unit | meaning |\n|---|---|---|\n"));
  EXPECT_EQ(std::ranges::count(dictionary, '\n'), static_cast<std::ptrdiff_t>(columns().size()) + 2);
  std::size_t last = 0;
  for (const auto& column : columns()) {
    const auto at =
        dictionary.find(fmt::format("\n| `{}` | {} | {} |\n", column.name, column.unit, column.meaning));
    ASSERT_NE(at, std::string::npos) << column.name;
    EXPECT_GT(at, last) << "not in the order of the file: " << column.name;
    last = at;
  }
}

// As where a file is read: else a few correlated samples would leave findings without intervals.
TEST(Outcomes, HaveTheRangeOfSamplesWhereTheMedianHasNoInterval) {
  Record record;
  record.time_s = 2;
  record.samples = 3;
  record.min_s = 1;
  record.p95_s = 5;
  const Outcome without = outcome_of({"copy", {}, 1}, record);
  EXPECT_EQ(without.low_s, 1);
  EXPECT_EQ(without.high_s, 5);
  record.time_low_s = 1.9;
  record.time_high_s = 2.1;
  const Outcome with = outcome_of({"copy", {}, 1}, record);
  EXPECT_EQ(with.low_s, 1.9);
  EXPECT_EQ(with.high_s, 2.1);

  Record single;
  single.time_s = single.min_s = single.p95_s = 2;
  single.samples = 1;
  EXPECT_FALSE(outcome_of({"copy", {}, 1}, single).low_s) << "one sample knows no range";
}

TEST(Dictionary, StandsInTheDocuments) {
  const auto path = std::filesystem::path(CLWEAVE_SOURCE_DIR) / "docs" / "formats.md";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " does not exist";
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\n" + column_dictionary()), std::string::npos)
      << path << " has other columns than: clweave list --columns";
}

namespace {

// A row of compaction, every axis at its default, but without those in `lacking`.
Record compaction_row(const std::set<std::string>& lacking) {
  const auto& families = all_families();
  Record record;
  record.family = record.case_id = "compaction";
  for (const auto& axis : std::ranges::find(families, record.family, &Family::name)->axes) {
    if (lacking.contains(axis.name)) continue;
    record.axes.emplace_back(axis.name, text_of(axis.values.front()));
    record.case_id += "/" + axis.name + "=" + record.axes.back().second;
  }
  return record;
}

}  // namespace

TEST(LaterAxes, AreAtTheirDefaultsWhereverTheyStand) {
  const auto& families = all_families();
  const Record now = compaction_row({});
  for (const std::set<std::string>& lacking :
       std::vector<std::set<std::string>>{{"fault_rate"}, {"width", "state_width"}}) {
    Record old = compaction_row(lacking);
    EXPECT_NE(old.case_id, now.case_id);
    add_later_axes(old, families);
    EXPECT_EQ(old.case_id, now.case_id);
    for (const auto& [axis, value] : now.axes) EXPECT_EQ(old.axis(axis), value) << axis;
  }
  Record same = now;
  add_later_axes(same, families);
  EXPECT_EQ(same.case_id, now.case_id);
  EXPECT_EQ(same.axes, now.axes);
}

TEST(LaterAxes, AreNotGuessed) {
  const auto& families = all_families();
  const auto untouched = [&](Record record) {
    const Record before = record;
    add_later_axes(record, families);
    EXPECT_EQ(record.case_id, before.case_id);
    EXPECT_EQ(record.axes, before.axes);
  };
  Record foreign = compaction_row({"fault_rate"});
  foreign.family = "loom";
  untouched(foreign);
  Record renamed = compaction_row({"fault_rate"});  // an axis that the family has no more
  renamed.case_id += "/weight=3";
  untouched(renamed);
  Record edited =
      compaction_row({"fault_rate"});  // a cell that was taken out, or another value than in the id
  std::erase_if(edited.axes, [](const auto& axis) { return axis.first == "n"; });
  untouched(edited);
  Record finding = compaction_row({"fault_rate"});
  finding.finding = "kept_50_best";
  finding.case_id = "compaction";
  finding.axes.clear();
  untouched(finding);
}

// Some rows of this one were made before compaction had `fault_rate`, and scan had it.
TEST(LaterAxes, MeetTheRowsOfTheRepository) {
  const auto& families = all_families();
  const auto& compaction = *std::ranges::find(families, "compaction", &Family::name);
  const auto id_today = [&](const Record& record) {
    Sweep sweep;
    for (const auto& [axis, cell] : record.axes) {
      if (compaction.axis(axis) != nullptr) sweep[axis] = Values(value_of(cell));
    }
    const auto cases = cases_of(compaction, {sweep}, 1);
    return cases.size() == 1 ? cases.front().id() : "";
  };
  int rows = 0, without_axis = 0;
  const std::string path = CLWEAVE_SOURCE_DIR "/results/nvidia-h200/paper.zip";
  for (auto& record : records_of(read_csv(clweave::commands::unpacked({path}).at(0)), path)) {
    if (record.family != "compaction" || !record.finding.empty()) continue;
    ++rows;
    if (record.axis("fault_rate").empty()) ++without_axis;
    add_later_axes(record, families);
    EXPECT_EQ(record.case_id, id_today(record));
    EXPECT_EQ(record.axis("fault_rate"), "0");
  }
  EXPECT_EQ(rows, 839);
  EXPECT_EQ(without_axis, 40);
}

TEST(FormerNames, BecomeTodaysInCellsAndId) {
  const auto& families = all_families();
  Record old;
  old.family = "reduction";
  old.case_id = "reduction/variant=single/op=sum/type=int/n=300/work_group=64/unroll=8/groups_per_cu=2";
  old.axes = {{"n", "300"},          {"type", "int"}, {"work_group", "64"},   {"variant", "single"},
              {"paths", "a column"}, {"op", "sum"},   {"groups_per_cu", "2"}, {"unroll", "8"}};
  add_later_axes(old, families);
  EXPECT_EQ(
      old.case_id,
      "reduction/kernel=single/op=sum/type=int/n=300/group=64/unroll=8/groups_per_cu=2/subgroup_impl=best");
  EXPECT_EQ(old.axis("kernel"), "single");
  EXPECT_EQ(old.axis("group"), "64");
  EXPECT_EQ(old.axis("variant") + old.axis("work_group"), "");
  EXPECT_EQ(old.axis("paths"), "a column");
}

TEST(FormerNames, OfValuesBecomeTodays) {
  const auto& families = all_families();
  Record old;
  old.family = "reduction";
  old.case_id =
      "reduction/kernel=single/op=sum/type=int/n=300/group=64/unroll=8/groups_per_cu=2/tail=barriers";
  old.axes = {{"kernel", "single"}, {"op", "sum"},   {"type", "int"},        {"n", "300"},
              {"group", "64"},      {"unroll", "8"}, {"groups_per_cu", "2"}, {"tail", "barriers"}};
  add_later_axes(old, families);
  EXPECT_EQ(old.case_id,
            "reduction/kernel=single/op=sum/type=int/n=300/group=64/unroll=8/groups_per_cu=2/"
            "subgroup_impl=portable");
  EXPECT_EQ(old.axis("subgroup_impl"), "portable");
}

TEST(FormerNames, AreReadInEveryFileOfTheRepository) {
  const auto& families = all_families();
  const std::string path = CLWEAVE_SOURCE_DIR "/results/nvidia-h200/paper.zip";
  for (auto& record : records_of(read_csv(clweave::commands::unpacked({path}).at(0)), path)) {
    add_later_axes(record, families);
    const auto family = std::ranges::find(families, record.family, &Family::name);
    if (family == families.end() || !record.finding.empty()) continue;
    std::string id = family->name;
    for (const auto& axis : family->axes) id += "/" + axis.name + "=" + record.axis(axis.name);
    EXPECT_EQ(record.case_id, id);
  }
}

// Two containers begin in one second, and the process of both is 1.
TEST(Provenance, OfEveryRunHasItsOwnName) {
  const std::string one = provenance({"run"}, 1).run_id, other = provenance({"run"}, 1).run_id;
  EXPECT_NE(one.substr(one.rfind('-')), other.substr(other.rfind('-')));
  EXPECT_THAT(one, testing::MatchesRegex("[0-9]+T[0-9]+Z-[0-9]+-[0-9a-f]+"));
}
