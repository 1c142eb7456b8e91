// SPDX-License-Identifier: Apache-2.0
// test_busy: a run beside processes that want every processor: its rows say so, and nothing is accused.
// tests/agreement/busy_machine holds the numbers of longer runs against a quiet machine's.
#include <gmock/gmock.h>
#include <sys/prctl.h>

#include <memory>

#include "faults/trial.hpp"

using namespace clweave::commands;
using namespace trial;
using testing::HasSubstr;

namespace {

// Processes that execute for ever, twice as many as there are processors.
class Loops {
 public:
  Loops() {
    const unsigned loops = 2 * std::max(1U, std::thread::hardware_concurrency());
    for (unsigned i = 0; i < loops; ++i) {
      const pid_t loop = fork();
      if (loop == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // it must not outlive a test that ends badly
        for (volatile unsigned turns = 0;; turns = turns + 1) {
        }
      }
      loops_.push_back(loop);
    }
  }
  ~Loops() {
    for (const pid_t loop : loops_) {
      ::kill(loop, SIGKILL);
      waitpid(loop, nullptr, 0);
    }
  }
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;

 private:
  std::vector<pid_t> loops_;
};

class Busy : public testing::Test {
 protected:
  void SetUp() override {
    if (implementation().empty()) GTEST_SKIP() << "CLWEAVE_TEST_IMPLEMENTATION is not set: CTest sets it";
    trial_.set("CLWEAVE_PROC_ROOT", "/proc");
    loops_ = std::make_unique<Loops>();
  }

  Trial trial_;
  std::unique_ptr<Loops> loops_;
};

TEST_F(Busy, RowsAreDisturbedAndFindingsUndecided) {
  trial_.start({"run", "--preset", "smoke", "--family", "branch_divergence", "--csv", trial_.csv()});
  const Ended ended = trial_.finish(600);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("this machine is not quiet: "));
  EXPECT_THAT(ended.err, HasSubstr("the machine was not quiet: "));
  const auto results = read_results(trial_.csv());
  std::size_t timed = 0, disturbed = 0;
  for (const auto& row : results.cases) {
    EXPECT_FALSE(row.failed()) << row.case_id << ": " << row.reason;
    timed += row.ok() ? 1 : 0;
    disturbed += row.disturbed.empty() ? 0 : 1;
    EXPECT_TRUE(!row.ok() || row.other_cpus) << row.case_id << " cannot tell what others did";
  }
  EXPECT_GT(timed, 0U);
  // Cases of a few milliseconds may get a processor all the time.
  EXPECT_GE(2 * disturbed, timed) << ended.err;
}

// A hang is ended although the child gets a third of a processor, if it is busy, or although it sleeps.
TEST_F(Busy, AHangIsStillATimeout) {
  for (const char* hang : {"enqueue:3+=hang", "enqueue:3+=spin"}) {
    trial_.faults(hang);
    trial_.start({"run", "--preset", "smoke", "--family", "branch_divergence", "--filter", "paths=1/",
                  "--no-peak", "--timeout", "2", "--overwrite", "--csv", trial_.csv()});
    const Ended ended = trial_.finish(600);
    EXPECT_EQ(ended.code, 1) << hang << ": " << ended.err;
    EXPECT_THAT(content_of(trial_.csv()), HasSubstr("timeout")) << hang;
  }
}

}  // namespace
