// SPDX-License-Identifier: Apache-2.0
// test_processor_use: what others took of the processors, by invented counters and by this machine's.
#include "os/processor_use.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "os/clock.hpp"

using namespace clweave::os;

namespace {

ProcessorUse at(double seconds) {
  ProcessorUse out;
  out.at_s = seconds;
  out.processors = 2;
  return out;
}

TEST(ProcessorUse, OthersAreWhatIsBusyWithoutThisProcess) {
  ProcessorUse before = at(0), after = at(10);
  after.busy_s = 19;
  after.own_s = 6;
  after.stolen_s = 1;
  after.stopped_s = 3;
  after.ran_s = 6;
  after.waited_s = 2;
  after.swapped_pages = 7;
  const HostLoad load = load_between(before, after);
  EXPECT_DOUBLE_EQ(load.own_cpus.value(), 0.6);
  EXPECT_DOUBLE_EQ(load.other_cpus.value(), 1.3);
  EXPECT_DOUBLE_EQ(load.steal.value(), 0.05);
  EXPECT_DOUBLE_EQ(load.quota.value(), 0.3);
  EXPECT_DOUBLE_EQ(load.cpu_wait.value(), 0.25);
  EXPECT_EQ(load.swapped_pages, 7);
}

TEST(ProcessorUse, TellsNothingOfAMomentOrWithoutCounters) {
  ProcessorUse before = at(0), after = at(0.05);
  after.busy_s = 0.1;
  EXPECT_FALSE(load_between(before, after).other_cpus) << "counted in ticks of 10 ms";
  EXPECT_FALSE(load_between(before, after).cpu_wait) << "its threads had nothing to do";
  before = after = {};
  after.at_s = 10;
  EXPECT_FALSE(load_between(before, after).other_cpus);
}

TEST(ProcessorUse, CountsTheWorkOfThisProcess) {
  const ProcessorUse before = processor_use();
  volatile double sum = 0;
  while (processor_use().own_s - before.own_s < 0.2) sum = sum + 1;
  const ProcessorUse after = processor_use();
  EXPECT_GT(after.processors, 0U);
  EXPECT_GT(after.busy_s, before.busy_s);
  EXPECT_GE(after.at_s - before.at_s, 0.1);
}

// A process that does one thing for ever, on the first processor that this one may use.
class Forked {
 public:
  explicit Forked(void (*work)()) {
    cpu_set_t usable, first;
    CPU_ZERO(&usable);
    CPU_ZERO(&first);
    sched_getaffinity(0, sizeof usable, &usable);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++i) {
      if (CPU_ISSET(i, &usable)) CPU_SET(i, &first);
    }
    process_ = fork();
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // it must not outlive a test that ends badly
    sched_setaffinity(0, sizeof first, &first);
    while (true) work();
  }
  ~Forked() { end(); }
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;

  pid_t process() const { return process_; }
  void end() {
    if (ended_) return;
    ended_ = true;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_ = -1;
  bool ended_ = false;
};

void spin() {
  for (volatile unsigned turns = 0; turns < 1000000; turns = turns + 1) {
  }
}
void wake_now_and_then() { usleep(50'000); }
void sleep_on() { pause(); }

TEST(ProgressShare, IsSmallWhereOthersWantTheSameProcessor) {
  const Forked one(spin), other(spin), third(spin);
  ProgressShare share(one.process());
  share.next();
  usleep(500'000);
  const double part = share.next();
  EXPECT_GT(part, 0);
  EXPECT_LT(part, 0.7) << "a third, and less on a busy machine";
}

// A driver's helper thread that wakes now and then does not keep a hang alive on a busy machine.
TEST(ProgressShare, IsLargeWhereAThreadWantsAProcessorNowAndThen) {
  const Forked one(spin), other(spin), third(spin);
  const Forked waking(wake_now_and_then);
  ProgressShare share(waking.process());
  usleep(100'000);
  share.next();
  usleep(1'000'000);
  EXPECT_GT(share.next(), 0.3);
}

TEST(ProgressShare, OfAProcessThatSleepsOrHasEndedIsAll) {
  Forked asleep(sleep_on);
  ProgressShare share(asleep.process());
  usleep(100'000);
  share.next();
  usleep(100'000);
  EXPECT_EQ(share.next(), 1);
  asleep.end();
  EXPECT_EQ(share.next(), 1);
}

}  // namespace
