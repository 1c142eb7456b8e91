// SPDX-License-Identifier: Apache-2.0
// test_tool: a compiler that hangs or writes without end costs what its limits allow, and does not outlive
// its caller.
#include "compilers/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "os/clock.hpp"
#include "os/temporary_folder.hpp"

using namespace clweave::compilers;
using testing::HasSubstr;

namespace {

class Tool : public testing::Test {
 protected:
  std::string script(const std::string& text) {
    const auto file = folder_.path() / "tool";
    std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
    chmod(file.c_str(), 0755);
    return file;
  }
  Ran run(const std::string& text, const ToolLimits& limits = {}) {
    return run_tool({script(text)}, folder_.path() / "log", limits);
  }

  clweave::os::TemporaryFolder folder_;
};

TEST_F(Tool, BothStreamsAndTheStatusAreReturned) {
  const Ran ran = run("echo out; echo err >&2; exit 3");
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(ran.output, "out\nerr\n");
  EXPECT_EQ(run_tool({"no-such-compiler"}, folder_.path() / "log").status, 127);
}

TEST_F(Tool, OneThatHangsIsKilledAndNotAskedAgain) {
  const double before_s = clweave::os::host_now();
  const Ran ran = run("echo begun; sleep 1000", {.seconds = 0.5});
  EXPECT_EQ(ran.status, 124);
  EXPECT_THAT(ran.output, HasSubstr("begun"));
  EXPECT_THAT(ran.output, HasSubstr("did not end within 0.5 s"));
  EXPECT_THAT(run("echo again").output, HasSubstr("not asked again"));
  EXPECT_LT(clweave::os::host_now() - before_s, 60);
}

TEST_F(Tool, OneThatPrintsWithoutEndIsKilled) {
  const Ran ran = run("echo error: first; exec yes", {.file_bytes = 1 << 20});
  EXPECT_FALSE(ran.ok());
  EXPECT_THAT(ran.output, HasSubstr("error: first"));
  EXPECT_THAT(ran.output, HasSubstr("wrote more than 1 MiB"));
  EXPECT_LT(ran.output.size(), 1 << 18);
}

TEST_F(Tool, NoneOutlivesItsCaller) {
  const auto pid_file = folder_.path() / "pid";
  const std::string tool = script("echo $$ > " + pid_file.string() + "; exec sleep 1000");
  const pid_t caller = fork();
  if (caller == 0) {
    run_tool({tool}, folder_.path() / "log");
    _exit(0);
  }
  pid_t process = 0;
  for (int tries = 0; tries < 1000 && !(std::ifstream(pid_file) >> process); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_GT(process, 0);
  kill(caller, SIGTERM);
  waitpid(caller, nullptr, 0);
  bool is_gone = false;
  for (int tries = 0; tries < 500 && !is_gone; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::string state = "Z";
    std::ifstream in("/proc/" + std::to_string(process) + "/stat");
    in >> state >> state >> state;
    is_gone = !in || state == "Z";
  }
  EXPECT_TRUE(is_gone);
  if (!is_gone) kill(process, SIGKILL);
}

}  // namespace
