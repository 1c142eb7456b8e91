// SPDX-License-Identifier: Apache-2.0
// test_process: a process begins as if nothing had been set before; limits of memory are read as they are.
#include "base/process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <csignal>
#include <fstream>
#include <limits>

#include "base/default_floats.hpp"
#include "base/error.hpp"
#include "base/excerpt.hpp"
#include "base/memory_limit.hpp"
#include "base/parallel.hpp"
#include "base/process_state.hpp"
#include "base/temporary_folder.hpp"

using namespace clweave::base;
using testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

// Returns what a shell prints in such a process.
std::string printed_by(const std::string& script) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = start({.file = "/bin/sh", .words = {"sh", "-c", script}}, {{STDOUT_FILENO, ends[1]}});
  close(ends[1]);
  std::string out;
  char bytes[4096];
  for (ssize_t n = 0; (n = read(ends[0], bytes, sizeof bytes)) > 0;)
    out.append(bytes, static_cast<std::size_t>(n));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return out;
}

TEST(Process, InheritsNothing) {
  const int inherited = open("/dev/null", O_RDONLY);
  ASSERT_GT(inherited, 2);
  std::signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  const std::string status = printed_by("grep -E 'Sig(Ign|Blk)' /proc/self/status");
  const std::string descriptors = printed_by("ls /proc/$$/fd; ps -o sid= -p $$; echo of $$");
  sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  std::signal(SIGUSR1, SIG_DFL);
  close(inherited);
  EXPECT_EQ(status, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  EXPECT_EQ(descriptors.find("1\n"), 0U) << descriptors;  // stdin and stderr were not given
  EXPECT_EQ(descriptors.find(fmt::format("\n{}\n", inherited)), std::string::npos) << descriptors;
}

TEST(Process, EndsBeforeItsParentWhereMemoryRunsOut) {
  EXPECT_EQ(printed_by("cat /proc/self/oom_score_adj"), "1000\n");
}

TEST(Process, SaysWhyItDoesNotBegin) {
  try {
    start({.file = "/no/such/program", .words = {"none"}}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::io);
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
  }
}

TEST(Process, FindsItsOwnFile) {
  EXPECT_EQ(fs::weakly_canonical(program_file()), fs::read_symlink("/proc/self/exe"));
  EXPECT_EQ(this_program().words.size(), 1U);
}

TEST(Excerpt, KeepsBeginningAndEnd) {
  EXPECT_EQ(Excerpt(10).append("12345678").text(), "12345678");
  EXPECT_EQ(Excerpt(10).append("1234567890").text(), "1234567890");
  EXPECT_EQ(Excerpt(10).append("12345xxxxxxxxx67890").text(), "12345\n.. (9 bytes) ..\n67890");
  Excerpt slowly(10);
  for (const char c : std::string("12345xxxxxxxxx67890")) slowly.append({&c, 1});
  EXPECT_EQ(slowly.text(), "12345\n.. (9 bytes) ..\n67890");
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

TEST(Parallel, ComputesInTheDefaultMode) {
  std::fesetround(FE_UPWARD);
  int others = 0;
  for_stretches(1, 1, [&](std::uint64_t, std::uint64_t) {
    if (std::fegetround() != FE_TONEAREST) ++others;
  });
  EXPECT_EQ(std::fegetround(), FE_UPWARD) << "the caller's mode is its own";
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(others, 0);
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
