// SPDX-License-Identifier: Apache-2.0
// test_share: what of results leaves the computer in one file, and the commands that take such files.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "analysis/compared_rows.hpp"
#include "base/exit.hpp"
#include "base/zip.hpp"
#include "commands/command.hpp"
#include "results/sharing.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

namespace fs = std::filesystem;

const Identity weaver{
    .host = "loom7.mill.example", .user = "ada", .home = "/home/ada", .full_name = "Ada Lovelace"};

// Shares the results of equal GPUs of two computers, with a broken kernel, and names in every place where one
// may be.
class Share : public testing::Test {
 public:
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

 protected:
  Share() {
    fs::create_directories(folder_ / "shared");
    for (int card = 1; card <= 2; ++card) {
      std::vector<Record> records = {
          row({{"kernel", "a"}}, 1e-3 * card), row({{"kernel", "b"}}, 2e-3),
          bad(row({{"kernel", "c"}}, 1), "build_failed",
              "options -D A=1 gave CL_BUILD_PROGRAM_FAILURE\n/home/ada/x.cl:3: error")};
      for (auto& record : records) {
        record.host = weaver.host;
        record.label = "loom7";
        record.command = R"(["run","--label","LOOM7","--csv","/home/ada/loom7/rows.csv"])";
        record.device = card == 1 ? "Loom 1" : "Loom 2";
      }
      std::ofstream(rows(card)) << csv_of(records);
      std::ofstream(samples(card)) << "row,run,case_id,index,event_ns,host_ns,batch,throttled\n"
                                   << fmt::format("1,1,loom/kernel=a,0,{0}000000,{0}100000,1,0\n", card);
      DeviceInfo device;
      device.name = records.front().device;
      share(archive(card), {rows(card)}, {device}, weaver);
    }
  }
  ~Share() override { fs::remove_all(folder_); }

  std::string rows(int card) const { return (folder_ / fmt::format("{}.csv", card)).string(); }
  std::string samples(int card) const { return (folder_ / fmt::format("{}.samples.csv", card)).string(); }
  std::string shared() const { return (folder_ / "shared").string(); }
  std::string archive(int card) const { return (folder_ / "shared" / fmt::format("{}.zip", card)).string(); }

  static std::string run(const std::vector<std::string>& words, int expected = success) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    int code = -1;
    std::string said;
    try {
      code = run_command(words);
    } catch (const Error& error) {
      said = error.what();
    }
    const std::string out = testing::internal::GetCapturedStdout();
    said += testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, expected) << said;
    return out + said;
  }

  fs::path folder_ = fs::temp_directory_path() / fmt::format("clweave-share-test-{}", getpid());
};

}  // namespace

TEST(Anonymous, NamesNoComputerAndNoUser) {
  const auto said = [](const std::string& text) { return anonymous(text, weaver); };
  EXPECT_EQ(said("/home/ada/rows.csv on loom7.mill.example"), "~/rows.csv on host");
  EXPECT_EQ(said("loom7: /scratch/ada/rows.csv"), "host: /scratch/user/rows.csv");
  EXPECT_EQ(said("[\"--label\",\"loom7\"]"), "[\"--label\",\"host\"]");
  EXPECT_EQ(said("/home/adam, adaptive, loom70, heirloom7"), "/home/adam, adaptive, loom70, heirloom7")
      << "other words are as they were";
  EXPECT_EQ(said("ada's card, ADA_2, [\"--csv\",\"ada/x.csv\"], ../ada"),
            "user's card, user_2, [\"--csv\",\"user/x.csv\"], ../user");
  EXPECT_EQ(said("LOOM7.Mill.Example, Loom7_a"), "host, host_a");
  EXPECT_EQ(said("/home/ada_old"), "/home/user_old");
  EXPECT_EQ(said("card of Ada Lovelace"), "card of user");
  EXPECT_EQ(anonymous("/home/ada", {}), "/home/ada");
  EXPECT_EQ(anonymous("a/b", {.host = "", .user = "", .home = "/"}), "a/b");
}

TEST_F(Share, PacksRowsSamplesDevicesAndBuildLogs) {
  std::vector<std::string> names;
  std::string all;
  for (const auto& entry : read_zip(archive(1), "")) {
    names.push_back(entry.name);
    all += entry.text;
  }
  EXPECT_THAT(names, ElementsAre("invented-loom-1.csv", "invented-loom-1.samples.csv", "devices.json",
                                 "build-logs.txt"));
  EXPECT_THAT(all, AllOf(Not(HasSubstr("loom7")), Not(HasSubstr("mill")), Not(HasSubstr("ada")),
                         Not(HasSubstr("LOOM7"))));
  EXPECT_THAT(all, AllOf(HasSubstr("loom/kernel=c\noptions -D A=1"), HasSubstr("~/x.cl:3: error"),
                         HasSubstr("\"name\": \"Loom 1\"")));
  const auto table = parse_csv(read_zip(archive(1), "loom-1.csv").front().text, "shared");
  const auto before = records_of(read_csv(rows(1)), "before"), after = records_of(table, "after");
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0].host, "");
  EXPECT_EQ(after[0].label, "host");
  EXPECT_EQ(after[0].command, R"(["run","--label","host","--csv","~/host/rows.csv"])");
  EXPECT_EQ(after[1].time_s, before[1].time_s);
  EXPECT_EQ(after[1].case_id, before[1].case_id);
}

TEST_F(Share, OfOneDeviceTwiceIsTwoFiles) {
  share(archive(1), {rows(1), rows(1)}, {}, weaver);
  EXPECT_EQ(read_zip(archive(1), "invented-loom-1.csv").size(), 1U);
  EXPECT_EQ(read_zip(archive(1), "invented-loom-1-2.csv").size(), 1U);
}

TEST_F(Share, IsTakenAsTheFilesInIt) {
  const auto of_rows = [&](const std::vector<std::string>& words) {
    std::string text = run(words);
    // What the archive says in place of the computer's name and the user's folder.
    for (const auto& [name, instead] :
         {std::pair<std::string, const char*>{"loom7", "host"}, {"/home/ada", "~"}}) {
      for (auto at = text.find(name); at != std::string::npos; at = text.find(name))
        text.replace(at, name.size(), instead);
    }
    return text;
  };
  EXPECT_EQ(run({"show", archive(1), "--csv"}), of_rows({"show", rows(1), "--csv"}));
  for (const char* command : {"compare", "fingerprint"}) {
    const std::string text = of_rows({command, rows(1), rows(2), "--csv"});
    EXPECT_THAT(text, AllOf(HasSubstr("Loom 1"), HasSubstr("Loom 2")));
    EXPECT_EQ(run({command, archive(1), archive(2), "--csv"}), text);
    EXPECT_EQ(run({command, shared(), "--csv"}), text);
  }
  const std::string page = (folder_ / "page.html").string();
  run({"report", shared(), "-o", page});
  EXPECT_THAT(read_text(page), AllOf(HasSubstr("Loom 1"), HasSubstr("Loom 2"), Not(HasSubstr("loom7"))));
}

TEST_F(Share, ThatIsNoneIsSaid) {
  const std::string broken = (folder_ / "broken.zip").string(), other = (folder_ / "other.zip").string();
  std::ofstream(broken) << "PK no archive";
  EXPECT_THAT(run({"show", broken}, -1), HasSubstr("cannot read " + broken));
  write_zip(other, {{"notes.txt", "nothing"}, {"../out.csv", "a,b\n"}});
  EXPECT_THAT(run({"show", other}, -1), HasSubstr(other + " has no CSV"));
  EXPECT_THAT(run({"show", folder_.string() + "/none"}, -1), HasSubstr("none"));
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT(run({"compare", (folder_ / "empty").string()}, -1), HasSubstr("no results file in"));
}

// GOOD*.csv matches samples as well; a folder has what else somebody keeps there.
TEST_F(Share, FilesAmongOthersAreFound) {
  const std::string kept = (folder_ / "kept").string(), page = (folder_ / "page.html").string();
  const std::string reference = (folder_ / "reference.json").string();
  fs::create_directories(folder_ / "kept" / "deep");
  fs::copy(rows(1), folder_ / "kept");
  fs::copy(samples(1), folder_ / "kept");
  fs::copy(archive(1), folder_ / "kept");
  fs::copy(rows(2), folder_ / "kept" / "deep");
  const auto other = (folder_ / "kept" / "other.csv").string();
  std::ofstream(other) << "a,b\n1,2\n";
  const std::string left_out = "note: " + other + " is left out: no CSV of clweave run\n";
  for (const char* command : {"compare", "fingerprint", "roofline", "claims"}) {
    const std::string text = run({command, rows(1), rows(2), "--csv"});
    EXPECT_EQ(run({command, kept, "--csv"}), text + left_out)
        << "an archive of the CSV beside it counts once";
    EXPECT_EQ(run({command, samples(1), rows(1), samples(2), rows(2), "--csv"}), text);
  }
  const std::string again = kept + "/1.csv";
  EXPECT_EQ(run({"compare", rows(1), samples(1), again, "--noise", rows(1), samples(1), again, "--csv"}),
            run({"compare", rows(1), again, "--noise", rows(1), again, "--csv"}))
      << "two files are two sides";
  EXPECT_THAT(run({"show", kept}), AllOf(HasSubstr("Loom 1"), HasSubstr("Loom 2")));
  EXPECT_THAT(run({"show", rows(1), samples(1)}), HasSubstr("Loom 1"));
  EXPECT_THAT(run({"health", rows(1), samples(1), "--emit-reference", reference}), HasSubstr("1 session of"));
  for (const auto& files : std::vector<std::vector<std::string>>{{kept}, {rows(1), rows(2), samples(1)}}) {
    std::vector<std::string> words = {"report", "-o", page};
    words.insert(words.begin() + 1, files.begin(), files.end());
    run(words);
    EXPECT_THAT(read_text(page), AllOf(HasSubstr("Loom 1"), HasSubstr("Loom 2")));
  }
  EXPECT_THAT(run({"show", samples(1)}, -1), HasSubstr(samples(1) + ": samples alone; name the CSV"));
}

TEST_F(Share, ReplacesNothingElse) {
  EXPECT_THAT(complaint_of([&] { share(rows(2), {rows(1)}, {}, weaver); }, ErrorCode::usage),
              HasSubstr("no archive"));
  EXPECT_NE(read_text(rows(2)), "");
  EXPECT_THAT(complaint_of([&] { share("/proc/no/x.zip", {rows(1)}, {}, weaver); }, ErrorCode::io),
              HasSubstr("cannot write /proc/no/x.zip"));
}
