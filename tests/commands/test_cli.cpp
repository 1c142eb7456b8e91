// SPDX-License-Identifier: Apache-2.0
// test_cli: clweave as its users meet it: words in; exit code, rows and text out.
//
// On PoCL, unless a test says otherwise. Failing drivers, full disks and interrupts are test_faults' subject.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/zip.hpp"
#include "device/enumerate.hpp"
#include "device/program.hpp"
#include "faults/trial.hpp"
#include "report/report.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using namespace trial;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

Strings operator+(Strings words, const Strings& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// One case that takes no time.
const Strings tiny = {"run",     "--preset", "smoke",   "--family", "branch_divergence",
                      "--where", "paths=1",  "--where", "n=1"};

// The smallest cases that need a compiler to see what is wrong with the kernel: grid and select, n=33.
const Strings two_kernels = {"run",        "--preset",          "smoke",
                             "--family",   "matrix_access",     "--where",
                             "n=33",       "--where",           "parity=row",
                             "--where",    "mapping=row_first", "--where",
                             "type=float", "--filter",          "kernel=(grid|select)/"};

// Two configurations of one variant.
const Strings two_shapes = {"--preset", "smoke",
                            "--family", "matrix_access",
                            "--where",  "kernel=grid",
                            "--where",  "n=33",
                            "--where",  "type=float",
                            "--where",  "parity=row",
                            "--where",  "mapping=row_first",
                            "--where",  "padding=0",
                            "--set",    "group=16x16,32x8"};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// "44 cases on .."
int planned_cases(const std::string& dry_run) {
  std::smatch found;
  return std::regex_search(dry_run, found, std::regex("([0-9]+) cases on ")) ? std::stoi(found[1]) : -1;
}

// "44 rows: 40 ok, ..": the last line of a summary.
auto counts(std::size_t rows, const std::string& statuses = "") {
  return ContainsRegex(fmt::format("\n{} [a-z]+: {}", rows, statuses));
}

class Cli : public testing::Test {
 protected:
  Cli() {
    // One kernel cache for all tests of this program, which run one after the other.
    trial_.set("POCL_CACHE_DIR", fs::absolute("pocl_cache").string());
    // A worker's leaks end with its process, so leaks here are clweave's own.
    if (const char* asan = std::getenv("ASAN_OPTIONS"))
      trial_.set("ASAN_OPTIONS", asan);
    else
      trial_.set("ASAN_OPTIONS", "");
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE"}) trial_.set(name, "");
    show({"pocl"});
  }

  // The OpenCL implementations of these names and no others, in this order.
  void show(const Strings& implementations) {
    const fs::path vendors = folder() / "vendors";
    fs::remove_all(vendors);
    fs::create_directory(vendors);
    for (std::size_t i = 0; i < implementations.size(); ++i) {
      const std::string& name = implementations[i];
      fs::copy_file(icd(name), vendors / fmt::format("{}_{}.icd", i, name));
    }
    trial_.set("OCL_ICD_VENDORS", vendors.string());
    trial_.set("RUSTICL_ENABLE", "llvmpipe");
  }

  static fs::path icd(const std::string& name) { return fs::path(CLWEAVE_ICDS) / name / (name + ".icd"); }
  static bool is_here(const std::string& name) { return fs::exists(icd(name)); }

  Ended run(const Strings& words) { return checked(trial_.run(words), words); }

  // Runs the program in the test's folder.
  Ended run_inside(const Strings& words) {
    trial_.start(Strings{"-C", folder().string(), CLWEAVE_BINARY} + words, "env");
    return checked(trial_.finish(), words);
  }

  nlohmann::json devices() {
    const Ended ended = run({"devices", "--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  }

  static Strings names_of(const nlohmann::json& devices) {
    Strings names;
    for (const auto& device : devices) names.push_back(device.at("device"));
    return names;
  }

  // The devices that a run would use, in its order.
  Strings chosen(const Strings& names, const Strings& selectors) {
    Strings words = tiny + Strings{"--dry-run"};
    for (const auto& selector : selectors) words = words + Strings{"--device", selector};
    const Ended ended = run(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    Strings found;
    for (const auto& line : lines_of(ended.out)) {
      for (const auto& name : names) {
        if (line.find(" on " + name + ",") != std::string::npos) found.push_back(name);
      }
    }
    return found;
  }

  // A copy of the kernels with one place changed.
  std::string edited_kernels(const char* file, const std::string& from, const std::string& to) {
    const fs::path kernels = folder() / "kernels";
    fs::copy(fs::path(CLWEAVE_SOURCE_DIR) / "cl_kernels", kernels, fs::copy_options::recursive);
    std::string text = content_of(kernels / file);
    EXPECT_EQ(count_of(text, from), 1U) << "the edit misses its place";
    std::ofstream(kernels / file) << text.replace(text.find(from), from.size(), to);
    return kernels.string();
  }

  // The commands that the program's help lists.
  Strings commands_of_help() {
    Strings out;
    bool listed = false;
    for (const auto& line : lines_of(run({"--help"}).out)) {
      if (listed && line.starts_with("  ") && line.size() > 2 && line[2] != ' ')
        out.push_back(line.substr(2, line.find(' ', 2) - 2));
      listed = listed || line == "Subcommands:";
    }
    EXPECT_GT(out.size(), 10U);
    return out;
  }

  const fs::path& folder() const { return trial_.folder(); }
  std::string csv() const { return trial_.csv(); }

  Trial trial_;

  static Ended checked(Ended ended, const Strings& words) {
    for (const char* sign : {"Sanitizer", "runtime error:", "terminate called"})
      EXPECT_THAT(ended.out + ended.err, Not(HasSubstr(sign))) << fmt::format("{}", fmt::join(words, " "));
    return ended;
  }
};

// ---- Asking ----------------------------------------------------------------------------------------------

TEST_F(Cli, HelpListsEveryOption) {
  const std::vector<std::pair<Strings, Strings>> pages = {
      {{"--help"}, {"--help", "--version", "devices", "list", "run", "tune", "roofline", "show"}},
      {{"devices", "--help"}, {"--json"}},
      {{"list", "--help"}, {"--family", "--json", "--columns"}},
      {{"run", "--help"},
       {"--samples", "--device",     "--family",      "--preset",       "--set",     "--where",
        "--filter",  "--csv",        "--kernels",     "--seed",         "--no-peak", "--dry-run",
        "--runs",    "--precision",  "--max-samples", "--max-seconds",  "--budget",  "--cache",
        "--timeout", "--in-process", "--resume",      "--replay",       "--case",    "--tuned",
        "--store",   "--report",     "--label",       "--emit-sources", "--share"}},
      {{"inspect", "--help"},
       {"--target", "--device", "--family", "--preset", "--set", "--where", "--filter", "--kernels",
        "--every", "--into", "--diff", "--source", "--log", "--isa", "--csv", "--json", "--markdown"}},
      {{"tune", "--help"},
       {"--device", "--family", "--preset", "--set", "--where", "--csv", "--strategy", "--budget", "--store",
        "--t4"}},
      {{"roofline", "--help"}, {"--csv"}},
      {{"report", "--help"}, {"--against", "--output"}},
      {{"compare-devices", "--help"}, {"--family", "--all", "--csv", "--json", "--markdown"}},
      {{"compare-runs", "--help"},
       {"--against", "--noise", "--margin", "--fail-on", "--family", "--all", "--csv", "--json",
        "--markdown"}},
      {{"compare", "--help"},
       {"--against", "--noise", "--mode", "--margin", "--fail-on", "--family", "--all", "--fingerprint",
        "--csv", "--json", "--markdown"}},
      {{"completion", "--help"}, {"--help"}},
      {{"show", "--help"},
       {"--family", "--rows", "--columns", "--quantity", "--plot", "--chart", "--csv", "--json", "--markdown",
        "--format", "--raw", "--t4"}},
      {{"merge", "--help"}, {"--output", "--overwrite"}},
      {{"fleet", "--help"}, {"--baseline", "--all", "--csv", "--json", "--jsonl", "--openmetrics"}},
      {{"health", "--help"}, {"--reference", "--emit-reference", "--json", "--jsonl", "--openmetrics"}},
      {{"claims", "--help"}, {"--claim", "--claims-file", "--rows", "--csv", "--json", "--markdown"}},
      {{"profile", "--help"}, {"--rows", "--csv", "--json", "--markdown"}},
      {{"fingerprint", "--help"}, {"--rows", "--csv", "--json", "--markdown"}}};
  show({});
  for (const auto& [words, options] : pages) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.err, "");
    for (const auto& option : options) {
      EXPECT_THAT(ended.out, ContainsRegex("(^|\n) +(-[a-zA-Z], |--[a-z-]+, )?" + option + "[ ,\n]"))
          << option;
    }
    // The supervisor's way to start its children.
    EXPECT_THAT(ended.out, Not(HasSubstr("worker")));
  }
}

// Shows what to type first if there is no command: lines that can be typed, and few of them.
TEST_F(Cli, HelpOfRunHasGroupsAndExamples) {
  EXPECT_THAT(run({"run", "--help"}).out,
              testing::AllOf(HasSubstr("\nCases and devices:\n  --device SEL"), HasSubstr("\nSampling:\n"),
                             HasSubstr("\nExamples:\n  clweave run --preset glance\n")));
}

TEST_F(Cli, NoWordsPrintTheFirstSteps) {
  show({});
  const Ended alone = run({});
  EXPECT_EQ(alone.code, 0);
  EXPECT_EQ(alone.err, "");
  const Strings lines = lines_of(alone.out), known = commands_of_help();
  EXPECT_LE(lines.size(), 14U);
  std::size_t steps = 0;
  for (const auto& line : lines) {
    EXPECT_LE(width_of(line), 80U) << line;
    if (!line.starts_with("  clweave ")) continue;
    ++steps;
    const std::string command = line.substr(10, line.find(' ', 10) - 10);
    EXPECT_THAT(known, Contains(command)) << line;
  }
  EXPECT_EQ(steps, 9U);
}

TEST_F(Cli, HelpIsACommandToo) {
  show({});
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"help", "run"}).out, run({"run", "--help"}).out);
  EXPECT_EQ(run({"help", "fingerprint"}).out, run({"profile", "--help"}).out);
  const Ended wrong = run({"help", "rum"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'run'?"));
}

TEST_F(Cli, HelpFitsEightyColumns) {
  show({});
  Strings pages = commands_of_help();
  for (const char* not_listed : {"", "compare", "fingerprint"}) pages.emplace_back(not_listed);
  for (const auto& command : pages) {
    const Ended ended = run(command.empty() ? Strings{"--help"} : Strings{command, "--help"});
    for (const auto& line : lines_of(ended.out)) EXPECT_LE(width_of(line), 80U) << line;
  }
}

TEST_F(Cli, VersionIsOneLine) {
  const Ended ended = run({"--version"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_TRUE(std::regex_match(ended.out, std::regex("[0-9]+\\.[0-9]+\\.[0-9]+( [0-9a-f]+(-dirty)?)?\n")))
      << ended.out;
}

// Refuses wrong words before a driver is loaded, so that the message is the same without any.
TEST_F(Cli, WrongWordsSayWhatMayBeTyped) {
  const std::vector<std::pair<Strings, Strings>> table = {
      {{"nosuch"}, {"clweave --help"}},
      {{"--nosuch"}, {"clweave --help"}},
      {{"run", "--nosuch"}, {"--nosuch", "clweave run --help"}},
      {{"devices", "extra"}, {"extra", "clweave devices --help"}},
      {{"run", "--preset", "huge"}, {"--preset huge", "smoke, glance, quick, profile, paper, full"}},
      {{"run", "--family", "nosuch"}, {"--family nosuch", "matrix_access"}},
      {{"list", "--family", "nosuch"}, {"--family nosuch", "access, ", "(clweave list shows all)"}},
      {{"list", "--family", "matrix_acess"}, {"did you mean 'matrix_access'?"}},
      {{"list", "matrix_acess"}, {"did you mean 'matrix_access'?"}},
      {{"run", "--where", "nosuch=1"}, {"--where nosuch", "(clweave list shows all)"}},
      {{"run", "--where", "partiy=row"}, {"--where partiy", "did you mean 'parity'?"}},
      {{"run", "--set", "n"}, {"--set n", "axis=value"}},
      {{"run", "--set", "=1"}, {"axis=value"}},
      {{"run", "--family", "matrix_access", "--set", "parity=both"}, {"parity=both", "row, column"}},
      {{"run", "--filter", "("}, {"--filter ("}},
      {{"run", "--filter", "no such case"}, {"no case is left", "--dry-run"}},
      {{"run", "--kernels", "/no/such/folder"}, {"--kernels", "/no/such/folder"}},
      {{"run", "--seed", "some"}, {"--seed", "some"}},
      {{"run", "--runs", "0"}, {"--runs"}},
      {{"run", "--cache", "tepid"}, {"--cache", "warm", "cold"}},
      {{"run", "--cache", "wram"}, {"--cache", "did you mean 'warm'?"}},
      {{"run", "--claim", "000"}, {"--claim 000", "(clweave claims FILE.csv shows all)"}},
      {{"run", "streem"}, {"there is no such file", "--family stream"}},
      {{"run", "--resume", "no_such.csv"}, {"--resume", "no_such.csv"}},
      {{"run", "--replay", "no_such.csv", "--case", "x"}, {"--replay", "no_such.csv"}},
      {{"inspect", "nosuch"}, {"case nosuch", "(clweave list shows all)"}},
      {{"inspect", "branch_divergence", "--target", "nosuch"}, {"--target nosuch", "gfx90a", "sm_90"}},
      {{"run", "--emit-sources", "x"}, {"--dry-run"}}};
  show({});
  for (const auto& [words, hints] : table) {
    const std::string line = fmt::format("clweave {}", fmt::join(words, " "));
    const Ended ended = run(words);
    EXPECT_EQ(ended.code, 2) << line << "\n" << ended.err;
    EXPECT_EQ(ended.out, "") << line;
    EXPECT_THAT(ended.err, StartsWith("clweave: ")) << line;
    for (const auto& hint : hints) EXPECT_THAT(ended.err, HasSubstr(hint)) << line;
  }
  EXPECT_FALSE(fs::exists(folder() / "results"));
}

// Compiles a case with a driver here, and writes every program of a run as a file.
TEST_F(Cli, ProgramsCanBeLookedAt) {
  const Strings words = {"inspect", "peak/kernel=local_read/n=65536/iterations=4", "--device", "0:0",
                         "--json"};
  show({"pocl"});
  const Ended ended = run(words);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto kernel = nlohmann::json::parse(ended.out).at("compilers").at(0).at("kernels").at(0);
  EXPECT_EQ(kernel.at("kernel"), "local_read");
  EXPECT_GT(kernel.at("group_limit"), 0);
  EXPECT_GT(kernel.at("local_arguments"), 0);
  const fs::path sources = folder() / "sources";
  EXPECT_EQ(run(tiny + Strings{"--dry-run", "--emit-sources", sources.string()}).code, 0);
  std::ifstream in(sources / "index.json");
  const auto index = nlohmann::json::parse(in);
  ASSERT_EQ(index.size(), 1U);
  EXPECT_TRUE(fs::exists(sources / index[0].at("file").get<std::string>()));
  EXPECT_EQ(run(tiny + Strings{"--dry-run", "--emit-sources", "/dev/null"}).code, 5);
}

// ---- Devices ---------------------------------------------------------------------------------------------

TEST_F(Cli, DevicesShowsATable) {
  const auto device = devices().at(0);
  const Ended ended = run({"devices"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Strings lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 3U) << ended.out;
  for (const char* head : {"index", "device", "vendor", "type", "driver", "CUs", "memory", "local", "fp64",
                           "sub-groups", "UUID or PCI", "same hardware"})
    EXPECT_THAT(lines[0], HasSubstr(head));
  EXPECT_THAT(lines[2], StartsWith("0:0 "));
  for (const char* field : {"device", "vendor", "type", "platform", "driver"})
    EXPECT_THAT(lines[2], HasSubstr(device.at(field).get<std::string>()));
  EXPECT_THAT(lines[2], ContainsRegex("[0-9.]+ [KMGT]iB"));
}

TEST_F(Cli, DevicesJsonTellsEverything) {
  const auto all = devices();
  ASSERT_EQ(all.size(), 1U);
  const auto& device = all.at(0);
  for (const char* field : {"index", "device", "vendor", "type", "driver", "platform", "opencl_version",
                            "c_version", "uuid", "pci", "hardware"})
    EXPECT_TRUE(device.at(field).is_string()) << field;
  for (const char* field : {"compute_units", "memory_bytes", "max_alloc_bytes", "local_bytes", "max_group"})
    EXPECT_TRUE(device.at(field).is_number_integer()) << field;
  for (const char* field : {"fp64", "subgroups"}) EXPECT_TRUE(device.at(field).is_boolean()) << field;
  EXPECT_EQ(device.at("type"), "cpu");
  EXPECT_EQ(device.at("hardware"), "host cpu");
  EXPECT_EQ(device.at("fp64"), true);
  EXPECT_GT(device.at("memory_bytes"), 1 << 20);
  // What is shown is what the rest of clweave knows, by the names of the rows.
  const std::map<std::string, std::string> renamed = {{"name", "device"},
                                                      {"version", "opencl_version"},
                                                      {"platform_index", "index"},
                                                      {"device_index", "index"}};
  const auto known = nlohmann::json(DeviceInfo());
  for (const auto& [field, value] : known.items()) {
    const auto to = renamed.find(field);
    EXPECT_TRUE(device.contains(to != renamed.end() ? to->second : field)) << field;
  }
}

TEST_F(Cli, TwoDriversOfOneProcessorAreToldApart) {
  if (!is_here("rusticl")) GTEST_SKIP() << "needs rusticl";
  show({"pocl", "rusticl"});
  const auto all = devices();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.at(0).at("hardware"), all.at(1).at("hardware"));
  EXPECT_NE(all.at(0).at("index"), all.at(1).at("index"));
  const Ended table = run({"devices"});
  EXPECT_THAT(table.out, ContainsRegex("0:0 .* 1:0 *\n1:0 .* 0:0 *\n"));
}

TEST_F(Cli, WithoutAnyDriverTheHintNamesOne) {
  show({});
  for (const Strings& words :
       {Strings{"devices"}, Strings{"devices", "--json"}, tiny, tiny + Strings{"--dry-run"}}) {
    const Ended ended = run(words + (words.front() == "run" ? Strings{"--csv", csv()} : Strings{}));
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr("pocl-opencl-icd"));
    EXPECT_FALSE(fs::exists(csv()));
  }
}

// A file that is no library goes before the system's own, which cannot be taken away here.
TEST_F(Cli, WithoutOpenCLItSaysWhatIsMissing) {
  const fs::path library = folder() / "libOpenCL.so.1";
  std::ofstream(library).close();
  trial_.set("LD_LIBRARY_PATH", folder().string());
  for (const Strings& words :
       {Strings{"devices"}, tiny + Strings{"--csv", csv()}, tiny + Strings{"--in-process"}}) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr("OpenCL's library cannot be loaded: " + library.string()));
    EXPECT_THAT(ended.err, HasSubstr("apt-get install ocl-icd-libopencl1 pocl-opencl-icd"));
    EXPECT_FALSE(fs::exists(csv()));
  }
  EXPECT_EQ(run({"list"}).code, 0);

  // Tries a library without the functions, too.
  fs::remove(library);
  fs::create_symlink(CLWEAVE_OTHER_LIBRARY, library);
  const Ended ended = run({"devices"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("no OpenCL platform: CL_INVALID_OPERATION"));
}

TEST_F(Cli, ADeviceThatIsNotThereShowsThoseThatAre) {
  const std::string name = devices().at(0).at("device");
  for (const char* selector : {"nosuch", "7:0", "gpu", "0123456789abcdef0123456789abcdef"}) {
    const Ended ended = run(tiny + Strings{"--device", selector, "--csv", csv()});
    EXPECT_EQ(ended.code, 3) << selector;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr(fmt::format("--device {} matches none of", selector)));
    EXPECT_THAT(ended.err, HasSubstr("0:0"));
    EXPECT_THAT(ended.err, HasSubstr(name));
    EXPECT_THAT(ended.err, Not(HasSubstr("did you mean")));
    EXPECT_FALSE(fs::exists(csv()));
  }
}

TEST_F(Cli, AMistypedDeviceIsGuessed) {
  const std::string platform = devices().at(0).at("platform");
  const std::string word = platform.substr(0, platform.find_first_of(" ,"));
  EXPECT_THAT(run({"run", "--device", "x" + word}).err,
              HasSubstr(fmt::format("--device x{0} matches none of these; did you mean '{0}", word)));
}

TEST_F(Cli, DevicesAreSelectedByAnythingThatNamesThem) {
  if (!is_here("rusticl")) GTEST_SKIP() << "needs a second implementation: rusticl";
  show({"pocl", "rusticl"});
  const Strings all = names_of(devices());
  ASSERT_EQ(all.size(), 2U);
  const std::string& pocl = all[all[0].find("llvmpipe") == std::string::npos ? 0 : 1];
  const std::string& rusticl = all[pocl == all[0] ? 1 : 0];
  EXPECT_EQ(chosen(all, {}), all);
  EXPECT_EQ(chosen(all, {"cpu"}), all);
  EXPECT_EQ(chosen(all, {"0:0"}), Strings{all[0]});
  EXPECT_EQ(chosen(all, {"1:0"}), Strings{all[1]});
  EXPECT_EQ(chosen(all, {"PoCL"}), Strings{pocl});
  EXPECT_EQ(chosen(all, {"LLVMpipe"}), Strings{rusticl});
  EXPECT_EQ(chosen(all, {"mesa"}), Strings{rusticl});
  // Keeps the order of the words, and names each device once.
  EXPECT_EQ(chosen(all, {"llvmpipe", "cpu"}), (Strings{rusticl, pocl}));
}

TEST_F(Cli, DevicesAreSelectedByUuid) {
  if (!is_here("intel")) GTEST_SKIP() << "needs Intel's runtime, which tells one";
  show({"pocl", "intel"});
  const auto found = devices();
  for (const auto& device : found) {
    const std::string uuid = device.at("uuid"), name = device.at("device");
    if (uuid.empty()) continue;
    EXPECT_EQ(chosen(names_of(found), {uuid}), Strings{name});
    const std::string grouped = fmt::format("{}-{}-{}-{}-{}", uuid.substr(0, 8), uuid.substr(8, 4),
                                            uuid.substr(12, 4), uuid.substr(16, 4), uuid.substr(20));
    EXPECT_EQ(chosen(names_of(found), {grouped}), Strings{name});
    return;
  }
  ADD_FAILURE() << "no device tells its UUID";
}

// ---- List ------------------------------------------------------------------------------------------------

TEST_F(Cli, ListNeedsNoDevice) {
  show({});
  const Ended ended = run({"list"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Strings lines = split(ended.out, '\n');
  for (const auto& family : all_families()) {
    const auto line =
        std::ranges::find_if(lines, [&](const auto& one) { return one.starts_with(family.name + " "); });
    ASSERT_NE(line, lines.end()) << family.name;
    EXPECT_THAT(*line, HasSubstr("  " + family.brief + "  "));
    EXPECT_THAT(*line, ContainsRegex(fmt::format("  {}  +[0-9]+ (s|min)  +[0-9]+ (s|min)$",
                                                 cases_of(family, family.presets.quick, 1).size())));
  }
  for (const auto& line : lines) EXPECT_LE(width_of(line), 80U) << line;
  EXPECT_LE(std::ssize(lines), std::ssize(all_families()) + 8);

  for (const Strings& words : {Strings{"--family", "scan"}, Strings{"scan"}}) {
    const Ended one = run(Strings{"list"} + words);
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(count_of(one.out, "cases: smoke "), 1U);
    EXPECT_THAT(one.out, StartsWith("scan  How fast is a prefix scan"));
    EXPECT_THAT(one.out, HasSubstr("\nvectors_per_item "));
  }
}

TEST_F(Cli, ListJsonHasTheSame) {
  show({});
  const Ended ended = run({"list", "--json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto listed = nlohmann::json::parse(ended.out);
  const auto& families = all_families();
  ASSERT_EQ(listed.size(), families.size());
  for (std::size_t f = 0; f < families.size(); ++f) {
    EXPECT_EQ(listed[f].at("family"), families[f].name);
    EXPECT_EQ(listed[f].at("question"), families[f].question);
    ASSERT_EQ(listed[f].at("axes").size(), families[f].axes.size());
    for (std::size_t a = 0; a < families[f].axes.size(); ++a) {
      EXPECT_EQ(listed[f].at("axes")[a].at("axis"), families[f].axes[a].name);
      EXPECT_EQ(listed[f].at("axes")[a].at("values").size(), families[f].axes[a].values.size());
    }
    for (const char* preset : preset_names) {
      EXPECT_EQ(listed[f].at("cases").at(preset),
                cases_of(families[f], families[f].presets.at(preset), 1).size());
    }
  }
}

TEST_F(Cli, RawRowsAreForProgramsAlone) {
  show({});
  const std::string file = CLWEAVE_SOURCE_DIR "/results/xeon-2-cores-pocl-3/quick.zip";
  const Ended text = run({"show", file, "--raw"});
  EXPECT_EQ(text.code, 2);
  EXPECT_THAT(text.err, HasSubstr("add --csv, --json or --jsonl"));
  EXPECT_EQ(run({"show", file, "--raw", "--openmetrics"}).code, 2);
  const Ended table = run({"list", "--columns", "--csv"});
  EXPECT_EQ(table.code, 2);
  EXPECT_THAT(table.err, HasSubstr("leave --csv out"));
  const Ended rows = run({"show", file, "--raw", "--csv", "--family", "copy"});
  EXPECT_EQ(rows.code, 0) << rows.err;
  EXPECT_THAT(rows.out, StartsWith("schema,run_id,"));
  EXPECT_THAT(rows.out, HasSubstr(",copy/kernel="));
  EXPECT_THAT(rows.out, Not(HasSubstr(",peak/kernel=")));
}

TEST_F(Cli, ListColumnsIsTheDictionary) {
  show({});
  const Ended ended = run({"list", "--columns"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out, column_dictionary());
  EXPECT_EQ(lines_of(ended.out).size(), columns().size() + 2);
}

// ---- Run -------------------------------------------------------------------------------------------------

TEST_F(Cli, DryRunRunsNothing) {
  const Strings words = {"run",           "--preset",  "smoke", "--family",
                         "matrix_access", "--dry-run", "--csv", csv()};
  const Ended ended = run_inside(words);
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto jobs = select_jobs(all_families(), parse_options(words)->selection);
  EXPECT_EQ(planned_cases(ended.out), static_cast<int>(jobs.size()));
  for (const auto& job : jobs) EXPECT_THAT(ended.out, HasSubstr(job.at.id() + " "));
  for (const char* head : {"case", "launches", "memory", "time"})
    EXPECT_THAT(lines_of(ended.out).front(), HasSubstr(head));
  EXPECT_THAT(ended.out, ContainsRegex("kernel=grid[^ ]*n=33/group=16x16[^ ]* +grid<48x48 by 16x16> +"
                                       "[0-9.]+ KiB +[0-9.]+ [mu]?s"));
  EXPECT_THAT(ended.out, HasSubstr("of device memory, roughly "));
  EXPECT_FALSE(fs::exists(csv()));
  EXPECT_FALSE(fs::exists(folder() / "results"));

  // Writes no file without --csv either.
  EXPECT_EQ(run_inside(tiny + Strings{"--dry-run"}).code, 0);

  // Families that may ask for more are named where they would be asked.
  const Strings quick = {"run", "--preset", "quick", "--family", "cache,matrix_access", "--dry-run"};
  EXPECT_THAT(run(quick).out, HasSubstr("besides: cache, peak may ask for more cases"));
  EXPECT_THAT(run(quick + Strings{"--set", "n=33"}).out, Not(HasSubstr("may ask")));
  EXPECT_FALSE(fs::exists(folder() / "results"));
}

TEST_F(Cli, EveryPlannedCaseIsARow) {
  const Strings words = {"run", "--preset", "smoke", "--family", "matrix_access"};
  const Ended ended = run(words + Strings{"--csv", csv()});
  // Known-incorrect cases are wrong on purpose and cost no exit code.
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Results results = read_results(csv());
  expect_all_cases(results, words);
  expect_sound_cells(results);
  expect_samples_of_rows(csv());
  EXPECT_EQ(static_cast<int>(results.cases.size()), planned_cases(run(words + Strings{"--dry-run"}).out));
  int known_incorrect_cases = 0;
  for (const auto& record : results.cases) {
    SCOPED_TRACE(fmt::format("{}: {}, {}", record.case_id, record.status, record.reason));
    EXPECT_EQ(record.family, "matrix_access");
    EXPECT_EQ(record.device_type, "cpu");
    EXPECT_EQ(record.run, Count(1));
    EXPECT_EQ(record.seed, Count(1));
    EXPECT_FALSE(record.time_utc.empty() || record.host.empty() || record.version.empty());
    EXPECT_EQ(nlohmann::json::parse(record.command), nlohmann::json(words + Strings{"--csv", csv()}));
    if (record.known_incorrect == "yes") {
      ++known_incorrect_cases;
      EXPECT_EQ(record.status, Status::wrong_result);
      EXPECT_THAT(record.reason, ContainsRegex("[0-9]+ of 4096 elements correct, [0-9]+ written"));
    } else {
      EXPECT_TRUE(record.status == Status::ok || record.status == Status::unsupported);
    }
  }
  EXPECT_EQ(known_incorrect_cases, 4);

  // The summary for people: on stdout, as that is not where the rows went.
  EXPECT_THAT(ended.out, HasSubstr(results.cases.front().device));
  EXPECT_THAT(ended.out, counts(results.cases.size()));
  EXPECT_THAT(ended.out, HasSubstr("4 known-incorrect as published"));
  EXPECT_THAT(ended.err, HasSubstr(csv()));

  // Another reader than our own finds the same table.
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "the rest needs python3";
  const char* script =
      "import csv, sys\n"
      "rows = list(csv.reader(open(sys.argv[1], newline='', encoding='utf-8')))\n"
      "print(len(rows), sorted({len(row) for row in rows}), len(set(rows[0])))\n";
  trial_.start({"-c", script, csv()}, "python3");
  const Ended python = trial_.finish();
  const std::size_t width = results.table.header.size();
  EXPECT_EQ(python.out, fmt::format("{} [{}] {}\n", results.table.rows.size() + 1, width, width))
      << python.err;
}

TEST_F(Cli, RowsMayGoToStdout) {
  const Ended ended = run(tiny + Strings{"--csv", "-"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto table = parse_csv(ended.out, "stdout");
  EXPECT_TRUE(table.complete_last_line);
  const auto records = records_of(table, "stdout");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::ok) << records[0].reason;
  EXPECT_THAT(ended.err, counts(1, "1 ok"));
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
}

TEST_F(Cli, ByDefaultEachDeviceHasAFile) {
  if (!is_here("rusticl")) GTEST_SKIP() << "needs a second implementation: rusticl";
  show({"pocl", "rusticl"});
  const auto all = devices();
  const Ended ended = run_inside(tiny);
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::set<std::string> folders;
  for (const auto& entry : fs::recursive_directory_iterator(folder() / "results")) {
    const fs::path& path = entry.path();
    if (!entry.is_regular_file() || path.string().ends_with(".samples.csv")) continue;
    const std::string relative = fs::relative(path, folder());
    EXPECT_TRUE(std::regex_match(relative,
                                 std::regex("results/[a-z0-9-]+/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z\\.csv")))
        << relative;
    EXPECT_THAT(ended.err, HasSubstr(relative));
    const Results results = read_results(path);
    ASSERT_EQ(results.cases.size(), 1U);
    EXPECT_TRUE(results.finished);
    const std::string name = results.cases[0].device;
    EXPECT_THAT(path.parent_path().filename().string(), HasSubstr(slug(name)));
    folders.insert(name);
  }
  EXPECT_EQ(folders.size(), all.size());
}

TEST_F(Cli, AFileOfTheUsersChoiceTakesAllDevices) {
  if (!is_here("rusticl")) GTEST_SKIP() << "needs a second implementation: rusticl";
  show({"pocl", "rusticl"});
  // A folder that is not there yet.
  const std::string path = (folder() / "new" / "folder" / "rows.csv").string();
  const Ended ended = run(tiny + Strings{"--csv", path});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Results results = read_results(path);
  ASSERT_EQ(results.cases.size(), 2U);
  EXPECT_NE(results.cases[0].device, results.cases[1].device);
  EXPECT_EQ(results.cases[0].run_id, results.cases[1].run_id);
  EXPECT_EQ(results.cases[0].case_id, results.cases[1].case_id);
}

TEST_F(Cli, AFileThatHoldsSomethingIsLeftAlone) {
  std::ofstream(csv()) << "precious\n";
  const Ended ended = run(tiny + Strings{"--csv", csv()});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr(csv() + " exists"));
  EXPECT_EQ(content_of(csv()), "precious\n");
}

TEST_F(Cli, APathThatCannotBeWrittenIsSaid) {
  std::ofstream(folder() / "file") << "not a folder\n";
  const std::string path = (folder() / "file" / "rows.csv").string();
  const Ended ended = run(tiny + Strings{"--csv", path});
  EXPECT_EQ(ended.code, 5);
  EXPECT_THAT(ended.err, HasSubstr(path));
  EXPECT_THAT(ended.err, HasSubstr("Not a directory"));
}

TEST_F(Cli, AWrongKernelCostsTheExitCodeAndGivesNoNumber) {
  const std::string kernels =
      edited_kernels("matrix_access.cl", "c[AT] = LEFT + RIGHT;       \\", "c[AT] = LEFT - RIGHT;       \\");
  const Ended ended = run(two_kernels + Strings{"--kernels", kernels, "--csv", csv()});
  EXPECT_EQ(ended.code, 1) << ended.err;
  const Results results = read_results(csv());
  expect_all_cases(results, two_kernels);
  expect_sound_cells(results);
  EXPECT_EQ(results.of("kernel=select/").status, Status::ok);
  const Record& wrong = results.of("kernel=grid/");
  EXPECT_EQ(wrong.status, Status::wrong_result);
  EXPECT_EQ(wrong.verified, Verified::no);
  EXPECT_THAT(wrong.reason, ContainsRegex("elements correct, 1089 written; first wrong: \\[[0-9]+\\] is "));
  // Expects the failure both at once and in the summary, because the first may have scrolled away.
  EXPECT_THAT(ended.err, HasSubstr("wrong_result  " + wrong.case_id));
  EXPECT_THAT(ended.out, HasSubstr("wrong_result"));
  EXPECT_THAT(ended.out, HasSubstr(wrong.case_id));
}

TEST_F(Cli, ABrokenKernelCostsItsCasesAlone) {
  const std::string kernels =
      edited_kernels("branch_divergence.cl", "uint x = in[item];", "uint x = in[item]");
  const Ended ended =
      run({"run", "--preset", "smoke", "--family", "branch_divergence,peak", "--where", "n=1,32768",
           "--filter", "paths=1/|kernel=copy/", "--kernels", kernels, "--csv", csv()});
  EXPECT_EQ(ended.code, 1) << ended.err;
  const Results results = read_results(csv());
  EXPECT_EQ(results.of("kernel=copy/").status, Status::ok);
  EXPECT_EQ(results.of("branch_divergence/").status, Status::build_failed);
  EXPECT_THAT(results.of("branch_divergence/").reason, ContainsRegex("branch_divergence\\.cl:[0-9]+"));
}

// An OpenCL error names the call.
TEST_F(Cli, ARefusedArgumentIsNamed) {
  const std::string kernels = edited_kernels("branch_divergence.cl", ", const uint granularity) {",
                                             ") {\n  const uint granularity = 1;");
  const Ended ended = run(tiny + Strings{"--kernels", kernels, "--csv", csv()});
  EXPECT_EQ(ended.code, 1) << ended.err;
  const Record record = read_results(csv()).cases.at(0);
  EXPECT_EQ(record.status, Status::launch_failed) << record.reason;
  EXPECT_THAT(record.reason, HasSubstr("argument 4 of kernel branch_divergence, a value of 4 bytes"));
  EXPECT_THAT(record.reason, HasSubstr("CL_INVALID_ARG_INDEX"));
}

TEST_F(Cli, ARefusedLaunchIsNamed) {
  const std::string kernels = edited_kernels("branch_divergence.cl", "const uint granularity) {",
                                             "const uint granularity, const uint more) {");
  const Ended ended = run(tiny + Strings{"--kernels", kernels, "--csv", csv()});
  EXPECT_EQ(ended.code, 1) << ended.err;
  const Record record = read_results(csv()).cases.at(0);
  EXPECT_EQ(record.status, Status::launch_failed) << record.reason;
  EXPECT_THAT(record.reason, ContainsRegex("launch of kernel branch_divergence<64 by 64> with 5 arguments"));
  EXPECT_THAT(record.reason, HasSubstr("CL_INVALID_KERNEL_ARGS"));
}

TEST_F(Cli, AKernelFolderWithoutTheFileSaysSo) {
  fs::create_directory(folder() / "empty");
  const Ended ended = run(tiny + Strings{"--kernels", (folder() / "empty").string(), "--csv", csv()});
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("cannot read " + (folder() / "empty").string()));
  EXPECT_TRUE(read_results(csv()).cases.at(0).failed());
}

// After the first rows, with many to come: those that are there stay, and nothing else is claimed.
TEST_F(Cli, AnInterruptKeepsTheRowsMeasured) {
  const Strings words = {"run",       "--preset", "quick", "--family", "branch_divergence",
                         "--no-peak", "--csv",    csv()};
  trial_.start(words);
  ASSERT_TRUE(trial_.wait_until([&] { return lines_of(content_of(csv())).size() >= 3; })) << trial_.err();
  trial_.send(SIGINT);
  const Ended ended = trial_.finish();
  EXPECT_EQ(ended.code, 130) << ended.err;
  trial_.expect_nobody_left();
  const Results results = read_results(csv());
  EXPECT_TRUE(results.table.complete_last_line);
  EXPECT_FALSE(results.finished);
  EXPECT_GE(results.cases.size(), 2U);
  EXPECT_LT(results.cases.size(), select_jobs(all_families(), parse_options(words)->selection).size());
  expect_sound_cells(results);
  for (const auto& record : results.cases) EXPECT_EQ(record.status, Status::ok) << record.reason;
  EXPECT_THAT(ended.out, counts(results.cases.size()));
}

TEST_F(Cli, OneProcessDoesTheSame) {
  const Ended ended = run(two_kernels + Strings{"--in-process", "--csv", csv()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Results results = read_results(csv());
  expect_all_cases(results, two_kernels);
  expect_sound_cells(results);
  for (const auto& record : results.cases) EXPECT_EQ(record.status, Status::ok) << record.reason;
}

TEST_F(Cli, ARowCanBeRunAgain) {
  ASSERT_EQ(run(two_kernels + Strings{"--seed", "5", "--csv", csv()}).code, 0);
  const Record before = read_results(csv()).of("kernel=select/");
  const std::string content = content_of(csv());
  const Ended ended = run({"run", "--replay", csv(), "--case", before.case_id});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto records = records_of(parse_csv(ended.out, "stdout"), "stdout");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::ok) << records[0].reason;
  EXPECT_EQ(records[0].case_id, before.case_id);
  EXPECT_EQ(records[0].seed, before.seed);
  EXPECT_EQ(records[0].kernel_hash, before.kernel_hash);
  EXPECT_EQ(content_of(csv()), content) << "the file is only read";

  const Ended unknown = run({"run", "--replay", csv(), "--case", "branch_divergence/paths=3"});
  EXPECT_EQ(unknown.code, 2) << unknown.err;
  EXPECT_THAT(unknown.err, HasSubstr("branch_divergence/paths=3"));
}

// Leaves out the cases that the family's refinement would add.
TEST_F(Cli, AReplayIsOfOneRow) {
  const Strings one = {"run",       "--preset", "smoke",  "--family", "registers",
                       "--no-peak", "--where",  "live=8", "--where",  "kernel=live"};
  ASSERT_EQ(run(one + Strings{"--csv", csv()}).code, 0);
  const Record made = read_results(csv()).cases.at(0);
  auto table = read_csv(csv());
  const auto column = std::ranges::find(table.header, "command") - table.header.begin();
  std::ofstream out(csv());
  out << csv_line(table.header);
  for (auto& row : table.rows) {
    row.cells[static_cast<std::size_t>(column)] = R"(["run","--preset","quick","--family","registers"])";
    out << csv_line(row.cells);
  }
  out.close();
  const Ended ended = run({"run", "--replay", csv(), "--case", made.case_id, "--dry-run"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(planned_cases(ended.out), 1);
  EXPECT_THAT(ended.out, Not(HasSubstr("may ask")));
}

// ---- Files of strangers ----------------------------------------------------------------------------------

// Returns the words with the column `command` of every row of a file replaced.
void set_command(const std::string& path, const Strings& words) {
  auto table = read_csv(path);
  const auto column = std::ranges::find(table.header, "command") - table.header.begin();
  std::ofstream out(path);
  out << csv_line(table.header);
  for (auto& row : table.rows) {
    if (row.cells[0] != "#end") row.cells[static_cast<std::size_t>(column)] = nlohmann::json(words).dump();
    out << csv_line(row.cells);
  }
}

// As if the run had been ended before its last row.
void interrupt(const std::string& path) {
  std::string text = content_of(path);
  for (int lines = 0; lines < 2; ++lines) text.resize(text.rfind('\n', text.size() - 2) + 1);
  std::ofstream(path) << text;
}

// A results file never chooses code: kernels are those of today's command line, and those of then.
TEST_F(Cli, ARecordedCommandChoosesNoKernels) {
  const std::string kernels = edited_kernels("matrix_access.cl", "// matrix_access:", "// edited:");
  const Strings made = two_kernels + Strings{"--kernels", kernels, "--csv", csv()};
  ASSERT_EQ(run(made).code, 0);
  const std::string id = read_results(csv()).cases.at(0).case_id;
  const Strings replay = {"run", "--replay", csv(), "--case", id};
  for (const Strings& words : {replay, replay + Strings{"--dry-run"}}) {
    const Ended refused = run(words);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("--kernels " + kernels));
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_EQ(run(replay + Strings{"--kernels", kernels}).code, 0);
  interrupt(csv());
  const std::string rows = content_of(csv());
  const Ended refused = run({"run", "--resume", csv()});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("add --kernels"));
  // Others than those of then are not.
  const std::string ours = (fs::path(CLWEAVE_SOURCE_DIR) / "cl_kernels").string();
  for (const Strings& words : {replay, Strings{"run", "--resume", csv()}}) {
    const Ended others = run(words + Strings{"--kernels", ours});
    EXPECT_EQ(others.code, 2) << others.err;
    EXPECT_THAT(others.err, HasSubstr("kernel_hash"));
  }
  EXPECT_EQ(content_of(csv()), rows);
  const Ended resumed = run({"run", "--resume", csv(), "--kernels", kernels});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(read_results(csv()).finished);
}

// Nor does it name a file that is written.
TEST_F(Cli, ARecordedCommandWritesNoFile) {
  ASSERT_EQ(run(two_kernels + Strings{"--csv", csv()}).code, 0);
  const std::string page = (folder() / "page.html").string(), archive = (folder() / "rows.zip").string();
  const std::string sources = (folder() / "sources").string(), id = read_results(csv()).cases.at(0).case_id;
  std::ofstream(page) << "<!doctype html>mine";
  set_command(csv(), two_kernels + Strings{"--csv", csv(), "--report", page, "--share", archive});
  const Ended replayed = run({"run", "--replay", csv(), "--case", id});
  EXPECT_EQ(replayed.code, 0) << replayed.err;
  interrupt(csv());
  const Ended resumed = run({"run", "--resume", csv()});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("began with --report " + page + ": add it"));
  EXPECT_EQ(content_of(page), "<!doctype html>mine");
  EXPECT_FALSE(fs::exists(archive));

  set_command(csv(), two_kernels + Strings{"--dry-run", "--emit-sources", sources});
  EXPECT_EQ(run({"run", "--replay", csv(), "--case", id, "--dry-run"}).code, 0);
  EXPECT_FALSE(fs::exists(sources));
  EXPECT_EQ(run({"run", "--replay", csv(), "--case", id, "--dry-run", "--emit-sources", sources}).code, 0);
  EXPECT_TRUE(fs::exists(sources + "/index.json"));
}

TEST_F(Cli, ClaimsOfCasesThatThereAreNotAreRefused) {
  const std::string claims = (folder() / "claims.json").string();
  for (const char* family : {"compaction", "scan", "reduction"}) {
    std::ofstream(claims) << fmt::format(
        R"([{{"id": "a", "statement": "s", "source": "x", "decided_by": {{"number": "ratio", "above": 1,
             "of": {{"family": "{}", "kernel": "misspelt"}}}}}}])",
        family);
    const Ended ended = run({"run", "--claims", "--claims-file", claims, "--dry-run"});
    EXPECT_EQ(ended.code, 5) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("kernel=misspelt: kernel takes"));
  }
}

TEST_F(Cli, AMergeThatNobodyReadsEndsAsThePipe) {
  ASSERT_EQ(run(tiny + Strings{"--csv", csv()}).code, 0);
  trial_.start({"-c", R"("$0" merge "$1" -o - | true; exit ${PIPESTATUS[0]})", CLWEAVE_BINARY, csv()},
               "bash");
  const int code = trial_.finish().code;
  EXPECT_TRUE(code == 141 || code == 0) << code;
  trial_.start(
      {"-c",
       R"(mkfifo "$2"; sleep 9 < "$2" & sleep 0.1; exec 3> "$2"; kill $!; wait $!; exec "$0" merge "$1" -o - >&3)",
       CLWEAVE_BINARY, csv(), (folder() / "pipe").string()},
      "bash");
  EXPECT_EQ(trial_.finish().code, 141);
}

// ---- Outputs that take nothing ---------------------------------------------------------------------------

TEST_F(Cli, ClosedDescriptorsPutNothingIntoTheFiles) {
  trial_.start(
      Strings{"-c", R"(exec "$0" "$@" <&- >&- 2>&-)", CLWEAVE_BINARY} + tiny + Strings{"--csv", csv()}, "sh");
  EXPECT_EQ(trial_.finish().code, 5) << "the summary is lost";
  const Results results = read_results(csv());
  EXPECT_TRUE(results.finished);
  expect_samples_of_rows(csv());
}

TEST_F(Cli, AReaderThatLeavesCostsNoRow) {
  for (const char* pipe : {"| head -c 1", "2>&1 | head -c 1", "2>/dev/full | head -c 1"}) {
    const fs::path path = folder() / fmt::format("{}.csv", std::string(pipe).size());
    trial_.start(Strings{"-c", std::string(R"("$0" "$@" )") + pipe + " > /dev/null; exit ${PIPESTATUS[0]}",
                         CLWEAVE_BINARY} +
                     tiny + Strings{"--csv", path.string()},
                 "bash");
    const int code = trial_.finish().code;
    EXPECT_TRUE(code == 0 || code == 141) << pipe << ": " << code;
    EXPECT_TRUE(read_results(path).finished) << pipe;
  }
}

// Runs every command in every format: if its answer cannot be written it must fail, if only a message cannot
// it must not.
TEST_F(Cli, AnOutputThatTakesNothingEndsInTheDocumentedCode) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string rows = csv(), cut_short = (folder() / "interrupted.csv").string();
  ASSERT_EQ(run(tiny + Strings{"--csv", rows}).code, 0);
  std::ofstream(cut_short) << content_of(rows).substr(
      0, content_of(rows).rfind('\n', content_of(rows).size() - 2) + 1);
  std::vector<Strings> all = {{},
                              {"--help"},
                              {"--version"},
                              {"run", "--help"},
                              {"list", "--columns"},
                              {"check", "branch_divergence"},
                              {"show", rows, "--plot"},
                              {"run", "--replay", rows, "--case", read_results(rows).cases.at(0).case_id}};
  for (const auto& printer : clweave::report::printers()) {
    for (const Strings& words : {Strings{"devices"}, Strings{"list"}, Strings{"show", cut_short},
                                 Strings{"claims", cut_short}, Strings{"profile", cut_short},
                                 Strings{"roofline", cut_short}, Strings{"compare-runs", cut_short, rows}}) {
      // Without peaks there is no row to write a line for.
      if (words[0] == "roofline" && printer.name == std::string("jsonl")) continue;
      all.push_back(words + Strings{"--format", printer.name});
    }
  }
  all.push_back(tiny + Strings{"--dry-run"});
  const auto code_with = [&](const char* redirection, const Strings& words) {
    trial_.start(Strings{"-c", fmt::format(R"(exec "$0" "$@" {})", redirection), CLWEAVE_BINARY} + words,
                 "sh");
    return checked(trial_.finish(), words);
  };
  for (const auto& words : all) {
    SCOPED_TRACE(fmt::format("clweave {}", fmt::join(words, " ")));
    for (const char* lost : {"> /dev/full", ">&-"}) {
      const Ended ended = code_with(lost, words);
      EXPECT_EQ(ended.code, 5) << lost << ended.err;
      EXPECT_THAT(ended.err, HasSubstr("cannot write")) << lost;
    }
    const Ended unheard = code_with("2> /dev/full", words);
    EXPECT_EQ(unheard.code, 0);
    EXPECT_NE(unheard.out, "");
  }
  EXPECT_EQ(code_with(">&- 2>&-", {"list"}).code, 5);
}

// Fails if rows cannot be written, and also if only the summary cannot.
TEST_F(Cli, AFileThatTakesNothingEndsInFive) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string store = (folder() / "tuned.json").string();
  const Strings tune = Strings{"tune"} + two_shapes;
  for (const Strings& words :
       {tiny + Strings{"--csv", "/dev/full"}, tune + Strings{"--csv", "/dev/full", "--store", store},
        tune + Strings{"--csv", csv(), "--store", "/dev/full"}}) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.code, 5) << fmt::format("{}", fmt::join(words, " "));
    EXPECT_THAT(ended.err, HasSubstr("/dev/full"));
  }
  trial_.start(Strings{"-c", R"(exec "$0" "$@" > /dev/full)", CLWEAVE_BINARY} + tiny +
                   Strings{"--csv", csv(), "--overwrite"},
               "sh");
  EXPECT_EQ(trial_.finish().code, 5);
  EXPECT_TRUE(read_results(csv()).finished);
  for (const char* lost : {"> /dev/full", ">&-"}) {
    trial_.start(Strings{"-c", fmt::format(R"(exec "$0" "$@" {})", lost), CLWEAVE_BINARY} + tiny +
                     Strings{"--csv", "-"},
                 "sh");
    EXPECT_EQ(trial_.finish().code, 5) << lost;
  }
}

// A page or a picture takes the place of its like alone.
TEST_F(Cli, ADrawingReplacesNoRows) {
  ASSERT_EQ(run(tiny + Strings{"--csv", csv()}).code, 0);
  const std::string samples = csv().substr(0, csv().size() - 4) + ".samples.csv", rows = content_of(csv()),
                    page = (folder() / "page.html").string();
  const std::string of_samples = content_of(samples);
  for (const auto& path : {csv(), samples}) {
    const Ended ended = run({"report", csv(), "-o", path});
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("choose another name"));
  }
  // Refuses before anything is measured or written.
  const fs::path fresh = folder() / "fresh.html";
  for (const Strings& words :
       {Strings{"--csv", fresh.string(), "--report"}, Strings{"--csv", fresh.string(), "--report", csv()}}) {
    const Ended ended = run(tiny + words);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_FALSE(fs::exists(fresh));
  }
  EXPECT_EQ(content_of(csv()), rows);
  EXPECT_EQ(content_of(samples), of_samples);
  // Devices, pipes and links stay what they are.
  fs::create_symlink("page.html", folder() / "link.html");
  for (int times = 0; times < 2; ++times)
    EXPECT_EQ(run({"report", csv(), "-o", (folder() / "link.html").string()}).code, 0);
  EXPECT_TRUE(fs::is_symlink(folder() / "link.html"));
  EXPECT_THAT(content_of(page), StartsWith("<!doctype html>"));
  const std::string fifo = (folder() / "fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  trial_.start({"-c", R"(cat "$2" & "$0" report "$1" -o "$2"; wait)", CLWEAVE_BINARY, csv(), fifo}, "sh");
  EXPECT_THAT(trial_.finish().out, StartsWith("<!doctype html>"));
  EXPECT_TRUE(fs::is_fifo(fifo));
}

TEST_F(Cli, WhatIsSharedNamesNoComputerAndNoUser) {
  trial_.set("HOME", folder().string());
  const std::string archive = (folder() / "rows.zip").string();
  const Ended ended = run(tiny + Strings{"--csv", csv(), "--share"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr(archive));
  const std::string host = read_results(csv()).cases.front().host;
  ASSERT_NE(host, "");
  const std::regex name("\\b" + host + "\\b");
  const auto entries = read_zip(archive, "");
  EXPECT_EQ(entries.size(), 3U);
  for (const auto& entry : entries) {
    EXPECT_FALSE(std::regex_search(entry.text, name)) << host << " in " << entry.name;
    EXPECT_THAT(entry.text, Not(HasSubstr(folder().string()))) << entry.name;
  }
  EXPECT_EQ(run({"show", archive, "--family", "branch_divergence", "--csv"}).out,
            run({"show", csv(), "--family", "branch_divergence", "--csv"}).out);
  // Refuses to start if a file would be overwritten.
  const std::string rows = content_of(csv());
  for (const auto& taken : {csv(), (folder() / "rows").string()}) {
    const Ended refused = run(tiny + Strings{"--csv", (folder() / "new.csv").string(), "--share", taken});
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_FALSE(fs::exists(folder() / "new.csv"));
  }
  EXPECT_EQ(content_of(csv()), rows);
}

TEST_F(Cli, RowsAndMessagesHaveFilesOfTheirOwn) {
  trial_.start(
      Strings{"-c", R"(exec "$0" "$@" 2> ')" + csv() + "'", CLWEAVE_BINARY} + tiny + Strings{"--csv", csv()},
      "sh");
  EXPECT_EQ(trial_.finish().code, 2);
  EXPECT_THAT(content_of(csv()), HasSubstr("is where stderr goes"));
}

// Messages name files and quote what they hold.
TEST_F(Cli, NoMessageCarriesControlCharacters) {
  // NOLINTBEGIN(misc-misleading-bidirectional): that is what is tested
  const Ended ended = run({"show", (folder() / "no\x1b]0;title\x07\x1b[2J\xE2\x80\xAEsuch.csv").string()});
  EXPECT_EQ(ended.code, 2);
  for (const char* sign : {"\x1b", "\x07", "\xE2\x80\xAE"}) EXPECT_THAT(ended.err, Not(HasSubstr(sign)));
  // NOLINTEND(misc-misleading-bidirectional)
}

TEST_F(Cli, AFileThatMayNotGrowEndsInFive) {
  trial_.start({"run", "--preset", "quick", "--family", "branch_divergence", "--no-peak", "--csv", csv()});
  ASSERT_TRUE(trial_.wait_until([&] { return lines_of(content_of(csv())).size() >= 2; })) << trial_.err();
  trial_.limit(RLIMIT_FSIZE, fs::file_size(csv()) + 100);
  const Ended ended = trial_.finish();
  EXPECT_EQ(ended.code, 5) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("File too large"));
}

TEST_F(Cli, AnotherNameOfStdoutIsStdout) {
  const Ended ended = run(tiny + Strings{"--csv", "/dev/stdout"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(records_of(parse_csv(ended.out, "stdout"), "stdout").size(), 1U);
}

// Runs as process 1, as the main process of a container does.
TEST_F(Cli, TheFirstProcessOfANamespaceFindsDevices) {
  if (std::system("unshare -Urpf --mount-proc true 2>/dev/null") != 0) GTEST_SKIP() << "no namespaces here";
  trial_.start({"-Urpf", "--mount-proc", CLWEAVE_BINARY, "devices", "--json"}, "unshare");
  const Ended ended = trial_.finish();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(nlohmann::json::parse(ended.out).empty());
}

TEST_F(Cli, ResumeTakesNoOtherOption) {
  std::ofstream(csv()) << "schema\n";
  const Ended ended = run({"run", "--resume", csv(), "--preset", "smoke"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("leave --preset out"));
}

// ---- Tuning ----------------------------------------------------------------------------------------------

// Tunes exhaustively over two configurations, neither of which is the default.
Strings tune_both(const std::string& store, const std::string& csv) {
  Strings words = Strings{"tune", "--strategy", "exhaustive", "--store", store, "--csv", csv} + two_shapes;
  words.back() = "group=32x8,64x4";
  return words;
}

namespace {

// A processor's counter of energy, in a tree like /sys. It knows whether the processes of a trial compute:
// they take 40 W, and 10 W while they rest.
class FakeCounter {
 public:
  explicit FakeCounter(Trial& trial)
      : trial_(trial), zone_(trial.folder() / "sys/class/powercap/intel-rapl:0") {
    fs::create_directories(zone_);
    std::ofstream(zone_ / "name") << "package-0\n";
    std::ofstream(zone_ / "max_energy_range_uj") << range_uj << '\n';
    write();
    trial.set("CLWEAVE_SYSFS_ROOT", trial.folder() / "sys");
    trial.set("CLWEAVE_NVML", "");
  }

  // Must be called every few milliseconds.
  void go_on() {
    const double now_s = now();
    if (now_s - listed_s_ > 0.4) {
      pids_ = trial_.alive();
      listed_s_ = now_s;
    }
    if (now_s - looked_s_ > 0.1) {
      const long ticks = ticks_of_all();
      watts_ = ticks - ticks_ >= 3 ? 40 : 10;
      ticks_ = ticks;
      looked_s_ = now_s;
    }
    if (last_s_ > 0) energy_uj_ += 1e6 * watts_ * (now_s - last_s_);
    last_s_ = now_s;
    write();
  }

 private:
  static constexpr double range_uj =
      50e6;  // a counter of fewer bits than any: it begins again within a second

  // A write of so few bytes is seen whole.
  void write() const {
    const std::string text = fmt::format("{:020.0f}\n", std::fmod(energy_uj_, range_uj));
    const int file = open((zone_ / "energy_uj").c_str(), O_WRONLY | O_CREAT, 0644);
    EXPECT_EQ(pwrite(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    close(file);
  }

  long ticks_of_all() const {
    long sum = 0;
    for (const pid_t pid : pids_) {
      const std::string stat = content_of(fmt::format("/proc/{}/stat", pid));
      std::istringstream in(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
      std::string word;
      for (int i = 0; i < 11 && in >> word; ++i) {
      }
      long user = 0, system = 0;
      in >> user >> system;
      sum += user + system;
    }
    return sum;
  }

  Trial& trial_;
  fs::path zone_;
  std::vector<pid_t> pids_;
  double listed_s_ = 0, looked_s_ = 0, last_s_ = 0, watts_ = 10, energy_uj_ = 1e6;
  long ticks_ = 0;
};

const Strings with_energy = {"run", "--energy", "--no-tuned", "--preset", "smoke"};

}  // namespace

TEST_F(Cli, EnergyIsMeasuredByACounterThatIsCertified) {
  FakeCounter counter(trial_);
  const Strings words =
      with_energy +
      Strings{"--family", "peak", "--filter",   "kernel=(copy|arithmetic)/type=float/.*contents=random",
              "--csv",    csv(),  "--overwrite"};
  Ended ended{};
  Results results;
  // A busy machine may let the processes wait for so long that their counter is rightly refused.
  for (int tries = 0; tries < 3; ++tries) {
    trial_.start(words);
    ended = trial_.finish(120, [&] { counter.go_on(); });
    EXPECT_EQ(ended.code, 0) << ended.err;
    results = read_results(csv());
    if (std::ranges::all_of(results.cases, [](const auto& record) {
          return record.energy_j && *record.energy_j > 40 * *record.wall_s / 4 &&
                 *record.energy_j < 40 * *record.wall_s * 4;
        }))
      break;
  }
  ASSERT_EQ(results.cases.size(), 2U) << ended.out;
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.meter, "powercap package-0");
    EXPECT_THAT(record.meter_reason, HasSubstr("W at work"));
    ASSERT_TRUE(record.energy_j) << record.meter_reason;
    EXPECT_EQ(record.verified, Verified::yes);
    // Expects 40 W times the time of an execution, which varies on a busy machine.
    EXPECT_GT(*record.energy_j, 40 * *record.wall_s / 4);
    EXPECT_LT(*record.energy_j, 40 * *record.wall_s * 4);
    EXPECT_LE(*record.energy_low_j, *record.energy_j);
    EXPECT_GE(*record.energy_high_j, *record.energy_j);
    EXPECT_NEAR(record.idle_w.value(), 10, 8);
    EXPECT_DOUBLE_EQ(*record.joules_per_byte, *record.energy_j / static_cast<double>(*record.bytes));
    EXPECT_DOUBLE_EQ(*record.joules_per_item, *record.energy_j / static_cast<double>(*record.items));
    EXPECT_EQ(record.joules_per_flop.has_value(), record.flops.has_value());
  }
  EXPECT_THAT(content_of(csv()), HasSubstr("finding=energy_balance"));
  EXPECT_THAT(ended.out, HasSubstr("pJ/op"));
}

TEST_F(Cli, ACounterThatStandsStillIsRefused) {
  const FakeCounter counter(trial_);
  const Ended ended = run(tiny + Strings{"--energy", "--csv", csv()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Record record = read_results(csv()).of("branch_divergence");
  EXPECT_THAT(record.meter_reason, HasSubstr("stands still while the device works"));
  EXPECT_EQ(record.energy_j, std::nullopt);
  EXPECT_EQ(record.joules_per_item, std::nullopt);
  EXPECT_EQ(count_of(ended.out, "no energy by powercap package-0: its counter"), 1U) << ended.out;
}

TEST_F(Cli, WithoutAMeterThereIsASentenceAndNoJoule) {
  trial_.set("CLWEAVE_SYSFS_ROOT", (trial_.folder() / "none").string());
  const Ended ended = run(tiny + Strings{"--energy", "--csv", csv()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count_of(ended.out, "no energy: no sensor tells what the device takes"), 1U) << ended.out;
  const Record record = read_results(csv()).of("branch_divergence");
  EXPECT_EQ(record.meter + record.throttle_reasons, "");
  EXPECT_EQ(record.core_mhz, std::nullopt);
  EXPECT_EQ(record.energy_j, std::nullopt);
  const Ended plain = run(tiny + Strings{"--csv", csv(), "--overwrite"});
  EXPECT_THAT(plain.out, Not(HasSubstr("energy")));
  EXPECT_EQ(read_results(csv()).of("branch_divergence").meter_reason, "");
  const Ended cold = run(tiny + Strings{"--energy", "--cache", "cold"});
  EXPECT_EQ(cold.code, 2);
  EXPECT_THAT(cold.err, HasSubstr("leave one of them out"));
}

TEST_F(Cli, TuneMeasuresEveryConfigurationAndRunUsesTheBest) {
  const std::string store = (folder() / "tuned.json").string();
  const Ended ended = run(tune_both(store, csv()));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("2 of 2"));
  EXPECT_THAT(ended.out, HasSubstr("clweave run measures it with --store " + store));
  const Results results = read_results(csv());
  EXPECT_EQ(results.cases.size(), 2U);
  for (const auto& record : results.cases) EXPECT_EQ(record.verified, Verified::yes) << record.reason;

  // Adds tuned launches to the cases of a preset, but not where the user names launch parameters.
  const Strings usual(two_shapes.begin(), two_shapes.end() - 2);
  const auto tuned_of = [&](const char* file, const Strings& more, const Strings& cases) {
    const fs::path path = folder() / file;
    const Ended one = run(Strings{"run", "--store", store, "--csv", path.string()} + more + cases);
    EXPECT_EQ(one.code, 0) << one.err;
    const bool told =
        one.err.find("beside default configurations the best that tune found here") != std::string::npos;
    const auto count = std::ranges::count(read_results(path).cases, "yes", &Record::tuned);
    EXPECT_EQ(told, count > 0) << one.err;
    return count;
  };
  EXPECT_EQ(tuned_of("with.csv", {"--tuned"}, usual), 1);
  EXPECT_EQ(tuned_of("smoke.csv", {}, usual), 0) << "smoke is for checking";
  EXPECT_EQ(tuned_of("set.csv", {"--tuned"}, two_shapes), 0) << "the user says which groups";
  Strings quick = usual;
  quick[1] = "quick";
  quick = quick + Strings{"--no-peak", "--set", "n=33"};
  EXPECT_EQ(tuned_of("quick.csv", {}, quick), 1);
  EXPECT_EQ(tuned_of("without.csv", {"--no-tuned"}, quick), 0);
  const Ended none = run(Strings{"run", "--store", (folder() / "none.json").string(), "--dry-run"} + quick);
  EXPECT_THAT(none.err, HasSubstr("none.json has no tuned configuration: `clweave tune --store "));
  const Ended dry = run(Strings{"run", "--store", store, "--dry-run"} + quick);
  EXPECT_THAT(dry.err, HasSubstr("beside default configurations the best that tune found here"));
  EXPECT_EQ(planned_cases(dry.out), 2) << "the default and the tuned";

  // And not where there is so much more to do that it says nothing.
  for (auto& word : quick) {
    if (word == "n=33") word = "n=200";
  }
  const Strings large = Strings{"run", "--store", store, "--csv", (folder() / "large.csv").string()} + quick;
  const Ended told = run(large);
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(
      told.err,
      HasSubstr("no tuned configuration of matrix_access from n=200 on: the one found at n=33 is used up to "
                "4 times that; clweave tune --family matrix_access --preset quick --set n=200 "
                "finds one"));
  EXPECT_THAT(told.err, Not(HasSubstr("beside default configurations")));
}

TEST_F(Cli, TuneStopsAtItsBudget) {
  const Ended ended = run(Strings{"tune", "--budget", "1cases", "--strategy", "random", "--store",
                                  (folder() / "tuned.json").string(), "--csv", csv()} +
                          two_shapes);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("1 of 2"));
  EXPECT_EQ(read_results(csv()).cases.size(), 1U);

  // Sizes beyond the budget have no result.
  Strings both = two_shapes;
  std::ranges::replace(both, std::string("parity=row"), std::string("parity=row,column"));
  const Ended cut = run(Strings{"tune", "--budget", "1cases", "--strategy", "random", "--overwrite",
                                "--store", (folder() / "tuned.json").string(), "--csv", csv()} +
                        both);
  EXPECT_EQ(cut.code, 1) << cut.err;
  EXPECT_THAT(cut.out, HasSubstr("not measured: the budget ended"));
}

TEST_F(Cli, TuneKeepsNothingWhereNothingWasRight) {
  const std::string kernels =
      edited_kernels("matrix_access.cl", "c[AT] = LEFT + RIGHT;       \\", "c[AT] = LEFT - RIGHT;       \\");
  const fs::path store = folder() / "tuned.json";
  const Ended ended = run(tune_both(store.string(), csv()) + Strings{"--kernels", kernels});
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("none was right"));
  EXPECT_THAT(ended.out, HasSubstr("nothing new to keep in " + store.string()));
  EXPECT_THAT(ended.out, Not(HasSubstr("\nkept in")));
  EXPECT_THAT(content_of(store), Not(HasSubstr("16x16")));
}

TEST_F(Cli, TuneSaysWhatMayBeTyped) {
  const std::vector<std::pair<Strings, std::string>> wrong = {
      {{"--strategy", "fast"}, "there are coarse, exhaustive, halving, random"},
      {{"--strategy", "random"}, "--budget"},
      {{"--budget", "60"}, "200cases"},
      {{"--family", "branch_divergence"},
       "--family async_copy,compaction,copy,grayscale,reduction,scan,stream; with --preset quick"},
      {{"--family", "branch_divergence", "--preset", "quick"},
       "access,arithmetic,async_copy,compaction,copy,"}};
  for (const auto& [words, hint] : wrong) {
    const Ended ended = run(Strings{"tune", "--csv", csv()} + words);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(hint));
  }
}

TEST_F(Cli, ATunedStoreThatIsNoneIsRefused) {
  const fs::path store = folder() / "tuned.json";
  std::ofstream(store) << "[]";
  const Ended ended = run(tiny + Strings{"--tuned", "--store", store.string(), "--csv", csv()});
  EXPECT_EQ(ended.code, 5) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("--store"));
}

// ---- Reading ---------------------------------------------------------------------------------------------

// Expects every command that reads a file to report what is wrong with it.
TEST_F(Cli, EveryReaderNamesInterruptedCutMiscountedAndRepeatedFiles) {
  const std::string rows = csv();
  ASSERT_EQ(run(tiny + Strings{"--csv", rows}).code, 0);
  const std::string text = content_of(rows);
  const std::string body = text.substr(0, text.rfind('\n', text.size() - 2) + 1),
                    footer = text.substr(body.size());
  const auto variant = [&](const char* name, const std::string& content) {
    std::string path = (folder() / name).string();
    std::ofstream(path) << content;
    return path;
  };
  const std::string interrupted = variant("interrupted.csv", body),
                    cut = variant("cut.csv", body.substr(0, body.size() - 9));
  std::string more = footer;
  const auto count = more.find(",1,");
  ASSERT_NE(count, std::string::npos) << footer;
  const std::string miscounted = variant("miscounted.csv", body + more.replace(count, 3, ",7,"));
  for (const auto& printer : clweave::report::printers()) {
    const std::string format = printer.name;
    for (const char* command : {"show", "claims", "profile", "roofline", "compare-runs"}) {
      SCOPED_TRACE(fmt::format("{} --{}", command, format));
      const bool two = command == std::string("compare-runs");
      const auto read = [&](const std::string& path) {
        return run(Strings{command, path} + (two ? Strings{"--against", rows} : Strings{}) +
                   Strings{"--format", format});
      };
      const Ended half = read(interrupted);
      EXPECT_EQ(half.code, 0) << half.err;
      EXPECT_THAT(half.out + half.err, HasSubstr("interrupted.csv was interrupted after 1 rows"));
      const Ended twice = run(Strings{command, rows, rows} + (two ? Strings{"--against", rows} : Strings{}) +
                              Strings{"--format", format});
      EXPECT_EQ(twice.code, 0) << twice.err;
      EXPECT_THAT(twice.out + twice.err, HasSubstr("is given twice"));
      if (format != std::string("text")) continue;
      const Ended torn = read(cut);
      EXPECT_EQ(torn.code, 5);
      EXPECT_THAT(torn.err, HasSubstr("the file ends within this row"));
      const Ended wrong = read(miscounted);
      EXPECT_EQ(wrong.code, 5);
      EXPECT_THAT(wrong.err, HasSubstr("the footer counts 7 rows, but there are 1"));
    }
  }
}

// The folder that an archive is unpacked to is gone when one looks for it.
TEST_F(Cli, NotesNameArchivesAsTheyWereTyped) {
  const std::string archive = CLWEAVE_SOURCE_DIR "/results/xeon-2-cores-intel/quick.zip";
  EXPECT_THAT(run({"show", archive, "--family", "tlb"}).err,
              HasSubstr("note: " + archive + "/quick.csv: 1 of "));
}

TEST_F(Cli, PagesNameArchivesAsTheyWereTyped) {
  const std::string archive = CLWEAVE_SOURCE_DIR "/results/epyc-2-cores-rusticl/sessions-1.zip";
  const std::string page = (folder() / "page.html").string();
  ASSERT_EQ(run({"report", archive, "-o", page}).code, 0);
  std::ifstream in(page);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto count = [&](const std::string& part) {
    int times = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
    return times;
  };
  EXPECT_GE(count("\"" + archive + "/sessions-1.csv\""), 2) << "in the list and in the table of files";
  EXPECT_EQ(count("sessions-1.zip/sessions-1.csv"), count(archive + "/sessions-1.csv")) << "no other folder";
}

TEST_F(Cli, AGuardWithoutAWordIsRefused) {
  ASSERT_EQ(run(tiny + Strings{"--csv", csv()}).code, 0);
  for (const Strings& words : {Strings{"--fail-on", ""}, Strings{"--fail-on="}, Strings{"--fail-on", ","}}) {
    const Ended ended = run(Strings{"compare", csv(), csv()} + words);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("--fail-on"));
  }
  EXPECT_THAT(run({"compare", csv(), csv(), "--fail-on", ""}).err,
              HasSubstr("write slower, slower:5%, together:5%, undecided:50%, broken"));
}

// ---- Roofline --------------------------------------------------------------------------------------------

TEST_F(Cli, RooflineWithoutPeaksSaysHowToGetThem) {
  ASSERT_EQ(run(two_kernels + Strings{"--csv", csv()}).code, 0);
  const Ended ended = run({"roofline", csv()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("no peaks in this file"));
  EXPECT_EQ(run({"roofline", "/nowhere.csv"}).code, 2);
}

TEST_F(Cli, SeedsChangeTheInputsNotTheVerdict) {
  const Ended ended = run(two_kernels + Strings{"--seed", "77", "--csv", csv()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Results results = read_results(csv());
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    EXPECT_EQ(record.seed, Count(77));
  }
}

TEST_F(Cli, ADeviceWithoutDoublePrecisionLosesNothingElse) {
  if (!is_here("rusticl")) GTEST_SKIP() << "needs rusticl, which lacks it";
  show({"rusticl"});
  const Strings words = {
      "run", "--preset", "smoke", "--family", "matrix_access", "--where", "kernel=grid,nobranch"};
  const Ended ended = run(words + Strings{"--csv", csv()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Results results = read_results(csv());
  expect_all_cases(results, words);
  expect_sound_cells(results);
  int without = 0;
  for (const auto& record : results.cases) {
    SCOPED_TRACE(record.case_id + ": " + record.reason);
    if (record.case_id.find("type=double") != std::string::npos) {
      ++without;
      EXPECT_EQ(record.status, Status::unsupported);
      EXPECT_EQ(record.reason, "the device has no double precision (cl_khr_fp64)");
      EXPECT_EQ(record.time_s, Number());
    } else if (record.known_incorrect.empty()) {
      EXPECT_EQ(record.status, Status::ok);
      // Expects the host's clock, because rusticl stamps every event 0, 1, 2, 3.
      EXPECT_EQ(record.timer, Timer::host);
    }
  }
  EXPECT_GT(without, 0);
  EXPECT_THAT(ended.out, HasSubstr(fmt::format("{} unsupported", without)));
}

// ---- Looks -----------------------------------------------------------------------------------------------

TEST_F(Cli, AFileGetsNoDecoration) {
  const Ended ended = run(tiny + Strings{"--csv", csv()});
  EXPECT_EQ(ended.code, 0);
  for (const auto& text : {ended.out, ended.err}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\r'), std::string::npos);
  }
}

TEST_F(Cli, TablesFitTheColumns) {
  for (const Strings& words :
       {Strings{"devices"}, Strings{"list"}, tiny + Strings{"--dry-run"},
        Strings{"run", "--preset", "smoke", "--family", "matrix_access", "--dry-run"}}) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(words, " ")));
    trial_.set("COLUMNS", "");
    const Ended whole = run(words);
    EXPECT_EQ(whole.code, 0) << whole.err;
    EXPECT_THAT(whole.out, Not(HasSubstr("columns left out"))) << "a pipe has no end";
    for (const std::size_t width : {80, 100, 140, 200}) {
      trial_.set("COLUMNS", std::to_string(width));
      for (const auto& line : lines_of(run(words).out)) EXPECT_LE(width_of(line), width) << line;
    }
  }
}

TEST_F(Cli, ColoursFollowTheConventions) {
  trial_.set("CLICOLOR_FORCE", "1");
  EXPECT_THAT(run({"list"}).out, HasSubstr("\x1b["));
  const Ended forced = run(tiny + Strings{"--csv", csv()});
  EXPECT_THAT(forced.out, HasSubstr("\x1b["));
  // Colours were asked for, a line that redraws itself was not.
  EXPECT_EQ(forced.err.find('\r'), std::string::npos);
  EXPECT_THAT(run({"devices", "--json"}).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(content_of(csv()), Not(HasSubstr("\x1b")));
  trial_.set("NO_COLOR", "1");
  EXPECT_THAT(run({"list"}).out, Not(HasSubstr("\x1b")));
}

TEST_F(Cli, ATerminalShowsTheProgress) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
    GTEST_SKIP() << "the system lends no pseudo-terminal";
  const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  fcntl(master, F_SETFL, O_NONBLOCK);
  trial_.set("TERM", "xterm");
  trial_.start(Strings{"-c", R"(exec "$0" "$@" 2>&1)", CLWEAVE_BINARY} + tiny + Strings{"--csv", csv()}, "sh",
               terminal);
  std::string seen;
  // Reads while the program writes, because the terminal holds only a few KiB.
  const Ended ended = trial_.finish(120, [&] {
    char bytes[4096];
    for (ssize_t n = 0; (n = read(master, bytes, sizeof bytes)) > 0;)
      seen.append(bytes, static_cast<std::size_t>(n));
  });
  close(terminal);
  close(master);
  EXPECT_EQ(ended.code, 0) << seen;
  EXPECT_THAT(seen, HasSubstr("\r"));
  EXPECT_THAT(seen, HasSubstr("[1/1] "));
  EXPECT_THAT(seen, HasSubstr("branch_divergence/paths=1/"));
  EXPECT_THAT(seen, counts(1, "1 ok"));
}

}  // namespace
