// SPDX-License-Identifier: Apache-2.0
// test_kernels: every kernel on a real OpenCL implementation, and kernels with planted errors.
#include <cctype>
#include <regex>

#include "device/one_device.hpp"

using namespace clweave::commands;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {

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
class Smoke : public AllKernels, public testing::WithParamInterface<Job> {
 protected:
  static void SetUpTestSuite() {
    AllKernels::SetUpTestSuite();
    run_ = ok_ = 0;
  }
  static void TearDownTestSuite() {
    // Fails if most cases were skipped, which would look like success, unless a filter chose the cases.
    if (GTEST_FLAG_GET(filter) == "*") {
      EXPECT_GE(2 * ok_, run_) << "cases that this device can run, of all";
    }
  }

  static inline int run_ = 0, ok_ = 0;
};

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
  // A wrong result is the kernel's failure; a time that cannot be believed is the clock's or a busy
  // machine's.
  ASSERT_NE(record.status, Status::implausible)
      << "right, but its time is not believed: " << record.case_id << ": " << record.reason;
  ASSERT_EQ(record.status, Status::ok) << "wrong: " << record.case_id << ": " << record.reason;
  EXPECT_EQ(record.verified, Verified::yes);
  SCOPED_TRACE(record.case_id);
  const Plan plan = plan_of(*job.family, job.at, device());
  EXPECT_EQ(text_of(record.timer), plan.timed_by_host ? "host" : session().timer().name());
  EXPECT_GT(record.time_s.value_or(0), 0);
  EXPECT_GE(record.samples.value_or(0), 1);
  EXPECT_TRUE(record.samples == 1 || plan.sustained_s > 0) << record.samples.value_or(0) << " samples";
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

// One work-group has soon ended; 80 million steps take a processor some 0.1 s.
TEST_F(Kernels, TellWhetherALaunchWasBehindARunningKernel) {
  if (!on("pocl") && !on("intel"))
    GTEST_SKIP() << "a simulator takes minutes, a GPU milliseconds, and rusticl's status waits for the end";
  const auto behind = [&](const char* groups, const char* iterations) {
    const auto jobs = jobs_of("queues", {"kernel=wait_behind", "priority=none"},
                              {fmt::format("groups={}", groups), fmt::format("iterations={}", iterations)});
    EXPECT_EQ(jobs.size(), 1U);
    SamplingOptions ten = once();
    ten.stop = {.precision = 1, .min_samples = 10, .max_samples = 10, .max_seconds = 60};
    return run_case(session(), *jobs.at(0).family, jobs.at(0).at, ten).record;
  };
  const Record none = behind("1", "0"), some = behind("1000", "300");
  ASSERT_TRUE(none.ok() && some.ok()) << none.reason << some.reason;
  EXPECT_FALSE(none.value);
  EXPECT_THAT(none.timer_reason, HasSubstr("the kernel in the background had ended before"));
  ASSERT_TRUE(some.value) << some.timer_reason;
  EXPECT_EQ(some.unit, "fraction");
  EXPECT_GT(*some.value, 0);
  EXPECT_LE(*some.value, 1);
}

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

// Adds up, over the histograms that Oclgrind prints at the end of each launch, what a group of the pattern
// matches.
std::int64_t sum_of_matches(const std::string& text, const std::string& pattern) {
  std::int64_t sum = 0;
  const std::regex line(pattern);
  for (std::sregex_iterator found(text.begin(), text.end(), line), end; found != end; ++found)
    sum += std::stoll((*found)[1]);
  return sum;
}

// Holds columns operator_applications and traffic_bytes against what a simulator counts: instructions of xor,
// which these kernels have for nothing but their operator, and bytes of loads and stores.
TEST_F(Kernels, ScansApplyTheOperatorAsOftenAsTheirRowsSay) {
  if (!on("oclgrind")) GTEST_SKIP() << "only the simulator counts instructions";
  const Family& family = *std::ranges::find(families(), "scan", &Family::name);
  const Values designs = {"hillis_steele", "three_phase", "reduce_then_scan", "chained", "lookback"};
  const auto cases = cases_of(family, {"kernel=" + designs + " op=xor n=1000 group=48 per_work_item=4"}, 1);
  ASSERT_EQ(cases.size(), 5U);
  setenv("OCLGRIND_INST_COUNTS", "1", 1);
  for (const auto& at : cases) {
    Record record;
    auto opened = std::make_unique<Opened>(kernels());
    testing::internal::CaptureStdout();
    record = check_case(*opened->session, family, at).record;
    opened.reset();
    const std::string counts = testing::internal::GetCapturedStdout();
    SCOPED_TRACE(fmt::format("{}: {}\n{}", record.case_id, record.reason, counts));
    ASSERT_TRUE(record.ok());
    constexpr std::int64_t executions = 2;  // of check_case
    const auto cell = [&](const std::string& name) {
      return std::stoll(
          std::ranges::find(record.axes, name, &std::pair<std::string, std::string>::first)->second);
    };
    const std::int64_t applied = sum_of_matches(counts, "([0-9]+) - xor\n") / executions;
    const std::int64_t tiles = (at.number("n") + 191) / 192;
    if (at.is("kernel", "chained")) {
      EXPECT_EQ(applied, cell("operator_applications") + tiles) << "and one as a tile publishes its prefix";
    } else if (at.is("kernel", "lookback")) {
      EXPECT_GE(applied, cell("operator_applications") + 2 * tiles - 1);
      EXPECT_LE(applied, cell("operator_applications") + tiles * (tiles + 2));
    } else {
      EXPECT_EQ(applied, cell("operator_applications"));
    }
    // A pass of Hillis and Steele loads a neighbour for each application, beside the element itself.
    const std::int64_t moved =
        sum_of_matches(counts, "- (?:load|store) global \\(([0-9]+) bytes") / executions -
        (at.is("kernel", "hillis_steele") ? 4 * applied : 0);
    EXPECT_GE(moved, cell("traffic_bytes"));
    EXPECT_LE(moved, cell("traffic_bytes") + 4 * tiles * (48 + 8))
        << "sums of tiles, which each work-item loads";
  }
  unsetenv("OCLGRIND_INST_COUNTS");
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
    EXPECT_THAT(log(), HasSubstr("Write-write data race"));
    EXPECT_THAT(log(), HasSubstr("unweave_published"));
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
  std::set<std::string> with_kernel;  // as an #include names them
  for (const auto& [stem, text] : embedded_kernels) {
    if (stem == "lib/harness") continue;
    const std::string idle = std::regex_replace(std::string(text), head, "$1 return;");
    if (idle != text) with_kernel.insert(stem + ".cl");
    std::ofstream(folder.path() / (stem + ".cl"), std::ios::binary) << idle;
  }
  for (const auto& [stem, text] : embedded_kernels) {
    if (std::ranges::find(families(), stem, &Family::name) == families().end()) continue;
    const bool has_one = with_kernel.contains(stem + ".cl") ||
                         std::ranges::any_of(with_kernel, [&, &source = text](const std::string& file) {
                           return std::string(source).find("#include \"" + file + "\"") != std::string::npos;
                         });
    EXPECT_TRUE(has_one) << "no kernel found in " << stem << ".cl";
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
