// SPDX-License-Identifier: Apache-2.0
// test_check: what check says of a family that breaks rules.
#include "suite/check.hpp"

#include <gmock/gmock.h>

using namespace clweave;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

using Change = std::function<void(Family&, Plan&, const Case&)>;

// A family that keeps every rule, but for `change`.
Family good(const Change& change = {}) {
  Family family;
  family.name = "good";
  family.question = "Is it good?";
  family.axes = {{.name = "n", .meaning = "elements", .values = {64}, .takes = whole(1, 1024)}};
  family.presets = {.smoke = {"n=3,64"}, .quick = {""}, .paper = {}, .full = {""}};
  family.view = {.rows = {"n"}, .columns = {}, .quantity = "rate"};
  Plan unused;
  if (change) change(family, unused, {});
  family.plan = [change, family](const Case& at, const DeviceInfo&) {
    Plan plan;
    const auto n = static_cast<std::uint64_t>(at.number("n"));
    const Random<std::uint32_t> value(at.seed, 1);
    const auto in = plan.input<std::uint32_t>(n, value), out = plan.output<std::uint32_t>(n);
    plan.launch("good", {n}, {}, out, in);
    plan.expect<std::uint32_t>(out, value);
    plan.cost = {.read = 4 * n, .written = 4 * n, .flops = 0, .items = n};
    Family ignored = family;
    if (change) change(ignored, plan, at);
    return plan;
  };
  return family;
}

std::vector<std::string> problems(const Change& change = {}) { return problems_of(good(change), {"good"}); }

}  // namespace

TEST(Check, SaysNothingOfAFamilyThatKeepsTheRules) { EXPECT_THAT(problems(), IsEmpty()); }

TEST(Check, NamesTheCaseAndTheRuleThatItBreaks) {
  EXPECT_THAT(problems([](Family&, Plan& plan, const Case&) { plan.checks.clear(); }),
              Contains(HasSubstr("preset smoke, good/n=3: nothing is checked")));
  EXPECT_THAT(problems([](Family& family, Plan&, const Case&) { family.question = "Good."; }),
              Contains(HasSubstr("question mark")));
  EXPECT_THAT(problems([](Family& family, Plan&, const Case&) { family.presets.quick = {}; }),
              Contains(HasSubstr("preset quick has no case")));
  EXPECT_THAT(problems([](Family&, Plan& plan, const Case&) { plan.defines["lower"] = "1"; }),
              Contains(HasSubstr("define lower is not in capitals")));
  EXPECT_THAT(problems([](Family&, Plan& plan, const Case&) { plan.exhibit = "wrong"; }),
              Contains(HasSubstr("exhibit")));
  EXPECT_THAT(problems([](Family&, Plan& plan, const Case&) { plan.sources = {"bad"}; }),
              Contains(HasSubstr("no kernel file bad.cl")));
  EXPECT_THAT(problems([](Family&, Plan&, const Case& at) {
                if (!at.axes.empty() && at.number("n") == 3) throw Error(Kind::usage, "n must be even");
              }),
              Contains(HasSubstr("n must be even")));
}
