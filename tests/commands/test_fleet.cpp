// SPDX-License-Identifier: Apache-2.0
// test_fleet: the commands of fleets: merge, fleet, health: which exit code, what they refuse, what they
// write.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/compared_rows.hpp"
#include "base/exit.hpp"
#include "commands/command.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

namespace fs = std::filesystem;

// Writes a file for each of six computers, whose GPUs have one address; three processes each, as one may run
// slow for no fault of its GPU.
class FleetCommand : public testing::Test {
 public:
  FleetCommand(const FleetCommand&) = delete;
  FleetCommand& operator=(const FleetCommand&) = delete;

 protected:
  FleetCommand() {
    fs::create_directories(folder_ / "in");
    for (int card = 1; card <= 6; ++card) write(card, 1);
  }
  ~FleetCommand() override { fs::remove_all(folder_); }

  void write(int card, double factor) const {
    std::vector<Record> records;
    for (int run = 1; run <= 3; ++run) {
      for (const char* kernel : {"a", "b", "c"}) {
        Record& record =
            records.emplace_back(row({{"kernel", kernel}}, 1e-3 * factor * (1 + 1e-3 * card), run));
        record.host = fmt::format("node{}", card);
        record.device_type = "gpu";
      }
    }
    std::ofstream(file(card)) << csv_of(records);
  }
  std::string file(int card) const { return (folder_ / "in" / fmt::format("{}.csv", card)).string(); }
  std::string in() const { return (folder_ / "in").string(); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  int run(const std::vector<std::string>& words) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    int code = -1;
    try {
      code = run_command(words);
    } catch (...) {
      testing::internal::GetCapturedStdout();
      testing::internal::GetCapturedStderr();
      throw;
    }
    out_ = testing::internal::GetCapturedStdout();
    told_ = testing::internal::GetCapturedStderr();
    return code;
  }

  fs::path folder_ = fs::temp_directory_path() / fmt::format("clweave-fleet-test-{}", getpid());
  std::string out_, told_;
};

}  // namespace

// The GPUs of a baseline are told apart as those of the fleet are, so that it tells what GPUs differ by.
TEST_F(FleetCommand, ABaselineOfSeveralComputersIsOfSeveralCards) {
  fs::rename(folder_ / "in", folder_ / "good");
  fs::create_directories(folder_ / "in");
  std::vector<std::string> words = {"fleet", in(), "--baseline"};
  for (int card = 1; card <= 6; ++card) {
    write(card, std::pow(1.04, card - 1));
    words.push_back(path(fmt::format("good/{}.csv", card)));
  }
  EXPECT_NE(run(words), success) << "each is a little slower than the one before: " << out_;
  EXPECT_THAT(out_, AllOf(HasSubstr("node6"), Not(HasSubstr("NOT JUDGED"))));
}

TEST_F(FleetCommand, MergesThenJudges) {
  EXPECT_EQ(run({"merge", in(), "-o", path("all.csv")}), success);
  EXPECT_THAT(told_, HasSubstr("54 rows of 6 devices from 6 files -> "));
  EXPECT_EQ(run({"fleet", path("all.csv")}), success);
  EXPECT_THAT(out_, AllOf(HasSubstr("Loom 1: 6 devices, 3 cases of 1 family"), HasSubstr("0 TO BE DRAINED")));
  write(4, 1.2);
  EXPECT_EQ(run({"merge", in(), "-o", path("all.csv"), "--overwrite"}), success);
  EXPECT_EQ(run({"fleet", path("all.csv")}), to_be_drained);
  EXPECT_THAT(out_, AllOf(HasSubstr("1 TO BE DRAINED"), HasSubstr("node4 0:0"), Not(HasSubstr("node3"))));
}

TEST_F(FleetCommand, JudgesAFolderAsWhatMergeMakesOfIt) {
  write(2, 1.2);
  EXPECT_EQ(run({"fleet", in(), "--jsonl"}), to_be_drained);
  EXPECT_THAT(
      out_,
      HasSubstr("{\"location\":\"node2 0:0\",\"device\":\"Loom 1\",\"device_id\":\"0:0\",\"label\":\"node2\","
                "\"verdict\":\"drain\",\"what\":\"device\""));
  EXPECT_EQ(run({"fleet", file(1), file(2)}), case_failed) << "two devices tell no outlier";
  EXPECT_EQ(run({"fleet", file(1), file(2), "--baseline", file(3), file(4), file(5)}), to_be_drained);
  EXPECT_THAT(out_, HasSubstr("node2 0:0"));
}

TEST_F(FleetCommand, NamesCopiesThatAreEightPerCentSlower) {
  const auto with_copies = [&](int card, double factor) {
    std::vector<Record> records;
    for (const char* family : {"copy", "latency"}) {
      for (int i = 0; i < 9; ++i) {
        const double time_s = 1e-3 * (family == std::string("copy") ? factor : 1) * (1 + 1e-4 * card);
        Record& record =
            records.emplace_back(row({{"kernel", std::string(1, "abc"[i % 3])}}, time_s, i / 3 + 1, family));
        record.host = fmt::format("node{}", card);
        record.device_type = "gpu";
      }
    }
    std::ofstream(file(card)) << csv_of(records);
  };
  for (int card = 1; card <= 6; ++card) with_copies(card, 1);
  EXPECT_EQ(run({"fleet", in()}), success) << out_;
  const std::string reference = path("reference.json");
  EXPECT_EQ(run({"health", file(1), file(2), file(3), "--emit-reference", reference}), success);
  with_copies(4, 1.08);
  EXPECT_EQ(run({"fleet", in(), "--jsonl"}), to_be_drained) << out_;
  EXPECT_THAT(out_, AllOf(HasSubstr("node4"), HasSubstr("copy"), HasSubstr("1.08")));
  EXPECT_EQ(run({"health", file(4), "--reference", reference, "--jsonl"}), to_be_drained) << out_;
  EXPECT_THAT(out_, AllOf(HasSubstr(R"("family":"copy","verdict":"fail")"), HasSubstr("\"ratio\":1.0"),
                          HasSubstr(R"("family":"latency","verdict":"pass")")));
}

// A process that ran slow once is no reason to drain a GPU, nor to say that it is fine.
TEST_F(FleetCommand, MeasuresAgainWhatRanSlowOnce) {
  std::vector<Record> records;
  for (const char* kernel : {"a", "b", "c"}) {
    Record& record = records.emplace_back(row({{"kernel", kernel}}, 1.2e-3));
    record.host = "node4";
    record.device_type = "gpu";
  }
  std::ofstream(file(4)) << csv_of(records);
  EXPECT_EQ(run({"fleet", in()}), case_failed) << out_;
  EXPECT_THAT(out_, AllOf(HasSubstr("1 TO BE MEASURED AGAIN"), HasSubstr("in its only process"),
                          HasSubstr("node4 0:0: clweave run --device 0:0 --family loom --runs 2")));
}

// Two computers report one UUID: their GPUs are two, and the slow one is named.
TEST_F(FleetCommand, KeepsApartComputersThatReportOneUuid) {
  std::vector<Record> records;
  for (int card = 0; card < 8; ++card) {
    for (const char* family : {"copy", "scan", "latency", "peak", "access", "reduction"}) {
      const double time_s = 1e-3 * (card == 3 ? 1.2 : 1) * (1 + 1e-4 * card);
      Record& record = records.emplace_back(row({{"kernel", "a"}}, time_s, 1, family));
      record.host = fmt::format("node{}", card);
      record.run_id = record.host;
      record.uuid = card == 2 || card == 3 ? "aaaa" : fmt::format("bbbb{}", card);
      record.device_type = "gpu";
    }
  }
  std::ofstream(path("all.csv")) << csv_of(records);
  EXPECT_EQ(run({"fleet", path("all.csv")}), to_be_drained) << out_;
  EXPECT_THAT(told_, AllOf(HasSubstr("UUID aaaa is reported by node2 and node3: kept apart by host"),
                           Not(HasSubstr("sessions"))));
  EXPECT_THAT(out_, AllOf(HasSubstr("8 devices"), HasSubstr("1 TO BE DRAINED  7 FINE"),
                          HasSubstr("node3 0:0"), Not(HasSubstr("node2 0:0"))));
  EXPECT_EQ(run({"merge", path("all.csv"), "-o", path("merged.csv")}), success);
  EXPECT_THAT(told_, HasSubstr("48 rows of 8 devices"));
}

// Nineteen of 64 are 8 % slower: against each other nobody can tell who is right, against good ones it is
// known.
TEST_F(FleetCommand, TellsTwoGroupsAndWithABaselineTheSlowOnes) {
  const auto devices = [](int n, int slow, const std::string& host) {
    std::vector<Record> records;
    for (int card = 0; card < n; ++card) {
      for (const char* family : {"copy", "scan", "latency", "peak", "access", "reduction"}) {
        const double time_s = 1e-3 * (card < slow ? 1.08 : 1) * (1 + 1e-3 * (card % 7));
        Record& record = records.emplace_back(row({{"kernel", "a"}}, time_s, 1, family));
        record.host = record.label = fmt::format("{}{}", host, card);
        record.device_type = "gpu";
      }
    }
    return csv_of(records);
  };
  std::ofstream(path("all.csv")) << devices(64, 19, "node");
  std::ofstream(path("good.csv")) << devices(8, 0, "good");
  EXPECT_EQ(run({"fleet", path("all.csv")}), case_failed) << out_;
  EXPECT_THAT(out_, AllOf(HasSubstr("two groups in most families: 45 at 1.00x, 19 at 1.08x"),
                          HasSubstr("0 TO BE DRAINED  64 NOT JUDGED")));
  EXPECT_EQ(run({"fleet", path("all.csv"), "--baseline", path("good.csv")}), to_be_drained) << out_;
  EXPECT_THAT(out_, HasSubstr("19 TO BE DRAINED  45 FINE"));
}

TEST_F(FleetCommand, AMissingTaskIsMergesExitCode) {
  fs::rename(file(1), folder_ / "in" / "x-1-of-2.csv");
  EXPECT_EQ(run({"merge", in(), "-o", path("all.csv")}), case_failed);
  EXPECT_THAT(told_, AllOf(HasSubstr("missing: " + in() + "/x-2-of-2: no finished file"),
                           HasSubstr("; missing tasks: 1")));
}

TEST_F(FleetCommand, WritesAReferenceAndHoldsCardsAgainstIt) {
  const std::string reference = path("reference.json");
  EXPECT_EQ(run({"health", file(1), file(2), file(3), "--emit-reference", reference}), success);
  EXPECT_THAT(told_, HasSubstr("times of 3 sessions of Loom 1"));
  EXPECT_EQ(run({"health", file(4), "--reference", reference}), success);
  EXPECT_THAT(out_, HasSubstr("PASS"));
  write(4, 1.2);
  EXPECT_EQ(run({"health", file(4), "--reference", reference}), to_be_drained);
  EXPECT_THAT(out_, AllOf(HasSubstr("1.2"), HasSubstr("FAIL")));
  EXPECT_THAT(complaint_of(
                  [&] {
                    run({"health", file(4)});
                  },
                  ErrorCode::usage),
              HasSubstr("--reference FILE is required"));
  EXPECT_THAT(complaint_of(
                  [&] {
                    run({"health", file(1), "--emit-reference", file(2)});
                  },
                  ErrorCode::io),
              HasSubstr("no reference"))
      << "rows would be lost";
}

// Where every user may write, a name that can be guessed is a link of somebody else.
TEST_F(FleetCommand, WritesIntoAFolderOfItsOwn) {
  const std::string shared = path("shared"), victim = path("victim");
  fs::create_directories(shared);
  std::ofstream(victim) << "mine";
  fs::create_symlink(victim, fmt::format("{}/clweave-fleet-{}.csv", shared, getpid()));
  const std::string before = std::getenv("TMPDIR") == nullptr ? "" : std::getenv("TMPDIR");
  setenv("TMPDIR", shared.c_str(), 1);
  EXPECT_EQ(run({"fleet", in()}), success);
  EXPECT_EQ(read_text(victim), "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(shared), {}), 1) << "it removes what it made";
  setenv("TMPDIR", path("none").c_str(), 1);
  EXPECT_EQ(run({"fleet", in()}), success) << "there is /tmp";
  before.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before.c_str(), 1);
}

TEST_F(FleetCommand, AReferenceIsWholeOrNone) {
  const std::string reference = path("reference.json");
  EXPECT_EQ(run({"health", file(1), file(2), "--emit-reference", "-"}), success);
  EXPECT_THAT(out_, HasSubstr("clweave-reference-1"));
  EXPECT_FALSE(fs::exists("-"));
  EXPECT_EQ(run({"health", file(1), file(2), "--emit-reference", reference}), success);
  const std::string whole = read_text(reference);
  // Of this device nothing was measured that judges others.
  const std::string other = path("other.csv");
  std::ofstream(other) << csv_of({on(bad(row({{"kernel", "a"}}, 1e-3), "wrong_result", "x"), "Loom 2")});
  for (const auto& words : {std::vector<std::string>{"health", other}, {"health", file(1), other}}) {
    auto all = words;
    all.insert(all.end(), {"--emit-reference", reference});
    EXPECT_THAT(complaint_of([&] { run(all); }, ErrorCode::usage), HasSubstr("no family of Loom 2"));
    EXPECT_EQ(read_text(reference), whole);
  }
}
