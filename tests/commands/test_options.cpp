// SPDX-License-Identifier: Apache-2.0
// test_options: the words of the command line.
#include "commands/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "commands/command.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ClaimOptions, AClaimTakesThePlaceOfAPreset) {
  EXPECT_TRUE(parse_options({"run", "--claims"})->run_claims);
  EXPECT_TRUE(parse_options({"run", "--claim", "000-a,000-b"})->run_claims);
  EXPECT_FALSE(parse_options({"run"})->run_claims);
  EXPECT_THROW(parse_options({"run", "--claims", "--preset", "paper"}), Error);
  EXPECT_THROW(parse_options({"run", "--claim", "000-a", "--preset", "paper"}), Error);
  EXPECT_THROW(run_command({"claims", "/dev/null", "--csv", "--json"}), Error);
}

TEST(MeasuringOptions, ANumberIsANumber) {
  for (const char* option : {"--precision", "--timeout", "--max-seconds", "--budget"}) {
    for (const char* text : {"nan", "inf", "-1", "x"})
      EXPECT_THROW(parse_options({"run", option, text}), Error) << option << " " << text;
    EXPECT_TRUE(parse_options({"run", option, "1"})) << option;
  }
  EXPECT_THROW(parse_options({"tune", "--budget", "nans"}), Error);
  EXPECT_THROW(parse_options({"run", "--budget", "5weeks"}), Error);
  EXPECT_THROW(parse_options({"run", "--budget", "0s"}), Error);
}

TEST(MeasuringOptions, TimesMayHaveUnits) {
  EXPECT_EQ(parse_options({"run", "--budget", "130"})->budget_s, 130);
  EXPECT_EQ(parse_options({"run", "--budget", "130s"})->budget_s, 130);
  EXPECT_EQ(parse_options({"run", "--budget", "1.5m"})->budget_s, 90);
  EXPECT_EQ(parse_options({"tune", "--budget", "2h"})->budget_s, 7200);
  EXPECT_EQ(parse_options({"tune", "--budget", "20cases"})->budget_cases, 20U);
  EXPECT_EQ(parse_options({"run", "--timeout", "2min"})->timeout_s, 120);
}

// Refuses options that would make devices sample for different times.
TEST(MeasuringOptions, ParallelRefusesWhatItCannotHaveBesideIt) {
  EXPECT_EQ(parse_options({"run", "--parallel"})->runs(), 3);
  EXPECT_EQ(parse_options({"run", "--parallel", "--preset", "smoke", "--runs", "2"})->runs(), 2);
  EXPECT_EQ(parse_options({"run", "--parallel", "--preset", "full"})->runs(), 5);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--in-process"},
                                                {"--with-baselines"},
                                                {"--energy"},
                                                {"--precision", "0.1"},
                                                {"--samples", "3"},
                                                {"--max-samples", "3"},
                                                {"--runs", "1"},
                                                {"--replay", "/dev/null", "--case", "copy"},
                                                {"--resume", "/dev/null"}}) {
    std::vector<std::string> all = {"run", "--parallel"};
    all.insert(all.end(), words.begin(), words.end());
    try {
      parse_options(all);
      ADD_FAILURE() << words[0] << " is accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::usage);
      EXPECT_NE(std::string(error.what()).find(words[0]), std::string::npos) << error.what();
    }
  }
}

TEST(MeasuringOptions, ASeedIsNotClamped) {
  EXPECT_EQ(parse_options({"run", "--seed", "18446744073709551615"})->selection.seed, UINT64_MAX);
  EXPECT_THROW(parse_options({"run", "--seed", "18446744073709551616"}), Error);
  EXPECT_THROW(parse_options({"run", "--seed", "-1"}), Error);
}

// A list ends with its word: what follows is a file.
// Returns what the program says of a command line that it refuses.
std::string refused(const std::vector<std::string>& words) {
  try {
    run_command(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Mistyped, ACommandIsGuessed) {
  EXPECT_THAT(refused({"rnu", "--preset", "smoke"}),
              StartsWith("there is no command rnu; did you mean 'run'?"));
  EXPECT_THAT(refused({"frobnicate"}), AllOf(HasSubstr("there are check, claims"), Not(HasSubstr("worker"))));
  EXPECT_THAT(refused({"saxpy.cl"}), HasSubstr("such as 'clweave run saxpy.cl'"));
}

TEST(Mistyped, AnOptionIsGuessedOfEveryCommand) {
  CLI::App app;
  for (const auto& command : all_commands(app)) {
    const std::string name = command.app->get_name();
    if (command.app->get_group().empty() || command.app->get_option_no_throw("--family") == nullptr) continue;
    EXPECT_THAT(refused({name, "--famly", "copy"}),
                AllOf(StartsWith(name + " has no option --famly; did you mean '--family'?"),
                      HasSubstr("clweave " + name + " --help")));
  }
  EXPECT_THAT(refused({"run", "--preste=smoke"}), HasSubstr("--preste; did you mean '--preset'?"));
  EXPECT_THAT(refused({"tune", "--no-peek"}), HasSubstr("did you mean '--no-peak'?"));
  EXPECT_THAT(refused({"show", "none.csv", "--jsno"}), HasSubstr("did you mean '--json'?"))
      << "before what the option's value was taken for";
  EXPECT_THAT(refused({"run", "--zzzzzz"}), AllOf(HasSubstr("no option --zzzzzz\n"), Not(HasSubstr("mean"))));
  EXPECT_THAT(refused({"--presets", "smoke"}), HasSubstr("did you mean 'run --preset'?"));
  EXPECT_THAT(refused({"run", "--no-ceilin"}), Not(HasSubstr("--no-ceiling"))) << "a former name";
}

TEST(ListOptions, SwallowNoFile) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"claims", "--claim", "000-a,000-b", "/dev/null"},
        {"claims", "--claim", "000-a", "--claim", "000-b", "/dev/null"},
        {"show", "--family", "branch_divergence,copy", "/dev/null"},
        {"show", "--rows", "n", "--columns", "paths", "/dev/null"}}) {
    try {
      run_command(words);
      ADD_FAILURE() << "an empty file is no results";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::io) << error.what();
    }
  }
}
