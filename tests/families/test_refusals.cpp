// SPDX-License-Identifier: Apache-2.0
// test_refusals: what a family says to values that its kernels cannot take.
#include <gmock/gmock.h>

#include <cstdint>

#include "plans.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::HasSubstr;

TEST(SubgroupImpl, RefusesWhatItsKernelCannotDo) {
  for (const std::int64_t paths : {0, 3, 65, 128, -2})
    EXPECT_THAT(complaint([&] {
                  plan_with("branch_divergence", {{"paths", number(paths)}});
                }),
                HasSubstr("paths takes 1 to 64, powers of two"));
  for (const char* axis : {"n", "granularity", "group"})
    EXPECT_THAT(complaint([&] {
                  plan_with("branch_divergence", {{axis, number(0)}});
                }),
                HasSubstr("takes 1 to "));
  EXPECT_THAT(complaint([&] {
                plan_with("branch_divergence", {{"n", number(std::int64_t{1} << 32)}});
              }),
              HasSubstr("n "));
  EXPECT_THAT(complaint([&] {
                plan_with("branch_divergence", {{"n", word("many")}});
              }),
              HasSubstr("n takes 1 to 4294967295"));
  for (const std::int64_t trips : {std::int64_t{-4}, std::int64_t{1} << 32})
    EXPECT_THAT(complaint([&] {
                  plan_with("branch_divergence", {{"iterations", number(trips)}});
                }),
                HasSubstr("iterations"));
}

TEST(Divergence, RefusesWhatItsKernelCannotDo) {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 32})
    EXPECT_THAT(complaint([&] {
                  plan_with("matrix_access", {{"n", number(n)}});
                }),
                HasSubstr("n takes 1 to"));
  EXPECT_THAT(complaint([&] {
                plan_with("matrix_access", {{"group", word("16x")}});
              }),
              HasSubstr("group takes"));
  // A third dimension would compute every element several times.
  EXPECT_THAT(complaint([&] {
                plan_with("matrix_access", {{"kernel", word("grid")}, {"group", word("8x8x4")}});
              }),
              HasSubstr("8x8x4"));
  EXPECT_THAT(complaint([&] {
                plan_with("matrix_access", {{"type", word("half")}});
              }),
              HasSubstr("type=half"));
}

TEST(Divergence, TellsItsKernelWhatTheCaseSays) {
  for (const auto& at : preset_of(family_named("matrix_access"), "smoke")) {
    const Plan plan = plan_of(family_named("matrix_access"), at, roomy());
    EXPECT_EQ(plan.defines.at("PARITY_ROW"), at.is("parity", "row") ? "1" : "0");
    EXPECT_EQ(plan.defines.at("ROW_FIRST"), at.is("mapping", "row_first") ? "1" : "0");
    EXPECT_EQ(plan.defines.at("OPERANDS_AB"), at.is("operands", "ab") ? "1" : "0");
    EXPECT_EQ(plan.defines.at("T"), at.text("type"));
  }
}

TEST(Peak, RefusesWhatItsKernelsCannotDo) {
  for (const char* kernel :
       {"buffer", "copy", "copy_run", "copy_stream_run", "read", "read_run", "read_tile", "write",
        "write_run", "write_stream_run", "write_tile", "reread", "reread_run"}) {
    for (const std::int64_t n : {0, 1, 4095, 20000})
      EXPECT_THAT(complaint([&] {
                    plan_with("peak", {{"kernel", word(kernel)}, {"n", number(n)}});
                  }),
                  HasSubstr("n takes 1024 to"))
          << kernel;
  }
  for (const char* kernel : {"arithmetic", "arithmetic_run", "local_read", "local_read_run"}) {
    for (const std::int64_t n : {0, 1, 255, 1000000})
      EXPECT_THAT(complaint([&] {
                    plan_with("peak", {{"kernel", word(kernel)}, {"n", number(n)}});
                  }),
                  HasSubstr("n takes 1024 to"))
          << kernel;
    for (const std::int64_t trips : {std::int64_t{-4}, std::int64_t{1} << 32})
      EXPECT_THAT(complaint([&] {
                    plan_with(
                        "peak",
                        {{"kernel", word(kernel)}, {"n", number(65536)}, {"iterations", number(trips)}});
                  }),
                  HasSubstr("iterations"))
          << kernel;
  }
}

TEST(Scan, TakesTuplesOfPowersOfTwoIntoTilesInRegisters) {
  const auto take = [](const char* kernel, std::int64_t tuple) {
    plan_with("scan", {{"kernel", word(kernel)}, {"tuple", number(tuple)}, {"n", number(4096)}});
  };
  for (const char* kernel : {"register_tile", "pipelined"}) {
    for (const std::int64_t tuple : {3, 24})
      EXPECT_THAT(complaint([&] { take(kernel, tuple); }), HasSubstr("tuple must be a power of two"))
          << kernel;
    for (const std::int64_t tuple : {1, 2, 32}) EXPECT_NO_THROW(take(kernel, tuple)) << kernel;
  }
  EXPECT_NO_THROW(take("sam", 3));
}

// An item of a warp holds a part of a state; where many look at whole states, there may be more.
TEST(Scan, ByNvidiasWarpsTakesStatesOfThirtyTwoPartsAtMost) {
  const auto take = [](const char* impl, std::int64_t order, std::int64_t tuple) {
    plan_with("scan",
              {{"kernel", word("binomial")},
               {"subgroup_impl", word(impl)},
               {"scan_order", number(order)},
               {"tuple", number(tuple)},
               {"group", number(32)},
               {"per_work_item", number(8)},
               {"window", number(32)},
               {"n", number(4096)}},
              roomy());
  };
  EXPECT_THAT(complaint([&] { take("ptx", 8, 5); }), HasSubstr("scan_order times tuple must be 32 at most"));
  EXPECT_NO_THROW(take("ptx", 8, 4));
  EXPECT_NO_THROW(take("portable", 8, 5));
}

TEST(Refused, AreNumbersThatNoTileCanHave) {
  const std::vector<std::pair<const char*, const char*>> no = {{"compaction", "group=9223372036854775807"},
                                                               {"compaction", "vectors_per_item=-1"},
                                                               {"compaction", "width=3"},
                                                               {"compaction", "selectivity=1.5"},
                                                               {"compaction", "n=536870913"},
                                                               {"compaction", "chunk_kib=0"},
                                                               {"scan", "n=0"},
                                                               {"scan", "tuple=33"},
                                                               {"scan", "spin_limit=4294967297"},
                                                               {"scan", "fault_rate=-2"}};
  const auto& families = all_families();
  for (const auto& [name, text] : no) {
    const auto family = std::ranges::find(families, name, &Family::name);
    const auto [axis, values] = setting_of(text);
    EXPECT_FALSE(family->axis(axis)->taken(values.front())) << name << " " << text;
  }
}

// A unit of NVIDIA's has 65536 registers, which it hands out by eight.
TEST(Registers, AreLimitedWhereACompilerHeedsItAndAGroupFits) {
  DeviceInfo nvidia = roomy(), other = roomy();
  nvidia.extensions = "cl_nv_compiler_options";
  other.extensions = "";
  for (const char* family : {"scan", "compaction"}) {
    const auto limited = [&](const DeviceInfo& device, std::int64_t registers, std::int64_t group) {
      return plan_with(family,
                       {{"kernel", word(family == std::string("scan") ? "register_tile" : "staged")},
                        {"registers", number(registers)},
                        {"group", number(group)}},
                       device)
          .options;
    };
    EXPECT_THAT(limited(nvidia, 64, 512), HasSubstr("-cl-nv-maxrregcount=64"));
    EXPECT_THAT(complaint([&] { limited(nvidia, 129, 512); }),
                HasSubstr("512 work-items with 129 registers each, where a compute unit has 65536"));
    EXPECT_THAT(complaint([&] { limited(nvidia, 8, 64); }), HasSubstr("registers takes 16 to 255"));
    EXPECT_THAT(complaint([&] { limited(other, 64, 64); }),
                HasSubstr("only NVIDIA's compiler has a register limit"));
  }
}

TEST(Unheeded, AxesHaveTheirDefault) {
  const auto& families = all_families();
  const auto& scan = *std::ranges::find(families, "scan", &Family::name);
  const auto only = [&](const char* sweep) { return cases_of(scan, {sweep}, 1).at(0); };
  EXPECT_EQ(only("kernel=three_phase spin_limit=7 vectors_per_item=2 groups_per_cu=3").id(),
            only("kernel=three_phase").id());
  EXPECT_EQ(only("kernel=cpu group=64").id(), only("kernel=cpu").id());
  EXPECT_EQ(only("kernel=lookback_parallel spin_limit=7").number("spin_limit"), 7);
  EXPECT_EQ(only("kernel=lookback spin_limit=7").number("spin_limit"), 64);
}
