// SPDX-License-Identifier: Apache-2.0
// test_build: what family build plans, and what it concludes of an invented compiler.
#include <gmock/gmock.h>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// 20 ms and a quarter of one for each statement; a cache makes it ten times as fast, a binary five times.
std::vector<Outcome> built() {
  const Family& family = family_named("build");
  std::vector<Outcome> out;
  for (const auto& at : preset_of(family, "quick")) {
    const double cold_s = 20e-3 + 0.25e-3 * static_cast<double>(at.number("statements"));
    const double time_s = cold_s / (at.is("from", "again") ? 10 : at.is("from", "binary") ? 5 : 1);
    out.emplace_back(at, time_s, 0.99 * time_s, 1.01 * time_s);
  }
  return out;
}

TEST(BuildFindings, TellTheColdBuildAndWhatIsSaved) {
  const auto found = family_named("build").findings(built(), roomy());
  const auto named = [&](const std::string& name) { return *std::ranges::find(found, name, &Finding::name); };
  EXPECT_THAT(*named("build_cold").value, DoubleNear(36, 0.01));
  EXPECT_THAT(*named("build_cold").low, DoubleNear(35.64, 0.01));
  EXPECT_THAT(*named("build_cold").high, DoubleNear(36.36, 0.01));
  EXPECT_THAT(named("build_cold").text, HasSubstr("64 statements"));
  EXPECT_THAT(*named("build_cold_least").value, DoubleNear(22, 0.01));
  EXPECT_THAT(*named("build_cached_gain").value, DoubleNear(10, 1e-6));
  EXPECT_THAT(*named("build_binary_gain").value, DoubleNear(5, 1e-6));
  EXPECT_LT(*named("build_binary_gain").low, 5);
}

// Some drivers give no binary, or refuse it: the row is unsupported and nothing follows from it.
TEST(BuildFindings, LeaveOutWhatIsMissing) {
  auto outcomes = built();
  std::erase_if(outcomes, [](const Outcome& o) { return o.at.is("from", "binary"); });
  EXPECT_EQ(family_named("build").findings(outcomes, roomy()).size(), 3U);
  std::erase_if(outcomes, [](const Outcome& o) { return o.at.is("from", "source"); });
  EXPECT_THAT(family_named("build").findings(outcomes, roomy()), IsEmpty());
}

// A statement more or less is another result.
TEST(BuildPlans, SeeEachStatement) {
  const Family& family = family_named("build");
  std::set<std::string> expected;
  for (const auto& at : preset_of(family, "full")) {
    const Bytes zeros(64);
    if (at.is("from", "source"))
      expected.insert(plan_of(family, at, roomy()).checks.at(0).compare(0, zeros).first_text);
  }
  EXPECT_EQ(expected.size(), 5U);
}

}  // namespace
