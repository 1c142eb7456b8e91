// SPDX-License-Identifier: Apache-2.0
// test_faults: what becomes of a run when the driver fails, lies, hangs or dies, and when the disk or the
// user does.
//
// CTest starts it once per implementation. A fault that is bound to one kernel hits the second of three
// cases, so that what was done before it and what comes after it must both be there.
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "faults/trial.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using namespace trial;

namespace {

bool on(const char* name) { return implementation() == name; }

// Excludes rusticl, which stamps every event 0, 1, 2, 3.
bool has_event_times() { return !on("rusticl"); }

// Oclgrind interprets, so certifying the timer would take most of the test: its harness loops less.
Strings quick_kernels() {
  if (!on("oclgrind")) return {};
  static const fs::path folder = [] {
    fs::path out = fs::temp_directory_path() / fmt::format("clweave-kernels-{}", getpid());
    fs::remove_all(out);
    fs::copy(fs::path(CLWEAVE_SOURCE_DIR) / "cl_kernels", out, fs::copy_options::recursive);
    std::string text = content_of(out / "lib/harness.cl");
    const std::string loop = "i < iterations;";
    const auto at = text.find(loop);
    if (at == std::string::npos) throw std::runtime_error("harness.cl has no loop " + loop);
    std::ofstream(out / "lib/harness.cl") << text.replace(at, loop.size(), "i < iterations / 256;");
    return out;
  }();
  return {"--kernels", folder.string()};
}

// Three cases of one program, and their findings.
Strings three_cases(const std::string& csv, const char* timeout = "60") {
  Strings words = {"run",
                   "--preset",
                   "smoke",
                   "--family",
                   "matrix_access",
                   "--where",
                   "type=float",
                   "--where",
                   "n=33",
                   "--where",
                   "parity=row",
                   "--where",
                   "mapping=row_first",
                   "--where",
                   "group=16x16",
                   "--where",
                   "padding=0",
                   "--filter",
                   "kernel=(grid|unweave|nobranch)/",
                   "--timeout",
                   timeout,
                   "--csv",
                   csv};
  const Strings kernels = quick_kernels();
  words.insert(words.end(), kernels.begin(), kernels.end());
  return words;
}

// An undisturbed run, which also fills the kernel cache that each trial gets a copy of.
class Undisturbed : public testing::Environment {
 public:
  void SetUp() override {
    if (implementation().empty()) return;
    trial = new Trial;
    Strings copy = {"run", "--preset", "smoke", "--family", "peak", "--where", "kernel=copy", "--csv", "-"};
    const Strings kernels = quick_kernels();
    copy.insert(copy.end(), kernels.begin(), kernels.end());
    EXPECT_EQ(trial->run(copy).code, 0);
    const Strings arguments = three_cases(trial->csv());
    const Ended ended = trial->run(arguments);
    ASSERT_EQ(ended.code, 0) << ended.err;
    results = read_results(trial->csv());
    expect_all_cases(results, arguments);
    expect_sound_cells(results);
    expect_samples_of_rows(trial->csv());
    trial->expect_nobody_left();
    for (const auto& record : results.cases) {
      EXPECT_EQ(record.status, Status::ok) << record.reason;
      // Expects nothing of other drivers, as a good timer may be refused, too, on a busy machine.
      if (!has_event_times()) {
        EXPECT_EQ(record.timer, Timer::host) << record.timer_reason;
      }
      if (record.order != 2) continue;
      second_id = record.case_id;
      for (const auto& [name, value] : record.axes) {
        if (name == "kernel") second = value;
      }
    }
    ASSERT_NE(second, "");
  }
  void TearDown() override {
    delete trial;
    if (const Strings kernels = quick_kernels(); !kernels.empty()) fs::remove_all(kernels.back());
  }

  Trial* trial = nullptr;
  Results results;
  std::string second, second_id;  // kernel and id of the second case
};
Undisturbed& undisturbed = *new Undisturbed;
[[maybe_unused]] const auto* const registered = testing::AddGlobalTestEnvironment(&undisturbed);

// Returns the fault with the number of its call raised, as in build:3!=-11 of build:2!=-11.
std::string with_number_raised(const std::string& faults, int by) {
  const auto begin = faults.find(':') + 1, end = faults.find_first_not_of("0123456789", begin);
  if (begin == 0 || begin == end) return faults;
  return faults.substr(0, begin) + std::to_string(std::stoi(faults.substr(begin, end - begin)) + by) +
         faults.substr(end);
}

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    if (implementation().empty()) GTEST_SKIP() << "CLWEAVE_TEST_IMPLEMENTATION is not set: CTest sets it";
    fs::copy(undisturbed.trial->cache(), trial.cache(), fs::copy_options::recursive);
  }
  void TearDown() override { trial.expect_nobody_left(); }

  Results run_faulty(const std::string& faults, int code, const char* timeout = "60",
                     const Strings& more = {}) {
    trial.faults(faults);
    Strings words = three_cases(trial.csv(), timeout);
    words.insert(words.end(), more.begin(), more.end());
    ended = trial.run(words);
    // On a busy machine a quick copy, which a case can do without, may have the number of a fault that is
    // bound to no kernel: then one of the calls behind it is that of a case.
    const bool is_counted = faults.find('@') == std::string::npos;
    for (int tries = 1; tries <= 4 && is_counted && code == 1 && ended.code == 0; ++tries) {
      trial.faults(with_number_raised(faults, tries));
      for (const char* name : {"rows.csv", "rows.samples.csv"}) fs::remove(trial.folder() / name);
      fs::remove(trial.log_path());
      ended = trial.run(words);
    }
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_FALSE(trial.log().empty()) << "no fault happened";
    Results results = read_results(trial.csv());
    expect_all_cases(results, three_cases(trial.csv()));
    expect_sound_cells(results);
    expect_samples_of_rows(trial.csv());
    return results;
  }

  // `$` stands for the kernel of the second case.
  static std::string at_second(std::string faults) {
    for (auto at = faults.find('$'); at != std::string::npos; at = faults.find('$'))
      faults.replace(at, 1, undisturbed.second);
    return faults;
  }

  Trial trial;
  Ended ended;
};

// ---- One case fails, the others do not -------------------------------------------------------------------

struct Single {
  const char* name;
  const char* faults;
  int order;  // of the case that fails
  const char* status;
  const char* reason;      // part of it
  int happened;            // lines in the log; 0: as many as there are launches
  bool everywhere = true;  // false: one implementation will do, another row differs little
};

void PrintTo(const Single& fault, std::ostream* out) { *out << fault.faults; }

class OneCase : public Faults, public testing::WithParamInterface<Single> {};

TEST_P(OneCase, FailsAlone) {
  const Single& fault = GetParam();
  if (!fault.everywhere && !on("pocl")) GTEST_SKIP() << "much like another; on PoCL alone, to save time";
  if (on("oclgrind") && fault.name == std::string("write"))
    GTEST_SKIP() << "there the poison is written as the inputs are, so the third write is another";
  const Results results = run_faulty(at_second(fault.faults), 1);
  if (fault.happened > 0) {
    EXPECT_EQ(trial.log().size(), static_cast<std::size_t>(fault.happened)) << content_of(trial.log_path());
  }
  // Faults bound to no kernel are counted over all cases of a process: on a busy machine, which repeats
  // cases, an earlier one may have that number.
  std::optional<std::int64_t> order = fault.order;
  if (std::string(fault.faults).find('@') == std::string::npos) {
    const auto hit = std::ranges::find_if(results.cases, [](const auto& record) { return !record.ok(); });
    if (hit != results.cases.end()) order = hit->order;
    EXPECT_LE(order, std::int64_t{fault.order});
  }
  for (const auto& record : results.cases) {
    if (record.order == order) {
      EXPECT_EQ(text_of(record.status), fault.status) << record.reason;
      EXPECT_NE(record.reason.find(fault.reason), std::string::npos) << record.reason;
      // A call that OpenCL refuses is told with the kernel that it was about.
      if (record.status == Status::launch_failed && std::string(fault.faults).starts_with("enqueue")) {
        EXPECT_NE(record.reason.find("launch of kernel " + undisturbed.second + "<"), std::string::npos)
            << record.reason;
      }
    } else {
      EXPECT_EQ(record.status, Status::ok) << record.reason;
    }
  }
}

// A case has three buffers, writes two and checks one; a check reads the output and all guard zones. Calls
// are counted per process and a case that fails to launch gets a fresh one, so the number decides who is hit:
// in the first process alone, as on a busy machine the next may look at a case again, and count as far.
constexpr Single singles[] = {
    {"build", "build:2!=-11", 1, "build_failed", "CL_BUILD_PROGRAM_FAILURE", 1},
    {"enqueue_resources", "enqueue@$:1=-5", 2, "launch_failed", "CL_OUT_OF_RESOURCES", 1},
    {"enqueue_memory", "enqueue@$:1=-4", 2, "out_of_memory", "CL_MEM_OBJECT_ALLOCATION_FAILURE", 1},
    {"enqueue_queue", "enqueue@$:1=-36", 2, "device_lost", "CL_INVALID_COMMAND_QUEUE", 1},
    {"enqueue_event", "enqueue@$:1=-14", 2, "launch_failed", "CL_EXEC_STATUS_ERROR", 1},
    {"enqueue_unknown", "enqueue@$:1=-9999", 2, "launch_failed", "-9999", 1, false},
    {"enqueue_late", "enqueue@$:3=-5", 2, "launch_failed", "CL_OUT_OF_RESOURCES", 1, false},
    {"buffer_memory", "buffer:7!=-4", 2, "out_of_memory", "clCreateBuffer", 1},
    {"buffer_size", "buffer:8!=-61", 2, "out_of_memory", "CL_INVALID_BUFFER_SIZE", 1, false},
    {"write", "write:9!=-5", 2, "launch_failed", "clEnqueueWriteBuffer", 1},
    {"read", "read@$:1=-14", 2, "launch_failed", "clEnqueueReadBuffer", 1},
    {"read_queue", "read@$:6=-36", 2, "device_lost", "clEnqueueReadBuffer", 1, false},
    {"skipped", "enqueue@$=skip", 2, "wrong_result", "0 of 1089", 1},
    {"skipped_later", "enqueue@$:3+=skip", 2, "wrong_result", "wrong after it", 0},
    {"short", "enqueue@$=short", 2, "wrong_result", "never written, as by items that did not run", 1},
    {"short_later", "enqueue@$:3+=short", 2, "wrong_result", "wrong after it", 0, false},
    {"flipped", "read@$:1=flip", 2, "wrong_result", "1088 of 1089", 1},
    {"flipped_guard", "read@$:2=flip", 2, "wrong_result", "behind the end", 1, false},
    {"flipped_later", "read@$:5=flip", 2, "wrong_result", "wrong after it", 1, false},
    {"crashed", "enqueue@$:1=crash", 2, "crashed", "SIGSEGV", 2},
    {"crashed_later", "enqueue@$:4=crash", 2, "crashed", "SIGSEGV", 2, false},
    {"aborted", "enqueue@$:1=abort", 2, "crashed", "SIGABRT", 2, false},
    {"exited", "enqueue@$:1=exit", 2, "crashed", "exit code 7", 2},
};
INSTANTIATE_TEST_SUITE_P(Each, OneCase, testing::ValuesIn(singles),
                         [](const auto& info) { return info.param.name; });

struct Named {
  const char* name;
  const char* faults;
};
void PrintTo(const Named& fault, std::ostream* out) { *out << fault.faults; }
std::string name_of(const testing::TestParamInfo<Named>& info) { return info.param.name; }

// ---- Hangs -----------------------------------------------------------------------------------------------

class Hang : public Faults, public testing::WithParamInterface<const char*> {};

TEST_P(Hang, IsEndedAtItsLimit) {
  constexpr double limit_s = 5, busy_s = 20;  // a busy machine may need as much more
  trial.faults(at_second(fmt::format("enqueue@$:1={}", GetParam())));
  const Strings arguments = three_cases(trial.csv(), "5");
  trial.start(arguments);
  double hung_at = 0, row_at = 0;
  ended = trial.finish(120, [&] {
    if (hung_at == 0 && fs::exists(trial.log_path())) hung_at = now();
    if (row_at == 0 && content_of(trial.csv()).find(",timeout,") != std::string::npos) row_at = now();
  });
  EXPECT_EQ(ended.code, 1) << ended.err;
  ASSERT_GT(hung_at, 0);
  ASSERT_GT(row_at, 0);
  EXPECT_GE(row_at - hung_at, limit_s - 0.2);
  EXPECT_LE(row_at - hung_at, limit_s + busy_s);
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  expect_sound_cells(results);
  for (const auto& record : results.cases)
    EXPECT_EQ(record.status, record.case_id == undisturbed.second_id ? Status::timeout : Status::ok)
        << record.reason;
  EXPECT_EQ(trial.log().size(), 1u) << "a hang is not tried again";
}

INSTANTIATE_TEST_SUITE_P(Each, Hang, testing::Values("hang", "spin"),
                         [](const auto& info) { return std::string(info.param); });

// A build may take four times the limit, and the probe builds too.
TEST_F(Faults, AHangingBuildIsEnded) {
  if (!on("pocl")) GTEST_SKIP() << "much like another; on PoCL alone, to save time";
  const Results results = run_faulty("build:2=hang", 1, "2");
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"timeout", 1}, {"device_lost", 2}}));
  const auto& hung = results.cases.front();
  EXPECT_NE(hung.reason.find("during build"), std::string::npos) << hung.reason;
  EXPECT_LE(ended.seconds, 60);
}

// Lets a case run for ten times the limit, because each of its many samples shows progress.
TEST_F(Faults, ACaseThatIsAliveIsNotEnded) {
  if (!on("pocl")) GTEST_SKIP() << "much like another; on PoCL alone, to save time";
  Strings arguments = three_cases(trial.csv(), "1");
  std::ranges::replace(arguments, "kernel=(grid|unweave|nobranch)/", "kernel=grid/");
  for (const char* word :
       {"--no-peak", "--max-seconds", "11", "--max-samples", "1000000", "--precision", "1e-5"})
    arguments.emplace_back(word);
  ended = trial.run(arguments);
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  expect_sound_cells(results);
  // A busy machine may be silent for a second.
  const auto& record = results.cases.at(0);
  EXPECT_TRUE(record.ok() || record.reason.find("no sign of life") != std::string::npos) << record.reason;
}

TEST_F(Faults, ADeviceThatDoesNotComeBackCostsItsOtherCases) {
  const Results results = run_faulty(at_second("enqueue@$:1=hang,enqueue@copy=-5"), 1, "5");
  const auto& lost = results.cases.back();
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"ok", 1}, {"timeout", 1}, {"device_lost", 1}}));
  EXPECT_EQ(lost.status, Status::device_lost);
  EXPECT_NE(lost.reason.find("did not come back"), std::string::npos) << lost.reason;
}

TEST_F(Faults, ADeviceThatFailsFromTheStartCostsNoRow) {
  const Results results = run_faulty("buffer:1=-4", 1);
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"out_of_memory", 3}}));
}

TEST_F(Faults, ADeviceThatDiesFromTheStartCostsNoRow) {
  const Results results = run_faulty("finish:1=crash", 1);
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"crashed", 1}, {"device_lost", 2}}));
}

TEST_F(Faults, ADeviceLostWhileTheTimerIsCertifiedCostsNoRow) {
  const Results results = run_faulty("finish:3=-36", 1);
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"device_lost", 3}}));
}

TEST_F(Faults, AQueueThatIsLostLateIsARow) {
  const Results results = run_faulty(at_second("finish@$:4+=-36,enqueue@copy=-36"), 1);
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"ok", 1}, {"device_lost", 2}}));
}

// ---- Several devices
// ---------------------------------------------------------------------------------------

struct OneOfTwo {
  const char* name;
  const char* faults;
  Status first;              // what becomes of the case where it begins
  std::size_t happened = 0;  // faults, in processes of their own; 0: not counted
};

class OneOfTwoEqual : public Faults, public testing::WithParamInterface<OneOfTwo> {};

// Alone as at once: it costs its own rows, and the other no more than the wait for its end.
TEST_P(OneOfTwoEqual, FailsAlone) {
  if (implementation() != "pocl") GTEST_SKIP() << "only PoCL shows one device as two";
  trial.set("POCL_DEVICES", "pthread pthread");
  trial.set("CLWEAVE_FAULTS_DEVICE", "1");
  trial.faults(at_second(GetParam().faults));
  Strings words = three_cases(trial.csv(), "3");
  for (const char* more : {"--parallel", "--runs", "2"}) words.emplace_back(more);
  trial.start(words);
  ended = trial.finish(240);
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  if (GetParam().happened > 0) {
    EXPECT_EQ(trial.log().size(), GetParam().happened);
  }
  for (const std::string& path : {trial.csv(), (trial.folder() / "rows-at-once.csv").string()}) {
    const Results results = read_results(path);
    EXPECT_TRUE(results.finished) << path;
    std::map<std::string, std::map<Status, int>> by_card;
    for (const auto& record : results.cases) ++by_card[record.device_id][record.status];
    ASSERT_EQ(by_card.size(), 2U) << path;
    EXPECT_EQ(by_card.begin()->second, (std::map<Status, int>{{Status::ok, 6}})) << path;
    const auto& other = by_card.rbegin()->second;
    EXPECT_GE(other.at(GetParam().first), 1) << path;
    EXPECT_GE(other.at(Status::device_lost), 1) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, OneOfTwoEqual,
    testing::Values(OneOfTwo{"Hangs", "enqueue@$:1=hang,enqueue@copy=-5", Status::timeout},
                    OneOfTwo{"HangsInItsTiming", "enqueue@$:4=hang,enqueue@copy=-5", Status::timeout},
                    // A case and the probe behind it, alone as at once.
                    OneOfTwo{"HangsAsItOpens", "buffer:1=hang", Status::timeout, 4},
                    OneOfTwo{"Dies", "enqueue@$=crash,enqueue@copy=-5", Status::crashed}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- Timers ----------------------------------------------------------------------------------------------

class WrongTimer : public Faults, public testing::WithParamInterface<const char*> {};

TEST_P(WrongTimer, IsRejectedWithTheReason) {
  if (!has_event_times()) GTEST_SKIP() << "its own stamps are refused already: 0, 1, 2, 3";
  const Results results = run_faulty(fmt::format("profile={}", GetParam()), 0);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    EXPECT_EQ(record.timer, Timer::host);
    EXPECT_NE(record.timer_reason, "");
    EXPECT_NEAR(*record.time_s, *record.wall_s, 1e-9 + 0.01 * *record.wall_s);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, WrongTimer,
                         testing::Values("zero", "constant", "backward", "untouched", "fast", "slow", "late",
                                         "longer", "shorter", "-7"),
                         [](const auto& info) {
                           return std::string(info.param) == "-7" ? "error" : std::string(info.param);
                         });

// Breaks the timer after it was certified, when only the stamps of each sample can show it.
class LateTimer : public Faults, public testing::WithParamInterface<const char*> {};

TEST_P(LateTimer, GivesNoAbsurdNumber) {
  if (!has_event_times()) GTEST_SKIP() << "its own stamps are refused already: 0, 1, 2, 3";
  trial.faults(at_second(fmt::format("profile@$={}", GetParam())));
  ended = trial.run(three_cases(trial.csv()));
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  const Results results = read_results(trial.csv());
  expect_all_cases(results, three_cases(trial.csv()));
  expect_sound_cells(results);
  for (const auto& record : results.cases) {
    if (record.order != 2) {
      EXPECT_TRUE(record.ok()) << record.reason;
      continue;
    }
    // Excepts the slow clock: 41 times a short execution may still be less than its launch.
    if (record.ok()) {
      EXPECT_TRUE(record.timer == Timer::host || std::string(GetParam()) == "slow")
          << "the late fault is believed";
      continue;
    }
    EXPECT_TRUE(record.status == Status::implausible || record.status == Status::launch_failed)
        << record.status;
    for (const auto& time : {record.time_s, record.min_s, record.gb_per_s, record.time_low_s})
      EXPECT_FALSE(time.has_value()) << record.case_id;
  }
  EXPECT_EQ(ended.code, results.statuses()["ok"] == 3 ? 0 : 1) << ended.err;
}

INSTANTIATE_TEST_SUITE_P(Each, LateTimer,
                         testing::Values("zero", "constant", "backward", "untouched", "slow", "-7"),
                         [](const auto& info) {
                           return std::string(info.param) == "-7" ? "error" : std::string(info.param);
                         });

TEST_F(Faults, AWrappingTimerGivesNoAbsurdNumber) {
  if (!has_event_times()) GTEST_SKIP() << "its own stamps are refused already: 0, 1, 2, 3";
  trial.faults(at_second("profile@$=wrap"));
  ended = trial.run(three_cases(trial.csv()));
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  const Results results = read_results(trial.csv());
  expect_all_cases(results, three_cases(trial.csv()));
  expect_sound_cells(results);
  EXPECT_EQ(ended.code, results.statuses()["ok"] == 3 ? 0 : 1) << ended.err;
}

// Right when the device is opened, wrong from somewhere in the first case on. CLWEAVE_FAMILIES=all tries
// every family, which takes long; a list of them those.
Strings asked_families() {
  const char* text = std::getenv("CLWEAVE_FAMILIES");
  Strings names = split(text != nullptr ? text : "branch_divergence", ',');
  if (names != Strings{"all"}) return names;
  names.clear();
  for (const auto& family : all_families()) names.push_back(family.name);
  return names;
}

class TimerThatFailsLate : public Faults, public testing::WithParamInterface<const char*> {};

TEST_P(TimerThatFailsLate, LeavesNoFalseTime) {
  if (on("oclgrind")) GTEST_SKIP() << "it interprets: a family takes too long";
  const bool one_is_enough = !has_event_times() && GetParam() != std::string("fast");
  if (one_is_enough) GTEST_SKIP() << "its own stamps are refused already: 0, 1, 2, 3";
  trial.faults(fmt::format("profile:150+={}", GetParam()));
  // The kernels of all families are not to be built again for each fault.
  trial.set("POCL_CACHE_DIR", undisturbed.trial->cache().string());
  trial.set("MESA_SHADER_CACHE_DIR", undisturbed.trial->cache().string());
  for (const auto& family : asked_families()) {
    SCOPED_TRACE(family);
    // rusticl compiles at the first launch, and a busy machine may take minutes for 64 paths.
    const Strings arguments = {"run",       "--preset", "smoke", "--family",  family,       "--no-peak",
                               "--timeout", "600",      "--csv", trial.csv(), "--overwrite"};
    fs::remove(trial.log_path());
    trial.start(arguments);
    ended = trial.finish(1200);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_FALSE(trial.log().empty()) << "no fault happened";
    const Results results = read_results(trial.csv());
    expect_all_cases(results, arguments);
    expect_sound_cells(results);
    expect_samples_of_rows(trial.csv());
    std::size_t by_host = 0, ok = 0;
    for (const auto& record : results.cases) {
      if (!record.ok()) continue;
      ++ok;
      const double time_s = record.time_s.value_or(0), wall_s = record.wall_s.value_or(0);
      if (record.timer == Timer::host) {
        ++by_host;
        EXPECT_EQ(time_s, wall_s) << record.case_id;
        continue;
      }
      // The row from before.
      EXPECT_LE(time_s, 1.3 * wall_s) << record.case_id;
      EXPECT_TRUE(time_s >= 0.25 * wall_s || (wall_s - time_s) * static_cast<double>(*record.batch) < 1e-3)
          << record.case_id << ": " << time_s << " of " << wall_s << " s";
    }
    EXPECT_GE(by_host + 2, ok) << "stamps are believed long after they went wrong";
  }
}

// A wrong stamp of a counter that wraps is one in so many seconds: the timer is right before and after.
INSTANTIATE_TEST_SUITE_P(Each, TimerThatFailsLate,
                         testing::Values("zero", "constant", "backward", "untouched", "fast", "slow", "-7"),
                         [](const auto& info) {
                           return std::string(info.param) == "-7" ? "error" : std::string(info.param);
                         });

TEST_F(Faults, AQueueWithoutTimeStampsIsTimedByTheHost) {
  if (implementation() == "oclgrind") GTEST_SKIP() << "it stamps the events of any queue";
  const Results results = run_faulty("noprofile", 0);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    EXPECT_EQ(record.timer, Timer::host);
    EXPECT_EQ(record.timer_reason, "the driver has no queue with time stamps: CL_INVALID_QUEUE_PROPERTIES");
  }
}

// One case of n rows, which takes the longer the more there are.
Strings long_case(const std::string& csv, const std::string& n) {
  Strings words = three_cases(csv);
  std::ranges::replace(words, "n=33", n);
  std::ranges::replace(words, "kernel=(grid|unweave|nobranch)/", "kernel=grid/");
  for (const std::string& word : Strings{"--set", n, "--where", "form=corrected", "--no-peak"})
    words.push_back(word);
  return words;
}

// Right for the kernels that certify the timer, wrong for those of the case, which last longer than 30 ms,
// or 5.
class WrongForLong : public Faults, public testing::WithParamInterface<Named> {};

TEST_P(WrongForLong, IsNoTimeOfTheWork) {
  if (!has_event_times()) GTEST_SKIP() << "its own stamps are refused already: 0, 1, 2, 3";
  if (on("oclgrind")) GTEST_SKIP() << "it interprets: a launch of so much work takes minutes";
  trial.faults(fmt::format("profile@grid={}", GetParam().faults));
  const Strings arguments =
      long_case(trial.csv(), GetParam().name == std::string("early") ? "n=2801" : "n=4001");
  Record record;
  // A busy machine may keep the host from hearing of an end for as long as the stamps are wrong by.
  for (int tries = 0; tries < 4 && record.timer != Timer::host; ++tries) {
    for (const char* name : {"rows.csv", "rows.samples.csv"}) fs::remove(trial.folder() / name);
    ended = trial.run(arguments);
    const Results results = read_results(trial.csv());
    expect_sound_cells(results);
    ASSERT_EQ(results.cases.size(), 1U);
    record = results.cases.front();
  }
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  EXPECT_EQ(record.status, Status::ok) << record.reason;
  EXPECT_EQ(record.timer, Timer::host) << *record.time_s << " of " << *record.wall_s;
  EXPECT_NE(record.timer_reason.find("by the time stamps where the host waited"), std::string::npos)
      << record.timer_reason;
}

constexpr Named wrong_for_longs[] = {
    {"halved", "halved"}, {"early", "early"}, {"shorter", "shorter"}, {"longer", "longer"}};
INSTANTIATE_TEST_SUITE_P(Each, WrongForLong, testing::ValuesIn(wrong_for_longs), name_of);

// Opened while a machine was so busy that each launch took 10 ms, a device is faster afterwards: that is no
// finish that returns too early.
TEST_F(Faults, ADeviceThatIsFasterThanWhenItWasOpenedStillTellsTimes) {
  if (on("oclgrind")) GTEST_SKIP() << "it interprets: a launch takes as long anyway";
  const Results results = run_faulty("profile=zero,finish:100-=late,wait:100-=late", 0);
  EXPECT_GE(results.cases.size(), 3U);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    EXPECT_EQ(record.timer, Timer::host);
  }
}

// A finish that returns at once is no end of the work: by either clock a time is that of the work.
class EarlyFinish : public Faults, public testing::WithParamInterface<Named> {};

TEST_P(EarlyFinish, IsWaitedFor) {
  if (on("oclgrind")) GTEST_SKIP() << "it interprets: a launch of so much work takes minutes";
  trial.faults(GetParam().faults);
  ended = trial.run(long_case(trial.csv(), "n=1301"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  const Results results = read_results(trial.csv());
  expect_sound_cells(results);
  ASSERT_EQ(results.cases.size(), 1U);
  const auto& record = results.cases.front();
  EXPECT_EQ(record.status, Status::ok) << record.reason;
  EXPECT_NE(record.timer_reason.find("clFinish returns before the work has ended"), std::string::npos)
      << record.timer_reason;
  // 1.7 million elements take two cores milliseconds; to enqueue them takes microseconds.
  EXPECT_GE(record.time_s.value_or(0), 200e-6);
  EXPECT_GE(record.call_s.value_or(0), 200e-6);
}

constexpr Named early_finishs[] = {
    {"later", "finish:60+=early"},
    {"always", "finish=early"},
    {"without_stamps", "profile=zero,finish=early"},
};
INSTANTIATE_TEST_SUITE_P(Each, EarlyFinish, testing::ValuesIn(early_finishs), name_of);

// The work is done, and the host hears of it 10 ms later: that is no time of the work, by either clock.
class LateEnd : public Faults, public testing::WithParamInterface<const char*> {};

TEST_P(LateEnd, IsSaidAndIsNoTimeOfTheWork) {
  if (on("oclgrind")) GTEST_SKIP() << "it interprets: a launch takes as long anyway";
  // Leaves time for batches much longer than the delay of 10 ms: one of three launches would keep a third of
  // it.
  const Results late = run_faulty(GetParam(), 0, "60", {"--max-seconds", "1"});
  for (const auto& record : late.cases) {
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    if (!record.ok()) continue;
    if (record.timer == Timer::event) {
      EXPECT_NE(record.timer_reason.find("; the host hears of an end "), std::string::npos)
          << record.timer_reason;
    }
    // Expects the delay once per batch, which hides it, but in full for a single call.
    EXPECT_LT(*record.time_s, *record.call_s - 5e-3) << record.case_id;
    EXPECT_GT(*record.call_s, 10e-3) << record.case_id;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, LateEnd,
                         testing::Values("finish=late,wait=late", "profile=zero,finish=late,wait=late"),
                         [](const auto& info) { return info.index == 0 ? "by_event" : "by_host"; });

// A case of smoke, by another number of elements where it needs many: of such words one in a million is some.
Strings one_case(const std::string& csv, const char* family, const char* filter, const char* n) {
  return {"run", "--preset", "smoke", "--family",  family, "--filter",  filter,          "--set",
          n,     "--csv",    csv,     "--timeout", "60",   "--no-peak", "--max-seconds", "0.25"};
}

// ---- Fills, launches, reads and maps that are not what they say
// ---------------------------------------------

class WrongFill : public Faults, public testing::WithParamInterface<Named> {};

// Costs no row, and no kernel is accused of writing out of bounds.
TEST_P(WrongFill, IsReplacedByWrites) {
  if (on("oclgrind")) GTEST_SKIP() << "there memory is poisoned by writes anyway";
  const std::string fault = GetParam().faults;
  const bool hangs = fault == "fill=hang";
  if (hangs) trial.set("CLWEAVE_FAULTS_ABOVE", "1000000");
  const Results results = run_faulty(fault, 0, hangs ? "5" : "60");
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    EXPECT_NE(record.reason.find("poisoned by writes: clEnqueueFillBuffer"), std::string::npos)
        << record.reason;
  }
}

constexpr Named wrong_fills[] = {
    {"absent", "fill=-9999"},  {"nothing", "fill=none"},       {"half", "fill=half"},
    {"narrow", "fill=narrow"}, {"near", "fill=near"},          {"hangs", "fill=hang"},
    {"dies", "fill=crash"},    {"half_later", "fill:9+=half"},
};
INSTANTIATE_TEST_SUITE_P(Each, WrongFill, testing::ValuesIn(wrong_fills), name_of);

class Untrue : public Faults, public testing::WithParamInterface<Named> {};

TEST_P(Untrue, LaunchesOrReadsGiveNoRow) {
  const Results results = run_faulty(GetParam().faults, 1);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::wrong_result) << record.reason;
    EXPECT_NE(record.reason.find("launches are left out or reads show old content"), std::string::npos)
        << record.reason;
  }
}

constexpr Named untrues[] = {
    {"each_seventh", "enqueue:7*=skip"},
    {"equal", "enqueue=equal"},
    {"without_event", "enqueue=noevent"},
    {"stale", "read=stale"},
};
INSTANTIATE_TEST_SUITE_P(Each, Untrue, testing::ValuesIn(untrues), name_of);

class UntrueLater : public Faults, public testing::WithParamInterface<Named> {};

// From somewhere in the second case on.
TEST_P(UntrueLater, LaunchesOrReadsGiveNoRowFromThenOn) {
  const Results results = run_faulty(at_second(GetParam().faults), 1);
  EXPECT_EQ(results.cases.front().status, Status::ok) << results.cases.front().reason;
  EXPECT_FALSE(results.of(undisturbed.second_id).ok());
}

constexpr Named untrue_laters[] = {
    {"launches", "enqueue@$:2=noevent"},
    {"reads", "read@$:1=stale"},
};
INSTANTIATE_TEST_SUITE_P(Each, UntrueLater, testing::ValuesIn(untrue_laters), name_of);

// The kernel that counts is executed each time, so that only the rate shows what is left out.
TEST_F(Faults, ARateThatNoCopyReachesIsImplausible) {
  if (on("oclgrind")) GTEST_SKIP() << "it interprets: so many words take too long";
  if (on("rusticl")) GTEST_SKIP() << "what takes the place of a launch there takes about as long as a copy";
  trial.faults("enqueue@no_loop=equal");
  Strings arguments =
      one_case(trial.csv(), "copy", "kernel=no_loop/.*type=uint/.*width=4/.*group=64/", "n=4194304");
  arguments.back() = "2";  // seconds: time for samples enough that most are left out
  ended = trial.run(arguments);
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  ASSERT_EQ(results.cases.size(), 1U);
  EXPECT_EQ(results.cases.front().status, Status::implausible) << results.cases.front().reason;
  EXPECT_NE(results.cases.front().reason.find("GB/s where a quick copy of as many bytes reaches"),
            std::string::npos)
      << results.cases.front().reason;
}

// A reset without an error, as of a watchdog: nothing is executed any more by the process.
TEST_F(Faults, ADeviceThatDoesNothingIsNotTakenForAWrongKernel) {
  const Results results = run_faulty(at_second("enqueue@$:1=dead"), 1);
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"ok", 2}, {"device_lost", 1}}));
  const auto& second = results.of(undisturbed.second_id);
  EXPECT_EQ(second.status, Status::device_lost) << second.reason;
  EXPECT_NE(second.reason.find("as after a reset"), std::string::npos) << second.reason;
}

// Runs the cases of a family's smoke preset whose names match.
Strings smoke_of(const std::string& csv, const char* family, const char* filter) {
  return {"run",  "--preset",  "smoke", "--family", family, "--filter",
          filter, "--timeout", "60",    "--csv",    csv,    "--no-peak"};
}

// The launch that looks whether a work-group goes on that others wait for shows that none does.
TEST_F(Faults, ADeviceWithoutForwardProgressRunsScansWithAFallbackAlone) {
  if (on("rusticl")) GTEST_SKIP() << "no waiting kernel is planned for it: its loops end after 65535 turns";
  trial.faults("enqueue@ticket=skip");
  const Strings arguments = smoke_of(
      trial.csv(), "scan", "kernel=lookback(_fallback)?/type=uint/op=sum/form=inclusive/task=scan/.*/n=257/");
  ended = trial.run(arguments);
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  std::map<Status, int> statuses;
  for (const auto& record : results.cases) {
    ++statuses[record.status];
    if (record.case_id.find("kernel=lookback/") == std::string::npos) {
      EXPECT_EQ(record.status, Status::ok) << record.case_id << record.reason;
      continue;
    }
    EXPECT_EQ(record.status, Status::unsupported) << record.case_id;
    EXPECT_NE(record.reason.find("gave up waiting for one that had begun"), std::string::npos)
        << record.reason;
  }
  EXPECT_GT(statuses[Status::ok], 0);
  EXPECT_GT(statuses[Status::unsupported], 0);
}

class WrongMap : public Faults, public testing::WithParamInterface<Named> {};

TEST_P(WrongMap, CostsTheCasesThatMap) {
  trial.faults(GetParam().faults);
  const Strings arguments =
      smoke_of(trial.csv(), "transfer", "buffer=device/.*used=no/touched=yes/peer=0/n=4112");
  ended = trial.run(arguments);
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  expect_sound_cells(results);
  for (const auto& record : results.cases) {
    if (record.case_id.find("kernel=map") == std::string::npos &&
        record.case_id.find("kernel=unmap") == std::string::npos) {
      EXPECT_EQ(record.status, Status::ok) << record.case_id << record.reason;
      continue;
    }
    EXPECT_EQ(record.status, Status::wrong_result) << record.case_id << record.reason;
    EXPECT_NE(record.reason.find("maps were found wrong"), std::string::npos) << record.reason;
  }
}

constexpr Named wrong_maps[] = {
    {"stale", "map=stale"},
    {"lost", "map=lost"},
};
INSTANTIATE_TEST_SUITE_P(Each, WrongMap, testing::ValuesIn(wrong_maps), name_of);

// ---- A driver that corrupts ------------------------------------------------------------------------------

struct Corruption {
  const char* name;
  const char* faults;
  const char* family;
  const char* filter;
  const char* n;
  const char* reason;  // part of it
};

void PrintTo(const Corruption& corruption, std::ostream* out) { *out << corruption.faults; }

class Corrupted : public Faults, public testing::WithParamInterface<Corruption> {};

TEST_P(Corrupted, IsAWrongResult) {
  if (on("oclgrind")) GTEST_SKIP() << "it interprets: so many words take too long";
  const Corruption& corruption = GetParam();
  trial.faults(corruption.faults);
  const Strings arguments = one_case(trial.csv(), corruption.family, corruption.filter, corruption.n);
  ended = trial.run(arguments);
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  expect_sound_cells(results);
  ASSERT_EQ(results.cases.size(), 1U);
  EXPECT_EQ(results.cases.front().status, Status::wrong_result) << results.cases.front().reason;
  EXPECT_NE(results.cases.front().reason.find(corruption.reason), std::string::npos)
      << results.cases.front().reason;
}

// A later launch of `interleaved` is right as long as the first of an earlier execution has left what it
// needs.
constexpr const char* rare = "so few are wrong where memory or a transfer loses bits";
constexpr Corruption corruptions[] = {
    {"bits_read", "read=bits", "copy", "kernel=no_loop/.*type=uint/.*width=4/.*group=64/", "n=4194304", rare},
    {"bits_in_memory", "enqueue@no_loop=bits", "copy", "kernel=no_loop/.*type=uint/.*width=4/.*group=64/",
     "n=4194304", rare},
    {"out_of_order", "enqueue=after", "scan", "kernel=three_phase/type=uint/.*window=8/", "n=4099",
     "elements correct"},
    {"out_of_order_later", "enqueue@interleaved:3+=after", "reduction", "kernel=interleaved/op=sum/",
     "n=1009", "correct before the timing, wrong after it"},
    {"short", "enqueue=short", "scan", "kernel=three_phase/type=uint/.*window=8/", "n=4099",
     "elements correct"},
};
INSTANTIATE_TEST_SUITE_P(Each, Corrupted, testing::ValuesIn(corruptions),
                         [](const auto& info) { return info.param.name; });

// Finds a slow device, which does nothing wrong, by comparison with a reference of the same model, by a clock
// that other work does not disturb.
TEST_F(Faults, ASlowCopyIsNamedByItsFamily) {
  if (!on("pocl")) GTEST_SKIP() << "the layer's copies are the same anywhere; on PoCL alone, to save time";
  const auto measured = [&](const char* file) {
    std::string csv = (trial.folder() / file).string();
    // A busy host may refuse the layer's clock, and has none that tells times as exactly.
    for (int tries = 0; tries < 5; ++tries) {
      Strings arguments = one_case(csv, "copy", "kernel=buffer/.*type=uint/", "n=1048576");
      arguments.emplace_back("--overwrite");
      ended = trial.run(arguments);
      EXPECT_EQ(ended.code, 0) << ended.err;
      if (read_results(csv).cases.front().timer == Timer::event) break;
    }
    return csv;
  };
  const std::string reference = (trial.folder() / "reference.json").string();
  trial.faults("paced");
  ended = trial.run({"health", measured("good.csv"), measured("as_good.csv"), measured("good_too.csv"),
                     "--emit-reference", reference});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  trial.faults("paced,copy=slower");
  const std::string slow = measured("slow.csv");
  ended = trial.run({"health", slow, "--reference", reference, "--jsonl"});
  EXPECT_EQ(ended.code, 6) << ended.err;
  const auto metric = nlohmann::json::parse(ended.out);
  EXPECT_EQ(metric.at("family"), "copy");
  EXPECT_EQ(metric.at("verdict"), "fail");
  EXPECT_NEAR(metric.at("ratio").get<double>(), 1.08, 0.002);
}

// ---- Limits ----------------------------------------------------------------------------------------------

TEST_F(Faults, WithoutDoublePrecisionIsUnsupported) {
  Strings arguments = three_cases(trial.csv());
  std::ranges::replace(arguments, "type=float", "type=double");
  std::ranges::replace(arguments, "n=33", "n=64");
  std::ranges::replace(arguments, "parity=row", "operands=a");
  if (!on("rusticl")) trial.faults("nofp64");
  ended = trial.run(arguments);
  EXPECT_EQ(ended.code, 1) << "none of the cases is supported: " << ended.err;
  if (!on("rusticl")) {
    EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  }
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  expect_sound_cells(results);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::unsupported) << record.reason;
    EXPECT_NE(record.reason.find("double precision"), std::string::npos) << record.reason;
  }
}

TEST_F(Faults, ASmallerWorkGroupOfTheKernelIsUnsupported) {
  const Results results = run_faulty("kwgs=16", 1);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::unsupported) << record.reason;
    EXPECT_NE(record.reason.find("WORK_GROUP_SIZE"), std::string::npos) << record.reason;
  }
}

TEST_F(Faults, ASmallerWorkGroupOfTheDeviceIsUnsupported) {
  const Results results = run_faulty("maxwgs=32", 1);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::unsupported) << record.reason;
    EXPECT_NE(record.reason.find("work-group of 256 items, the device allows 32"), std::string::npos)
        << record.reason;
  }
}

TEST_F(Faults, ASmallerBufferIsUnsupported) {
  Strings arguments = three_cases(trial.csv());
  std::ranges::replace(arguments, "n=33", "n=3000");
  // The published forms refuse a size that needs a bounds check first.
  arguments.insert(arguments.end(), {"--set", "n=3000", "--where", "form=corrected"});
  trial.faults("maxalloc=20000000");
  ended = trial.run(arguments);
  EXPECT_EQ(ended.code, 1) << "none of the cases is supported: " << ended.err;
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::unsupported) << record.reason;
    EXPECT_NE(record.reason.find("needs a buffer of 36000000 bytes"), std::string::npos) << record.reason;
    EXPECT_NE(record.reason.find("the device allows 20000000"), std::string::npos) << record.reason;
  }
}

TEST_F(Faults, LessLocalMemoryIsUnsupported) {
  const auto& families = all_families();
  Selection smoke;
  smoke.preset = "smoke";
  DeviceInfo roomy;
  roomy.type = "cpu";
  roomy.max_group = 1024;
  roomy.max_group_dims = {1024, 1024, 64};
  roomy.memory_bytes = roomy.usable_bytes = roomy.max_alloc_bytes = 1 << 30;
  roomy.local_bytes = 32768;
  roomy.lockstep = 1;
  DeviceInfo tight = roomy;
  tight.local_bytes = 16;
  std::string id;
  for (const auto& job : select_jobs(families, smoke)) {
    const auto able = [&](const DeviceInfo& device) {
      try {
        plan_of(*job.family, job.at, device);
        return true;
      } catch (const Error&) {
        return false;
      }
    };
    if (id.empty() && able(roomy) && !able(tight)) id = job.at.id();
  }
  if (id.empty()) GTEST_SKIP() << "no case needs local memory";
  Strings arguments = {"run", "--preset", "smoke", "--filter", "^" + id + "$", "--csv", trial.csv()};
  const Strings kernels = quick_kernels();
  arguments.insert(arguments.end(), kernels.begin(), kernels.end());
  trial.faults("localmem=16");
  ended = trial.run(arguments);
  EXPECT_EQ(ended.code, 1) << "none of the cases is supported: " << ended.err;
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  EXPECT_EQ(results.cases.at(0).status, Status::unsupported) << results.cases.at(0).reason;
  EXPECT_NE(results.cases.at(0).reason.find("local memory"), std::string::npos) << results.cases.at(0).reason;
}

TEST_F(Faults, ADeviceThatIsReallySmallGivesRowsAndNoSmallerSizes) {
  if (!on("pocl")) GTEST_SKIP() << "PoCL alone can be told to have little memory";
  trial.set("POCL_MEMORY_LIMIT", "1");
  Strings arguments = three_cases(trial.csv());
  std::ranges::replace(arguments, "n=33", "n=12000");
  arguments.insert(arguments.end(), {"--set", "n=12000"});
  ended = trial.run(arguments);
  EXPECT_EQ(ended.code, 1) << "none of the cases is supported: " << ended.err;
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  for (const auto& record : results.cases) EXPECT_EQ(record.status, Status::unsupported) << record.reason;
}

// ---- Drivers that are no use -----------------------------------------------------------------------------

TEST_F(Faults, NoDeviceIsSaid) {
  for (const char* fault : {"devices=-1", "platforms=-1001", "devices=-6"}) {
    trial.faults(fault);
    ended = trial.run(three_cases(trial.csv()));
    EXPECT_EQ(ended.code, 3) << fault << "\n" << ended.err;
    EXPECT_NE(ended.err.find("no OpenCL device here"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("pocl-opencl-icd"), std::string::npos) << ended.err;
    EXPECT_FALSE(fs::exists(trial.csv())) << fault;
    EXPECT_FALSE(trial.log().empty()) << fault << " did not happen";
  }
}

// The layer stands between the loader and each driver, so it is the driver's platform that comes twice.
TEST_F(Faults, ADriverThatIsRegisteredTwiceIsMeasuredOnce) {
  trial.faults("twice");
  ended = trial.run(three_cases(trial.csv()));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  EXPECT_NE(ended.err.find("1:0 is 0:0 listed again"), std::string::npos) << ended.err;
  const Results results = read_results(trial.csv());
  EXPECT_EQ(results.cases.size(), 3U);
  for (const auto& record : results.cases) EXPECT_EQ(record.status, Status::ok) << record.reason;
}

// Nothing tells PoCL's devices apart but their place, so neither may be taken for the other.
TEST_F(Faults, ADeviceThatVanishesIsNotReplacedByAnother) {
  if (implementation() != "pocl") GTEST_SKIP() << "only PoCL shows one device as two";
  trial.set("POCL_DEVICES", "pthread pthread");
  trial.faults("gone");
  Strings words = three_cases(trial.csv());
  for (const char* more : {"--device", "0:0"}) words.emplace_back(more);
  ended = trial.run(words);
  EXPECT_EQ(ended.code, 1) << ended.err;
  const Results results = read_results(trial.csv());
  EXPECT_EQ(results.cases.size(), 3U);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::device_lost) << record.reason;
    EXPECT_NE(record.reason.find("is gone"), std::string::npos) << record.reason;
    EXPECT_FALSE(record.time_s) << "measured on another device";
  }
}

// Its copy of the driver's process has the pipe to the run open.
TEST_F(Faults, AForkOfADriverEndsWithItsProcess) {
  trial.faults("enqueue:40!=fork");
  ended = trial.run(three_cases(trial.csv(), "20"));
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  trial.expect_nobody_left();
  EXPECT_EQ(ended.err.find("no sign of life"), std::string::npos) << ended.err;
}

TEST_F(Faults, AnIgnoredSigchldIsReset) {
  trial.faults("enqueue:40!=crash");
  Strings words = {"--ignore-signal=CHLD", CLWEAVE_BINARY};
  for (auto& word : three_cases(trial.csv())) words.push_back(std::move(word));
  trial.start(words, "env");
  ended = trial.finish();
  EXPECT_FALSE(trial.log().empty()) << "no fault happened";
  EXPECT_EQ(ended.err.find("exit code 0"), std::string::npos) << ended.err;
  const Results results = read_results(trial.csv());
  for (const auto& record : results.cases) EXPECT_NE(record.status, Status::device_lost) << record.reason;
}

TEST_F(Faults, AQueryThatFailsCostsThatQuery) {
  trial.faults("query=4108");  // CL_DEVICE_MAX_CLOCK_FREQUENCY
  ended = trial.run(three_cases(trial.csv()));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("CL_DEVICE_MAX_CLOCK_FREQUENCY gave CL_INVALID_VALUE"), std::string::npos)
      << ended.err;
  const Results results = read_results(trial.csv());
  EXPECT_EQ(results.cases.size(), 3U);
  for (const auto& record : results.cases) {
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    EXPECT_FALSE(record.clock_mhz);
  }
}

TEST_F(Faults, NoDriverIsSaid) {
  const fs::path empty = trial.folder() / "vendors";
  fs::create_directory(empty);
  trial.set("OCL_ICD_VENDORS", empty.string());
  ended = trial.run(three_cases(trial.csv()));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("no OpenCL device here"), std::string::npos) << ended.err;
  std::ofstream(empty / "gone.icd") << "libgone.so\n";
  ended = trial.run(three_cases(trial.csv()));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("gone.icd cannot be loaded: libgone.so"), std::string::npos) << ended.err;
}

class BadDriver : public Faults, public testing::WithParamInterface<const char*> {
 protected:
  // A folder with that driver, and the good one beside it if wanted.
  void install(bool with_good) {
    const fs::path vendors = trial.folder() / "vendors";
    fs::create_directory(vendors);
    bad_ = std::string("bad_icd_") + GetParam() + ".icd";
    fs::copy_file(fs::path(CLWEAVE_BAD_ICDS) / bad_, vendors / bad_);
    if (with_good) {
      for (const auto& entry : fs::directory_iterator(std::getenv("OCL_ICD_VENDORS")))
        fs::copy(entry.path(), vendors / entry.path().filename());
    }
    trial.set("OCL_ICD_VENDORS", vendors.string());
  }
  std::string bad_;
};

TEST_P(BadDriver, IsNamedAndTheOthersAreUsed) {
  install(true);
  const Strings arguments = three_cases(trial.csv(), "5");
  ended = trial.run(arguments);
  EXPECT_NE(ended.err.find(bad_ + " is left out"), std::string::npos) << ended.err;
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"ok", 3}})) << ended.err;
}

TEST_P(BadDriver, AloneIsNoDevice) {
  if (!on("pocl")) GTEST_SKIP() << "no other driver has a part in this";
  install(false);
  ended = trial.run(three_cases(trial.csv(), "2"));
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find(bad_ + " is left out"), std::string::npos) << ended.err;
  EXPECT_LE(ended.seconds, 60);
}

INSTANTIATE_TEST_SUITE_P(Each, BadDriver, testing::Values("crash", "hang", "exit", "abort"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(Faults, ABrokenKernelCacheIsWorkedAround) {
  if (!on("pocl")) GTEST_SKIP() << "PoCL alone is known to abort on a broken cache";
  int broken = 0;
  for (const auto& entry : fs::recursive_directory_iterator(trial.cache())) {
    if (entry.path().extension() != ".so") continue;
    fs::resize_file(entry.path(), 100);
    ++broken;
  }
  ASSERT_GT(broken, 0);
  const Strings arguments = three_cases(trial.csv());
  for (const char* name : {"rows.csv", "rows.samples.csv"}) fs::remove(trial.folder() / name);
  ended = trial.run(arguments);
  const Results results = read_results(trial.csv());
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_all_cases(results, arguments);
  expect_sound_cells(results);
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"ok", 3}}));
  int remarks = 0;
  for (const auto& record : results.cases)
    remarks += record.reason.find("with empty kernel caches") != std::string::npos ? 1 : 0;
  EXPECT_GE(remarks, 1);
}

// ---- A machine that lacks something ----------------------------------------------------------------------

// A crash asks for empty kernel caches, which need a place.
TEST_F(Faults, ACrashWithoutATemporaryFolderIsARow) {
  if (!on("pocl")) GTEST_SKIP() << "much like another; on PoCL alone, to save time";
  trial.set("TMPDIR", "/no/such/folder");
  const Results results = run_faulty(at_second("enqueue@$:1=crash"), 1);
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"ok", 2}, {"crashed", 1}}));
}

// The case that takes its process along comes when no further one can be had.
TEST_F(Faults, AProcessThatCannotBeStartedIsARow) {
  if (!on("pocl")) GTEST_SKIP() << "much like another; on PoCL alone, to save time";
  trial.faults(at_second("enqueue@$:1=hang"));
  const Strings arguments = three_cases(trial.csv(), "5");
  trial.start(arguments);
  ASSERT_TRUE(trial.wait_until([&] { return !trial.log().empty(); }));
  // Leaves two files, which UBSan needs to test addresses by a pipe, and which are too few for another
  // process.
  trial.limit(RLIMIT_NOFILE, trial.limit_for_files(2));
  ended = trial.finish();
  EXPECT_EQ(ended.code, 1) << ended.err;
  const Results results = read_results(trial.csv());
  expect_all_cases(results, arguments);
  expect_sound_cells(results);
  EXPECT_EQ(results.statuses(), (std::map<std::string, int>{{"ok", 1}, {"timeout", 1}, {"device_lost", 1}}));
  EXPECT_NE(results.cases.back().reason.find("Too many open files"), std::string::npos)
      << results.cases.back().reason;
}

// ---- Where the rows go -----------------------------------------------------------------------------------

TEST_F(Faults, AFullDiskIsSaid) {
  ended = trial.run(three_cases("/dev/full"));
  EXPECT_EQ(ended.code, 5) << ended.err;
  EXPECT_NE(ended.err.find("/dev/full"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("No space left"), std::string::npos) << ended.err;
}

TEST_F(Faults, ADiskThatFillsUpLeavesAValidPrefix) {
  // The header and two rows fit, the third does not.
  const auto size = [](const fs::path& path) { return fs::file_size(path); };
  const auto kib = 4 * (size(undisturbed.trial->csv()) / 2 / 4096 + 1);
  const std::string script =
      with_mount(fmt::format("mount -t tmpfs -o size={}k none /mnt; {} ; code=$?; cp /mnt/* {}; exit $code",
                             kib, quoted(three_cases("/mnt/rows.csv")), trial.folder().string()));
  if (script.empty()) GTEST_SKIP() << "no file system can be mounted here";
  trial.start({"-m", "sh", "-c", script}, "unshare");
  ended = trial.finish();
  EXPECT_EQ(ended.code, 5) << ended.err;
  EXPECT_NE(ended.err.find("No space left"), std::string::npos) << ended.err;
  const Results results = read_results(trial.csv());
  EXPECT_FALSE(results.finished);
  EXPECT_LT(results.rows, undisturbed.results.rows);
  expect_sound_cells(results);
}

TEST_F(Faults, AFolderThatCannotBeWrittenIsSaid) {
  std::ofstream(trial.folder() / "file") << "no folder";
  ended = trial.run(three_cases((trial.folder() / "file" / "rows.csv").string()));
  EXPECT_EQ(ended.code, 5) << ended.err;
  EXPECT_NE(ended.err.find("file/rows.csv"), std::string::npos) << ended.err;
  const std::string script =
      with_mount("mount -t tmpfs -o ro none /mnt; exec " + quoted(three_cases("/mnt/rows.csv")));
  if (script.empty()) GTEST_SKIP() << "no file system can be mounted here";
  trial.start({"-m", "sh", "-c", script}, "unshare");
  ended = trial.finish();
  EXPECT_EQ(ended.code, 5) << ended.err;
  EXPECT_NE(ended.err.find("Read-only file system"), std::string::npos) << ended.err;
}

TEST_F(Faults, AReaderThatLeavesEndsTheRun) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  trial.start(three_cases("-"), CLWEAVE_BINARY, pipe_ends[1]);
  close(pipe_ends[1]);
  char bytes[64];
  EXPECT_GT(read(pipe_ends[0], bytes, sizeof bytes), 0);
  close(pipe_ends[0]);
  ended = trial.finish();
  EXPECT_EQ(ended.code, 141) << "as shells report a program that SIGPIPE ended: " << ended.err;
}

TEST_F(Faults, AFileThatHoldsSomethingIsNotTouched) {
  std::ofstream(trial.csv()) << "mine\n";
  ended = trial.run(three_cases(trial.csv()));
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_EQ(content_of(trial.csv()), "mine\n");
}

// ---- The user --------------------------------------------------------------------------------------------

class Interrupt : public Faults, public testing::WithParamInterface<int> {};

TEST_P(Interrupt, LeavesAValidPrefixToGoOnFrom) {
  const Strings arguments = three_cases(trial.csv());
  trial.start(arguments);
  ASSERT_TRUE(trial.wait_until([&] { return lines_of(content_of(trial.csv())).size() >= 2; }));
  trial.send(GetParam());
  ended = trial.finish();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_NE(ended.err.find("--resume"), std::string::npos) << ended.err;
  trial.expect_nobody_left();
  const Results before = read_results(trial.csv());
  EXPECT_FALSE(before.finished);
  EXPECT_GE(before.rows, 1u);
  EXPECT_LT(before.cases.size(), 3u);
  expect_sound_cells(before);
  ended = trial.run({"run", "--resume", trial.csv()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const Results after = read_results(trial.csv());
  expect_all_cases(after, arguments);
  expect_samples_of_rows(trial.csv());
  EXPECT_EQ(after.rows, undisturbed.results.rows);
}

INSTANTIATE_TEST_SUITE_P(Each, Interrupt, testing::Values(SIGINT, SIGTERM), [](const auto& info) {
  return std::string(info.param == SIGINT ? "sigint" : "sigterm");
});

TEST_F(Faults, ASecondInterruptDoesNotWaitForAHang) {
  trial.faults(at_second("enqueue@$:1=hang"));
  trial.start(three_cases(trial.csv(), "30"));
  ASSERT_TRUE(trial.wait_until([&] { return !trial.log().empty(); }));
  trial.send(SIGINT);
  sleep_ms(100);
  const double asked_at = now();
  trial.send(SIGINT);
  ended = trial.finish();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_LE(now() - asked_at, 20);
  EXPECT_EQ(read_results(trial.csv()).rows, 1u);
}

TEST_F(Faults, AnInterruptedSearchForDevicesIsAnInterrupt) {
  const fs::path vendors = trial.folder() / "vendors";
  fs::create_directory(vendors);
  fs::copy_file(fs::path(CLWEAVE_BAD_ICDS) / "bad_icd_hang.icd", vendors / "bad_icd_hang.icd");
  trial.set("OCL_ICD_VENDORS", vendors.string());
  trial.start(three_cases(trial.csv(), "30"));
  ASSERT_TRUE(trial.wait_until([&] { return trial.alive().size() >= 2; }));
  sleep_ms(200);
  trial.send(SIGINT);
  sleep_ms(100);
  const double asked_at = now();
  trial.send(SIGINT);
  ended = trial.finish();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_LE(now() - asked_at, 20);
}

TEST_F(Faults, AKilledSupervisorTakesItsChildrenAlong) {
  trial.faults(at_second("enqueue@$:1=spin"));
  trial.start(three_cases(trial.csv(), "30"));
  ASSERT_TRUE(trial.wait_until([&] { return !trial.log().empty(); }));
  EXPECT_EQ(trial.alive().size(), 2u);
  trial.send(SIGKILL);
  ended = trial.finish();
  EXPECT_EQ(ended.code, 128 + SIGKILL);
  trial.expect_nobody_left();
  EXPECT_EQ(read_results(trial.csv()).rows, 1u);
}

}  // namespace
