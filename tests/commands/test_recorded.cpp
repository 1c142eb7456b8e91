// SPDX-License-Identifier: Apache-2.0
// test_recorded: what the command of a results file may decide, and that files and code are no part of it.
#include "commands/recorded.hpp"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <set>

#include "base/error.hpp"
#include "base/shell_word.hpp"
#include "commands/command.hpp"

using namespace clweave::commands;
using testing::HasSubstr;
using testing::IsSupersetOf;

namespace {

std::string complaint_of_inputs(const std::vector<std::string>& words, const MeasureOptions& today) {
  RecordedCommand recorded = recorded_command(words, "x.csv");
  try {
    take_inputs(recorded, today, "x.csv");
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    return error.what();
  }
  return "none";
}

// The options of run whose value is a path.
std::vector<std::string> options_of_files() {
  MeasureOptions unused;
  const auto app = empty_command_line();
  std::vector<std::string> out;
  for (const auto* option : add_run(*app, unused)->get_options()) {
    const std::string type = option->get_type_name();
    if (type.find("FILE") != std::string::npos || type.find("DIR") != std::string::npos)
      out.push_back(option->get_name());
  }
  return out;
}

}  // namespace

// Holds for options that are added later, too.
TEST(RecordedCommand, NamesNoFile) {
  const auto options = options_of_files();
  EXPECT_THAT(options, IsSupersetOf({"--kernels", "--csv", "--claims-file", "--store", "--emit-sources",
                                     "--report", "--share", "--resume", "--replay"}));
  for (const auto& option : options) {
    for (const auto& words :
         {std::vector<std::string>{"run", "--preset", "smoke", option, "/no/such/place", "--runs", "3"},
          {"run", "--preset", "smoke", option + "=/no/such/place", "--runs", "3"}}) {
      const RecordedCommand recorded = recorded_command(words, "x.csv:2");
      const MeasureOptions& got = recorded.options;
      EXPECT_EQ(got.kernels + got.csv + got.claims_file + got.store + got.sources + got.resume + got.replay,
                "")
          << option;
      EXPECT_FALSE(got.report || got.share) << option;
      EXPECT_EQ(got.repeat, 3) << option << ": what stands behind it is read";
      EXPECT_EQ(recorded.files.at(option), "/no/such/place");
    }
  }
  EXPECT_EQ(recorded_command({"run", "--report", "--runs", "3"}, "x").options.repeat, 3);
  EXPECT_EQ(recorded_command({"run", "--replay", "y.csv", "--case", "copy/n=1"}, "x").options.replay_case,
            "");
}

TEST(RecordedCommand, IsOfRunOrTune) {
  EXPECT_THROW(recorded_command({"show", "x.csv"}, "x"), Error);
  EXPECT_EQ(recorded_command({"tune", "--samples", "3"}, "x").options.samples, 3U);
}

TEST(RecordedCommand, WhatARunReadsIsNamedAgain) {
  for (const auto& [option, path] : {std::pair{"--kernels", &MeasureOptions::kernels},
                                     {"--claims-file", &MeasureOptions::claims_file},
                                     {"--store", &MeasureOptions::store}}) {
    MeasureOptions today;
    EXPECT_THAT(complaint_of_inputs({"run", option, "evil"}, today), HasSubstr(std::string("add ") + option));
    today.*path = "mine";
    EXPECT_EQ(complaint_of_inputs({"run", option, "evil"}, today), "none");
    EXPECT_THAT(complaint_of_inputs({"run"}, today), HasSubstr("made without"));
    EXPECT_EQ(files_again(today), std::string(" ") + option + " mine");
  }
}

TEST(RecordedCommand, OfAnInterruptedRunIsCompletedByItsFiles) {
  MeasureOptions options;
  EXPECT_EQ(files_again(options), "");
  options.kernels = "my kernels";
  options.report = "";
  options.share = "$x.zip";
  EXPECT_EQ(files_again(options), " --kernels \"my kernels\" --report --share '$x.zip'");
}

// Messages suggest commands with names that files hold.
TEST(ShellWord, StandsForItselfAlone) {
  EXPECT_EQ(shell_word("a/b-1.csv"), "a/b-1.csv");
  EXPECT_EQ(shell_word("My GPU (R)"), "\"My GPU (R)\"");
  EXPECT_EQ(shell_word("$(touch x)'s"), R"('$(touch x)'\''s')");
  EXPECT_EQ(shell_word(""), "\"\"");
  EXPECT_EQ(shell_words({"clweave", "a;b"}), "clweave \"a;b\"");
}
