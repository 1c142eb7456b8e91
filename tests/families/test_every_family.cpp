// SPDX-License-Identifier: Apache-2.0
// test_every_family: what every family and every plan of it keeps.
#include <gmock/gmock.h>

#include <set>

#include "device/program.hpp"
#include "plans.hpp"
#include "results/record.hpp"
#include "suite/check.hpp"
#include "suite/family.hpp"

using namespace clweave;

// The rules, and what each finds, are in suite/check and test_check.
class EveryFamily : public testing::TestWithParam<std::string> {};

TEST_P(EveryFamily, KeepsTheRules) {
  std::vector<std::string> stems;
  for (const auto& [stem, text] : embedded_kernels) stems.emplace_back(stem);
  EXPECT_THAT(problems_of(family_named(GetParam()), stems), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Checked, EveryFamily, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& family : all_families()) names.push_back(family.name);
                           return names;
                         }()),
                         [](const auto& of) { return of.param; });

TEST(AllFamilies, HaveNamesOfTheirOwn) {
  std::set<std::string> names, taken;
  for (const auto& column : columns()) taken.insert(std::string(column.name));
  for (const auto& family : all_families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    for (const auto& axis : family.axes)
      EXPECT_FALSE(taken.contains(axis.name)) << family.name << ": two columns " << axis.name;
  }
}

TEST(AllFamilies, AreHeldAgainstCeilingsThatAreMeasured) {
  std::set<Ceiling> measured;
  const Family& ceiling = family_named("ceiling");
  for (const auto& at : preset_of(ceiling, "quick")) measured.insert(plan_of(ceiling, at, roomy()).ceiling);
  EXPECT_THAT(measured, testing::IsSupersetOf({Ceiling::copy, Ceiling::read, Ceiling::local,
                                               Ceiling::arithmetic_float, Ceiling::arithmetic_double}));
  for_all_cases([&](const Family& family, const std::string& /*preset*/, const Case& at) {
    const Plan plan = plan_of(family, at, roomy());
    EXPECT_TRUE(plan.ceiling == Ceiling::none || measured.contains(plan.ceiling)) << plan.ceiling;
  });
}
