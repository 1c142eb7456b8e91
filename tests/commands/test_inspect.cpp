// SPDX-License-Identifier: Apache-2.0
// test_inspect: which case is meant, what is refused and how, and the programs of a dry run as files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "commands/command.hpp"
#include "compilers/inspect_report.hpp"
#include "compilers/source_folder.hpp"
#include "compilers/tool.hpp"
#include "os/temporary_folder.hpp"
#include "suite/family.hpp"
#include "suite/mock_devices.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

namespace {

// Returns the error's message and checks its code.
std::string refusal(ErrorCode kind, const std::vector<std::string>& words) {
  try {
    run_command(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code, kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

TEST(Inspect, SaysWhatToTypeInstead) {
  EXPECT_THAT(refusal(ErrorCode::usage, {"inspect"}), AllOf(HasSubstr("which case?"), HasSubstr("--family")));
  EXPECT_THAT(refusal(ErrorCode::usage, {"inspect", "nothing/n=1"}),
              AllOf(HasSubstr("no family nothing"), HasSubstr("branch_divergence")));
  EXPECT_THAT(refusal(ErrorCode::usage, {"inspect", "branch_divergence/path=1"}),
              HasSubstr("there is no axis path; did you mean 'paths'?"));
  EXPECT_THAT(refusal(ErrorCode::usage, {"inspect", "branch_divergence/paths"}),
              AllOf(HasSubstr("branch_divergence/axis=value"), HasSubstr("paths, granularity")));
  EXPECT_THAT(refusal(ErrorCode::usage, {"inspect", "branch_divergence/paths=3"}), HasSubstr("paths takes"));
  EXPECT_THAT(refusal(ErrorCode::usage, {"inspect", "branch_divergence", "--target", "gfx90"}),
              HasSubstr("--target gfx90: there is no such target; did you mean 'gfx90a'?"));
  EXPECT_THAT(refusal(ErrorCode::usage, {"inspect", "branch_divergence", "--where", "paths=1"}),
              HasSubstr("leave --where out"));
  EXPECT_THAT(refusal(ErrorCode::usage, {"inspect", "branch_divergence", "--every"}),
              HasSubstr("leave --every out"));
}

TEST(Inspect, OfSeveralCasesNamesWhatTellsThemApart) {
  EXPECT_THAT(refusal(ErrorCode::usage, {"inspect", "--family", "branch_divergence", "--preset", "smoke",
                                         "--where", "paths=1,2"}),
              AllOf(HasSubstr("cases match"), HasSubstr("--where paths=1|2"),
                    HasSubstr("clweave inspect branch_divergence/"), Not(HasSubstr("--where iterations"))));
  EXPECT_THAT(refusal(ErrorCode::usage, {"inspect", "--family", "branch_divergence,copy"}),
              HasSubstr("--family branch_divergence|copy"));
}

Inspected made_by(const char* by, std::int64_t registers) {
  Inspected out;
  out.by = by;
  out.compiler = "a compiler";
  out.language = "ISA";
  out.source = {"the text", " -D N=1", "1234"};
  out.compiled.ok = true;
  InspectedKernel kernel;
  kernel.kernel = {.name = "branch_divergence", .figures = {}, .isa = "\tmov\n"};
  kernel.kernel.figures.registers = registers;
  kernel.kernel.figures.scratch = 0;
  kernel.kernel.figures.group_limit = 128;
  kernel.group = 256;
  out.kernels.push_back(kernel);
  return out;
}

std::string screen_of(const std::vector<Inspected>& all, const InspectionText& text, int width = 80) {
  const Job job = job_named(all_families(), "branch_divergence");
  return text_of(inspection_report(job, all, {"bmg needs more"}, text), "text", {.width = width});
}

TEST(Inspection, IsATableThatFitsAndTheRestOnRequest) {
  const std::string brief = screen_of({made_by("one", 10), made_by("two", 20), made_by("three", 30)}, {});
  EXPECT_THAT(brief,
              AllOf(HasSubstr("regs"), HasSubstr("30"), HasSubstr("-D N=1"), HasSubstr("bmg needs more")));
  EXPECT_THAT(brief, HasSubstr("groups of 256 are more than the 128"));
  EXPECT_THAT(brief, Not(AnyOf(HasSubstr("the text"), HasSubstr("mov"), HasSubstr("\033"))));
  for (const auto& line : split(brief, '\n')) EXPECT_LE(width_of(line), 80U) << line;
  EXPECT_THAT(screen_of({made_by("one", 10)}, {.source = true}), HasSubstr("the text"));
  EXPECT_THAT(screen_of({made_by("one", 10)}, {.isa = true}), HasSubstr("mov"));
}

TEST(Inspection, OfTwoShowsWhatDiffers) {
  const std::string both = screen_of({made_by("one", 10), made_by("two", 20)}, {.diff = true});
  EXPECT_THAT(both, AllOf(HasSubstr("registers"), Not(HasSubstr("scratch "))));
  EXPECT_THAT(screen_of({made_by("one", 10), made_by("two", 10)}, {.diff = true}),
              HasSubstr("every figure is the same"));
}

TEST(Inspection, TellsWhatFailed) {
  Inspected broken = made_by("one", 1), lacking = made_by("two", 1);
  broken.compiled = {.ok = false, .log = "branch_divergence.cl:7: error\n", .kernels = {}};
  broken.kernels.clear();
  lacking = broken;
  lacking.by = "two";
  lacking.why = "no shuffle";
  const std::string text = screen_of({broken, lacking}, {});
  EXPECT_THAT(text, AllOf(HasSubstr("one: does not compile"), HasSubstr("branch_divergence.cl:7"),
                          HasSubstr("two: unsupported: no shuffle")));
}

// Every program of the smoke preset, from the files alone.
TEST(EmittedSources, AreThoseOfTheRun) {
  const auto& families = all_families();
  Selection smoke;
  smoke.preset = "smoke";
  const auto jobs = select_jobs(families, smoke);
  const TemporaryFolder folder;
  const auto path = folder.path() / "made" / "here";
  SourcesFolder sources(path);
  for (const DeviceInfo& device : {roomy(), mock_devices().back()}) sources.add(jobs, device, "");
  const std::size_t count = sources.finish();
  const auto index = nlohmann::json::parse(bytes_of(path / "index.json"));
  EXPECT_EQ(index.size(), count);
  std::set<std::string> files, asking;
  for (const auto& program : index) {
    const std::string file = program.at("file");
    EXPECT_TRUE(files.insert(file).second);
    const std::string text = bytes_of(path / file);
    const auto options = program.at("options").get<std::string>();
    for (const auto& entry : program.at("entry_points"))
      EXPECT_THAT(text, HasSubstr(entry.get<std::string>())) << file;
    const Job job = job_named(families, program.at("cases").at(0));
    EXPECT_EQ(job_named(families, short_id(job)).at.id(), job.at.id());
    asking.insert(job.family->name);
    const DeviceInfo device = program.at("devices").at(0) == "roomy" ? roomy() : mock_devices().back();
    const Source source = source_of(plan_of(*job.family, job.at, device), "");
    EXPECT_EQ(text, source.text);
    EXPECT_EQ(" " + options, source.options.empty() ? " " : source.options);
    EXPECT_EQ(program.at("kernel_hash"), source.kernel_hash);
    EXPECT_THAT(file, HasSubstr(source.kernel_hash));
  }
  std::size_t there = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    there += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(there, count + 1);
  EXPECT_GT(asking.size(), 15U);
}

TEST(EmittedSources, NeedAFolder) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  std::ofstream(file) << "x";
  for (const auto& path : {file, file / "below"}) {
    try {
      SourcesFolder sources{path};
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::io);
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
    }
  }
  EXPECT_THAT(refusal(ErrorCode::usage, {"run", "--emit-sources", "x"}), HasSubstr("--dry-run"));
}

}  // namespace
