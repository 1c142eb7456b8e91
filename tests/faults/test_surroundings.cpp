// SPDX-License-Identifier: Apache-2.0
// test_surroundings: what becomes of a run when a driver changes its process, floods or prints, when it has
// no devices, and where the system lacks what every system has.
//
// CTest starts it once per implementation.
#include <memory>
#include <nlohmann/json.hpp>

#include "faults/trial.hpp"
#include "os/memory_limit.hpp"
#include "results/results_file.hpp"

using namespace clweave::commands;
using namespace trial;

namespace {

bool on(const char* name) { return implementation() == name; }

// Three cases of a program each, of which the second has a kernel that no other has.
constexpr const char* second = "nobranch";
Strings three_cases(const std::string& csv, const Strings& more = {}, const char* timeout = "20") {
  Strings words = {"run",           "--preset",  "smoke",    "--family",
                   "matrix_access", "--no-peak", "--filter", "kernel=(grid|unweave|nobranch)/",
                   "--timeout",     timeout,     "--csv",    csv};
  for (const char* value :
       {"type=float", "n=33", "parity=row", "mapping=row_first", "group=16x16", "padding=0"}) {
    words.emplace_back("--where");
    words.emplace_back(value);
  }
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A run that fills the kernel cache that each trial gets a copy of.
class Builder : public testing::Environment {
 public:
  void SetUp() override {
    if (!on("pocl") && !on("rusticl")) return;  // the others keep none
    trial = std::make_unique<Trial>();
    const Ended ended = trial->run(three_cases(trial->csv()));
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
  void TearDown() override { trial.reset(); }

  std::unique_ptr<Trial> trial;
};
Builder& builder = *new Builder;
[[maybe_unused]] const auto* const registered = testing::AddGlobalTestEnvironment(&builder);

class Surroundings : public testing::Test {
 protected:
  void SetUp() override {
    if (implementation().empty()) GTEST_SKIP() << "CLWEAVE_TEST_IMPLEMENTATION is not set: CTest sets it";
    if (on("oclgrind")) GTEST_SKIP() << "it interprets: certifying the timer takes a minute";
    if (builder.trial) fs::copy(builder.trial->cache(), trial.cache(), fs::copy_options::recursive);
  }
  void TearDown() override { trial.expect_nobody_left(); }

  // Expects a row of each case, ok but for those of `status`: what other programs do makes none implausible.
  void expect_rows(const std::string& status = "ok", std::size_t times = 3) {
    const Results results = read_results(trial.csv());
    expect_sound_cells(results);
    EXPECT_EQ(results.cases.size(), 3U) << ended.err;
    std::size_t found = 0;
    for (const auto& record : results.cases) {
      const bool is_it = clweave::base::text_of(record.status) == status;
      found += is_it ? 1 : 0;
      EXPECT_TRUE(is_it || record.ok()) << record.status << ": " << record.reason;
    }
    EXPECT_EQ(found, times) << ended.err;
  }

  std::string reason_of_second() { return read_results(trial.csv()).of(second).reason; }

  void run_faulty(const std::string& faults, const Strings& more = {}) {
    trial.faults(faults);
    ended = trial.run(three_cases(trial.csv(), more));
    EXPECT_FALSE(trial.log().empty()) << "no fault happened: " << ended.err;
  }

  static std::string at_second(const std::string& action) {
    return std::string("enqueue@") + second + ":1" + action;
  }

  Trial trial;
  Ended ended;
};

// ---- What a driver does to its process -------------------------------------------------------------------

// The driver's own threads keep denormals, so the answer is the one without the fault.
TEST_F(Surroundings, ADriversFloatingPointModesAreNotThoseOfTheChecks) {
  const auto value_of_denormals = [&] {
    ended = trial.run({"run", "--preset", "smoke", "--family", "special", "--where", "kernel=denormals",
                       "--no-peak", "--overwrite", "--csv", trial.csv()});
    const Results results = read_results(trial.csv());
    EXPECT_EQ(results.cases.size(), 1U) << ended.err;
    EXPECT_TRUE(results.cases.front().ok()) << results.cases.front().reason;
    return fmt::format("{}", results.cases.front().value.value_or(-1));
  };
  const std::string undisturbed = value_of_denormals();
  trial.faults("enqueue=ftz,read=ftz");
  EXPECT_EQ(value_of_denormals(), undisturbed);
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
}

TEST_F(Surroundings, ADriverThatChangesDirectoryChangesNoPath) {
  fs::copy(fs::path(CLWEAVE_SOURCE_DIR) / "cl_kernels", trial.folder() / "kernels",
           fs::copy_options::recursive);
  trial.faults("devices=chdir");
  for (const Strings& more : {Strings{}, Strings{"--in-process"}}) {
    Strings words = {"-C", trial.folder(), CLWEAVE_BINARY};
    for (auto& word : three_cases("rows.csv", {"--kernels", "kernels", "--overwrite"}))
      words.push_back(std::move(word));
    words.insert(words.end(), more.begin(), more.end());
    trial.start(words, "env");
    ended = trial.finish();
    EXPECT_FALSE(trial.log().empty()) << "no fault happened";
    expect_rows();
  }
}

TEST_F(Surroundings, WhatADriverPrintsIsInTheReasonAlone) {
  run_faulty("write=print," + at_second("=-5"));
  EXPECT_FALSE(has(ended.err + ended.out, "the driver prints\nto std")) << ended.err;
  EXPECT_EQ(ended.out.find("the driver prints to"), std::string::npos) << ended.out;
  const std::string reason = reason_of_second();
  EXPECT_TRUE(has(reason, "it printed: the driver prints to")) << reason;
  EXPECT_LE(reason.size(), 2000U);
  std::size_t right = 0;
  for (const auto& record : read_results(trial.csv()).cases) {
    if (!record.ok()) continue;
    ++right;
    EXPECT_TRUE(has(record.reason, "it printed: the driver prints to")) << "a warning beside a time";
    EXPECT_LE(record.reason.size(), 2000U);
  }
  EXPECT_EQ(right, 2U);
}

// A process that writes to a terminal with tostop is stopped, unless it has the foreground.
TEST_F(Surroundings, ATerminalThatStopsWritersStopsNoChild) {
  if (std::system("script -qec true /dev/null >/dev/null 2>&1 </dev/null") != 0)
    GTEST_SKIP() << "there is no script, which makes a terminal";
  trial.faults("devices=print,enqueue=print");
  const fs::path terminal = trial.folder() / "terminal";
  trial.start({"-qec", "stty tostop; " + quoted(three_cases(trial.csv())), terminal}, "script");
  ended = trial.finish();
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  EXPECT_FALSE(has(content_of(terminal), "the driver prints")) << "on the terminal";
  expect_rows();
}

TEST_F(Surroundings, AChildHasNoDescriptorButItsOwn) {
  const fs::path mark = trial.folder() / "mark";
  const int low = open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int inherited = fcntl(low, F_DUPFD, 20);  // above those that every child gets
  close(low);
  ASSERT_GE(inherited, 20);
  trial.faults("enqueue:1=hang");
  trial.start(three_cases(trial.csv(), {}, "4"));
  close(inherited);
  ASSERT_TRUE(trial.wait_until([&] { return !trial.log().empty(); })) << trial.err();
  int workers = 0;
  for (const pid_t pid : trial.alive()) {
    if (!has(content_of(fmt::format("/proc/{}/cmdline", pid)), "worker")) continue;
    ++workers;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", pid), gone)) {
      const std::string open_file = fs::read_symlink(entry.path(), gone);
      EXPECT_FALSE(has(open_file, mark.string()) || has(open_file, "rows.csv")) << open_file;
    }
  }
  EXPECT_EQ(workers, 1);
  trial.send(SIGKILL);
  trial.finish();
}

// ---- What it answers -------------------------------------------------------------------------------------

TEST_F(Surroundings, AFloodOfAnswersCostsItsCase) {
  run_faulty(at_second("=flood"));
  expect_rows("crashed", 1);
  EXPECT_TRUE(has(reason_of_second(), "answered more than")) << reason_of_second();
}

TEST_F(Surroundings, AMalformedAnswerCostsItsCase) {
  run_faulty(at_second("=malformed"));
  expect_rows("crashed", 1);
  EXPECT_TRUE(has(reason_of_second(), "malformed answer")) << reason_of_second();
}

TEST_F(Surroundings, AMalformedListOfDevicesIsSaid) {
  trial.faults("devices=malformed");
  ended = trial.run(three_cases(trial.csv()));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_TRUE(has(ended.err, "malformed answer")) << ended.err;
}

TEST_F(Surroundings, AnEndlessBuildLogIsCut) {
  run_faulty("build:2+=-11,biglog=67108864");
  EXPECT_LE(ended.seconds, 60);
  const Results results = read_results(trial.csv());
  EXPECT_EQ(results.cases.size(), 3U);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::build_failed) << record.reason;
    EXPECT_TRUE(has(record.reason, "one thing again")) << record.reason;
    EXPECT_LE(record.reason.size(), 6000U);
  }
}

TEST_F(Surroundings, AMemoryWithoutASizeLimitsNothing) {
  for (const char* size : {"0", "ones"}) {
    trial.faults(std::string("memory=") + size);
    ended = trial.run(three_cases(trial.csv(), {"--overwrite"}));
    EXPECT_FALSE(trial.log().empty()) << "no fault happened";
    EXPECT_TRUE(has(ended.err, "the size of its memory is unknown")) << ended.err;
    EXPECT_FALSE(has(ended.err + ended.out, "usable")) << ended.err;
    expect_rows();
    ended = trial.run({"devices"});
    EXPECT_TRUE(has(ended.out, "unknown")) << ended.out;
    EXPECT_FALSE(has(ended.out, " -")) << ended.out;
  }
}

// CL_DEVICE_VENDOR is part of what identifies a device.
TEST_F(Surroundings, AQueryThatFailsOnceCostsNothing) {
  run_faulty("blink=4140");
  expect_rows();
  EXPECT_FALSE(has(ended.err, "CL_DEVICE_VENDOR")) << ended.err;
}

TEST_F(Surroundings, ADeviceThatIsGoneInThisProcessCostsItsRows) {
  run_faulty("devices:3+=-1", {"--in-process"});
  EXPECT_EQ(ended.code, 1) << ended.err;
  expect_rows("device_lost", 3);
}

// Nothing but their places tells PoCL's devices apart.
TEST_F(Surroundings, AnotherListingIsNotResumed) {
  if (!on("pocl")) GTEST_SKIP() << "only PoCL shows one device as several";
  trial.set("POCL_DEVICES", "pthread pthread");
  trial.start(three_cases(trial.csv(), {"--device", "0:1", "--runs", "40"}));
  ASSERT_TRUE(trial.wait_until([&] { return lines_of(content_of(trial.csv())).size() > 3; })) << trial.err();
  trial.send(SIGKILL);
  trial.finish();
  trial.set("POCL_DEVICES", "pthread pthread pthread");
  ended = trial.run({"run", "--resume", trial.csv()});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_TRUE(has(ended.err, "lists other devices than when it began")) << ended.err;
}

TEST_F(Surroundings, OneProcessorIsOneBaseline) {
  if (!on("pocl")) GTEST_SKIP() << "only PoCL shows one device as several";
  const fs::path baseline = fs::path(CLWEAVE_BINARY).parent_path() / "clweave_baseline_cpu";
  if (!fs::exists(baseline)) GTEST_SKIP() << "the baseline of the processor is not built";
  trial.set("POCL_DEVICES", "pthread pthread");
  ended = trial.run({"run", "--preset", "smoke", "--family", "copy", "--filter", "kernel=no_loop/.*width=1/",
                     "--where", "n=1009", "--no-peak", "--with-baselines", "--csv", trial.csv()});
  EXPECT_LE(ended.code, 1) << ended.err;
  if (has(ended.err, "it is of clweave ")) GTEST_SKIP() << "the baseline is of an earlier build";
  EXPECT_TRUE(has(ended.err, "measured beside another device")) << ended.err;
  std::multiset<std::string> keys;
  for (const auto& record : read_results(trial.csv()).cases) keys.insert(row_key(record));
  EXPECT_GT(keys.size(), 2U);
  for (const auto& key : keys) EXPECT_EQ(keys.count(key), 1U) << key;
  ended = trial.run({"show", trial.csv()});
  EXPECT_EQ(ended.code, 0) << ended.err;
}

// ---- Drivers without devices -----------------------------------------------------------------------------

TEST_F(Surroundings, APlatformWithoutDevicesIsNamed) {
  run_faulty("devices=-1");
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_TRUE(has(ended.err, "clweave: platform ")) << ended.err;
  EXPECT_TRUE(has(ended.err, " has no device")) << ended.err;
}

TEST_F(Surroundings, AKernelCacheThatCannotBeWrittenIsReplaced) {
  if (!on("pocl")) GTEST_SKIP() << "PoCL alone has no device without it";
  const fs::path folder = trial.folder() / "file";
  std::ofstream(folder) << "in the way of the cache\n";
  trial.set("POCL_CACHE_DIR", folder / "cache");
  ended = trial.run(three_cases(trial.csv()));
  EXPECT_TRUE(has(ended.err, "cannot be written: a temporary one is used")) << ended.err;
  EXPECT_TRUE(has(ended.err, "POCL_CACHE_DIR")) << ended.err;
  expect_rows();
}

// Each of them would take the limit by itself, and a minute in turns.
TEST_F(Surroundings, HangingDriversAreSaidAtOnceAndTriedTogether) {
  const fs::path vendors = trial.folder() / "vendors";
  fs::create_directory(vendors);
  for (int n = 0; n < 4; ++n)
    fs::copy_file(fs::path(CLWEAVE_BAD_ICDS) / "bad_icd_hang.icd", vendors / fmt::format("hang{}.icd", n));
  for (const auto& entry : fs::directory_iterator(std::getenv("OCL_ICD_VENDORS")))
    fs::copy(entry.path(), vendors / entry.path().filename());
  trial.set("OCL_ICD_VENDORS", vendors.string());
  trial.start(three_cases(trial.csv(), {}, "12"));
  const double began = now();
  ASSERT_TRUE(trial.wait_until([&] { return has(trial.err(), "has not listed its devices"); }));
  EXPECT_LE(now() - began, 10);
  ended = trial.finish();
  for (int n = 0; n < 4; ++n)
    EXPECT_TRUE(has(ended.err, fmt::format("hang{}.icd is left out", n))) << ended.err;
  EXPECT_LE(ended.seconds, 58) << "in turns";
  expect_rows();
}

// ---- Systems that are not whole --------------------------------------------------------------------------

TEST_F(Surroundings, ItIsFoundBehindTheLoader) {
  const char* const loader = "/lib64/ld-linux-x86-64.so.2";
  if (!fs::exists(loader)) GTEST_SKIP() << "there is no " << loader;
  Strings words = {CLWEAVE_BINARY};
  for (auto& word : three_cases(trial.csv())) words.push_back(std::move(word));
  trial.start(words, loader);
  ended = trial.finish();
  expect_rows();
}

TEST_F(Surroundings, ItRunsWithoutProc) {
  const std::string script =
      with_mount("mount -t tmpfs none /proc && exec " + quoted(three_cases(trial.csv())));
  if (script.empty()) GTEST_SKIP() << "no file system can be mounted here";
  trial.start({"-m", "sh", "-c", script}, "unshare");
  ended = trial.finish();
  if (has(ended.err, "Sanitizer")) GTEST_SKIP() << "the sanitizers need /proc";
  if (ended.code == 3) {
    EXPECT_FALSE(has(ended.err, "No such file or directory")) << ended.err;
    return;  // a driver that needs it
  }
  expect_rows();
}

// A case whose time the clock spoils is a row that says so; the others, and every deadline, are unharmed.
TEST_F(Surroundings, AClockThatIsSetBackGivesNoFalseTime) {
  trial.set("LD_PRELOAD", CLWEAVE_UNSTEADY_CLOCK);
  ended = trial.run(three_cases(trial.csv()));
  const Results results = read_results(trial.csv());
  expect_sound_cells(results);
  EXPECT_EQ(results.cases.size(), 3U) << ended.err;
  int spoilt = 0;
  for (const auto& record : results.cases) {
    if (record.ok()) continue;
    EXPECT_EQ(record.status, Status::launch_failed) << record.reason;
    EXPECT_TRUE(has(record.reason, "the host's clock went backwards")) << record.reason;
    ++spoilt;
  }
  EXPECT_GT(spoilt, 0) << "no clock was set back: " << ended.err;
}

TEST_F(Surroundings, ANameThatIsTooLongForWhatLiesBesideIsRefused) {
  const std::string csv = (trial.folder() / (std::string(245, 'n') + ".csv")).string();
  ended = trial.run(three_cases(csv));
  EXPECT_TRUE(ended.code == 2 || ended.code == 5) << ended.code << ": " << ended.err;
  EXPECT_TRUE(has(ended.err, "too long by 16 letters")) << ended.err;
  EXPECT_FALSE(fs::exists(csv));
}

// A group of 2 GiB for this trial alone; empty if this user can make none.
fs::path group_of_memory() {
  const fs::path v1 = "/sys/fs/cgroup/memory";
  const auto folder = fs::exists(v1 / "memory.limit_in_bytes") ? v1 : fs::path("/sys/fs/cgroup");
  const fs::path group = folder / fmt::format("clweave-test-{}", getpid());
  std::error_code none;
  if (!fs::create_directory(group, none)) return {};
  for (const char* name : {"memory.limit_in_bytes", "memory.max"}) {
    if (!fs::exists(group / name)) continue;
    std::ofstream out(group / name);
    if (out << (std::uint64_t{2} << 30) << std::flush) return group;
  }
  fs::remove(group, none);
  return {};
}

TEST_F(Surroundings, AMemoryLimitThatKillsIsNamed) {
  const fs::path group = group_of_memory();
  if (group.empty()) GTEST_SKIP() << "no control group with a limit can be made here";
  trial.faults(at_second("!=hog"));
  const std::string inside =
      fmt::format("echo $$ > {}/cgroup.procs && exec {}", group.string(), quoted(three_cases(trial.csv())));
  trial.start({"-c", inside}, "sh");
  ended = trial.finish();
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  expect_rows("out_of_memory", 1);
  EXPECT_TRUE(has(reason_of_second(), "the memory limit of 2 GiB of this cgroup")) << reason_of_second();
  EXPECT_TRUE(has(ended.err, fmt::format("cgroup {} allows ", group.string()))) << ended.err;
  std::error_code none;
  for (int tries = 0; tries < 100 && !fs::remove(group, none); ++tries) sleep_ms(20);
}

}  // namespace
