// SPDX-License-Identifier: Apache-2.0
// test_tlb: the levels of the TLB that family tlb finds in invented times.
#include <gmock/gmock.h>

#include <cmath>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;

namespace {

// A device whose loads take 140 ns, 60 more beyond `first` bytes and 200 more beyond `second`.
struct Invented {
  double first, second;
  double ns(const Case& at) const {
    if (at.number("stride") == 128) return 140;
    const auto bytes = static_cast<double>(at.number("working_set"));
    return 140 + (bytes > first ? 60 : 0) + (bytes > second ? 200 : 0);
  }
};

std::vector<Finding> measured(const Invented& invented, const char* preset, const DeviceInfo& device) {
  const Family& family = family_named("tlb");
  std::vector<Case> cases = preset_of(family, preset);
  std::vector<Outcome> outcomes;
  while (!cases.empty()) {
    for (const auto& at : cases) {
      const Plan plan = plan_of(family, at, device);
      outcomes.emplace_back(at, 1e-9 * invented.ns(at) * static_cast<double>(plan.cost.items));
    }
    cases = family.refine(outcomes, device);
  }
  return family.findings(outcomes, device);
}

double value_of(const std::vector<Finding>& found, const std::string& name) {
  for (const auto& one : found) {
    if (one.name == name) return one.value.value_or(-1);
  }
  return 0;
}

TEST(Tlb, FindsEachLevelAndWhatAMissAdds) {
  const double mib = 1 << 20;
  const auto found = measured({100 * mib, 3000 * mib}, "paper", roomy());
  EXPECT_NEAR(value_of(found, "tlb1_reach_2m"), 100 * mib, 20 * mib);
  EXPECT_NEAR(value_of(found, "tlb1_miss_2m"), 60, 1);
  EXPECT_NEAR(value_of(found, "tlb2_reach_2m"), 3000 * mib, 500 * mib);
  EXPECT_NEAR(value_of(found, "tlb2_miss_2m"), 200, 1);
}

// Preset quick ends at 1 GiB; of a GPU twice as much is asked for until a level ends.
TEST(Tlb, LooksAtMoreMemoryOfAGpuUntilALevelEnds) {
  const double gib = 1 << 30;
  const auto found = measured({3 * gib, 100 * gib}, "quick", roomy());
  EXPECT_NEAR(value_of(found, "tlb1_reach_2m"), 3 * gib, 0.5 * gib);
  DeviceInfo processor = roomy();
  processor.type = "cpu";
  EXPECT_EQ(value_of(measured({3 * gib, 100 * gib}, "quick", processor), "tlb1_reach_2m"), -1);
  DeviceInfo small = roomy();
  small.usable_bytes = std::int64_t{3} << 30;
  EXPECT_EQ(value_of(measured({3 * gib, 100 * gib}, "quick", small), "tlb1_reach_2m"), -1);
}

}  // namespace
