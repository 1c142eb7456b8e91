// SPDX-License-Identifier: Apache-2.0
// test_device_size: the sizes that invented devices choose for their best.
#include "suite/device_size.hpp"

#include <bit>
#include <map>
#include <set>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

// Rows of a family's quick look, by the bytes that each moves a second; kernel 0 in its axis is the slowest.
std::vector<Outcome> quick_rows(const Family& family, double bytes_per_s = 1e11) {
  std::vector<Outcome> out;
  const Values& kernels = family.axis("kernel")->values;
  for (const auto& at : preset_of(family, "quick")) {
    const Plan plan = plan_of(family, at, roomy());
    const auto place = std::ranges::find(kernels, at.at("kernel")) - kernels.begin();
    const auto bytes = static_cast<double>(plan.cost.read + plan.cost.written);
    out.emplace_back(at, bytes / bytes_per_s * (2 - 0.01 * static_cast<double>(place)));
    out.back().bytes = plan.cost.read + plan.cost.written;
  }
  return out;
}

DeviceInfo with_cache(std::int64_t bytes) {
  DeviceInfo device = roomy();
  device.cache_bytes = bytes;
  return device;
}

std::uint64_t buffer_bytes(const Family& family, const Case& at, const DeviceInfo& device) {
  std::uint64_t bytes = 0;
  for (const auto& buffer : plan_of(family, at, device).buffers) bytes += buffer.bytes;
  return bytes;
}

const std::vector<std::string> sized = {"copy", "reduction", "scan", "compaction"};

}  // namespace

TEST(DeviceSize, IsFourTimesTheCacheAndHalfAGiB) {
  for (const auto& name : sized) {
    SCOPED_TRACE(name);
    const Family& family = family_named(name);
    const auto rows = quick_rows(family);
    std::set<std::int64_t> sizes;
    for (const std::int64_t cache : {0L, 50 * mib, 128 * mib, 256 * mib}) {
      const DeviceInfo device = with_cache(cache);
      const auto asked = family.refine(rows, device);
      ASSERT_THAT(asked, SizeIs(2));
      EXPECT_NE(asked[0].at("kernel"), asked[1].at("kernel"));
      EXPECT_EQ(asked[0].at("n"), asked[1].at("n"));
      sizes.insert(asked[0].number("n"));
      for (const auto& at : asked) {
        EXPECT_GE(buffer_bytes(family, at, device), std::max(4 * cache, 512 * mib)) << at.id();
        EXPECT_LE(buffer_bytes(family, at, device), 2 * std::max(4 * cache, 768 * mib)) << at.id();
      }
    }
    EXPECT_GT(sizes.size(), 1U) << "the cache decides nothing";
  }
}

TEST(DeviceSize, LeavesRoomAndTime) {
  for (const auto& name : sized) {
    SCOPED_TRACE(name);
    const Family& family = family_named(name);
    const auto rows = quick_rows(family);
    EXPECT_THAT(family.refine(rows, with_cache(4096 * mib)), IsEmpty()) << "sixteen GiB take too long";
    EXPECT_THAT(family.refine(quick_rows(family, 1e8), roomy()), IsEmpty()) << "so slow a device";
    DeviceInfo small = with_cache(mib);
    small.memory_bytes = 2048 * mib;
    for (const auto& at : family.refine(rows, small))
      EXPECT_LE(buffer_bytes(family, at, small), 256U * mib) << at.id();
    small.max_alloc_bytes = mib;
    EXPECT_THAT(family.refine(rows, small), IsEmpty());
  }
}

// Copies have one kernel there beside the driver's own.
TEST(DeviceSize, OneThatWouldTakeSecondsLeavesTheFastestItsSize) {
  for (const char* name : {"reduction", "scan", "compaction"}) {
    SCOPED_TRACE(name);
    const Family& family = family_named(name);
    auto rows = quick_rows(family);
    const auto both = family.refine(rows, roomy());
    ASSERT_THAT(both, SizeIs(2));
    for (auto& row : rows) row.time_s *= row.at.at("kernel") == both[0].at("kernel") ? 1 : 1e6;
    const auto asked = family.refine(rows, roomy());
    ASSERT_THAT(asked, SizeIs(1));
    EXPECT_EQ(asked[0].id(), both[0].id());
  }
}

TEST(DeviceSize, IsTheSameForTheSameRowsAndNoneMoreWhenItIsMeasured) {
  for (const auto& name : sized) {
    SCOPED_TRACE(name);
    const Family& family = family_named(name);
    auto rows = quick_rows(family);
    const auto asked = family.refine(rows, roomy());
    for (const auto& at : asked) rows.emplace_back(at, 1e-2);
    const auto again = family.refine(rows, roomy());
    ASSERT_EQ(again.size(), asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(again[i].id(), asked[i].id());
    EXPECT_THAT(family.refine({}, roomy()), IsEmpty());
  }
}

TEST(DeviceSize, IsNoneThatAPresetNames) {
  for (const auto& name : sized) {
    const Family& family = family_named(name);
    std::set<std::int64_t> named;
    for (const char* preset : preset_names) {
      for (const auto& at : preset_of(family, preset)) named.insert(at.number("n"));
    }
    for (const std::int64_t cache : {0L, 50 * mib, 128 * mib, 256 * mib}) {
      for (const auto& at : family.refine(quick_rows(family), with_cache(cache)))
        EXPECT_FALSE(named.contains(at.number("n"))) << at.id();
    }
  }
}

TEST(DeviceSize, TakesNoFindingFromTheCommonSize) {
  for (const auto& name : sized) {
    SCOPED_TRACE(name);
    const Family& family = family_named(name);
    auto rows = quick_rows(family);
    std::set<std::string> before;
    for (const auto& finding : family.findings(rows, roomy())) before.insert(finding.name);
    for (const auto& at : family.refine(rows, roomy())) rows.emplace_back(at, 1e-2);
    std::set<std::string> after;
    for (const auto& finding : family.findings(rows, roomy())) after.insert(finding.name);
    EXPECT_THAT(after, testing::IsSupersetOf(before));
  }
}
