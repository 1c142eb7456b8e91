// SPDX-License-Identifier: Apache-2.0
// test_replay: rows of older files run again: every committed one can, and what cannot says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "commands/read_results.hpp"
#include "commands/recorded.hpp"
#include "commands/replay.hpp"
#include "device/program.hpp"
#include "suite/family.hpp"
#include "suite/mock_devices.hpp"

using namespace clweave::commands;
using testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

// Trusts the kernel files of a command of ours.
MeasureOptions trusting(const std::string& command, const std::string& where) {
  MeasureOptions out;
  for (const auto& file : recorded_command(command_words(command, where), where).options.own.files)
    out.own.files.push_back(fs::path(CLWEAVE_SOURCE_DIR) / file);
  return out;
}

TEST(Replay, EveryRowOfEveryCommittedFileCanBeRunAgain) {
  const auto& families = all_families();
  const DeviceInfo device = roomy();
  std::set<std::string> seen, commands;
  std::size_t rows = 0;
  for (const auto& path : unpacked({CLWEAVE_SOURCE_DIR "/results"})) {
    const CsvTable table = read_csv(path);
    if (std::ranges::find(table.header, "case_id") == table.header.end()) continue;
    for (auto record : records_of(table, path)) {
      // Rows of baselines are no cases of ours.
      if (!record.ok() || !record.finding.empty() || record.api != "opencl") continue;
      ++rows;
      add_later_axes(record, families);
      if (!seen.insert(record.case_id).second) continue;
      try {
        if (commands.insert(record.command).second)
          replay_of(record, families, trusting(record.command, path), path);
        const Job again = job_of(record, families, path);
        EXPECT_EQ(again.at.id(), record.case_id) << path;
        plan_of(*again.family, again.at, device);
      } catch (const Error& error) {
        // A missing feature of another device makes a row, not an error.
        if (error.code != ErrorCode::unsupported)
          ADD_FAILURE() << path << ": " << record.case_id << ": " << error.what();
      }
    }
  }
  EXPECT_GT(rows, 5000U);
}

class ReplayFile : public testing::Test {
 public:
  ReplayFile(const ReplayFile&) = delete;
  ReplayFile& operator=(const ReplayFile&) = delete;

 protected:
  ReplayFile() {
    record_.run_id = "x";
    record_.version = "0";
    record_.command = R"(["run","--preset","smoke","--samples","7","--csv","gone/rows.csv"])";
    record_.device = "Long gone";
    record_.family = "branch_divergence";
    record_.status = Status::ok;
    record_.seed = 5;
    const auto& families = all_families();
    family_ = *std::ranges::find(families, "branch_divergence", &Family::name);
    for (const auto& axis : family_.axes) record_.axes.emplace_back(axis.name, text_of(axis.values.front()));
    record_.case_id = cases_of(family_, {{}}, 1).front().id();
    given_.replay = path_;
    given_.replay_case = record_.case_id;
  }
  ~ReplayFile() override { fs::remove(path_); }

  Replay replay() {
    std::vector<std::string> axes;
    for (const auto& [name, value] : record_.axes) axes.push_back(name);
    std::ofstream(path_) << csv_line(header_cells(axes)) << csv_line(cells_of(record_, axes));
    return replay_of(given_, {family_});
  }

  Job cases_jobs() const { return {&family_, cases_of(family_, {{}}, 1).front()}; }

  std::string complaint() {
    try {
      replay();
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::usage);
      return error.what();
    }
    return "none";
  }

  const std::string path_ = fs::absolute("replay_" + std::to_string(getpid()) + ".csv");
  Record record_;
  Family family_;
  MeasureOptions given_;
};

TEST_F(ReplayFile, MeasuresAsThenOnTheDeviceOfThen) {
  const Replay again = replay();
  EXPECT_EQ(again.options.samples, std::size_t{7});
  EXPECT_EQ(again.options.csv, "-");
  EXPECT_EQ(again.job.at.seed, 5U);
  EXPECT_THAT(again.options.devices, testing::ElementsAre("Long gone"));
}

TEST_F(ReplayFile, ObeysTheDeviceThatIsNamed) {
  given_.devices = {"pocl"};
  given_.csv = "new.csv";
  EXPECT_THAT(replay().options.devices, testing::ElementsAre("pocl"));
  EXPECT_EQ(replay().options.csv, "new.csv");
}

TEST_F(ReplayFile, ADryRunNeedsNoDeviceOfThen) {
  given_.dry_run = true;
  EXPECT_THAT(replay().options.devices, testing::IsEmpty());
  EXPECT_TRUE(replay().options.dry_run);
}

TEST_F(ReplayFile, GivesLaterAxesTheirDefaults) {
  const std::string last = record_.axes.back().first;
  record_.axes.pop_back();
  record_.case_id = record_.case_id.substr(0, record_.case_id.rfind('/'));
  EXPECT_EQ(replay().job.at.id(), given_.replay_case) << "asked for in today's words";
  given_.replay_case = record_.case_id;
  EXPECT_EQ(replay().job.at.axes.back().first, last) << "or in its own";
}

// A file of a stranger, beside which a folder of that name lies.
TEST_F(ReplayFile, ChoosesNoCode) {
  record_.command = R"(["run","--preset","smoke","--kernels","evil"])";
  EXPECT_THAT(complaint(), HasSubstr("add --kernels"));
  record_.command = R"(["run","--preset","smoke","--kernels=evil"])";
  EXPECT_THAT(complaint(), HasSubstr("--kernels evil"));
  given_.kernels = "mine";
  EXPECT_EQ(replay().options.kernels, "mine");
  EXPECT_TRUE(replay().made_by) << "whose kernels have to be the same";
  record_.command = R"(["run","--preset","smoke"])";
  EXPECT_EQ(replay().options.kernels, "mine");
  EXPECT_FALSE(replay().made_by);
}

TEST_F(ReplayFile, ChoosesNoFile) {
  record_.command =
      R"(["run","--preset","smoke","--csv","a.csv","--overwrite","--report","b.html","--share=c.zip","--store","d",)"
      R"("--claims-file","e","--dry-run","--emit-sources","f"])";
  const MeasureOptions options = replay().options;
  EXPECT_EQ(options.csv, "-");
  EXPECT_FALSE(options.overwrite || options.dry_run || options.report || options.share);
  EXPECT_EQ(options.store + options.claims_file + options.sources + options.resume + options.replay, "");
  given_.report = "page.html";
  given_.share = "rows.zip";
  EXPECT_EQ(replay().options.report, "page.html");
  EXPECT_EQ(replay().options.share, "rows.zip");
}

TEST_F(ReplayFile, KernelsAreThoseOfThen) {
  const Job job = cases_jobs();
  DeviceInfo device = roomy();
  record_.device = device.name;
  const std::string folder = std::string(CLWEAVE_SOURCE_DIR) + "/cl_kernels";
  record_.kernel_hash = source_of(plan_of(family_, job.at, device), folder).kernel_hash;
  EXPECT_NO_THROW(check_kernels(record_, job, device, folder));
  record_.kernel_hash = "0123456789abcdef";
  EXPECT_THROW(check_kernels(record_, job, device, folder), Error);
  device.name = "another";
  EXPECT_NO_THROW(check_kernels(record_, job, device, folder)) << "whose programs differ anyway";
}

TEST_F(ReplayFile, ADamagedCommandIsNamed) {
  for (const char* command : {"[\"run\",", "run", "[1]", ""}) {
    record_.command = command;
    try {
      replay();
      ADD_FAILURE() << command;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::io);
      EXPECT_THAT(error.what(), HasSubstr(path_ + ":2: column command"));
    }
  }
}

}  // namespace
