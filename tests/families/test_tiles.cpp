// SPDX-License-Identifier: Apache-2.0
// test_tiles: how tiles come to groups.
#include <gmock/gmock.h>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;

namespace {

// Returns whether work-groups take the tiles of their own numbers.
bool by_number(const char* family, const char* kernel, const char* lanes, const DeviceInfo& device,
               std::int64_t groups_per_unit = 1) {
  const Plan plan = plan_with(family,
                              {{"kernel", word(kernel)},
                               {"subgroup_impl", word(lanes)},
                               {"group", number(64)},
                               {"window", number(32)},
                               {"groups_per_cu", number(groups_per_unit)}},
                              device);
  return plan.defines.at("TILE_BY_GROUP_ID") == "1";
}

}  // namespace

TEST(Tiles, AreTakenByNumberWhereGroupsStartInItsOrderAndHaveOneEach) {
  const DeviceInfo gpu = roomy();
  DeviceInfo processor = gpu, accelerator = gpu;
  processor.type = "cpu";
  accelerator.type = "accelerator";
  for (const char* kernel : {"single_pass", "ranked", "staged"}) {
    for (const char* lanes : {"portable", "opencl", "ptx"}) {
      EXPECT_TRUE(by_number("compaction", kernel, lanes, gpu)) << kernel << " " << lanes;
      EXPECT_FALSE(by_number("compaction", kernel, lanes, processor)) << kernel << " " << lanes;
      EXPECT_FALSE(by_number("compaction", kernel, lanes, accelerator)) << kernel << " " << lanes;
    }
  }
  for (const char* lanes : {"portable", "opencl", "ptx"}) {
    EXPECT_TRUE(by_number("scan", "register_tile", lanes, gpu)) << lanes;
    EXPECT_TRUE(by_number("scan", "pascal", lanes, gpu)) << lanes;
    EXPECT_TRUE(by_number("scan", "pipelined", lanes, gpu, 0)) << lanes;
    EXPECT_FALSE(by_number("scan", "pipelined", lanes, processor, 0)) << lanes;
  }
}

TEST(Tiles, AreDealtByTicketsToGroupsThatGoOn) {
  EXPECT_FALSE(by_number("scan", "pipelined", "ptx", roomy(), 2));
  EXPECT_FALSE(by_number("scan", "sam", "ptx", roomy(), 0));
  EXPECT_FALSE(by_number("compaction", "pipelined", "ptx", roomy()));
}

// But on NVIDIA's, whose order is known.
TEST(Tiles, AreDealtByTicketsToGroupsThatWait) {
  EXPECT_FALSE(by_number("compaction", "hughes", "portable", roomy()));
  EXPECT_FALSE(by_number("compaction", "hughes", "opencl", roomy()));
  EXPECT_TRUE(by_number("compaction", "hughes", "ptx", roomy()));
}
