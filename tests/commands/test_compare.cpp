// SPDX-License-Identifier: Apache-2.0
// test_compare: the commands that compare, and their former name: exit codes, refusals.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <fstream>

#include "analysis/compared_rows.hpp"
#include "base/exit.hpp"
#include "commands/command.hpp"
#include "commands/compare.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class CompareCommand : public testing::Test {
 public:
  CompareCommand(const CompareCommand&) = delete;
  CompareCommand& operator=(const CompareCommand&) = delete;

 protected:
  CompareCommand() {
    std::filesystem::create_directories(folder_);
    write("old.csv", csv_of(runs_of("a", five_old)));
    write("new.csv", csv_of(runs_of("a", five_new)));
    write("other.csv", csv_of({on(row({{"kernel", "a"}}, 1), "Loom 2")}));
    write("broken.csv", csv_of({bad(row({{"kernel", "a"}}, 1), "crashed")}));
  }
  ~CompareCommand() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  // Words after the command; names of files end in .csv.
  int run(std::vector<std::string> words, const std::string& command = "compare") {
    for (auto& word : words) {
      if (word.ends_with(".csv")) word = (folder_ / word).string();
    }
    words.insert(words.begin(), command);
    testing::internal::CaptureStdout();
    int code = -1;
    try {
      code = run_command(words);
    } catch (...) {
      testing::internal::GetCapturedStdout();
      throw;
    }
    out_ = testing::internal::GetCapturedStdout();
    return code;
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("clweave-compare-{}", getpid());
  std::string out_;
};

}  // namespace

TEST_F(CompareCommand, ExitCodeTellsWhatWasAskedFor) {
  for (const char* command : {"compare-runs", "compare"}) {
    EXPECT_EQ(run({"old.csv", "new.csv"}, command), success);
    EXPECT_THAT(out_, HasSubstr("1 SLOWER"));
    EXPECT_EQ(run({"old.csv", "new.csv", "--fail-on", "slower:5%"}, command), slower);
    EXPECT_EQ(run({"old.csv", "new.csv", "--fail-on", "slower:50%"}, command), success);
    EXPECT_EQ(run({"new.csv", "old.csv", "--fail-on", "slower"}, command), success);
    EXPECT_EQ(run({"old.csv", "broken.csv", "--fail-on", "slower"}, command), slower)
        << "what broke was not timed";
    EXPECT_EQ(run({"old.csv", "broken.csv", "--fail-on", "slower,broken"}, command), slower);
  }
}

TEST_F(CompareCommand, NothingPassesInSilence) {
  // Nothing changed, but one run a side of an unknown device tells little.
  write("one.csv", csv_of(runs_of("a", {1}) + runs_of("b", {1})));
  write("two.csv", csv_of(runs_of("a", {1.1}) + runs_of("b", {1})));
  EXPECT_EQ(run({"one.csv", "two.csv", "--fail-on", "slower"}), success);
  EXPECT_EQ(run({"one.csv", "two.csv", "--fail-on", "slower,undecided"}), slower);
  EXPECT_EQ(run({"one.csv", "two.csv", "--fail-on", "undecided:99%"}), slower);
  EXPECT_EQ(run({"one.csv", "two.csv", "--fail-on", "undecided:100%"}), success);
  EXPECT_THAT(out_, HasSubstr("With 1 against 1 run it calls a change of "));
  EXPECT_EQ(run({"old.csv", "new.csv", "--fail-on", "undecided"}), success) << "its one case is decided";

  // Every row of the new side is beside a low clock: whether anything is slower is not known.
  auto throttled = runs_of("a", five_new);
  for (auto& one : throttled) one.throttled = 1;
  auto half = throttled;
  const auto quiet = runs_of("b", five_old);
  half.insert(half.end(), quiet.begin(), quiet.end());
  write("throttled.csv", csv_of(throttled));
  EXPECT_EQ(run({"old.csv", "throttled.csv", "--fail-on", "slower"}), slower);
  EXPECT_EQ(run({"old.csv", "throttled.csv", "--fail-on", "together:5%"}), slower);
  EXPECT_EQ(run({"old.csv", "throttled.csv", "--fail-on", "broken"}), success) << "which no clock hides";
  EXPECT_EQ(run({"old.csv", "throttled.csv"}), success);
  write("both.csv", csv_of(runs_of("a", five_old) + runs_of("b", five_old)));
  write("half.csv", csv_of(half));
  EXPECT_EQ(run({"both.csv", "half.csv", "--fail-on", "slower"}), success) << "the other case is decided";

  std::vector<Record> before, after;
  for (int n = 0; n < 20; ++n) {
    for (int one = 1; one <= 5; ++one) {
      const double luck = 1 + 0.001 * ((7 * n + 3 * one) % 5);
      before.push_back(row({{"n", std::to_string(n)}}, luck, one));
      after.push_back(row({{"n", std::to_string(n)}}, 1.06 * luck, one));
    }
  }
  write("before.csv", csv_of(before));
  write("after.csv", csv_of(after));
  EXPECT_EQ(run({"before.csv", "after.csv", "--fail-on", "slower"}), success);
  EXPECT_EQ(run({"before.csv", "after.csv", "--fail-on", "together:5%"}), slower);
  EXPECT_EQ(run({"before.csv", "after.csv", "--fail-on", "together:7%"}), success);
  EXPECT_EQ(run({"after.csv", "before.csv", "--fail-on", "together"}), success) << "faster";
  for (const char* wrong : {"undecided:", "undecided:x", "together:-1", "alone", "broken:5%"})
    EXPECT_THAT(complaint_of(
                    [&] {
                      run({"old.csv", "new.csv", "--fail-on", wrong});
                    },
                    ErrorCode::usage),
                HasSubstr("undecided:50%"))
        << wrong;
}

TEST_F(CompareCommand, SaysThatAFileIsComparedWithItself) {
  EXPECT_EQ(run({"old.csv", "old.csv"}), success);
  EXPECT_THAT(out_, HasSubstr("the same file"));
  run({"old.csv", "new.csv"});
  EXPECT_THAT(out_, Not(HasSubstr("the same file")));
}

TEST_F(CompareCommand, ChoosesTheModeByTheDevices) {
  run({"old.csv", "new.csv", "--json"});
  EXPECT_THAT(out_, HasSubstr("\"mode\": \"runs\""));
  run({"old.csv", "other.csv", "--json"});
  EXPECT_THAT(out_, HasSubstr("\"mode\": \"devices\""));
  run({"old.csv", "other.csv", "--json", "--mode", "regression"});
  EXPECT_THAT(out_, HasSubstr("\"mode\": \"runs\""));
  for (const char* side : {"old", "new"}) {  // another session: the same content would be the same file
    std::ifstream in(folder_ / fmt::format("{}.csv", side));
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::ofstream(folder_ / fmt::format("{}2.csv", side))
        << boost::replace_all_copy(text, "clweave-1,R,", "clweave-1,S,");
  }
  run({"old.csv", "old2.csv", "--against", "new.csv", "new2.csv", "--json"});
  EXPECT_THAT(out_, HasSubstr("\"unit\": \"session\""));
}

TEST_F(CompareCommand, IsTheFormerNameOfTwoCommands) {
  using Strings = std::vector<std::string>;
  const Strings runs = {"old.csv", "new.csv"}, devices = {"old.csv", "other.csv"};
  for (const Strings& format : {Strings{}, {"--csv"}, {"--json"}, {"--jsonl"}, {"--markdown"}, {"--all"}}) {
    for (const auto& [files, command] : {std::pair{runs, "compare-runs"}, {devices, "compare-devices"}}) {
      Strings words = files;
      words.insert(words.end(), format.begin(), format.end());
      run(words);
      const std::string former = out_;
      run(words, command);
      EXPECT_EQ(out_, former) << command;
    }
  }
}

TEST_F(CompareCommand, FormerNamesPrintTheProfiles) {
  using Strings = std::vector<std::string>;
  for (const auto& words_of_format : std::vector<Strings>{{}, {"--csv"}, {"--json"}, {"--markdown"}}) {
    Strings words = {"old.csv", "other.csv"};
    words.insert(words.end(), words_of_format.begin(), words_of_format.end());
    EXPECT_EQ(run(words, "profile"), success);
    const std::string expected = out_;
    EXPECT_THAT(expected, AllOf(HasSubstr("Loom 1"), HasSubstr("Loom 2")));
    EXPECT_EQ(run(words, "fingerprint"), success);
    EXPECT_EQ(out_, expected);
    words.emplace_back("--fingerprint");
    EXPECT_EQ(run(words), success);
    EXPECT_EQ(out_, expected);
  }
  EXPECT_THAT(complaint_of(
                  [&] {
                    run({"old.csv", "--fingerprint", "--against", "new.csv"});
                  },
                  ErrorCode::usage),
              HasSubstr("--against"));
}

TEST_F(CompareCommand, SaysWhatToTypeInstead) {
  const auto refused = [&](const std::vector<std::string>& words) {
    return complaint_of([&] { run(words); }, ErrorCode::usage);
  };
  EXPECT_THAT(refused({"old.csv"}), HasSubstr("results of one device"));
  EXPECT_THAT(refused({"old.csv", "--mode", "regression"}), HasSubstr("--against"));
  EXPECT_THAT(refused({"old.csv", "new.csv", "--noise", "old.csv"}), HasSubstr("two or more files"));
  EXPECT_THAT(refused({"old.csv", "other.csv", "--fail-on", "slower"}), HasSubstr("compare-runs"));
  EXPECT_THAT(refused({"old.csv", "new.csv", "--family", "lom"}), HasSubstr("did you mean 'loom'?"));
  EXPECT_THAT(refused({"old.csv", "new.csv", "--family", "other"}), HasSubstr("there are loom"));
  EXPECT_THAT(refused({"old.csv", "new.csv", "--csv", "--json"}), HasSubstr("--help"));
  EXPECT_THAT(refused({}), HasSubstr("FILE"));
  const auto refused_by = [&](const std::string& command, const std::vector<std::string>& words) {
    return complaint_of([&] { run(words, command); }, ErrorCode::usage);
  };
  EXPECT_THAT(refused_by("compare-devices", {"old.csv", "new.csv"}), HasSubstr("compare-runs"));
  EXPECT_THAT(refused_by("compare-runs", {"old.csv"}), HasSubstr("--against"));
  EXPECT_THAT(refused_by("compare-devices", {"old.csv", "new.csv", "--fail-on", "slower"}),
              HasSubstr("--help"));
}

TEST(FailOn, IsReadStrictly) {
  EXPECT_EQ(fail_on_of("slower").slower_than, 0);
  EXPECT_EQ(fail_on_of("slower:5%").slower_than, 0.05);
  EXPECT_EQ(fail_on_of("broken,slower:2.5").slower_than, 0.025);
  EXPECT_TRUE(fail_on_of("broken,slower:2.5").broken);
  for (const char* text :
       {"", ",", "faster", "slower:", "slower:x%", "slower:-1%", "slower:5%%", "slower:5% broken"})
    EXPECT_THAT(complaint_of([&] { fail_on_of(text); }, ErrorCode::usage),
                HasSubstr("write slower, slower:5%, together:5%, undecided:50%, broken"))
        << text;
}
