// SPDX-License-Identifier: Apache-2.0
// test_random_cases: every kernel at random sizes, launch configurations and seeds of its inputs, beside the
// fixed cases of test_kernels.
//
// Looks at results alone: no time is taken, so none can fail. The draws follow from --gtest_random_seed,
// which is printed; the draws of one kernel do not depend on which others run. Where no seed is given it is
// 1, so that a change is never refused for what was there before it; with CLWEAVE_ALL_CASES it is drawn.
//
// A build takes much longer than an execution. Most cases have the program of a fixed case, another size and
// other inputs; a few have a launch configuration of their own.
#include <bit>
#include <random>

#include "base/hash.hpp"
#include "device/one_device.hpp"
#include "device/program.hpp"

using namespace clweave::commands;
using testing::HasSubstr;

namespace {

int seed_of_draws() {
  static const int seed = [] {
    const int said = GTEST_FLAG_GET(random_seed);
    if (said != 0 || std::getenv("CLWEAVE_ALL_CASES") == nullptr) return std::max(said, 1);
    return static_cast<int>(1 + std::random_device()() % 99999);
  }();
  return seed;
}

// Prints the seed where a log shows it, whether or not a test fails.
class SaysSeed : public testing::Environment {
 public:
  void SetUp() override { fmt::print("random cases: --gtest_random_seed={}\n", seed_of_draws()); }
};
[[maybe_unused]] const auto* const says_seed = testing::AddGlobalTestEnvironment(new SaysSeed);

// One kernel and its fixed cases.
struct Kernel {
  std::string name;
  std::vector<Job> fixed;
};

void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.name; }

std::size_t cases_of_each_kernel() { return on("oclgrind") ? 3 : 50; }

// A size is drawn at random, or is that of a fixed case up to so many times: what a kernel asks of it is
// known there.
constexpr std::uint64_t times = 4;

// Largest buffers, in all, and largest launch of a plan.
struct Extent {
  std::uint64_t bytes = 0, items = 0;

  bool within(const Extent& most) const { return bytes <= most.bytes && items <= most.items; }
};

Extent extent_of(const Plan& plan) {
  Extent out;
  for (const auto& buffer : plan.buffers) out.bytes += buffer.bytes;
  for (const auto& step : plan.steps) {
    if (const auto* const launch = std::get_if<Launch>(&step))
      out.items = std::max<std::uint64_t>(out.items, items_in(launch->global));
  }
  return out;
}

// A simulator takes microseconds for a work-item.
Extent small_extent() { return on("oclgrind") ? Extent{1 << 14, 1 << 9} : Extent{1 << 18, 1 << 13}; }

// Axes whose values tell the kernels apart.
constexpr const char* kernel_axes[] = {"kernel", "operation"};

bool names_kernel(const Axis& axis) {
  return std::ranges::find(kernel_axes, axis.name) != std::end(kernel_axes);
}

// Draws one case after the other, from a seed.
class Draws {
 public:
  Draws(const Kernel& kernel, int seed)
      : kernel_(kernel),
        random_(static_cast<std::uint64_t>(seed), std::stoull(hash_of(kernel.name), nullptr, 16)) {}

  std::uint64_t below(std::uint64_t n) { return random_(drawn_++) % n; }

  // Draws a case with the program of a fixed one, or with a launch configuration of its own. Returns nothing
  // where the draw is no valid case.
  std::optional<Job> next(bool own_launch) {
    const Job& fixed = kernel_.fixed[below(kernel_.fixed.size())];
    const Family& family = *fixed.family;
    Sweep sweep;
    for (const auto& axis : family.axes) {
      Value value = fixed.at.at(axis.name);
      if (is_size(axis.name) && family.uses(fixed.at, axis.name))
        value = size_of(axis, value).value_or(value);
      else if (own_launch && !names_kernel(axis) && below(2) == 0)
        value = launch_of(axis).value_or(value);
      sweep[axis.name] = Values(value);
    }
    const auto cases = cases_of(family, {sweep}, random_(drawn_++));
    if (cases.empty() || is_known_incorrect({&family, cases.front()})) return {};
    return Job{.family = &family, .at = cases.front()};
  }

 private:
  static constexpr std::uint64_t largest_size = 5000;

  // Draws small sizes as often as large ones, and those next to powers of two, where tiles end.
  std::uint64_t size() {
    switch (below(3)) {
      case 0: return 1 + below(300);
      case 1: return std::max<std::uint64_t>(1, (std::uint64_t{1} << below(13)) + below(3) - 1);
      default: return 1 + below(largest_size);
    }
  }

  // Draws multiples of what loops are unrolled by, too.
  std::uint64_t steps() { return below(2) == 0 ? 1 + below(40) : 16 * (1 + below(8)); }

  std::optional<Value> size_of(const Axis& axis, const Value& fixed) {
    if (below(4) == 0)
      return axis.taken(std::get<std::int64_t>(fixed) * static_cast<std::int64_t>(1 + below(times)));
    auto n = static_cast<std::int64_t>(axis.name == steps_axis ? steps() : size());
    if (axis.domain.of == Domain::Of::multiples)
      n = std::max<std::int64_t>(1, n / axis.domain.step) * axis.domain.step;
    if (axis.domain.of == Domain::Of::powers_of_two)
      n = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
    return axis.taken(std::max(n, static_cast<std::int64_t>(axis.domain.least)));
  }

  // Draws any small work-group, and otherwise values that the family lists: what compilers unroll stays
  // small.
  std::optional<Value> launch_of(const Axis& axis) {
    constexpr std::int64_t most = 16;
    if (axis.name == "group" && axis.domain.of == Domain::Of::whole)
      return axis.taken(static_cast<std::int64_t>(below(2) == 0 ? 1 + below(256) : 32 * (1 + below(8))));
    const Value& value = axis.values[below(axis.values.size())];
    const auto* const number = std::get_if<std::int64_t>(&value);
    if (number != nullptr && axis.name != "group" && *number > most) return {};
    return value;
  }

  const Kernel& kernel_;
  Random<std::uint64_t> random_;
  std::uint64_t drawn_ = 0;
};

// Plans a case, of half the size until it is small. Returns nothing if it never is, or if the device lacks
// something.
std::optional<Plan> small_plan(Job& job, const Extent& most) try {
  for (int halving = 0; halving < 14; ++halving) {
    Plan plan = plan_of(*job.family, job.at, device());
    if (extent_of(plan).within(most)) return plan;
    const Axis* const size = job.family->axis(elements_axis);
    if (size == nullptr) break;
    const auto smaller = size->taken(job.at.number(elements_axis) / 2);
    if (!smaller) break;
    job.at = job.at.with(elements_axis, *smaller);
  }
  return {};
} catch (const Error& error) {
  if (error.code == ErrorCode::unsupported || error.code == ErrorCode::usage) return {};
  throw;
}

// Returns whether executions build programs, which takes long.
bool builds(const Plan& plan) {
  return std::ranges::any_of(plan.steps,
                             [](const Step& step) { return std::holds_alternative<Build>(step); });
}

std::string program_of(const Plan& plan) { return source_of(plan, "").kernel_hash; }

std::vector<Kernel> kernels_with_cases() {
  std::vector<Kernel> out;
  for (const auto& job : smoke_jobs(false)) {
    std::string name = job.family->name;
    for (const char* axis : kernel_axes) {
      if (job.family->axis(axis) != nullptr) name += "_" + job.at.text(axis);
    }
    auto known = std::ranges::find(out, name, &Kernel::name);
    if (known == out.end()) known = out.insert(out.end(), {name, {}});
    known->fixed.push_back(job);
  }
  return out;
}

// The programs that the random cases of a kernel may have: those of its fixed cases, and a few others. Cases
// are small, or up to `times` the size of the smallest fixed one.
class Programs {
 public:
  Programs(const Kernel& kernel, std::size_t others) : most_(small_extent()), room_(others) {
    Extent least{UINT64_MAX, UINT64_MAX};
    for (const auto& job : kernel.fixed) {
      if (!beyond_this_implementation(job).empty() || is_one_of_many(job)) continue;
      try {
        const Plan plan = plan_of(*job.family, job.at, device());
        taken_.insert(program_of(plan));
        const Extent extent = extent_of(plan);
        least = {std::min(least.bytes, extent.bytes), std::min(least.items, extent.items)};
      } catch (const Error&) {
        continue;  // the device lacks something
      }
    }
    if (taken_.empty()) room_ = 0;  // no draw of a kernel that the device lacks
    if (!taken_.empty() && !on("oclgrind"))
      most_ = {std::max(most_.bytes, times * least.bytes), std::max(most_.items, times * least.items)};
  }

  const Extent& most() const { return most_; }
  std::size_t room() const { return room_; }
  // Returns whether there is a program left.
  bool any() const { return room_ > 0 || refused_.size() < taken_.size(); }
  // Returns whether a plan may have its program.
  bool take(const Plan& plan) {
    const std::string program = program_of(plan);
    if (refused_.contains(program)) return false;
    if (taken_.contains(program)) return true;
    if (room_ == 0) return false;
    --room_;
    return taken_.insert(program).second;
  }
  // The compiler does not take it.
  void refuse(const Plan& plan) { refused_.insert(program_of(plan)); }

 private:
  std::set<std::string> taken_, refused_;
  Extent most_;
  std::size_t room_;
};

// Says what went wrong with a case, and how to see it again.
std::string text_of(const Record& record, std::uint64_t seed) {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format(
      "{}: {}\n  case {}, inputs by seed {}\n  again: GTEST_RANDOM_SEED={} GTEST_FILTER='{}.{}' ctest "
      "--preset ci "
      "-R kernels.{}",
      record.status, record.reason, record.case_id, seed, seed_of_draws(), test->test_suite_name(),
      test->name(), implementation());
}

// Outcome of the random cases of a kernel.
struct Tally {
  std::size_t right = 0, wanted = cases_of_each_kernel();
  bool any_program = true;  // that the compiler takes
  std::string failure;      // of the first that is not right, where they end
};

// Oclgrind 21.10 keeps 8 bytes for whether an image argument is initialised and reads a whole description of
// an image there (isCleanImage in its src/plugins/Uninitialized.cpp): what lies behind them decides, which
// with some sizes is not zero. With linear filters its plugin may crash.
bool calls_images_uninitialised(const Plan& plan) {
  return on("oclgrind") &&
         std::ranges::any_of(plan.buffers, [](const BufferSpec& spec) { return spec.image.has_value(); });
}

// Returns whether Oclgrind lacks a function that its own compiler calls, as
// llvm.experimental.noalias.scope.decl where a function with `restrict` was inlined.
bool lacks_intrinsic(const Record& record) {
  return on("oclgrind") && record.reason.find("Undefined external function: llvm.") != std::string::npos;
}

Tally tally_of(const Kernel& kernel, OpenDevice& session, int seed) {
  Tally tally;
  Draws draws(kernel, seed);
  Programs programs(kernel, std::getenv("CLWEAVE_ALL_CASES") != nullptr ? 3 : draws.below(3) / 2);
  for (std::size_t draw = 0;
       draw < 100 * cases_of_each_kernel() && tally.right < tally.wanted && programs.any(); ++draw) {
    auto job = draws.next(programs.room() > 0);
    if (!job) continue;
    const auto plan = small_plan(*job, programs.most());
    if (!plan || !beyond_this_implementation(*job).empty() || calls_images_uninitialised(*plan) ||
        !programs.take(*plan))
      continue;
    if (builds(*plan)) tally.wanted = 3;
    const Record record = check_case(session, *job->family, job->at).record;
    if (record.status == Status::unsupported) {
      if (plan->may_fail_to_build) programs.refuse(*plan);
      continue;
    }
    if (lacks_intrinsic(record)) {
      programs.refuse(*plan);
      continue;
    }
    if (!record.ok()) {
      tally.failure = text_of(record, job->at.seed);
      return tally;
    }
    ++tally.right;
  }
  tally.any_program = programs.any();
  return tally;
}

class RandomCases : public AllKernels, public testing::WithParamInterface<Kernel> {};

// Intel's and Mesa's compilers take minutes for the programs of all kernels: a third of them is drawn,
// another with each seed, unless a filter or CLWEAVE_ALL_CASES asks for all.
bool is_left_out(const std::string& kernel) {
  if ((!on("intel") && !on("rusticl")) || GTEST_FLAG_GET(filter) != "*" ||
      std::getenv("CLWEAVE_ALL_CASES") != nullptr)
    return false;
  return std::stoull(hash_of(fmt::format("{} {}", kernel, seed_of_draws())), nullptr, 16) % 3 != 0;
}

TEST_P(RandomCases, AreRight) {
  if (is_left_out(GetParam().name))
    GTEST_SKIP() << "drawn by other seeds of --gtest_random_seed, and with CLWEAVE_ALL_CASES=1";
  const Tally tally = tally_of(GetParam(), session(), seed_of_draws());
  EXPECT_EQ(log(), "") << "Oclgrind's findings";
  ASSERT_EQ(tally.failure, "");
  if (tally.right == 0 && (!tally.any_program || !on("pocl")))
    GTEST_SKIP() << "this device can run no draw of it";
  if (on("pocl")) {
    EXPECT_GT(tally.right, 0U) << "cases: the draws are too large for this kernel";
  }
  if (tally.right < tally.wanted)
    fmt::print("{}: {} cases of {}, the other draws are too large, or refused\n", GetParam().name,
               tally.right, tally.wanted);
}

// The fixed cases are right with this error.
TEST_F(Kernels, RandomCasesFindWhatFixedOnesMiss) {
  if (on("oclgrind") || on("intel"))
    GTEST_SKIP() << "takes long there, and nothing of it depends on the device";
  KernelFolder wrong;
  replace_in(wrong.path() / "branch_divergence.cl", "if (item >= n) return;",
             "if (item >= n || (n % 7u == 3u && n > 512u && item == 500u)) return;");
  const Opened opened(wrong.path());
  const auto all = kernels_with_cases();
  const Kernel& kernel = *std::ranges::find(all, "branch_divergence", &Kernel::name);
  for (const auto& job : kernel.fixed)
    EXPECT_TRUE(check_case(*opened.session, *job.family, job.at).record.ok());
  EXPECT_THAT(tally_of(kernel, *opened.session, 1).failure,
              testing::AllOf(testing::StartsWith("wrong_result: "), HasSubstr(" elements correct, "),
                             HasSubstr("GTEST_RANDOM_SEED=")));
}

INSTANTIATE_TEST_SUITE_P(Each, RandomCases, testing::ValuesIn(kernels_with_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
