// SPDX-License-Identifier: Apache-2.0
// test_tiles: how tiles are assigned to work-groups.
#include <gmock/gmock.h>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;

namespace {

// Tells whether work-groups take the tiles of their own numbers.
bool tile_by_group_id(const char* family, const char* kernel, const char* impl, const DeviceInfo& device,
                      std::int64_t groups_per_cu = 1) {
  const Plan plan = plan_with(family,
                              {{"kernel", word(kernel)},
                               {"subgroup_impl", word(impl)},
                               {"group", number(64)},
                               {"window", number(32)},
                               {"groups_per_cu", number(groups_per_cu)}},
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
    for (const char* impl : {"portable", "opencl", "ptx"}) {
      EXPECT_TRUE(tile_by_group_id("compaction", kernel, impl, gpu)) << kernel << " " << impl;
      EXPECT_FALSE(tile_by_group_id("compaction", kernel, impl, processor)) << kernel << " " << impl;
      EXPECT_FALSE(tile_by_group_id("compaction", kernel, impl, accelerator)) << kernel << " " << impl;
    }
  }
  for (const char* impl : {"portable", "opencl", "ptx"}) {
    EXPECT_TRUE(tile_by_group_id("scan", "register_tile", impl, gpu)) << impl;
    EXPECT_TRUE(tile_by_group_id("scan", "binomial", impl, gpu)) << impl;
    EXPECT_TRUE(tile_by_group_id("scan", "pipelined", impl, gpu, 0)) << impl;
    EXPECT_FALSE(tile_by_group_id("scan", "pipelined", impl, processor, 0)) << impl;
  }
}

TEST(Tiles, AreAssignedByTicketsToPersistentGroups) {
  EXPECT_FALSE(tile_by_group_id("scan", "pipelined", "ptx", roomy(), 2));
  EXPECT_FALSE(tile_by_group_id("scan", "sam", "ptx", roomy(), 0));
  EXPECT_FALSE(tile_by_group_id("compaction", "pipelined", "ptx", roomy()));
}

// Excepts NVIDIA, whose order is known.
TEST(Tiles, AreAssignedByTicketsToGroupsThatWait) {
  EXPECT_FALSE(tile_by_group_id("compaction", "hughes", "portable", roomy()));
  EXPECT_FALSE(tile_by_group_id("compaction", "hughes", "opencl", roomy()));
  EXPECT_TRUE(tile_by_group_id("compaction", "hughes", "ptx", roomy()));
}
