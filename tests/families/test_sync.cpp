// SPDX-License-Identifier: Apache-2.0
// test_sync: what family sync asks for and concludes of invented devices.
#include <gmock/gmock.h>

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

// A device whose steps take 80 ns and a barrier so long, whose own means take 10 ns among `width`; 0: it has
// none.
std::vector<Outcome> measured_rows(double barrier_ns, int width, double noise_of = 0.005) {
  const Family sync = family_named("sync");
  const Random<double> noise(1, 1);
  std::vector<Outcome> outcomes;
  auto wanted = preset_of(sync, "quick");
  std::set<std::string> ids;
  for (int round = 0; !wanted.empty() && round < 10; ++round) {
    for (const auto& at : wanted) {
      const bool own = !at.is("by", "memory");
      if (own && (width == 0 || at.is("by", "shuffle"))) continue;
      if (!ids.insert(at.id()).second) continue;
      const double ns = own ? 10
                            : 80 + barrier_ns * static_cast<double>(at.number("barriers")) +
                                  static_cast<double>(at.number("width"));
      const double time_s = 1e-9 * ns * 1024 * (1 + noise_of * noise(outcomes.size()));
      outcomes.emplace_back(at, time_s, time_s * (1 - 2 * noise_of), time_s * (1 + 2 * noise_of));
      outcomes.back().items = plan_of(sync, at, roomy()).cost.items;
      if (own) outcomes.back().value = width;
    }
    wanted = sync.refine(outcomes, roomy());
    std::erase_if(wanted, [&](const Case& at) { return ids.contains(at.id()); });
  }
  EXPECT_THAT(wanted, IsEmpty()) << "it never has enough";
  return outcomes;
}

const Finding& named(const std::vector<Finding>& found, const std::string& name) {
  const auto it = std::ranges::find(found, name, &Finding::name);
  if (it == found.end()) throw std::logic_error("no finding " + name);
  return *it;
}

}  // namespace

TEST(SyncFindings, TellABarrierFromTheStepItStandsIn) {
  const Family sync = family_named("sync");
  const auto found = sync.findings(measured_rows(30, 0), roomy());
  for (const char* name : {"barrier_local_64", "barrier_local_256", "barrier_global_256"}) {
    const Finding& barrier = named(found, name);
    EXPECT_NEAR(barrier.value.value(), 30, 1) << name;
    EXPECT_LT(barrier.low.value(), 30);
    EXPECT_GT(barrier.high.value(), 30);
  }
  // Finds no gain without a sub-group implementation to compare.
  EXPECT_THAT(found, Not(Contains(Field(&Finding::name, "subgroup_width"))));
  EXPECT_THAT(found, Contains(Field(&Finding::name, "reduce_memory")));
  EXPECT_THAT(found, Not(Contains(Field(&Finding::name, HasSubstr("_gain")))));
}

TEST(SyncFindings, FindNoBarrierThatTakesNoTime) {
  const Family sync = family_named("sync");
  const Finding barrier = named(sync.findings(measured_rows(0, 0), roomy()), "barrier_local_256");
  EXPECT_FALSE(barrier.value);
  EXPECT_THAT(barrier.text, StartsWith("none found"));
  EXPECT_LT(barrier.low.value(), 0);
  EXPECT_GT(barrier.high.value(), 0);
}

TEST(SyncFindings, CompareAmongAsManyItems) {
  const Family sync = family_named("sync");
  const auto rows = measured_rows(30, 16);
  const auto found = sync.findings(rows, roomy());
  EXPECT_EQ(finding_of(found, "subgroup_width"), 16);
  for (const char* operation : {"reduce", "scan", "shuffle", "broadcast"}) {
    // 80 for the step, 30 for the barrier, 16 for the width, not for the 32 of the preset.
    EXPECT_NEAR(finding_of(found, std::string(operation) + "_gain"), 12.6, 0.2) << operation;
    EXPECT_NEAR(finding_of(found, std::string(operation) + "_own"), 10, 0.1) << operation;
    EXPECT_NEAR(finding_of(found, std::string(operation) + "_memory"), 126, 1) << operation;
  }
}

// The value that an item says is right for the width that it says.
TEST(SyncChecks, HoldEachItemAgainstTheWidthItSays) {
  const Plan plan = plan_with("sync", {{"operation", word("broadcast")},
                                       {"by", word("subgroups")},
                                       {"group", number(64)},
                                       {"iterations", number(2)}});
  struct Told {
    std::uint32_t x, width;
  };
  const Bytes in = filled(plan.buffers[0], {0, plan.buffers[0].bytes});
  const auto own = [&](std::size_t i) {
    std::uint32_t x = 0;
    std::memcpy(&x, &in[i * sizeof x], sizeof x);
    return x;
  };
  const auto wrong = [&](std::uint32_t width, std::uint32_t said) {
    Bytes bytes(64 * sizeof(Told));
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t first = i / width * width;
      const auto step_0 = [&](std::size_t item) { return 3 * own(first) + own(item); };
      const Told told = {3 * step_0(first + 1 % width) + own(i) + 1, said};
      std::memcpy(&bytes[i * sizeof told], &told, sizeof told);
    }
    return plan.checks.at(0).compare(0, bytes).wrong;
  };
  EXPECT_EQ(wrong(16, 16), 0U);
  EXPECT_EQ(wrong(64, 64), 0U);
  EXPECT_GT(wrong(16, 32), 0U);
  EXPECT_EQ(wrong(16, 0), 64U);
  EXPECT_EQ(wrong(16, 24), 64U);
  EXPECT_EQ(wrong(16, 128), 64U);
}
