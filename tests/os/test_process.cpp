// SPDX-License-Identifier: Apache-2.0
// test_process: a process begins as if nothing had been set before; limits of memory are read as they are.
#include "os/process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cfenv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "os/memory_limit.hpp"
#include "os/process_state.hpp"
#include "os/temporary_folder.hpp"
#include "os/this_program.hpp"

using namespace clweave::os;
using testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

// Runs a script whose output goes into a file, and returns that.
std::string printed_by(const std::string& script, Ending* ending = nullptr) {
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "log";
  Process process({.file = "/bin/sh", .words = {"sh", "-c", script}}, log);
  EXPECT_TRUE(process.wait(60));
  if (ending != nullptr) *ending = process.ending().value_or(Ending{});
  return read_text(log.string());
}

TEST(Process, InheritsNothing) {
  const int null = open("/dev/null", O_RDONLY);
  const int inherited = dup2(null, 20);  // above those that it is given
  close(null);
  ASSERT_EQ(inherited, 20);
  std::signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  const std::string status = printed_by("grep -E 'Sig(Ign|Blk)' /proc/self/status");
  const std::string descriptors = printed_by("ls /proc/$$/fd; echo SESSION; ps -o sid= -p $$; echo of $$");
  sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  std::signal(SIGUSR1, SIG_DFL);
  close(inherited);
  EXPECT_EQ(status, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  EXPECT_EQ(descriptors.find("0\n1\n2\nSESSION"), 0U) << descriptors;
  EXPECT_EQ(descriptors.find(fmt::format("\n{}\n", inherited)), std::string::npos) << descriptors;
}

TEST(Process, EndsBeforeItsParentWhereMemoryRunsOut) {
  EXPECT_EQ(printed_by("cat /proc/self/oom_score_adj"), "1000\n");
}

TEST(Process, SaysWhyItDoesNotBegin) {
  try {
    Process({.file = "/no/such/program", .words = {"none"}}, "/dev/null");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::io);
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
  }
}

TEST(Process, SaysHowItEnded) {
  Ending ending;
  printed_by("exit 7", &ending);
  EXPECT_EQ(ending.code, 7);
  EXPECT_EQ(ending.text, "exit code 7");
  printed_by("exit 0", &ending);
  EXPECT_EQ(ending.text, "");
  printed_by("kill -SEGV $$", &ending);
  EXPECT_EQ(ending.code, 128 + SIGSEGV);
  EXPECT_EQ(ending.text, "SIGSEGV");
  EXPECT_FALSE(ending.was_killed);
  printed_by("kill -KILL $$", &ending);
  EXPECT_TRUE(ending.was_killed);
}

TEST(Process, AnswersBesideWhatItPrints) {
  std::signal(SIGPIPE, SIG_IGN);  // as main does
  std::string printed, answers;
  Process process(
      {.file = "/bin/sh",
       .words = {"sh", "-c", "echo ready; while read line; do echo got; echo $line-$NAME >&3; done"},
       .variables = {"NAME=value"}},
      [&](std::string_view text) { printed += text; });
  const std::string much(200'000, 'x');  // more than a pipe holds
  ASSERT_TRUE(process.send("a\n" + much + "\n"));
  while (answers.size() < much.size() && process.hear(answers, 60) == Process::Heard::answer) {
  }
  EXPECT_EQ(answers, "a-value\n" + much + "-value\n");
  process.take_print();
  EXPECT_EQ(printed, "ready\ngot\ngot\n");
  EXPECT_EQ(process.hear(answers, 0.01), Process::Heard::nothing);
  EXPECT_FALSE(process.ending());
  EXPECT_TRUE(process.stop());
  EXPECT_EQ(process.ending()->text, "SIGTERM");
  EXPECT_EQ(process.hear(answers, 60), Process::Heard::end);
  EXPECT_FALSE(process.send("b\n"));
}

TEST(Process, IsKilledWithWhatItStarted) {
  const TemporaryFolder folder;
  const fs::path log = folder.path() / "log";
  Process process({.file = "/bin/sh", .words = {"sh", "-c", "trap '' TERM; sleep 1000 & echo $!; wait"}},
                  log);
  int started = 0;
  while (!(std::ifstream(log) >> started) && !process.wait(0.01)) {
  }
  EXPECT_FALSE(process.wait(0));
  EXPECT_TRUE(process.stop());
  EXPECT_TRUE(process.ending()->was_killed) << "it ignores being asked";
  std::string state = "Z";
  for (int tries = 0; tries < 500; ++tries) {
    std::ifstream in("/proc/" + std::to_string(started) + "/stat");
    if (!(in >> state >> state >> state) || state == "Z") return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL() << "what it started goes on, in state " << state;
}

TEST(Process, FindsItsOwnFile) {
  EXPECT_EQ(fs::weakly_canonical(program_file()), fs::read_symlink("/proc/self/exe"));
  EXPECT_EQ(this_program().words.size(), 1U);
}

TEST(ProcessState, IsRestored) {
  const ProcessState state;
  const fs::path before = fs::current_path();
  fs::current_path("/");
  std::fesetround(FE_UPWARD);
  state.restore();
  EXPECT_EQ(fs::current_path(), before);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

class Cgroup : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const fs::path file = root_.path() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::uint64_t limit() { return memory_limit(root_.path()).value_or(MemoryLimit{}).bytes; }

  TemporaryFolder root_;
};

TEST_F(Cgroup, TheNarrowestGroupCounts) {
  EXPECT_FALSE(memory_limit(root_.path()));
  write("proc/self/cgroup", "0::/slice/job/step\n");
  write("sys/fs/cgroup/slice/job/step/memory.max", "max\n");
  EXPECT_FALSE(memory_limit(root_.path()));
  write("sys/fs/cgroup/slice/job/memory.max", "2147483648\n");
  write("sys/fs/cgroup/slice/job/memory.current", "1000000\n");
  write("sys/fs/cgroup/slice/job/memory.stat", "anon 1\ninactive_file 400000\n");
  write("sys/fs/cgroup/slice/memory.max", "4294967296\n");
  EXPECT_EQ(limit(), 2147483648U);
  EXPECT_EQ(memory_limit(root_.path())->left(), 2147483648U - 600000);
  const MemoryKills before = memory_kills(root_.path());
  EXPECT_EQ(memory_kill_since(before, root_.path()), "");
  write("sys/fs/cgroup/slice/job/memory.events", "low 0\nmax 7\noom 1\noom_kill 1\n");
  EXPECT_THAT(memory_kill_since(before, root_.path()), HasSubstr("memory limit of 2 GiB of this cgroup"));
}

TEST_F(Cgroup, TheFirstVersionIsRead) {
  write("proc/self/cgroup", "5:cpu,memory:/docker/abc\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit(), 1073741824U);
}

TEST_F(Cgroup, AHostWithoutMemoryIsNamed) {
  const MemoryKills before = memory_kills(root_.path());
  write("proc/vmstat", "nr_free_pages 1\noom_kill 1\n");
  EXPECT_EQ(memory_kill_since(before, root_.path()), "the host has no memory left");
}

}  // namespace
