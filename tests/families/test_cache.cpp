// SPDX-License-Identifier: Apache-2.0
// test_cache: what family cache asks for and concludes of invented devices.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

namespace {

// A device invented by what a load takes in so many KiB, and what all read where they share a level.
class Invented {
 public:
  using Latency = std::function<double(std::int64_t bytes)>;
  explicit Invented(Latency ns) : ns_(std::move(ns)) {}
  explicit Invented(const std::map<std::int64_t, double>& ns_by_kib)
      : Invented([=](std::int64_t bytes) { return ns_by_kib.lower_bound((bytes + 1023) / 1024)->second; }) {}
  double ns(std::int64_t bytes) const { return ns_(bytes); }
  double launch_s = 0;

  // Returns outcomes of preset quick and of the cases that its refinement adds.
  std::vector<Outcome> walked(const std::function<double(const Case&, const Invented&)>& ns) const {
    const Family cache = family_named("cache");
    std::vector<Outcome> outcomes;
    auto wanted = preset_of(cache, "quick");
    std::set<std::string> ids;
    for (int round = 0; !wanted.empty() && round < 40; ++round) {
      for (const auto& at : wanted) {
        if (!ids.insert(at.id()).second) continue;
        const Plan plan = plan_of(cache, at, roomy());
        outcomes.emplace_back(
            at, 1e-9 * ns(at, *this) * static_cast<double>(plan.cost.items) /
                    static_cast<double>(at.is("kernel", "chase_private") ? roomy().units() : 1));
        Outcome& outcome = outcomes.back();
        outcome.time_s += launch_s;
        outcome.low_s = outcome.high_s = outcome.time_s;
        outcome.bytes = plan.cost.read + plan.cost.written;
      }
      wanted = cache.refine(outcomes, roomy());
      std::erase_if(wanted, [&](const Case& at) { return ids.contains(at.id()); });
    }
    EXPECT_THAT(wanted, IsEmpty()) << "it never has enough";
    return outcomes;
  }

 private:
  Latency ns_;
};

// Level 1 is each unit's own, level 2 everybody's; lines of 128 bytes, addresses cached for 3 MiB.
double of_two_levels(const Case& at, const Invented& device) {
  const std::int64_t bytes = at.number("working_set");
  const auto units = static_cast<std::int64_t>(roomy().units());
  if (at.is("kernel", "chase")) return device.ns(bytes);
  if (at.is("kernel", "chase_private"))
    return device.ns(bytes <= std::int64_t{200} * 1024 ? bytes : units * bytes);
  if (at.is("kernel", "tlb")) return device.ns(bytes / 4160 * 64) * (bytes > (3 << 20) ? 1.5 : 1.0);
  if (at.is("kernel", "pair")) return at.number("apart") < 128 ? 100 : 200;
  return 1;
}

const Finding& named(const std::vector<Finding>& found, const std::string& name) {
  return *std::ranges::find(found, name, &Finding::name);
}

}  // namespace

TEST(CachePlans, RefuseWorkingSetsWithoutANode) {
  const auto plan = [](std::int64_t bytes) {
    plan_with("cache", {{"kernel", word("tlb")}, {"working_set", number(bytes)}});
  };
  EXPECT_THAT(complaint([&] { plan(4096); }), testing::HasSubstr("no node, as they are 4160 bytes apart"));
  EXPECT_NO_THROW(plan(8192));
}

TEST(CacheFindings, TellSizesToSixPercentAndWhoSharesThem) {
  const Family cache = family_named("cache");
  const Invented device({{200, 20}, {260, 60}, {27000, 150}, {1 << 22, 330}});
  const auto found = cache.findings(device.walked(of_two_levels), roomy());
  EXPECT_NEAR(finding_of(found, "l1_bytes"), 200 * 1024, 0.06 * 200 * 1024);
  EXPECT_DOUBLE_EQ(finding_of(found, "l1_latency"), 20);
  EXPECT_EQ(finding_of(found, "l1_compute_units"), 1);
  EXPECT_NEAR(finding_of(found, "l2_bytes"), 27000 * 1024, 0.06 * 27000 * 1024);
  EXPECT_DOUBLE_EQ(finding_of(found, "l2_latency"), 150);
  EXPECT_EQ(finding_of(found, "l2_compute_units"), static_cast<double>(roomy().units()));
  EXPECT_NEAR(finding_of(found, "l2_read"), 4, 0.1);
  EXPECT_EQ(finding_of(found, "fetch_granularity"), 128);
  EXPECT_NEAR(finding_of(found, "tlb_reach"), 3 << 20, 0.2 * (3 << 20));
  EXPECT_THAT(found, Not(Contains(Field(&Finding::name, StartsWith("l3")))));
}

// The latency is that of a load, without a launch and without the arithmetic of a step.
TEST(CacheFindings, LatencyIsTheSlopeOfChasesOfAddresses) {
  const Family cache = family_named("cache");
  Invented device({{200, 17}, {260, 60}, {27000, 150}, {1 << 22, 330}});
  device.launch_s = 2e-5;
  const auto with_arithmetic = [](const Case& at, const Invented& of) {
    return of_two_levels(at, of) + (at.is("links", "address") ? 0 : 3);
  };
  auto outcomes = device.walked(with_arithmetic);
  const auto found = cache.findings(outcomes, roomy());
  EXPECT_NEAR(finding_of(found, "l1_latency"), 17, 1e-9);
  EXPECT_NEAR(finding_of(found, "l2_latency"), 150, 1e-9);
  EXPECT_THAT(named(found, "l1_latency").text, HasSubstr("the slope between chains of "));
  // Nothing is told where what the two lengths took may be nearly the same.
  for (auto& o : outcomes) {
    if (o.at.is("links", "address")) o.high_s = 2 * o.time_s;
  }
  EXPECT_FALSE(named(cache.findings(outcomes, roomy()), "l1_latency").value);
  std::erase_if(outcomes, [](const Outcome& o) { return o.at.is("links", "address"); });
  EXPECT_NEAR(finding_of(cache.findings(outcomes, roomy()), "l1_latency"), 20.5, 0.1);
  EXPECT_THAT(named(cache.findings(outcomes, roomy()), "l1_latency").text,
              HasSubstr("launch and index arithmetic included"));
}

// A pair that takes longer than pairs further apart was disturbed: then no distance tells where a fetch ends.
TEST(CacheFindings, FindNoFetchGranularityAmongDisturbedPairs) {
  const Family cache = family_named("cache");
  const Invented device({{200, 20}, {260, 60}, {27000, 150}, {1 << 22, 330}});
  auto outcomes = device.walked(of_two_levels);
  for (auto& o : outcomes) {
    if (o.at.is("kernel", "pair") && o.at.number("apart") == 16) o.time_s *= 1.5;
  }
  const Finding fetched = named(cache.findings(outcomes, roomy()), "fetch_granularity");
  EXPECT_FALSE(fetched.value);
  EXPECT_THAT(fetched.text, StartsWith("two loads 16 bytes apart take 150 ns"));
}

// A climb without a second plateau is no cache, and one disturbed row is no level.
TEST(CacheFindings, TakeNeitherAClimbNorADisturbanceForALevel) {
  const Family cache = family_named("cache");
  const Invented device(
      [](std::int64_t bytes) { return std::clamp(2 * static_cast<double>(bytes) / 65536, 2.0, 128.0); });
  auto outcomes = device.walked(of_two_levels);
  for (auto& o : outcomes) {
    if (o.at.is("kernel", "chase") && o.at.number("working_set") == 16384) o.time_s *= 3;
  }
  const auto found = cache.findings(outcomes, roomy());
  // Half-way from 2 ns to 128.
  const Finding& size = named(found, "l1_bytes");
  EXPECT_NEAR(size.value.value(), 8 * 65536, 0.06 * 8 * 65536);
  EXPECT_NEAR(size.low.value(), 65536 * 1.15, 65536 * 0.35);
  EXPECT_GT(size.high.value(), 50 * 65536);
  EXPECT_THAT(found, Not(Contains(Field(&Finding::name, StartsWith("l2")))));
}

// An H200's first cache is empty when a launch begins: the larger the set, the more of its loads are the
// first of their line. That is one level, not two.
TEST(CacheFindings, TakeASlowGrowthForNoEndOfALevel) {
  const Family cache = family_named("cache");
  const Invented device([](std::int64_t bytes) {
    const double kib = static_cast<double>(bytes) / 1024;
    return kib <= 220 ? 20 + 0.049 * kib : kib <= 29000 ? 142 : 330;
  });
  const auto found = cache.findings(device.walked(of_two_levels), roomy());
  EXPECT_NEAR(finding_of(found, "l1_bytes"), 220 * 1024, 0.06 * 220 * 1024);
  EXPECT_NEAR(finding_of(found, "l2_bytes"), 29000 * 1024, 0.06 * 29000 * 1024);
  EXPECT_THAT(found, Not(Contains(Field(&Finding::name, StartsWith("l3")))));
}

TEST(CacheFindings, TellWhatTheDriverAndTheSystemSay) {
  const Family cache = family_named("cache");
  const Invented invented({{48, 2}, {2000, 6}, {1 << 22, 100}});
  DeviceInfo device = roomy();
  device.cache_bytes = 105 << 20;
  device.host_caches = {48 << 10, 2 << 20};
  const auto found = cache.findings(invented.walked(of_two_levels), device);
  EXPECT_EQ(finding_of(found, "driver_cache_bytes"), 105 << 20);
  EXPECT_EQ(finding_of(found, "host_l1_bytes"), 48 << 10);
  EXPECT_EQ(finding_of(found, "host_l2_bytes"), 2 << 20);
}

// A level that ends near the largest walk may go on behind it.
TEST(CacheFindings, AreUndecidedWhereTheWalksEndTooSoon) {
  const Family cache = family_named("cache");
  const Invented device({{48, 2}, {128 * 1024, 20}, {1 << 22, 100}});
  const auto found = cache.findings(device.walked(of_two_levels), roomy());
  EXPECT_TRUE(named(found, "l1_bytes").value);
  EXPECT_FALSE(named(found, "l2_bytes").value);
  EXPECT_THAT(named(found, "l2_bytes").text, HasSubstr("less than four times"));
}

// Keeps below the iterations after which llvmpipe leaves a loop silently.
TEST(Cache, TakesNoMoreTurnsThanADeviceLeavesALoop) {
  DeviceInfo device = roomy();
  device.name = "llvmpipe (LLVM 15.0.6, 256 bits)";
  device.type = "cpu";
  device.compute_units = 2;
  const auto plan = [&](const char* kernel, std::int64_t bytes) {
    return plan_with("cache",
                     {{"kernel", word(kernel)},
                      {"working_set", number(bytes)},
                      {"iterations", number(0)},
                      {"chain_length", number(0)}},
                     device);
  };
  for (const char* kernel : {"read", "write", "copy"}) {
    const auto moved = plan(kernel, 1 << 14).cost;
    // A turn moves 64 bytes of both units' parts together.
    EXPECT_LE((moved.read + moved.written) / 64, 65535U * (std::string(kernel) == "copy" ? 2 : 1)) << kernel;
    EXPECT_GT(moved.read + moved.written, 2U << 20) << kernel;
    EXPECT_THAT(complaint([&] { plan(kernel, 1 << 26); }), HasSubstr("use a smaller working_set")) << kernel;
  }
  EXPECT_NO_THROW(plan("chase", 1 << 21));
  EXPECT_THAT(complaint([&] { plan("chase", 1 << 23); }), HasSubstr("after 65535 iterations"));
}
