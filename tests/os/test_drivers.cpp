// SPDX-License-Identifier: Apache-2.0
// test_drivers: what keeps a user from a GPU is named, with what helps.
#include "os/drivers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "os/temporary_folder.hpp"

using namespace clweave::os;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

TEST(Drivers, NodesThatTheUserMayNotOpenAreNamed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const TemporaryFolder root;
  chmod(root.path().c_str(), 0755);
  std::filesystem::create_directories(root.path() / "dev/dri");
  for (const char* name : {"dri/renderD128", "dri/card0", "kfd", "null"}) {
    const auto file = root.path() / "dev" / name;
    std::ofstream(file) << "";
    chmod(file.c_str(), std::string(name) == "kfd" ? 0666 : 0660);
  }
  EXPECT_THAT(forbidden_nodes(root.path()), SizeIs(0)) << "root may";
  ASSERT_EQ(setegid(65534), 0);
  ASSERT_EQ(seteuid(65534), 0);
  const auto forbidden = forbidden_nodes(root.path());
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_EQ(setegid(0), 0);
  ASSERT_THAT(forbidden, SizeIs(1));
  EXPECT_THAT(forbidden.front(), HasSubstr("dev/dri/renderD128"));
  EXPECT_THAT(forbidden.front(), HasSubstr("usermod -aG"));
}

}  // namespace
