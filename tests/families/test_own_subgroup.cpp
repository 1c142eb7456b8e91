// SPDX-License-Identifier: Apache-2.0
// test_own_lanes: which paths between items a device is given, asked for, and refused.
#include "families/shared/subgroup.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

DeviceInfo device_of(const char* vendor, const char* platform, bool sub_groups) {
  DeviceInfo device = roomy();
  device.vendor = vendor;
  device.platform = platform;
  device.version = "OpenCL 3.0 ";
  device.extensions = std::string(vendor) == "NVIDIA" ? "cl_nv_pragma_unroll" : "";
  device.subgroups = sub_groups;
  return device;
}

const DeviceInfo nvidia = device_of("NVIDIA", "NVIDIA CUDA", false);
const DeviceInfo amd = device_of("Advanced Micro Devices", "AMD Accelerated Parallel Processing", true);
const DeviceInfo pocl = device_of("AuthenticAMD", "Portable Computing Language", true);
const DeviceInfo plain = device_of("AuthenticAMD", "Portable Computing Language", false);

using Changes = std::vector<std::pair<std::string, Value>>;

std::string folded_by(const DeviceInfo& device, Changes changes) {
  changes.emplace_back("group", number(64));
  const Plan plan = plan_with("reduction", changes, device);
  EXPECT_EQ(plan.may_fail_to_build, plan.defines.at("SUBGROUP_IMPL") == "lib/subgroup_opencl.cl" ||
                                        plan.defines.at("SUBGROUP_IMPL") == "lib/subgroup_amd.cl")
      << "the compiler decides";
  return std::ranges::find(plan.derived, "subgroup_impl_used", &std::pair<std::string, std::string>::first)
      ->second;
}

}  // namespace

TEST(OwnLanes, TheRowSaysByWhichAReductionFolded) {
  const Changes single = {{"kernel", word("single")}};
  EXPECT_EQ(folded_by(nvidia, single), "ptx");
  EXPECT_EQ(folded_by(amd, single), "amd");
  EXPECT_EQ(folded_by(pocl, single), "opencl");
  EXPECT_EQ(folded_by(plain, single), "portable");
  EXPECT_EQ(folded_by(pocl, {{"kernel", word("vector")}}), "portable") << "it is the rung before";
  DeviceInfo processor = pocl;
  processor.type = "cpu";
  EXPECT_EQ(folded_by(processor, single), "portable") << "sub-groups of processors are slow";
  EXPECT_EQ(folded_by(processor, {{"kernel", word("subgroup")}}), "opencl") << "it is nothing else";
  EXPECT_EQ(folded_by(pocl, {{"kernel", word("unrolled")}}), "portable");
  EXPECT_EQ(folded_by(pocl, {{"kernel", word("unrolled")}, {"subgroup_impl", word("opencl")}}), "opencl");
  // A last warp without the group's barriers is the device's own.
  const Changes warp_synchronous = {{"kernel", word("unrolled")},
                                    {"subgroup_impl", word("warp_synchronous")}};
  EXPECT_EQ(folded_by(nvidia, warp_synchronous), "ptx");
  EXPECT_EQ(folded_by(amd, warp_synchronous), "amd");
  EXPECT_EQ(folded_by(processor, warp_synchronous), "opencl");
}

TEST(OwnLanes, WhatADeviceLacksIsRefusedWithTheReason) {
  for (const char* family : {"reduction", "scan", "compaction"}) {
    SCOPED_TRACE(family);
    const char* kernel = family == std::string("scan")        ? "pipelined"
                         : family == std::string("reduction") ? "single"
                                                              : "staged";
    const auto with = [&](const char* impl, std::int64_t group, const DeviceInfo& device) {
      return plan_with(family,
                       {{"kernel", word(kernel)},
                        {"subgroup_impl", word(impl)},
                        {"group", number(group)},
                        {"window", number(32)}},
                       device);
    };
    EXPECT_THAT(complaint([&] { with("opencl", 64, plain); }), HasSubstr("reports no sub-groups"));
    EXPECT_THAT(complaint([&] { with("ptx", 64, pocl); }), HasSubstr("NVIDIA's compiler"));
    DeviceInfo processor = pocl;
    processor.type = "cpu";
    for (const auto& device : {nvidia, processor})
      EXPECT_THAT(complaint([&] { with("amd", 64, device); }), HasSubstr("AMD's compiler"));
    EXPECT_THAT(complaint([&] { with("amd", 32, amd); }), HasSubstr("a multiple of 64"));
    if (family == std::string("reduction")) {
      EXPECT_THAT(complaint([&] {
                    plan_with("reduction",
                              {{"kernel", word("unrolled")},
                               {"subgroup_impl", word("warp_synchronous")},
                               {"group", number(64)}},
                              plain);
                  }),
                  HasSubstr("neither sub-groups nor"));
    }
    EXPECT_EQ(with("opencl", 64, pocl).options, "-cl-std=CL3.0");
    EXPECT_EQ(with("opencl", 64, roomy()).options, "") << "Intel's are for OpenCL C 1.2";
    EXPECT_EQ(with("portable", 64, pocl).options, "");
    EXPECT_FALSE(with("ptx", 64, nvidia).may_fail_to_build);
  }
}

TEST(OwnLanes, PresetsGrowByThemWhereTheDeviceHasThem) {
  for (const char* name : {"scan", "compaction"}) {
    SCOPED_TRACE(name);
    const Family& family = family_named(name);
    std::vector<Outcome> outcomes;
    for (const auto& at : preset_of(family, "quick")) outcomes.emplace_back(at, 1e-3);
    const auto more = [&](DeviceInfo device) {
      device.memory_bytes = mib;  // no room for another size
      std::map<std::string, int> by_lanes;
      for (const auto& at : family.refine(outcomes, device)) {
        EXPECT_NO_THROW(plan_of(family, at, roomy())) << at.id();
        ++by_lanes[at.text("subgroup_impl")];
      }
      return by_lanes;
    };
    EXPECT_THAT(more(plain), IsEmpty());
    EXPECT_THAT(more(nvidia), IsEmpty());
    EXPECT_GE(more(pocl)["opencl"], 9);
    EXPECT_EQ(more(pocl).size(), 1U);
    EXPECT_EQ(more(amd)["amd"], more(pocl)["opencl"]);
  }
}

// What is measured with NVIDIA's implementation is measured with AMD's, too, but for limits of registers,
// which only NVIDIA's compiler has.
TEST(OwnLanes, PresetsHaveThoseOfAmdBesideThoseOfNvidia) {
  for (const char* name : {"scan", "compaction", "reduction"}) {
    const Family& family = family_named(name);
    for (const char* preset : preset_names) {
      std::map<std::string, std::set<std::string>> tasks;  // by implementation; without launch parameters
      for (const auto& at : preset_of(family, preset)) {
        if (family.axis("registers") != nullptr && at.number("registers") > 0) continue;
        std::string task;
        for (const auto& axis : family.axes) {
          if (!axis.tunable && axis.name != "subgroup_impl") task += text_of(at.at(axis.name)) + " ";
        }
        tasks[at.text("subgroup_impl")].insert(task);
      }
      EXPECT_THAT(tasks["amd"], testing::IsSupersetOf(tasks["ptx"])) << name << ", preset " << preset;
    }
  }
}

TEST(OwnLanes, ClaimsTryThoseOfAmdWhereTheyTryThoseOfNvidia) {
  std::ifstream in(CLWEAVE_SOURCE_DIR "/results/published/claims.json");
  int lists = 0;
  const std::function<void(const nlohmann::json&)> look = [&](const nlohmann::json& at) {
    if (at.is_object() && at.value("subgroup_impl", nlohmann::json()) == "ptx") {
      EXPECT_TRUE(at.contains("registers")) << at.dump();
    }
    if (at.is_array() && std::ranges::find(at, "ptx") != at.end()) {
      ++lists;
      EXPECT_NE(std::ranges::find(at, "amd"), at.end()) << at.dump();
    }
    if (!at.is_structured()) return;
    for (const auto& part : at) look(part);
  };
  look(nlohmann::json::parse(in));
  EXPECT_GT(lists, 50);
}

// Sub-groups and wavefronts of any size lie together; only NVIDIA's warps wait for others.
TEST(OwnLanes, NobodyWaitsButWarps) {
  for (const char* family : {"scan", "compaction"}) {
    const char* kernel = family == std::string("scan") ? "register_tile" : "staged";
    for (const char* impl : {"portable", "ptx", "opencl", "amd"}) {
      DeviceInfo device = roomy();
      device.vendor = "Apple";  // whose groups may never proceed
      const auto make = [&] {
        plan_with(family,
                  {{"kernel", word(kernel)},
                   {"subgroup_impl", word(impl)},
                   {"group", number(64)},
                   {"window", number(32)}},
                  device);
      };
      SCOPED_TRACE(std::string(family) + " " + impl);
      if (impl == std::string("ptx"))
        EXPECT_THAT(complaint(make), HasSubstr("may never proceed"));
      else
        EXPECT_NO_THROW(make());
    }
  }
}

TEST(OwnLanes, FormerNamesOfTheirsAreRead) {
  const Axis& axis = *family_named("reduction").axis("tail");
  EXPECT_EQ(axis.name, "subgroup_impl");
  EXPECT_EQ(axis.taken(word("barriers")), word("portable"));
  EXPECT_EQ(axis.taken(word("shuffle")), word("ptx"));
  EXPECT_EQ(axis.taken(word("subgroups")), word("opencl"));
  EXPECT_EQ(axis.taken(word("best")), word("best"));
  EXPECT_EQ(axis.taken(word("warps")), std::nullopt);
}
