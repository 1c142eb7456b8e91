// SPDX-License-Identifier: Apache-2.0
// one_device: the device that test_kernels is about, opened, and the cases that it is given.
//
// OCL_ICD_VENDORS shows one implementation alone, and CLWEAVE_TEST_IMPLEMENTATION names it: pocl, rusticl,
// oclgrind or intel. Of all drivers installed CLWEAVE_TEST_DEVICE=SEL chooses one device, as `clweave run
// --device SEL` does; then the program needs no other file.
#pragma once
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "device/enumerate.hpp"
#include "device/open_device.hpp"
#include "device/run_case.hpp"
#include "suite/family.hpp"
#include "suite/selection.hpp"

namespace clweave::suite {

// For gtest's messages.
inline void PrintTo(const Job& job, std::ostream* out) { *out << short_id(job); }

}  // namespace clweave::suite

namespace clweave::commands {

namespace fs = std::filesystem;

inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

inline bool is_asked() {
  return !variable("CLWEAVE_TEST_IMPLEMENTATION").empty() || !variable("CLWEAVE_TEST_DEVICE").empty();
}

inline std::string text_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Throws where there is none, or a choice.
inline const DeviceInfo& device() {
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
inline const std::map<std::string, std::string>& platform_marks() {
  static const std::map<std::string, std::string> marks = {
      {"pocl", "PoCL"}, {"rusticl", "rusticl"}, {"oclgrind", "Oclgrind"}, {"intel", "Intel"}};
  return marks;
}

inline std::string platform_text() { return device().platform + ", " + device().platform_version; }

// Returns the name of the OpenCL implementation, empty if it is unknown. Intel's is the one for CPUs.
inline const std::string& implementation() {
  static const std::string name = [] {
    if (auto said = variable("CLWEAVE_TEST_IMPLEMENTATION"); !said.empty()) return said;
    for (const auto& [known, mark] : platform_marks()) {
      if (platform_text().find(mark) != std::string::npos && device().type == "cpu") return known;
    }
    return std::string();
  }();
  return name;
}

inline bool on(const char* name) { return implementation() == name; }

// Replaces what must stand exactly once in the text; returns the line it began on.
inline std::ptrdiff_t replace_in(const fs::path& path, const std::string& from, const std::string& to) {
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
inline SamplingOptions once() {
  SamplingOptions rule;
  rule.stop.precision = 1;
  rule.stop.min_samples = 1;
  rule.stop.max_samples = 1;
  rule.stop.max_seconds = 1e-3;
  rule.max_batch = 1;
  rule.warm_up_s = 0;
  return rule;
}

inline Record record_of(OpenDevice& session, const Job& job) {
  return run_case(session, *job.family, job.at, once()).record;
}

inline const std::vector<Family>& families() {
  const auto& all = all_families();
  return all;
}

inline std::vector<Job> jobs_of(const std::string& family, const std::vector<std::string>& where = {},
                                const std::vector<std::string>& set = {}) {
  Selection wanted;
  wanted.preset = "smoke";
  wanted.families = {family};
  wanted.where = where;
  wanted.set = set;
  return select_jobs(families(), wanted);
}

inline bool is_known_incorrect(const Job& job) {
  return job.family->axis("form") != nullptr && job.at.is("form", "known_incorrect");
}

// A simulated work-item takes microseconds, and so does a simulated load.
inline bool is_too_big_to_simulate(const Job& job) try {
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
// Its check for uninitialised reads crashes on floating-point `single` and `vector`; in `binomial` and for
// tuples its optimising compiler leaves a call that the simulator does not know.
inline bool is_beyond_the_simulator(const Job& job) {
  const Case& at = job.at;
  if (job.family->name == "reduction")
    return (at.text("kernel").ends_with("single") || at.is("kernel", "vector")) &&
           (at.is("type", "float") || at.is("type", "double"));
  return job.family->name == "scan" && (at.is("kernel", "binomial") || at.number("tuple") != 1);
}

// The smoke preset, without known-incorrect cases or them alone.
inline std::vector<Job> smoke_jobs(bool known_incorrect_cases) {
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
inline std::string beyond_this_implementation(const Job& job) {
  if (!on("oclgrind")) return {};
  const Case& at = job.at;
  // Skips a bug of Oclgrind 21.10: its compiler narrows `item / granularity % 8` to a 3-bit integer, but the
  // simulator does not truncate the value, so that work-items from the second round of paths on reach no case
  // of the switch. Of two paths it makes no switch.
  if (job.family->name == "branch_divergence" && at.number("paths") > 2 &&
      at.number("n") > at.number("paths") * at.number("granularity"))
    return "Oclgrind 21.10 loses items behind the first round of paths";
  // Skips plain loads beside atomics, of which OpenCL C 1.2 promises nothing: these cases measure them.
  if (job.family->name == "group_latency" && at.is("look", "load")) return "Oclgrind calls it a race";
  // Skips a kernel that reads what lies between the rows: it is only filled, which Oclgrind does not see.
  if (job.family->name == "transfer" && at.is("kernel", "rect_write") && at.is("used", "yes"))
    return "Oclgrind takes what lies between the rows for uninitialised";
  if (is_too_big_to_simulate(job)) return "too big to simulate";
  return is_beyond_the_simulator(job) ? "Oclgrind 21.10 dies of it as it looks at the others" : "";
}

// The first case of every kernel of every family, and of every path that its items have to each other: for
// what depends on the kernel alone.
inline std::vector<Job> first_of_each_kernel(const std::vector<Job>& jobs) {
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

// Intel's compiler for processors and the simulator take minutes for all cases: one per kernel, unless
// CLWEAVE_ALL_CASES is set.
inline bool is_one_of_many(const Job& job) {
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

class Kernels : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!is_asked()) return;
    folder_ = std::make_unique<KernelFolder>();
    opened_ = std::make_unique<Opened>(folder_->path());
    logged_ = 0;
  }
  static void TearDownTestSuite() {
    opened_.reset();
    folder_.reset();
  }

  void SetUp() override {
    if (!is_asked())
      GTEST_SKIP() << "neither CLWEAVE_TEST_DEVICE nor, as by CTest, CLWEAVE_TEST_IMPLEMENTATION is set";
  }
  void TearDown() override {
    if (opened_) logged_ += log().size();
  }

  static bool is_open() { return opened_ != nullptr; }
  static OpenDevice& session() {
    if (!opened_) throw std::runtime_error("the device could not be opened: the reason stands above");
    return *opened_->session;
  }
  static const fs::path& kernels() { return folder_->path(); }  // as they are shipped
  // Returns what the driver has printed in this test, or before the first one.
  static std::string log() { return text_of_file(opened_->log).substr(logged_); }

 private:
  friend class OneDevice;
  static inline std::unique_ptr<KernelFolder> folder_;
  static inline std::unique_ptr<Opened> opened_;
  static inline std::size_t logged_ = 0;
};

// Keeps the device open from one suite of such tests to the next, so that they share the programs built.
class AllKernels : public Kernels {
 protected:
  static void SetUpTestSuite() {
    if (!is_open()) Kernels::SetUpTestSuite();
  }
  static void TearDownTestSuite() {}
};

// Fails if the device is missing, because otherwise every test would be skipped; closes it at the end.
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
  void TearDown() override { Kernels::TearDownTestSuite(); }
};
[[maybe_unused]] inline const auto* const registered = testing::AddGlobalTestEnvironment(new OneDevice);

}  // namespace clweave::commands
