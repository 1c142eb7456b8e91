// SPDX-License-Identifier: Apache-2.0
// test_own_kernels: users' own kernels on the command line, described by a file or by options, on PoCL.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "analysis/compared_rows.hpp"
#include "base/text.hpp"
#include "faults/trial.hpp"

using namespace clweave::commands;
using namespace trial;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

namespace {

Strings operator+(Strings words, const Strings& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Doubles the elements of x, in two ways; `lines` replace the body of the second.
std::string kernels_named(const std::string& name, const std::string& second = "y[i] = x[i] + x[i];") {
  return fmt::format(R"cl(/* clweave
question = "How fast is doubling?"
[axes]
kernel = {{ values = ["times", "plus"], meaning = "implementation" }}
n = {{ values = [1024, 4096], meaning = "elements" }}
group = {{ values = [16, 32, 64], tunable = true, meaning = "work-items per work-group" }}
[buffers]
x = {{ type = "float", count = "n", contents = "random" }}
y = {{ type = "float", count = "n" }}
[[launches]]
kernel = "{0}_{{kernel}}"
global = "n"
local = "group"
args = ["x", "y"]
[cost]
read = "4 * n"
written = "4 * n"
items = "n"
[[checks]]
buffer = "y"
expression = "2 * x[i]"
*/
kernel void {0}_times(global const float* x, global float* y) {{
  const size_t i = get_global_id(0);
  y[i] = 2 * x[i];
}}
kernel void {0}_plus(global const float* x, global float* y) {{
  const size_t i = get_global_id(0);
  {1}
}}
)cl",
                     name, second);
}

class OwnKernels : public testing::Test {
 protected:
  OwnKernels() {
    trial_.set("POCL_CACHE_DIR", fs::absolute("pocl_cache").string());
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE"}) trial_.set(name, "");
    trial_.set("XDG_DATA_HOME", (trial_.folder() / "data").string());
  }

  std::string write(const std::string& name, const std::string& text) {
    const fs::path path = trial_.folder() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string doubling(const std::string& second = "y[i] = x[i] + x[i];") {
    return write("doubling.cl", kernels_named("doubling", second));
  }

  Ended run(const Strings& words) {
    Ended ended = trial_.run(words);
    for (const char* sign : {"Sanitizer", "runtime error:", "terminate called"})
      EXPECT_THAT(ended.out + ended.err, Not(HasSubstr(sign))) << fmt::format("{}", fmt::join(words, " "));
    return ended;
  }
  // Runs and expects success.
  Ended succeed(const Strings& words) {
    Ended ended = run(words);
    EXPECT_EQ(ended.code, 0) << fmt::format("{}\n", fmt::join(words, " ")) << ended.err << ended.out;
    return ended;
  }
  // Runs and expects a refusal of the command line, which says all of these.
  void refuse(const Strings& words, const Strings& says) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.code, 2) << fmt::format("{}\n", fmt::join(words, " ")) << ended.err << ended.out;
    for (const auto& text : says)
      EXPECT_THAT(ended.err, HasSubstr(text)) << fmt::format("{}", fmt::join(words, " "));
  }

  std::vector<Record> rows() const { return records_of(read_csv(csv()), csv()); }
  // Returns the rows of a family that are cases.
  std::vector<Record> rows_of(const std::string& family) const {
    auto out = rows();
    std::erase_if(out, [&](const Record& one) { return one.family != family || !one.finding.empty(); });
    return out;
  }
  std::string csv() const { return trial_.csv(); }

  Trial trial_;
};

const Strings smoke = {"--preset", "smoke"};

TEST_F(OwnKernels, AreMeasuredAsOurs) {
  succeed({"run", doubling(), "--no-peak", "--csv", csv()});
  const auto made = rows_of("doubling");
  ASSERT_EQ(made.size(), 4U) << "two kernels, two sizes";
  for (const auto& one : made) {
    EXPECT_EQ(one.status, Status::ok) << one.reason;
    EXPECT_EQ(one.verified, Verified::yes);
    EXPECT_EQ(one.bytes, 8 * std::stoi(one.axis("n")));
    EXPECT_EQ(one.kernel_hash.size(), 16U);
  }
  EXPECT_EQ(rows().size(), 4U) << "no other family";
}

TEST_F(OwnKernels, PathsMayHaveBlanks) {
  const std::string path = write("my kernels/of mine/doubling.cl", kernels_named("doubling"));
  const Ended ended = succeed(Strings{"run", path, "--csv", csv()} + smoke);
  EXPECT_EQ(rows_of("doubling").size(), 2U) << ended.err;
}

TEST_F(OwnKernels, AFolderIsEveryDescribedFile) {
  write("mine/one.cl", kernels_named("one"));
  write("mine/two.cl", kernels_named("two"));
  write("mine/bare.cl", "kernel void bare(global int* x) { x[0] = 1; }\n");
  succeed(Strings{"run", (trial_.folder() / "mine").string(), "--csv", csv()} + smoke);
  EXPECT_EQ(rows_of("one").size(), 2U);
  EXPECT_EQ(rows_of("two").size(), 2U);
  fs::create_directory(trial_.folder() / "none");
  refuse({"run", (trial_.folder() / "none").string()}, {"no .cl file", "clweave new"});
}

TEST_F(OwnKernels, EveryCommandKnowsThem) {
  const std::string file = doubling();
  const Ended listed = succeed({"list", file});
  EXPECT_THAT(listed.out, HasSubstr("How fast is doubling?"));
  EXPECT_THAT(listed.out, Not(HasSubstr("matrix_access")));
  EXPECT_THAT(succeed({"check", file}).out, HasSubstr("doubling: every rule holds"));
  const Ended planned = succeed({"run", file, "--dry-run"});
  EXPECT_THAT(planned.out, HasSubstr("doubling_plus<"));
  EXPECT_THAT(succeed({"complete", "--", "run", file, "--where", "kernel="}).out, HasSubstr("kernel=plus"));

  succeed(Strings{"run", file, "--csv", csv()} + smoke);
  EXPECT_THAT(succeed({"show", csv(), file, "--family", "doubling"}).out, HasSubstr("plus"));
  const std::string page = (trial_.folder() / "page.html").string();
  succeed({"report", csv(), file, "-o", page});
  EXPECT_NE(content_of(page).find("doubling"), std::string::npos);
  succeed({"profile", csv(), file});
  succeed({"claims", csv(), file});
  refuse({"show", file}, {"no results file"});
}

// Whatever takes results takes the kernel file beside them, also behind its options, and says what is
// missing. The rows are of six quiet GPUs that never were, so that all is judged.
TEST_F(OwnKernels, EveryCommandTakesTheFileBesideRows) {
  const std::string file = doubling();
  const auto session = [&](int device, const std::string& label = "") {
    std::vector<Record> records;
    for (int run = 1; run <= 3; ++run) {
      for (const char* kernel : {"times", "plus"}) {
        for (const char* n : {"1024", "4096"}) {
          Record& one = records.emplace_back(row({{"kernel", kernel}, {"n", n}, {"group", "16"}},
                                                 1e-3 * (1 + 1e-3 * device), run, "doubling"));
          one.host = fmt::format("node{}", device);
          one.label = label;
          one.device_type = "gpu";
        }
      }
    }
    return write(fmt::format("{}{}.csv", device, label), csv_of(records));
  };
  Strings sessions;
  for (int device = 1; device <= 6; ++device) sessions.push_back(session(device));
  const std::string all = (trial_.folder() / "all.csv").string();
  succeed(Strings{"merge"} + sessions + Strings{file, "-o", all});
  EXPECT_THAT(content_of(all), HasSubstr("doubling"));
  EXPECT_THAT(succeed({"fleet", all, file}).out, HasSubstr("6 devices, 4 cases of 1 family"));
  EXPECT_THAT(succeed(Strings{"fleet"} + sessions + Strings{"--baseline", all, file}).out,
              HasSubstr("4 cases of 1"));

  const std::string reference = (trial_.folder() / "good.json").string();
  succeed({"health", sessions[0], sessions[1], file, "--emit-reference", reference});
  EXPECT_THAT(content_of(reference), HasSubstr("doubling"));
  EXPECT_THAT(succeed({"health", sessions[2], file, "--reference", reference}).out, HasSubstr("doubling"));

  EXPECT_THAT(succeed({"show", all, file, "--raw", "--jsonl"}).out, HasSubstr("doubling"));
  EXPECT_THAT(succeed({"compare-devices", all, file, "--all"}).out, HasSubstr("doubling"));
  // Devices of one product go by their labels.
  EXPECT_THAT(succeed({"compare-devices", session(1, "desk"), session(2, "server"), file, "--all"}).out,
              AllOf(HasSubstr("Loom 1, desk"), HasSubstr("Loom 1, server"), HasSubstr("doubling")));
  EXPECT_THAT(succeed({"roofline", all, file}).out, HasSubstr("no peaks in this file"));
  const Strings both = {"compare-runs", sessions[0], sessions[1], "--all"};
  for (const auto& words : {both + Strings{file}, both + Strings{"--noise", sessions[1], sessions[2], file},
                            Strings{"compare-runs", sessions[0], "--against", sessions[1], file, "--all"}})
    EXPECT_THAT(succeed(words).out, HasSubstr("doubling"));
  const std::string page = (trial_.folder() / "page.html").string();
  succeed({"report", sessions[0], "--against", sessions[1], file, "-o", page});
  EXPECT_NE(content_of(page).find(R"(["kernel","implementation"])"), std::string::npos)
      << "the meaning that only the file tells";

  for (const char* command : {"show", "compare-devices", "compare-runs", "fleet", "health", "roofline",
                              "profile", "claims", "report"})
    refuse({command, file}, {"no results file is named beside " + file});
  refuse({"merge", file, "-o", all, "--overwrite"}, {"no results file is named beside"});
}

TEST_F(OwnKernels, InspectCompilesThem) {
  const std::string file = doubling();
  const Strings on_host = {"--device", "pocl", "--format", "json"};
  const auto built = nlohmann::json::parse(
      succeed(Strings{"inspect", file, "--where", "kernel=plus", "--where", "n=1024"} + on_host).out);
  EXPECT_THAT(built.dump(), HasSubstr("doubling_plus"));
  EXPECT_THAT(succeed(Strings{"inspect", "doubling/kernel=times", file} + on_host).out,
              HasSubstr("doubling_times"));
  refuse({"inspect", file}, {"4 cases match; choose by --where kernel=times|plus",
                             "clweave inspect doubling/kernel=plus " + file});
  refuse({"inspect", "doubling/kernel=times"},
         {"there is no family doubling", "name its file, too: FILE.cl"});
  refuse({"inspect", "doubling/kernel=tims", file}, {"kernel", "times"});
}

// Rows outlive their description.
TEST_F(OwnKernels, RowsAreShownWithoutTheFile) {
  succeed(Strings{"run", doubling(), "--csv", csv()} + smoke);
  const Ended shown = succeed({"show", csv(), "--family", "doubling"});
  EXPECT_THAT(shown.out, HasSubstr("plus"));
  EXPECT_THAT(shown.out, HasSubstr("times"));
  const auto rows = nlohmann::json::parse(succeed({"show", csv(), "--family", "doubling", "--json"}).out);
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_THAT(succeed({"show", csv()}).out, HasSubstr("doubling"));
  const std::string page = (trial_.folder() / "page.html").string();
  succeed({"report", csv(), "-o", page});
  EXPECT_NE(content_of(page).find("doubling"), std::string::npos);
  refuse({"run", "--family", "doubling"},
         {"--family doubling: there is no such family", "name its file, too: FILE.cl"});
}

TEST_F(OwnKernels, AWrongKernelIsARow) {
  const Ended ended =
      run(Strings{"run", doubling("y[i] = i == 700 ? 0 : 2 * x[i];"), "--csv", csv()} + smoke);
  EXPECT_EQ(ended.code, 1) << ended.err;
  for (const auto& one : rows_of("doubling")) {
    const bool wrong = one.axis("kernel") == "plus";
    EXPECT_EQ(one.status, wrong ? Status::wrong_result : Status::ok) << one.reason;
    if (wrong) {
      EXPECT_THAT(one.reason, HasSubstr("[700] is 0"));
    }
  }
}

// Five kernels are hardly wrong in the same way, but for a reference that is.
TEST_F(OwnKernels, KernelsThatAgreeBlameWhatTheyAreCheckedBy) {
  const auto err_of = [this](const std::string& text) {
    const Ended ended =
        run(Strings{"run", write("doubling.cl", text), "--csv", csv(), "--overwrite"} + smoke);
    EXPECT_EQ(ended.code, 1) << ended.err;
    return ended.err;
  };
  const auto with = [](const std::string& second, const std::string& check) {
    std::string text = kernels_named("doubling", second);
    const std::string right = R"(expression = "2 * x[i]")";
    return text.replace(text.find(right), right.size(), check);
  };
  const std::string same = "y[i] = x[i] + x[i];", hint = "agree with one another";
  EXPECT_THAT(err_of(with(same, R"(expression = "3 * x[i]")")),
              ContainsRegex("doubling: kernels times and plus agree with one another and differ from "
                            "expression '3 \\* x\\[i\\]' at y\\[[0-9]+\\]: [-.0-9]+, not [-.0-9]+"));
  std::string text = with(same, R"(reference = { kernel = "tripled", global = "n", args = ["x", "y"] })");
  text +=
      "kernel void tripled(global const float* x, global float* y) {"
      " y[get_global_id(0)] = 3 * x[get_global_id(0)]; }";
  EXPECT_THAT(err_of(text), HasSubstr("differ from reference kernel 'tripled' at y["));
  // Right kernels may round differently, by what the check allows.
  const std::string near = "y[i] = 2 * x[i] * (1 + 1e-6f);";
  EXPECT_THAT(err_of(with(near, R"(expression = "3 * x[i]"
relative = 1e-5)")),
              HasSubstr(hint));
  EXPECT_THAT(err_of(with(near, R"(expression = "3 * x[i]")")), Not(HasSubstr(hint)));
  // Wrong in ways of their own, right in one, or wrong as items are missing.
  EXPECT_THAT(err_of(with("y[i] = 4 * x[i];", R"(expression = "3 * x[i]")")), Not(HasSubstr(hint)));
  EXPECT_THAT(err_of(with("y[i] = 3 * x[i];", R"(expression = "3 * x[i]")")), Not(HasSubstr(hint)));
  text = kernels_named("doubling");
  const std::string all = R"(global = "n")";
  EXPECT_THAT(err_of(text.replace(text.find(all), all.size(), R"(global = "n / 2")")), Not(HasSubstr(hint)));
}

TEST_F(OwnKernels, AWriteBehindTheBufferIsARow) {
  run(Strings{"run", doubling("y[i] = 2 * x[i]; if (i == 0) y[get_global_size(0) + 5] = 1;"), "--csv",
              csv()} +
      smoke);
  for (const auto& one : rows_of("doubling"))
    EXPECT_EQ(one.status, one.axis("kernel") == "plus" ? Status::wrong_result : Status::ok) << one.reason;
}

TEST_F(OwnKernels, ACrashIsARow) {
  const std::string file = doubling("if (i == 3) *(volatile global int*)0 = 1; y[i] = 2 * x[i];");
  trial_.run(Strings{"run", file, "--csv", csv()} + smoke);
  for (const auto& one : rows_of("doubling"))
    EXPECT_EQ(one.status, one.axis("kernel") == "plus" ? Status::crashed : Status::ok) << one.reason;
}

TEST_F(OwnKernels, AHangIsARow) {
  const std::string file = doubling("volatile int on = 1; while (on) {} y[i] = 2 * x[i];");
  run(Strings{"run", file, "--timeout", "3", "--csv", csv()} + smoke);
  for (const auto& one : rows_of("doubling"))
    EXPECT_EQ(one.status, one.axis("kernel") == "plus" ? Status::timeout : Status::ok) << one.reason;
}

TEST_F(OwnKernels, ASyntaxErrorNamesTheLineOfTheFile) {
  run(Strings{"run", doubling("y[i] = 2 * x[i]"), "--csv", csv()} + smoke);
  for (const auto& one : rows_of("doubling")) {
    EXPECT_EQ(one.status, Status::build_failed) << one.reason;
    EXPECT_THAT(one.reason, ContainsRegex("doubling.cl:2[0-9]"));
  }
}

TEST_F(OwnKernels, AWrongDescriptionRunsNothing) {
  std::string text = kernels_named("doubling");
  text.replace(text.find("\"4 * n\""), 7, "\"4 * m\"");
  const std::string file = write("doubling.cl", text);
  refuse({"run", file, "--csv", csv()}, {"doubling.cl:16:", "m"});
  EXPECT_FALSE(fs::exists(csv()));
  refuse({"run", (trial_.folder() / "not_there.cl").string()}, {"there is no such file", "clweave new"});
  refuse({"run", file, "n=1000"}, {"there is no such file", "--set n=1000"});
  refuse({"run", "stream"}, {"there is no such file", "--family stream"});
}

// ---- Without a check

std::string unchecked() {
  std::string text = kernels_named("doubling");
  const auto from = text.find("[[checks]]"), to = text.find("*/");
  return text.erase(from, to - from);
}

TEST_F(OwnKernels, WithoutACheckARunMustBeWanted) {
  const std::string file = write("doubling.cl", unchecked());
  refuse({"run", file}, {"doubling.cl: nothing checks output y", "--unchecked"});
  refuse({"tune", file}, {"nothing checks output y"});
  succeed({"list", file});
  succeed(Strings{"run", file, "--unchecked", "--csv", csv(), "--label", "a"} + smoke);
  const auto made = rows_of("doubling");
  ASSERT_EQ(made.size(), 2U);
  for (const auto& one : made) {
    EXPECT_EQ(one.status, Status::ok);
    EXPECT_EQ(one.verified, Verified::no);
    EXPECT_THAT(one.reason, HasSubstr("unverified"));
    EXPECT_TRUE(one.time_s);
  }
}

TEST_F(OwnKernels, UncheckedRowsAreShownAndNeitherRankNorCompare) {
  const std::string file = write("doubling.cl", unchecked());
  const std::string other = (trial_.folder() / "other.csv").string();
  succeed(Strings{"run", file, "--unchecked", "--csv", csv(), "--label", "a"} + smoke);
  succeed(Strings{"run", file, "--unchecked", "--csv", other, "--label", "b"} + smoke);
  const Ended shown = succeed({"show", csv(), file, "--family", "doubling"});
  EXPECT_THAT(shown.out + shown.err, HasSubstr("2 of 2 rows are unverified"));
  EXPECT_THAT(shown.out, ContainsRegex("plus.*unverified"));
  const Ended summary = succeed({"show", csv(), file});
  EXPECT_THAT(summary.out, HasSubstr("doubling  2 of 2 ok")) << "no best variant";
  const Ended speedups = succeed({"show", csv(), file, "--baseline", "kernel=times"});
  EXPECT_THAT(speedups.out, HasSubstr("unverified"));
  EXPECT_THAT(speedups.out, Not(ContainsRegex("[0-9]x")));
  const Ended compared = succeed({"compare-devices", csv(), other, file, "--family", "doubling"});
  EXPECT_THAT(compared.out, Not(HasSubstr("plus")));
  EXPECT_THAT(compared.out + compared.err, HasSubstr("unverified"));
  succeed({"compare-runs", csv(), other, file, "--all"});
  const auto rows = nlohmann::json::parse(succeed({"show", csv(), "--family", "doubling", "--json"}).out);
  for (const auto& row : rows) EXPECT_EQ(row.at("unverified"), true);
}

// A buffer between two launches, say, is neither an input nor a result.
TEST_F(OwnKernels, AScratchBufferNeedsNoCheck) {
  std::string text = kernels_named("doubling", "between[i] = x[i]; y[i] = 2 * between[i];");
  const auto replace = [&text](const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace("global float* y)", "global float* y, global float* between)");
  replace(R"(args = ["x", "y"])", R"(args = ["x", "y", "between"])");
  const std::string between = R"(between = { type = "float", count = "n" })";
  replace("[[launches]]", between + "\n[[launches]]");
  refuse({"run", write("doubling.cl", text)}, {"nothing checks output between", "\"scratch\""});
  replace(between, R"(between = { type = "float", count = "n", contents = "scratch" })");
  succeed(Strings{"run", write("doubling.cl", text), "--csv", csv()} + smoke);
  for (const auto& one : rows_of("doubling")) EXPECT_EQ(one.verified, Verified::yes) << one.reason;
  replace("y[i] = 2 * between[i];", "");
  replace("between[i] = x[i];", "y[i] = 2 * between[i];");
  run(Strings{"run", write("doubling.cl", text), "--csv", csv(), "--overwrite"} + smoke);
  for (const auto& one : rows_of("doubling"))
    EXPECT_EQ(one.status, one.axis("kernel") == "plus" ? Status::wrong_result : Status::ok)
        << "reads what it has not written";
}

// ---- Variants

TEST_F(OwnKernels, SpeedUpsHaveAnInterval) {
  const std::string file = doubling(
      "float sum = 0; for (int k = 0; k < 2000; ++k) sum += x[(i + k) % 16] > 2;"
      " y[i] = 2 * x[i] + sum;");
  succeed({"run", file, "--no-peak", "--csv", csv()});
  const auto rows =
      nlohmann::json::parse(succeed({"show", csv(), "--baseline", "kernel=plus", "--json"}).out);
  ASSERT_EQ(rows.size(), 2U);
  for (const auto& row : rows) {
    EXPECT_GT(row.at("speedup"), 1.0);
    EXPECT_LE(row.at("speedup_low"), row.at("speedup"));
    EXPECT_GE(row.at("speedup_high"), row.at("speedup"));
    EXPECT_NEAR(row.at("speedup"), row.at("baseline_time_s").get<double>() / row.at("time_s").get<double>(),
                1e-6);
  }
  EXPECT_THAT(succeed({"show", csv(), "--baseline", "kernel=plus", "--csv"}).out, HasSubstr("speedup_low"));
  EXPECT_THAT(succeed({"show", csv(), "--baseline", "kernel=plus"}).out, ContainsRegex("[0-9]x"));
  refuse({"show", csv(), "--baseline", "kernel=minus"}, {"no row is of it", "kernel=plus", "kernel=times"});
  // Peaks have an axis of that name, too, but no row of the baseline.
  const std::string paper = CLWEAVE_SOURCE_DIR "/results/nvidia-h200/paper.zip",
                    with_peaks = csv() + ".both.csv";
  std::ofstream(with_peaks)
      << succeed({"show", paper, "--raw", "--csv", "--family", "peak,matrix_product"}).out;
  EXPECT_THAT(succeed({"show", with_peaks, "--baseline", "kernel=naive"}).out,
              AllOf(HasSubstr("matrix_product"), Not(HasSubstr("peak"))));
  refuse({"show", with_peaks, "--baseline", "kernel=nave"},
         {"no row is of it; did you mean 'kernel=naive'?"});
  refuse({"show", with_peaks, "--baseline", "kernle=naive"}, {"that axis; did you mean 'kernel'?"});
  const Ended unknown = run({"show", with_peaks, "--baseline", "kernel=other"});
  EXPECT_EQ(unknown.code, bad_usage);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("there are kernel="), HasSubstr("kernel=naive"),
                                 Not(HasSubstr("kernel=copy")), Not(HasSubstr("kernel=arithmetic"))));
  EXPECT_THAT(succeed({"show", with_peaks, "--family", "peak", "--baseline", "kernel=copy"}).out,
              HasSubstr("peak"));
  refuse({"show", csv(), "--baseline", "colour=red"}, {"no family of these rows has that axis"});
  refuse({"show", csv(), "--baseline", "kernel=plus,times"}, {"one value each"});
}

// The run that measures can say so at its end, too.
TEST_F(OwnKernels, ARunEndsWithSpeedUps) {
  const Ended ended = succeed({"run", doubling(), "--no-peak", "--baseline", "kernel=plus", "--csv", csv()});
  EXPECT_THAT(ended.out, ContainsRegex("times.*[0-9]x"));
  EXPECT_THAT(ended.out, HasSubstr("plus"));
  // A misspelled one before anything runs.
  refuse({"run", doubling(), "--baseline", "kernel=minus", "--csv", csv(), "--overwrite"},
         {"--baseline kernel=minus: no case of this run is of it; there are kernel=plus, kernel=times"});
  refuse({"run", doubling(), "--baseline", "colour=red", "--csv", csv(), "--overwrite"},
         {"--baseline colour=red: no family of this run has that axis; there are kernel, n, group"});
  refuse({"run", doubling(), "--baseline", "kernel=tims", "--csv", csv(), "--overwrite"},
         {"no case of this run is of it; did you mean 'kernel=times'?"});
  EXPECT_EQ(rows_of("doubling").size(), 4U) << "as the first run left it";
}

TEST_F(OwnKernels, TuneSearchesAndRunUsesTheBest) {
  const std::string file = doubling(), store = (trial_.folder() / "tuned.json").string();
  const Ended tuned =
      succeed({"tune", file, "--no-peak", "--strategy", "exhaustive", "--store", store, "--csv", csv()});
  EXPECT_GE(rows_of("doubling").size(), 6U) << "two kernels, three groups";
  // A busy machine keeps nothing.
  if (tuned.err.find("the machine was not quiet") == std::string::npos) {
    EXPECT_THAT(content_of(store), HasSubstr("\"described\": true"));
  }
  succeed({"run", file, "--no-peak", "--store", store, "--csv", csv(), "--overwrite"});
}

// A search of seconds does not begin with a minute of peaks, which it does not need.
TEST_F(OwnKernels, TuneLeavesOutPeaksThatTakeLongerThanTheSearch) {
  std::string text = kernels_named("doubling");
  text.insert(text.find("[[checks]]"), "bound = \"memory\"\n");
  const Ended tuned = succeed({"tune", write("doubling.cl", text), "--budget", "3cases", "--max-seconds",
                               "0.05", "--store", (trial_.folder() / "tuned.json").string(), "--csv", csv()});
  EXPECT_THAT(tuned.err, AllOf(HasSubstr("peaks are not measured"), HasSubstr("--peak measures them first")));
  EXPECT_THAT(content_of(csv()), Not(HasSubstr("peak/")));
}

// Runs say nothing of a tuned kernel whose file they are not given, and so need not know.
TEST_F(OwnKernels, OtherRunsAreSilentAboutTunedOnes) {
  const auto store = [this](const std::string& described) {
    return write("store.json",
                 R"({"schema": "clweave-tuned-1", "devices": {"d, driver 1": {"doubling/n=1": {)" +
                     described + R"("family": "doubling", "axes": {}, "configuration": {}, "time_s": 1}}}})");
  };
  const Strings words = {
      "run", "--family", "branch_divergence", "--preset", "smoke", "--where", "paths=1",    "--where",
      "n=1", "--tuned",  "--store",           store(""),  "--csv", csv(),     "--overwrite"};
  EXPECT_THAT(succeed(words).err, HasSubstr("there is no family doubling"));
  store(R"("described": true, )");
  EXPECT_THAT(succeed(words).err, Not(HasSubstr("doubling")));
}

// ---- Again

TEST_F(OwnKernels, AnInterruptedRunGoesOnWithTheSameFile) {
  const std::string file = doubling();
  const Strings words = {"run", file, "--no-peak", "--no-tuned", "--csv", csv()};
  trial_.start(words);
  ASSERT_TRUE(trial_.wait_until([&] { return lines_of(content_of(csv())).size() >= 2; })) << trial_.err();
  trial_.send(SIGKILL);
  trial_.finish();
  ASSERT_LT(rows_of("doubling").size(), 4U);
  refuse({"run", "--resume", csv()}, {"does not decide what is read", "doubling.cl"});
  const std::string text = content_of(file);
  doubling("y[i] = 2.0f * x[i];");
  refuse({"run", "--resume", csv(), file}, {"another kernel file or description"});
  write("doubling.cl", text);
  succeed({"run", "--resume", csv(), file});
  const auto made = rows_of("doubling");
  EXPECT_EQ(made.size(), 4U);
  for (const auto& one : made) EXPECT_EQ(one.status, Status::ok) << one.reason;
  const Ended again = succeed({"run", "--replay", csv(), "--case", made.front().case_id, file, "--csv", "-"});
  EXPECT_THAT(again.out, HasSubstr(made.front().case_id));
  refuse({"run", "--replay", csv(), "--case", made.front().case_id}, {"does not decide what is read"});
}

TEST_F(OwnKernels, OneProcessDoesTheSame) {
  succeed(Strings{"run", doubling(), "--in-process", "--csv", csv()} + smoke);
  EXPECT_EQ(rows_of("doubling").size(), 2U);
}

// ---- Described by options

TEST_F(OwnKernels, OptionsDescribeAKernelWithoutADescription) {
  const std::string file =
      write("scale.cl",
            "kernel void scale(global const float* x, global float* y, float a, uint n) {\n"
            "  uint i = get_global_id(0);\n  if (i < n) y[i] = a * x[i];\n}\n");
  const Strings words = {
      "run",     file,     "--kernel",   "scale",    "--global",          "round_up(n, 64)", "--local",
      "64",      "--set",  "n=1e3,1e4",  "--arg",    "x=float[n]:random", "--arg",           "y=float[n]:out",
      "--arg",   "a=2.0f", "--arg",      "m=uint:n", "--no-peak",         "--csv",           csv(),
      "--bytes", "8*n",    "--overwrite"};
  succeed(words + Strings{"--check", "y=2*x[i]", "--bound", "memory"});
  auto made = rows_of("scale");
  ASSERT_EQ(made.size(), 2U);
  for (const auto& one : made) {
    EXPECT_EQ(one.status, Status::ok) << one.reason;
    EXPECT_EQ(one.verified, Verified::yes);
    EXPECT_EQ(one.bytes, 8 * std::stoi(one.axis("n")));
    EXPECT_EQ(one.peak, Peak::copy);
  }
  EXPECT_EQ(made.front().axis("n").find('e'), std::string::npos) << "1e3 is the number 1000";
  EXPECT_EQ(run(words + Strings{"--check", "y=3*x[i]"}).code, 1);
  refuse(words, {"nothing checks output y", "--unchecked"});
  succeed(words + Strings{"--unchecked"});
  EXPECT_EQ(rows_of("scale").front().verified, Verified::no);
}

TEST_F(OwnKernels, OptionsMayHaveAnAxisOfTypes) {
  const std::string file = write("scale.cl",
                                 "kernel void scale(global const T* x, global T* y, T a) {\n"
                                 "  size_t i = get_global_id(0);\n  y[i] = a * x[i];\n}\n");
  succeed({"run",       file,
           "--kernel",  "scale",
           "--global",  "n",
           "--set",     "n=1000",
           "--set",     "type=float,int",
           "--define",  "T=type",
           "--arg",     "x={type}[n]:random",
           "--arg",     "y={type}[n]:out",
           "--arg",     "a={type}:3",
           "--bytes",   "2*n*sizeof(type)",
           "--check",   "y=3*x[i]",
           "--no-peak", "--csv",
           csv()});
  const auto made = rows_of("scale");
  ASSERT_EQ(made.size(), 2U);
  for (const auto& one : made) EXPECT_EQ(one.verified, Verified::yes) << one.reason;
}

TEST_F(OwnKernels, RefusedOptionsSayWhatToType) {
  const std::string bare = write("scale.cl", "kernel void scale(global float* x, float a) { x[0] = a; }\n");
  const std::string described = doubling();
  const Strings begun = {"run", bare, "--kernel", "scale"};
  const Strings whole = begun + Strings{"--global", "n", "--set", "n=64"};
  refuse({"run", bare}, {"has no description", "--kernel"});
  refuse({"run", "--kernel", "scale"}, {"name it", "FILE.cl"});
  refuse({"run", described, "--kernel", "doubling_plus", "--global", "n"},
         {"has a description", "leave --kernel out"});
  refuse({"run", bare, "--global", "n"}, {"--kernel"});
  refuse(begun, {"--set n=1e6,1e7"});
  refuse(begun + Strings{"--set", "n=64"}, {"--global"});
  refuse(whole + Strings{"--arg", "x"}, {"--arg x: write NAME=TYPE[COUNT]:CONTENTS"});
  refuse(whole + Strings{"--arg", "x=flaot[n]"}, {"'flaot'"});
  refuse(whole + Strings{"--arg", "x=float[n"}, {"]"});
  refuse(whole + Strings{"--arg", "x=float[m]:random", "--arg", "a=1.0f"},
         {R"(--arg "x=float[m]:random")", "m"});
  refuse(whole + Strings{"--arg", "x=float[n]:random"}, {"takes 2 arguments, and 1"});
  refuse(whole + Strings{"--arg", "x=float[n]:random", "--arg", "a=1.0f", "--check", "z=1"},
         {"--check z=1", "z"});
  refuse(whole + Strings{"--arg", "x=float[n]:../secret.npy", "--arg", "a=1.0f"}, {"secret.npy"});
  refuse(whole + Strings{"--arg", "x=float[n]", "--arg", "a=1.0f", "--check", "x=1", "--within", "near"},
         {"--within near"});
  refuse(whole + Strings{"--within", "2ulp"}, {"--check"});
  const std::string reads =
      write("reads.cl", "kernel void reads(global const float* x, global float* y) {}\n");
  refuse({"run", reads, "--kernel", "reads", "--global", "n", "--set", "n=64", "--arg", "x=float[n]:out",
          "--arg", "y=float[n]:out", "--check", "y=x[i]"},
         {R"(--arg "x=float[n]:out")", "'global const float* x'", "x=float[n]:random"});
  refuse(whole + Strings{"--arg", "x=float[n]", "--arg", "a=1.0f", "--bytes", "8*n", "--bound", "memry"},
         {"--bound memry", "did you mean 'memory'"});
  refuse(whole + Strings{"--arg", "x=float[n]", "--arg", "a=1.0f", "--bound", "memory"},
         {"--bound needs --bytes or --operations"});
  refuse({"run", bare, "--kernel", "scael", "--global", "n", "--set", "n=64", "--arg", "x=float[n]", "--arg",
          "a=1.0f"},
         {"--kernel scael", "did you mean 'scale'"});
}

// ---- A new one

TEST_F(OwnKernels, NewWritesAFileThatRuns) {
  const std::string path = (trial_.folder() / "my_kernel.cl").string();
  const Ended made = succeed({"new", path});
  EXPECT_THAT(made.out, HasSubstr("clweave run"));
  EXPECT_THAT(succeed({"check", path}).out, HasSubstr("my_kernel: every rule holds"));
  succeed(Strings{"run", path, "--csv", csv()} + smoke);
  const auto rows = rows_of("my_kernel");
  EXPECT_EQ(rows.size(), 2U);
  for (const auto& one : rows) EXPECT_EQ(one.verified, Verified::yes) << one.reason;
  const std::string content = content_of(path);
  refuse({"new", path}, {"is there already"});
  EXPECT_EQ(content_of(path), content);
  refuse({"new", "Bad-Name"}, {"small letters"});
  refuse({"new", "copy"}, {"there is a family copy already"});
}

// ---- The document

// Writes the files that docs/your-kernel.md shows and runs its commands in their order.
TEST_F(OwnKernels, TheDocumentsCommandsRun) {
  const std::string text = content_of(fs::path(CLWEAVE_SOURCE_DIR) / "docs/your-kernel.md");
  std::string before, file, block;
  bool inside = false;
  std::string kind;
  int commands = 0, files = 0;
  for (const auto& line : lines_of(text)) {
    if (!inside && line.starts_with("```")) {
      inside = true;
      kind = line.substr(3);
      block.clear();
      std::smatch found;
      file = std::regex_match(before, found, std::regex("`(\\w+\\.cl)`:")) ? found[1].str() : "";
    } else if (inside && line == "```") {
      inside = false;
      if (kind == "c") {
        ASSERT_NE(file, "") << "a kernel without the line that names its file";
        write(file, block);
        ++files;
      }
      for (const auto& command : kind == "sh" ? lines_of(block) : Strings()) {
        // Peaks of a debug build take minutes, as do two seconds of each case, and others test them.
        const bool shortened = command.starts_with("clweave run") || command.starts_with("clweave tune");
        const std::string words =
            fmt::format("cd {} && {}{}", trial_.folder().string(),
                        std::regex_replace(command, std::regex("^clweave"), CLWEAVE_BINARY),
                        shortened ? " --no-peak --max-seconds 0.1" : "");
        trial_.start({"-c", words}, "bash");
        const Ended ended = trial_.finish(300);
        EXPECT_EQ(ended.code, 0) << command << "\n" << ended.err << ended.out;
        ++commands;
      }
    } else if (inside) {
      block += line + "\n";
    }
    if (!line.empty()) before = line;
  }
  EXPECT_EQ(files, 2);
  EXPECT_GE(commands, 9);
}

}  // namespace
