// SPDX-License-Identifier: Apache-2.0
// test_merge: files of many computers as one: nothing lost, devices told apart, what is missing named.
#include "results/merge.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analysis/compared_rows.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

namespace fs = std::filesystem;

class Merge : public testing::Test {
 public:
  Merge(const Merge&) = delete;
  Merge& operator=(const Merge&) = delete;

 protected:
  Merge() { fs::create_directories(folder_ / "in"); }
  ~Merge() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / "in" / name) << text;
    return (folder_ / "in" / name).string();
  }
  std::string folder() const { return (folder_ / "in").string(); }
  std::string out() const { return (folder_ / "all.csv").string(); }
  Merged merge(const std::vector<std::string>& names) const { return merge_files(names, out(), true); }
  std::vector<Record> merged() const { return records_of(read_csv(out()), out()); }
  std::string complaint(const std::vector<std::string>& names, ErrorCode kind) const {
    return complaint_of([&] { merge(names); }, kind);
  }

  fs::path folder_ = fs::temp_directory_path() / fmt::format("clweave-merge-{}", getpid());
};

// Two cases of the first device of a computer; all have the same address, and tasks start in one second.
std::vector<Record> of_host(const std::string& host, const std::string& uuid = "") {
  std::vector<Record> out = {row({{"kernel", "a"}}, 1), row({{"kernel", "b"}}, 2)};
  for (auto& record : out) {
    record.host = host;
    record.uuid = uuid;
  }
  return out;
}

}  // namespace

TEST_F(Merge, KeepsEveryCellUnderTheColumnsOfAll) {
  auto odd = of_host("node2", "aa");
  odd[1].axes.emplace_back("colour", "red, \"dark\"");
  odd[1].reason = "two\nlines";
  write("1.csv", csv_of(of_host("node1", "bb")));
  write("2.csv", csv_of(odd));
  const Merged found = merge({folder()});
  EXPECT_EQ(found.rows, 4U);
  EXPECT_EQ(found.files, 2U);
  EXPECT_EQ(found.devices, 2U);
  EXPECT_THAT(found.notes, IsEmpty());
  const auto records = merged();
  ASSERT_THAT(records, SizeIs(4));
  EXPECT_EQ(records[0].uuid, "bb");
  EXPECT_EQ(records[3].axis("colour"), "red, \"dark\"");
  EXPECT_EQ(records[3].reason, "two\nlines");
  EXPECT_EQ(records[0].axis("colour"), "");
  ResultsSet set;
  EXPECT_NO_THROW(set.add(read_text(out()), "all.csv")) << "its footer counts them";
  EXPECT_THAT(set.devices, SizeIs(2));
}

TEST_F(Merge, CallsCardsThatNothingTellsApartByTheirComputer) {
  write("1.csv", csv_of(of_host("node1")));
  write("2.csv", csv_of(of_host("node2")));
  auto called = of_host("node3");
  for (auto& record : called) record.label = "spare";
  write("3.csv", csv_of(called));
  write("4.csv", csv_of(of_host("")));
  EXPECT_EQ(merge({folder()}).devices, 4U);
  const auto records = merged();
  EXPECT_EQ(records[0].label, "node1");
  EXPECT_EQ(records[2].label, "node2");
  EXPECT_EQ(records[4].label, "spare");
  EXPECT_EQ(records[6].label, "4") << "shared without the computer's name";
  ResultsSet set;
  set.add(read_text(out()), "all.csv");
  EXPECT_THAT(set.devices, SizeIs(4));
}

TEST_F(Merge, ReadsFilesFromBeforeTheColumnsThatTellCardsApart) {
  const CsvTable old = parse_csv(csv_of(of_host("node1")), "x");
  const auto without = [&](const std::vector<std::string>& cells) {
    std::vector<std::string> kept;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (old.header[c] != "uuid" && old.header[c] != "label") kept.push_back(cells[c]);
    }
    return csv_line(kept);
  };
  std::string text = without(old.header);
  for (const auto& row : old.rows) text += without(row.cells);
  write("old.csv", text);
  write("new.csv", csv_of(of_host("node2", "cc")));
  EXPECT_EQ(merge({folder()}).devices, 2U);
  const auto records = merged();
  EXPECT_EQ(records[0].label, "");
  EXPECT_EQ(records[0].uuid, "cc");
  EXPECT_EQ(records[2].label, "node1");
}

TEST_F(Merge, WritesRowsOnceThatAreThereTwiceAndSaysSo) {
  const auto one = write("1.csv", csv_of(of_host("node1")));
  const auto copy = write("copy.csv", csv_of(of_host("node1")));
  const Merged found = merge({folder()});
  EXPECT_EQ(found.rows, 2U);
  EXPECT_EQ(found.twice, 2U);
  EXPECT_THAT(found.notes,
              ElementsAre(fmt::format("2 rows of {} are those of {}: they count once", copy, one)));
}

// Recognises a device by more than its name, which differs in the merged file.
TEST_F(Merge, OfAMergedFileAndItsPartsIsThatFile) {
  write("1.csv", csv_of(of_host("node1")));
  write("2.csv", csv_of(of_host("node2")));
  merge({folder()});
  write("all.csv", read_text(out()));
  const Merged found = merge({folder()});
  EXPECT_EQ(found.rows, 4U);
  EXPECT_EQ(found.twice, 4U);
  EXPECT_EQ(found.devices, 2U);
}

TEST_F(Merge, RefusesRowsThatTellDifferentThingsOfOneRun) {
  auto other = of_host("node1");
  other[1].time_s = 3;
  write("1.csv", csv_of(of_host("node1")));
  write("2.csv", csv_of(other));
  EXPECT_THAT(complaint({folder()}, ErrorCode::io),
              AllOf(HasSubstr("1.csv:3 and"), HasSubstr("2.csv:3 tell different")));
}

TEST_F(Merge, NamesSessionsOfOneCard) {
  auto again = of_host("node1", "aa");
  for (auto& record : again) record.run_id = "S";
  write("1.csv", csv_of(of_host("node1", "aa")));
  write("2.csv", csv_of(again));
  const Merged found = merge({folder()});
  EXPECT_EQ(found.rows, 4U);
  EXPECT_EQ(found.devices, 1U);
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("uuid aa was measured in 2 sessions")));
}

TEST_F(Merge, NamesTasksThatAreMissingOrWereInterrupted) {
  write("fleet-7-1-of-12-node1.csv", csv_of(of_host("node1")));
  write("fleet-7-10-of-12-node4.csv", csv_of(of_host("node4")));
  write("fleet-7-2-of-12-node2.csv", csv_of(of_host("node2"), false));
  write("fleet-7-2-of-12-node3.csv", csv_of(of_host("node3")));
  write("fleet-7-3-of-12-node5.csv", csv_of(of_host("node5"), false));
  write("fleet-7-4-of-12-node6.csv", "");
  const Merged found = merge({folder()});
  EXPECT_EQ(found.rows, 10U);
  EXPECT_THAT(found.missing, SizeIs(9));
  EXPECT_EQ(found.missing[0], folder() + "/fleet-7-3-of-12");
  EXPECT_EQ(found.missing[1], folder() + "/fleet-7-4-of-12");
  EXPECT_EQ(found.missing.back(), folder() + "/fleet-7-12-of-12");
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("4-of-12-node6.csv is empty"),
                                       HasSubstr("2-of-12-node2.csv was interrupted after 2 rows"),
                                       HasSubstr("3-of-12-node5.csv was interrupted after 2 rows")));
  EXPECT_EQ(merged()[4].label, "node3") << "2 comes before 10";
}

// Tasks of an array whose ids are a list do not know their places.
TEST_F(Merge, CountsTasksOfAList) {
  write("fleet-7-id3-of-3-node1.csv", csv_of(of_host("node1")));
  write("fleet-7-id17-of-3-node2.csv", csv_of(of_host("node2")));
  write("fleet-7-id64-of-3-node3.csv", csv_of(of_host("node3"), false));
  EXPECT_THAT(merge({folder()}).missing,
              ElementsAre(folder() + "/fleet-7-id*-of-3 (2 of its 3 tasks are done)"));
  write("fleet-7-id64-of-3-node4.csv", csv_of(of_host("node4")));
  EXPECT_THAT(merge({folder()}).missing, SizeIs(0));
}

TEST_F(Merge, LeavesOutOfAFolderWhatIsNoResultsFile) {
  write("1.csv", csv_of(of_host("node1")));
  write("1.samples.csv", "row,run\n1,1\n");
  write("1-at-once.csv", csv_of(of_host("node1")));
  const auto other = write("other.csv", "a,b\n1,2\n");
  fs::create_directories(folder_ / "in" / "deep");
  write("deep/2.csv", csv_of(of_host("node2")));
  const Merged found = merge({folder()});
  EXPECT_EQ(found.files, 2U);
  EXPECT_THAT(found.notes, ElementsAre(other + " is left out: no CSV of clweave run"));
  EXPECT_THAT(complaint({other}, ErrorCode::io), HasSubstr("not a CSV of clweave run"))
      << "one that was named";
}

TEST_F(Merge, PassesOverSamplesAmongTheFiles) {
  const auto rows = write("1.csv", csv_of(of_host("node1"))),
             samples = write("1.samples.csv", "row,run\n1,1\n");
  EXPECT_EQ(merge({rows, samples}).files, 1U);
  EXPECT_THAT(complaint({samples}, ErrorCode::usage), HasSubstr("samples alone"));
}

TEST_F(Merge, RefusesOtherSchemasAndSearches) {
  auto newer = of_host("node1");
  newer[0].schema = "clweave-2";
  EXPECT_THAT(complaint({write("new.csv", csv_of(newer))}, ErrorCode::io), HasSubstr("schema 'clweave-2'"));
  auto search = of_host("node1");
  for (auto& record : search) record.command = "[\"tune\"]";
  EXPECT_THAT(complaint({write("tune.csv", csv_of(search))}, ErrorCode::usage), HasSubstr("clweave tune"));
  EXPECT_FALSE(fs::exists(out())) << "nothing is written unless all can be read";
}

TEST_F(Merge, ReplacesNothingUnasked) {
  write("1.csv", csv_of(of_host("node1")));
  merge({folder()});
  EXPECT_THAT(complaint_of([&] { merge_files({folder()}, out(), false); }, ErrorCode::usage),
              HasSubstr("all.csv"));
  EXPECT_THAT(complaint_of([&] { merge_files({out()}, out(), true); }, ErrorCode::usage),
              HasSubstr("one of the files"));
  EXPECT_THAT(complaint({folder_.string()}, ErrorCode::io), "accepted") << "in its folder it is passed over";
  EXPECT_THAT(merged(), SizeIs(2));
  EXPECT_THAT(complaint({folder() + "/none.csv"}, ErrorCode::io), HasSubstr("no such file"));
}
