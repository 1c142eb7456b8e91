// SPDX-License-Identifier: Apache-2.0
// test_kernels: every kernel on a real OpenCL implementation, and kernels with planted errors.
//
// CTest starts it once per implementation found: OCL_ICD_VENDORS shows that one alone, and
// CLWEAVE_TEST_IMPLEMENTATION names it: pocl, rusticl, oclgrind or intel. Of all drivers installed
// CLWEAVE_TEST_DEVICE=SEL chooses one device, as `clweave run --device SEL` does; then this program needs no
// other file.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <stdexcept>

#include "device/enumerate.hpp"
#include "device/open_device.hpp"
#include "device/run_case.hpp"
#include "suite/family.hpp"
#include "suite/selection.hpp"

using namespace clweave::commands;
using testing::HasSubstr;
using testing::MatchesRegex;
namespace fs = std::filesystem;

namespace clweave::commands {

// For gtest's messages.
void PrintTo(const Job& job, std::ostream* out) { *out << short_id(job); }

}  // namespace clweave::commands

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_asked() {
  return !variable("CLWEAVE_TEST_IMPLEMENTATION").empty() || !variable("CLWEAVE_TEST_DEVICE").empty();
}

std::string text_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Throws where there is none, or a choice.
const DeviceInfo& device() {
  static const DeviceInfo only = [] {
    std::vector<std::string> driver_errors;
    const auto all = enumerate_devices(driver_errors);
    const std::string selector = variable("CLWEAVE_TEST_DEVICE");
    const auto meant = selector.empty() ? all : select_devices(all, selector);
    if (meant.size() == 1) return meant.front();
    const std::string who = selector.empty() ? "OCL_ICD_VENDORS" : "CLWEAVE_TEST_DEVICE=" + selector;
    std::string text = meant.empty() ? fmt::format("{} names no device; there are {}", who, all.size())
                                     : fmt::format("{} names {} devices, and one is tested: write its index",
                                                   who, meant.size());
    for (const auto& one : meant.empty() ? all : meant)
      text += fmt::format("\n  {}  {}, {}, {}", one.index(), one.type, one.name, one.platform);
    for (const auto& error : driver_errors) text += "\n  " + error;
    throw std::runtime_error(text);
  }();
  return only;
}

// Parts of the names of platforms with known properties.
const std::map<std::string, std::string>& platform_marks() {
  static const std::map<std::string, std::string> marks = {
      {"pocl", "PoCL"}, {"rusticl", "rusticl"}, {"oclgrind", "Oclgrind"}, {"intel", "Intel"}};
  return marks;
}

std::string platform_text() { return device().platform + ", " + device().platform_version; }

// Returns the name of the OpenCL implementation, empty if it is unknown. Intel's is the one for CPUs.
const std::string& implementation() {
  static const std::string name = [] {
    if (auto said = variable("CLWEAVE_TEST_IMPLEMENTATION"); !said.empty()) return said;
    for (const auto& [known, mark] : platform_marks()) {
      if (platform_text().find(mark) != std::string::npos && device().type == "cpu") return known;
    }
    return std::string();
  }();
  return name;
}

bool on(const char* name) { return implementation() == name; }

// Fails if the device is missing, because otherwise every test would be skipped.
class OneDevice : public testing::Environment {
 public:
  void SetUp() override {
    if (!is_asked()) return;
    try {
      device();
    } catch (const std::exception& error) {
      FAIL() << error.what();
    }
  }
};
[[maybe_unused]] const auto* const registered = testing::AddGlobalTestEnvironment(new OneDevice);

// Replaces what must stand exactly once in the text; returns the line it began on.
std::ptrdiff_t replace_in(const fs::path& path, const std::string& from, const std::string& to) {
  std::string text = text_of_file(path);
  const auto at = text.find(from);
  // An edit that misses would let the unchanged kernel pass for a changed one.
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
    throw std::runtime_error("'" + from + "' is not exactly once in " + path.string());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  text.replace(at, from.size(), to);
  std::ofstream(path, std::ios::binary) << text;
  return line;
}

// The kernels as files, to be edited.
class KernelFolder {
 public:
  KernelFolder() : path_(fs::absolute(fmt::format("kernels_{}_{}", getpid(), ++count))) {
    fs::remove_all(path_);
    for (const auto& [stem, text] : embedded_kernels) {
      const fs::path file = path_ / (stem + ".cl");
      fs::create_directories(file.parent_path());
      std::ofstream(file, std::ios::binary) << text;
    }
  }
  ~KernelFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  KernelFolder(const KernelFolder&) = delete;
  KernelFolder& operator=(const KernelFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  static inline int count = 0;
  fs::path path_;
};

// Oclgrind opens its log when a context is made, and finds the name in the environment alone: each session
// has a log of its own.
struct Opened {
  explicit Opened(const fs::path& kernels, const DeviceInfo& as = device()) {
    static int count = 0;
    log = fs::absolute(fmt::format("oclgrind_{}_{}.log", getpid(), ++count));
    fs::remove(log);
    setenv("OCLGRIND_LOG", log.c_str(), 1);
    session = std::make_unique<OpenDevice>(as, kernels);
  }
  ~Opened() {
    session.reset();
    std::error_code ignored;
    fs::remove(log, ignored);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  fs::path log;
  std::unique_ptr<OpenDevice> session;
};

// Samples as little as possible, because no test here looks at times.
SamplingOptions once() {
  SamplingOptions rule;
  rule.stop.precision = 1;
  rule.stop.min_samples = 1;
  rule.stop.max_samples = 1;
  rule.stop.max_seconds = 1e-3;
  rule.max_batch = 1;
  rule.warm_up_s = 0;
  return rule;
}

Record record_of(OpenDevice& session, const Job& job) {
  return run_case(session, *job.family, job.at, once()).record;
}

const std::vector<Family>& families() {
  const auto& all = all_families();
  return all;
}

std::vector<Job> jobs_of(const std::string& family, const std::vector<std::string>& where = {},
                         const std::vector<std::string>& set = {}) {
  Selection wanted;
  wanted.preset = "smoke";
  wanted.families = {family};
  wanted.where = where;
  wanted.set = set;
  return select_jobs(families(), wanted);
}

bool is_known_incorrect(const Job& job) {
  return job.family->axis("form") != nullptr && job.at.is("form", "known_incorrect");
}

// A simulated work-item takes microseconds, and so does a simulated load.
bool is_too_big_to_simulate(const Job& job) try {
  const Plan plan = plan_of(*job.family, job.at, device());
  const auto items = [](const Step& step) {
    const auto* launch = std::get_if<Launch>(&step);
    return launch == nullptr ? 0 : items_in(launch->global);
  };
  return plan.cost.read + plan.cost.written > (1U << 20) ||
         std::ranges::any_of(plan.steps, [&](const Step& step) { return items(step) > (1U << 14); });
} catch (const Error&) {
  return false;  // it will say what the device lacks
}

// Returns whether Oclgrind 21.10 fails with all its checks; WhatIsBeyondTheSimulator runs these with fewer.
// Its check for uninitialised reads crashes on floating-point `single`; in `binomial` and for tuples its
// optimising compiler leaves a call that the simulator does not know.
bool is_beyond_the_simulator(const Job& job) {
  const Case& at = job.at;
  if (job.family->name == "reduction")
    return at.text("kernel").ends_with("single") && (at.is("type", "float") || at.is("type", "double"));
  return job.family->name == "scan" && (at.is("kernel", "binomial") || at.number("tuple") != 1);
}

// The smoke preset, without known-incorrect cases or them alone.
std::vector<Job> smoke_jobs(bool known_incorrect_cases) {
  std::vector<Job> out;
  const auto add = [&](const std::vector<Job>& jobs) {
    std::ranges::copy_if(jobs, std::back_inserter(out),
                         [&](const Job& job) { return is_known_incorrect(job) == known_incorrect_cases; });
  };
  for (const auto& family : families()) add(jobs_of(family.name));
  add(jobs_of("branch_divergence", {"paths=64"}, {"n=60"}));  // all that a simulator has of 64 paths
  return out;
}

// Returns why this implementation cannot run a case, empty if it can.
std::string beyond_this_implementation(const Job& job) {
  if (!on("oclgrind")) return {};
  // Skips a bug of Oclgrind 21.10: its compiler narrows `item % 64` to a 6-bit integer, but the simulator
  // does not truncate the value, so that work-items from 64 on reach no case of the switch.
  if (job.family->name == "branch_divergence" && job.at.number("paths") == 64 && job.at.number("n") > 64)
    return "Oclgrind 21.10 loses items from 64 on";
  if (is_too_big_to_simulate(job)) return "too big to simulate";
  return is_beyond_the_simulator(job) ? "Oclgrind 21.10 dies of it as it looks at the others" : "";
}

// The first case of every kernel of every family, and of every path that its items have to each other: for
// what depends on the kernel alone.
std::vector<Job> first_of_each_kernel(const std::vector<Job>& jobs) {
  std::set<std::string> seen;
  std::vector<Job> out;
  std::ranges::copy_if(jobs, std::back_inserter(out), [&](const Job& job) {
    std::string kernel = job.family->name;
    for (const char* axis : {"kernel", "operation", "subgroup_impl"}) {
      if (job.family->axis(axis) != nullptr) kernel += " " + job.at.text(axis);
    }
    return seen.insert(kernel).second;
  });
  return out;
}

// Axes that the id leaves out are at their defaults.
Job job_of(const std::string& case_id) {
  const std::string family = case_id.substr(0, case_id.find('/'));
  for (auto& job : jobs_of(family)) {
    std::string id = family;
    bool found = true;
    for (const auto& axis : job.family->axes) {
      if (id == case_id)
        found = found && job.at.at(axis.name) == axis.values.front();
      else
        id += "/" + axis.name + "=" + text_of(job.at.at(axis.name));
    }
    if (found && id == case_id) return job;
  }
  throw std::runtime_error("the smoke preset has no case " + case_id);
}

std::string grid_case(const char* kernel, int n, const char* type = "float", const char* operands = "ab") {
  return fmt::format(
      "matrix_access/kernel={}/parity=row/mapping=row_first/operands={}/type={}/n={}/group=16x16/"
      "form=corrected",
      kernel, operands, type, n);
}

std::string small_compaction(const std::string& kernel) {
  for (const auto& job : jobs_of("compaction", {"kernel=" + kernel, "n=4099"})) return job.at.id();
  throw std::runtime_error("no small case of " + kernel);
}

// The kernels with one place changed.
class Mutant {
 public:
  Mutant(const std::string& file, const std::string& from, const std::string& to)
      : line_(replace_in(folder_.path() / file, from, to)) {}

  std::ptrdiff_t line() const { return line_; }  // of the change

  Record run(const std::string& case_id) const {
    const Opened opened(folder_.path());
    return record_of(*opened.session, job_of(case_id));
  }

 private:
  KernelFolder folder_;
  std::ptrdiff_t line_;
};

// A row that is not ok holds no number that somebody could take for a result.
void expect_no_numbers(const Record& record) {
  for (const auto& column : columns()) {
    if (!column.is(Column::from_samples) && column.name != "fraction_of_peak" && column.name != "value")
      continue;
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), Number Record::*> ||
                        std::is_same_v<decltype(member), Count Record::*>) {
            EXPECT_FALSE((record.*member).has_value()) << column.name << " of " << record.case_id;
          }
        },
        column.member);
  }
}

class Kernels : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!is_asked()) return;
    folder_ = std::make_unique<KernelFolder>();
    opened_ = std::make_unique<Opened>(folder_->path());
  }
  static void TearDownTestSuite() {
    opened_.reset();
    folder_.reset();
  }

  void SetUp() override {
    if (!is_asked())
      GTEST_SKIP() << "neither CLWEAVE_TEST_DEVICE nor, as by CTest, CLWEAVE_TEST_IMPLEMENTATION is set";
  }

  static OpenDevice& session() {
    if (!opened_) throw std::runtime_error("the device could not be opened: the reason stands above");
    return *opened_->session;
  }
  static const fs::path& kernels() { return folder_->path(); }  // as they are shipped
  static std::string log() { return text_of_file(opened_->log); }

 private:
  static inline std::unique_ptr<KernelFolder> folder_;
  static inline std::unique_ptr<Opened> opened_;
};

TEST_F(Kernels, TheDeviceIsTheOneMeant) {
  RecordProperty("platform", platform_text());
  RecordProperty("device", device().name);
  RecordProperty("driver", device().driver);
  RecordProperty("timer", session().timer().reason);
  if (const auto said = variable("CLWEAVE_TEST_IMPLEMENTATION"); !said.empty()) {
    EXPECT_THAT(platform_text(), HasSubstr(platform_marks().at(said)));
  }
}

// Compares the kernels built into clweave, which it uses without a folder, with the source files.
TEST_F(Kernels, TheBuiltInFilesAreTheFiles) {
  const fs::path folder = fs::path(CLWEAVE_SOURCE_DIR) / "cl_kernels";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "the sources are not here: no " << folder.string();
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cl") continue;
    const std::string stem = fs::relative(entry.path(), folder).replace_extension();
    ASSERT_TRUE(embedded_kernels.contains(stem)) << stem;
    EXPECT_EQ(embedded_kernels.at(stem), text_of_file(entry.path())) << stem;
    ++files;
  }
  EXPECT_EQ(embedded_kernels.size(), files);
}

// A test for each case, so that a report names what a device cannot run, and why.
class Smoke : public Kernels, public testing::WithParamInterface<Job> {
 protected:
  static void SetUpTestSuite() {
    Kernels::SetUpTestSuite();
    run_ = ok_ = 0;
  }
  static void TearDownTestSuite() {
    // Fails if most cases were skipped, which would look like success, unless a filter chose the cases.
    if (GTEST_FLAG_GET(filter) == "*") {
      EXPECT_GE(2 * ok_, run_) << "cases that this device can run, of all";
    }
    Kernels::TearDownTestSuite();
  }

  static inline int run_ = 0, ok_ = 0;
};

// Intel's compiler for processors and the simulator take minutes for all cases: one per kernel, unless
// CLWEAVE_ALL_CASES is set.
bool is_one_of_many(const Job& job) {
  if ((!on("intel") && !on("oclgrind")) || std::getenv("CLWEAVE_ALL_CASES") != nullptr) return false;
  static const std::set<std::string> few = [] {
    auto jobs = smoke_jobs(false);
    std::erase_if(jobs, [](const Job& one) { return !beyond_this_implementation(one).empty(); });
    std::set<std::string> ids;
    for (const auto& one : first_of_each_kernel(jobs)) ids.insert(one.at.id());
    return ids;
  }();
  return !few.contains(job.at.id());
}

TEST_P(Smoke, IsRight) {
  const Job& job = GetParam();
  if (const auto why = beyond_this_implementation(job); !why.empty()) GTEST_SKIP() << why;
  if (is_one_of_many(job)) GTEST_SKIP() << "another case of its kernel is run; with CLWEAVE_ALL_CASES=1 all";
  const Record record = record_of(session(), job);
  // Fails at the first case with findings: the simulator's log, one per process, stops when it is full.
  EXPECT_EQ(log(), "") << "Oclgrind's findings";
  ++run_;
  if (record.status == Status::unsupported) {
    // A plan's refusal is a reason; a driver's error code is none, as it may come from a launch that no
    // device would accept.
    EXPECT_FALSE(record.reason.empty());
    EXPECT_EQ(record.reason.find("CL_"), std::string::npos) << record.reason;
    expect_no_numbers(record);
    GTEST_SKIP() << record.reason;
  }
  SCOPED_TRACE(fmt::format("{}: {}, {}", record.case_id, record.status, record.reason));
  ASSERT_EQ(record.status, Status::ok);
  EXPECT_EQ(record.verified, Verified::yes);
  const bool timed_by_host = plan_of(*job.family, job.at, device()).timed_by_host;
  EXPECT_EQ(text_of(record.timer), timed_by_host ? "host" : session().timer().name());
  EXPECT_GT(record.time_s.value_or(0), 0);
  EXPECT_EQ(record.samples.value_or(0), 1);
  EXPECT_GT(record.items.value_or(0), 0);
  EXPECT_EQ(record.kernel_hash.size(), 16U);
  ++ok_;
}

INSTANTIATE_TEST_SUITE_P(Each, Smoke, testing::ValuesIn(smoke_jobs(false)), [](const auto& info) {
  std::string name = short_id(info.param);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return fmt::format("{}_{}", name, info.index);  // two ids may be one now
});

// Sizes of one tile: without optimisation a kernel takes ten times as long.
TEST_F(Kernels, WhatIsBeyondTheSimulatorIsRightWithLessOfIt) {
  if (!on("oclgrind")) GTEST_SKIP() << "only the simulator needs this";
  const auto look = [](const std::string& family, std::size_t least) {
    std::vector<Job> jobs = jobs_of(family, {}, {"n=33"});
    std::erase_if(jobs,
                  [](const Job& job) { return is_known_incorrect(job) || !is_beyond_the_simulator(job); });
    EXPECT_GE(jobs.size(), least);
    const Opened opened(kernels());
    for (const auto& job : jobs) {
      const Record record = record_of(*opened.session, job);
      SCOPED_TRACE(fmt::format("{}: {}, {}", record.case_id, record.status, record.reason));
      EXPECT_TRUE(record.ok() || record.status == Status::unsupported);
    }
    EXPECT_EQ(text_of_file(opened.log), "") << "Oclgrind's findings";
  };
  setenv("OCLGRIND_BUILD_OPTIONS", "-cl-opt-disable", 1);
  look("scan", 8);
  unsetenv("OCLGRIND_BUILD_OPTIONS");
  unsetenv("OCLGRIND_UNINITIALIZED");
  look("reduction", 4);
  setenv("OCLGRIND_UNINITIALIZED", "1", 1);
}

// Tests acquire_one_tile of tile_states.cl with work-groups that start in reverse order, so that every tile
// that a work-group looks back at is late; and with half of all publications lost.
TEST_F(Kernels, GroupsThatTakeTheTileOfTheirOwnNumberAreRightInAnyOrder) {
  DeviceInfo gpu = device();
  gpu.type = "gpu";  // where plans have it so
  const KernelFolder reverse;
  replace_in(reverse.path() / "lib/tile_states.cl", "mine.tile = (uint)get_group_id(0);",
             "mine.tile = (uint)(get_num_groups(0) - 1 - get_group_id(0));");
  const std::string launch =
      " n=1025 group=32 vectors_per_item=1 window=8 spin_limit=8 fault_rate=2 subgroup_impl=portable,opencl";
  const std::multimap<std::string, Sweep> sweeps = {
      {"scan", "kernel=register_tile,pipelined tuple=1,4" + launch},
      {"scan", "kernel=binomial scan_order=3 per_work_item=4" + launch},
      {"compaction", "kernel=staged width=2" + launch}};
  int right = 0;
  for (const auto& folder : {kernels(), reverse.path()}) {
    const Opened opened(folder, gpu);
    for (const auto& [name, sweep] : sweeps) {
      const Family& family = *std::ranges::find(families(), name, &Family::name);
      for (const auto& at : cases_of(family, {sweep}, 1)) {
        if (!beyond_this_implementation({&family, at}).empty()) continue;
        const Record record = run_case(*opened.session, family, at, once()).record;
        SCOPED_TRACE(fmt::format("{}: {}: {}, {}", folder.string(), at.id(), record.status, record.reason));
        if (record.status == Status::unsupported) continue;
        // Skips programs of which Oclgrind 21.10 makes no kernel, because it does not know an LLVM attribute
        // of pointers.
        if (on("oclgrind") && record.reason.find("CL_INVALID_KERNEL_NAME") != std::string::npos) continue;
        EXPECT_EQ(plan_of(family, at, gpu).defines.at("TILE_BY_GROUP_ID"), "1");
        EXPECT_TRUE(record.ok());
        right += record.ok() ? 1 : 0;
      }
    }
    EXPECT_EQ(text_of_file(opened.log), "") << "Oclgrind's findings";
  }
  EXPECT_GE(right, 6) << "with portable sub-groups, which every device has";
}

// The point of the known-incorrect cases: no device computes what their authors thought, and the row says how
// much.
TEST_F(Kernels, KnownIncorrectCasesTellHowWrongTheyAre) {
  const auto before = log().size();
  const auto jobs = smoke_jobs(true);
  ASSERT_FALSE(jobs.empty());
  std::vector<std::string> lacking;
  for (const auto& job : jobs) {
    if (!beyond_this_implementation(job).empty()) continue;
    const Record record = record_of(session(), job);
    SCOPED_TRACE(fmt::format("{}: {}, {}", record.case_id, record.status, record.reason));
    if (record.status == Status::unsupported) {
      lacking.push_back(record.case_id + ": " + record.reason);
      continue;
    }
    EXPECT_EQ(record.known_incorrect, "yes");
    EXPECT_FALSE(record.failed());
    EXPECT_THAT(record.reason, testing::StartsWith("known incorrect: as published, "));
    if (record.ok()) {
      EXPECT_THAT(record.reason, HasSubstr("correct on this device"));
      continue;
    }
    EXPECT_EQ(record.status, Status::wrong_result);
    EXPECT_EQ(record.verified, Verified::no);
    EXPECT_THAT(record.reason, HasSubstr(" of 4096 elements correct, "));
    EXPECT_THAT(record.reason, HasSubstr(" written; first wrong: ["));
    expect_no_numbers(record);
  }
  if (on("oclgrind")) {
    // A clean log of the other kernels would mean nothing if a check had silently been off.
    const std::string findings = log().substr(before);
    EXPECT_THAT(findings, HasSubstr("Write-write data race"));
    EXPECT_THAT(findings, HasSubstr("unweave_published"));
  }
  if (!lacking.empty()) GTEST_SKIP() << fmt::format("{}", fmt::join(lacking, "\n"));
}

// ---- Kernels with planted errors -------------------------------------------------------------------------

class Mutants : public Kernels {
 protected:
  // Leaves it to each test to open the device.
  static void SetUpTestSuite() {}
  static void TearDownTestSuite() {}

  void SetUp() override {
    Kernels::SetUp();
    if (IsSkipped()) return;
    if (on("oclgrind") || on("intel"))
      GTEST_SKIP() << "takes minutes there, and the checks are the host's: the others show what they catch";
    if (device().max_group < 256)
      GTEST_SKIP() << "groups of 256 items, the device allows " << device().max_group;
  }
};

TEST_F(Mutants, AWrongOperatorIsAWrongResult) {
  const Mutant mutant("matrix_access.cl", "c[AT] = LEFT + RIGHT;       \\", "c[AT] = LEFT - RIGHT;       \\");
  const Record record = mutant.run(grid_case("grid", 33));
  EXPECT_EQ(record.status, Status::wrong_result);
  EXPECT_EQ(record.verified, Verified::no);
  EXPECT_TRUE(record.failed());
  // 17 of the 33 rows are even; where b is 0, + and - are the same.
  EXPECT_THAT(record.reason, MatchesRegex("5[0-9][0-9] of 1089 elements correct, 1089 written; first wrong: "
                                          "\\[[0-9]+\\] is -?[0-9.e+-]+, expected -?[0-9.e+-]+"));
  expect_no_numbers(record);
}

TEST_F(Mutants, OnlyTheChangedKernelIsWrong) {
  const Mutant mutant("matrix_access.cl", "c[AT] = LEFT + RIGHT;       \\", "c[AT] = LEFT - RIGHT;       \\");
  EXPECT_EQ(mutant.run(grid_case("select", 33)).status, Status::ok);
}

TEST_F(Mutants, AKernelThatWritesNothingIsAWrongResult) {
  const Mutant mutant("matrix_access.cl",
                      "c[AT] = select(LEFT - RIGHT, LEFT + RIGHT, (TRUTH)(DECIDING % 2 == 0));",
                      "(void)row;");
  const Record record = mutant.run(grid_case("select", 33));
  EXPECT_EQ(record.status, Status::wrong_result);
  EXPECT_THAT(record.reason, HasSubstr("0 of 1089 elements correct, 0 written; first wrong: [0] is "));
  expect_no_numbers(record);
}

// Makes every kernel return at once: each check must notice.
TEST_F(Mutants, NoCasePassesWithoutItsKernel) {
  if (!on("pocl")) GTEST_SKIP() << "builds every kernel a second time; one implementation will do";
  const KernelFolder folder;
  const std::regex head(R"((__kernel void [A-Za-z0-9_]+\([^{]*\) \{))");
  for (const auto& [stem, text] : embedded_kernels) {
    if (stem == "lib/harness") continue;
    const std::string idle = std::regex_replace(std::string(text), head, "$1 return;");
    const bool of_family = std::ranges::find(families(), stem, &Family::name) != families().end();
    EXPECT_TRUE(idle != text || !of_family) << "no kernel found in " << stem << ".cl";
    std::ofstream(folder.path() / (stem + ".cl"), std::ios::binary) << idle;
  }
  const Opened opened(folder.path());
  for (const auto& job : first_of_each_kernel(smoke_jobs(false))) {
    const Record record = record_of(*opened.session, job);
    SCOPED_TRACE(fmt::format("{}: {}, {}", record.case_id, record.status, record.reason));
    if (record.status == Status::unsupported) continue;
    const Plan plan = plan_of(*job.family, job.at, device());
    const bool has_kernel = std::ranges::any_of(
        plan.steps, [](const Step& step) { return std::holds_alternative<Launch>(step); });
    EXPECT_EQ(record.status, has_kernel ? Status::wrong_result : Status::ok);
  }
}

TEST_F(Mutants, AMissingElementIsAWrongResult) {
  const Mutant mutant("branch_divergence.cl", "if (item >= n) return;", "if (item >= n - 1u) return;");
  const Record record = mutant.run("branch_divergence/paths=2/granularity=16/iterations=4/n=300/group=64");
  EXPECT_EQ(record.status, Status::wrong_result);
  EXPECT_THAT(record.reason, HasSubstr("299 of 300 elements correct, 299 written; first wrong: [299] is "));
}

// The outputs are all right; only the canaries tell.
TEST_F(Mutants, AWriteBehindTheEndIsSeen) {
  const Mutant mutant("branch_divergence.cl", "if (item >= n) return;", "if (item > n) return;");
  const Record record = mutant.run("branch_divergence/paths=2/granularity=16/iterations=4/n=300/group=64");
  EXPECT_EQ(record.status, Status::wrong_result);
  EXPECT_EQ(record.verified, Verified::no);
  EXPECT_EQ(record.reason, "wrote behind the end of buffer 1: byte 1200 of 1200");
  expect_no_numbers(record);
}

// One element is 4 bytes, less than the poison's pattern.
TEST_F(Mutants, AWriteBehindASmallBufferIsSeen) {
  const Mutant mutant("branch_divergence.cl", "if (item >= n) return;", "if (item > n) return;");
  const Record record = mutant.run("branch_divergence/paths=2/granularity=16/iterations=4/n=1/group=64");
  EXPECT_EQ(record.status, Status::wrong_result);
  EXPECT_EQ(record.reason, "wrote behind the end of buffer 1: byte 4 of 4");
}

TEST_F(Mutants, AWriteToAnInputIsSeenBehindItsEnd) {
  const std::string rest =
      "uint* restrict in, const uint n,\n                                const uint iterations, const uint "
      "granularity) {";
  const Mutant mutant("branch_divergence.cl", "__global const " + rest,
                      "__global " + rest + "\n  if (get_global_id(0) == 0) in[n + 3u] = 7u;");
  const Record record = mutant.run("branch_divergence/paths=2/granularity=16/iterations=4/n=300/group=64");
  EXPECT_EQ(record.status, Status::wrong_result);
  EXPECT_EQ(record.reason, "wrote behind the end of buffer 0: byte 1212 of 1200");
}

TEST_F(Mutants, ABrokenKernelNamesFileAndLine) {
  const Mutant mutant("matrix_access.cl", "* (T)(1 - 2 * (int)(DECIDING & 1));",
                      "* (T)(1 - 2 * (int)(DECIDING & 1);");
  const Record record = mutant.run(grid_case("nobranch", 33));
  EXPECT_EQ(record.status, Status::build_failed);
  EXPECT_TRUE(record.failed());
  EXPECT_THAT(record.reason, HasSubstr("CL_BUILD_PROGRAM_FAILURE"));
  EXPECT_THAT(record.reason, HasSubstr(fmt::format("matrix_access.cl:{}:", mutant.line())));
  EXPECT_THAT(record.reason, HasSubstr("-D GUARD=1")) << "the options belong to the message";
  EXPECT_EQ(record.verified, Verified::none);
  expect_no_numbers(record);
}

// Builds a program of several files.
TEST_F(Mutants, ABrokenPartNamesItsFileAndLine) {
  const Mutant mutant("lib/group_scan.cl", "from[local_id] = mine;", "from[local_id] = mine");
  const Record record = mutant.run(small_compaction("ranked"));
  EXPECT_EQ(record.status, Status::build_failed);
  EXPECT_THAT(record.reason, HasSubstr(fmt::format("group_scan.cl:{}:", mutant.line())));
}

// The buffer has room for it: only the canaries behind the last kept key tell. (Each tile's would race with
// the keys of the next.)
TEST_F(Mutants, AWriteBehindTheLastKeptKeyIsSeen) {
  const Mutant mutant("compaction/output.cl", "i < kept; i += GROUP) out[tile_prefix + i]",
                      "i < kept + (tile_prefix + kept == 2050); i += GROUP) out[tile_prefix + i]");
  const Record record = mutant.run(small_compaction("staged"));
  EXPECT_EQ(record.status, Status::wrong_result);
  EXPECT_EQ(record.reason, "wrote behind the end of buffer 1: byte 8200 of 8200");
}

TEST_F(Mutants, AnElementTwiceIsSeenWhereOrderDoesNotMatter) {
  const Mutant mutant("compaction/output.cl", "staged[rank] = x->at[r][v];",
                      "staged[rank] = x->at[r][rank % 997 == 5 ? 0 : v];");
  const Record record = mutant.run(small_compaction("unordered"));
  EXPECT_EQ(record.status, Status::wrong_result);
  EXPECT_THAT(record.reason, testing::AnyOf(HasSubstr("a second time"), HasSubstr("no kept element")));
}

TEST_F(Mutants, AMissingKernelIsNamed) {
  const Mutant mutant("branch_divergence.cl", "__kernel void branch_divergence(", "__kernel void lane(");
  const Record record = mutant.run("branch_divergence/paths=2/granularity=16/iterations=4/n=300/group=64");
  EXPECT_TRUE(record.failed()) << record.status;
  EXPECT_THAT(record.reason, HasSubstr("CL_INVALID_KERNEL_NAME"));
  expect_no_numbers(record);
}

TEST_F(Kernels, DoublePrecisionRunsOrSaysWhyNot) {
  const Record record = record_of(session(), job_of(grid_case("grid", 64, "double", "a")));
  if (!implementation().empty()) {
    EXPECT_EQ(device().fp64, !on("rusticl"));
  }
  if (device().fp64) {
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    EXPECT_EQ(record.verified, Verified::yes);
    return;
  }
  EXPECT_EQ(record.status, Status::unsupported);
  EXPECT_FALSE(record.failed());
  EXPECT_EQ(record.verified, Verified::none);
  EXPECT_EQ(record.reason, "the device has no double precision (cl_khr_fp64)");
  expect_no_numbers(record);
}

// Relies on what the compiler says about the program, not on the extensions that the driver reports.
TEST_F(Kernels, WhatTheCompilerDoesNotTakeIsMissingAndNotBroken) {
  int missing = 0;
  for (const auto& job : jobs_of("formats", {"path=extension", "iterations=1"})) {
    const Record record = record_of(session(), job);
    if (record.ok()) continue;
    ++missing;
    EXPECT_EQ(record.status, Status::unsupported) << record.reason;
    EXPECT_THAT(record.reason, testing::StartsWith("the compiler does not take it: "));
    EXPECT_THAT(record.reason, HasSubstr("dot_4x8packed_ss_int"));
  }
  if (on("pocl") || on("oclgrind")) {
    EXPECT_EQ(missing, 1);
  }
}

TEST_F(Kernels, TheTimerIsBelievedWhereItTicks) {
  if (on("rusticl")) {
    // Both stamps are taken after the work: they stand a nanosecond apart, or what the host did in between.
    EXPECT_FALSE(session().timer().event);
    EXPECT_THAT(session().timer().reason, testing::Not(testing::IsEmpty()));
    return;
  }
  if (!on("pocl")) {
    // Nothing is known of other devices but that a refusal must have a reason.
    EXPECT_THAT(session().timer().reason, testing::Not(testing::IsEmpty()));
    if (!session().timer().event) GTEST_SKIP() << "timed by the host: " << session().timer().reason;
    return;
  }
  // A busy host may make an honest timer look crooked, but not for long.
  bool event = session().timer().event;
  for (int i = 0; i < 5 && !event; ++i) event = Opened(kernels()).session->timer().event;
  EXPECT_TRUE(event) << session().timer().reason;
}

TEST_F(Kernels, TheSameProgramIsBuiltOnce) {
  const Opened opened(kernels());
  const Job job = job_of(grid_case("grid", 33));
  const Record first = record_of(*opened.session, job);
  const Record second = record_of(*opened.session, job);
  // Another kernel and size of the same source and options.
  const Record other = record_of(*opened.session, job_of(grid_case("nobranch", 33)));
  const Record column =
      record_of(*opened.session, job_of("matrix_access/kernel=grid/parity=column/mapping=row_first/"
                                        "operands=ab/type=float/n=33/group=16x16/form=corrected"));
  ASSERT_TRUE(first.ok() && second.ok() && other.ok() && column.ok());
  EXPECT_GT(first.build_ms.value_or(0), 0);
  EXPECT_EQ(second.build_ms, Number(0));
  EXPECT_EQ(other.build_ms, Number(0));
  EXPECT_GT(column.build_ms.value_or(0), 0);
  EXPECT_EQ(first.kernel_hash, other.kernel_hash);
  EXPECT_NE(first.kernel_hash, column.kernel_hash);
}

TEST_F(Kernels, InputsFollowTheSeed) {
  Job job = job_of(grid_case("grid", 33));
  job.at.seed = 20240229;
  EXPECT_EQ(record_of(session(), job).status, Status::ok);
}

TEST_F(Kernels, WhatDoesNotFitIsUnsupported) {
  Job job = job_of(grid_case("grid", 33));
  job.at = job.at.with("n", std::int64_t{1} << 20);
  const Record record = record_of(session(), job);
  EXPECT_EQ(record.status, Status::unsupported);
  EXPECT_THAT(record.reason, HasSubstr("bytes"));
  expect_no_numbers(record);
}

}  // namespace
