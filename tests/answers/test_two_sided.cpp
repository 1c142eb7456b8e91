// SPDX-License-Identifier: Apache-2.0
// test_two_sided: every shipped claim holds by rows of which its sentence is true, and fails by rows of which
// it is false; with its relation turned round it does not.
//
// claims_two_sided.json names the rows: of those that a rule asks for, what each takes. A value is in the
// unit of what the rule compares: microseconds, GB/s, Gop/s, G items/s, or a fraction. It goes to the rows
// that have these axes; of several the last, of none 100.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "answers/claims.hpp"
#include "base/text.hpp"
#include "plans.hpp"
#include "suite/imaginary_devices.hpp"

using namespace clweave;

namespace {

using json = nlohmann::ordered_json;

bool meets(const Case& at, const std::string& conditions) {
  for (const auto& condition : split(conditions, ' ')) {
    if (condition.empty()) continue;
    const auto sign = condition.find('=');
    const std::string axis = condition.substr(0, sign), value = condition.substr(sign + 1);
    const auto cell = std::ranges::find(at.axes, axis, [](const auto& pair) { return pair.first; });
    if (axis == "family" ? at.family != value : cell == at.axes.end() || text_of(cell->second) != value)
      return false;
  }
  return true;
}

double value_for(const Case& at, const json& values) {
  double out = 100;
  for (const auto& [conditions, value] : values.items()) {
    if (meets(at, conditions)) out = value.get<double>();
  }
  return out;
}

// Every case that a side asks for, at the largest size and the first type.
std::vector<Case> cases_for(const Rows& rows, const Family& family) {
  Sweeps sweeps;
  for (const auto& axes : rows.whole()) {
    auto& sweep = sweeps.emplace_back();
    for (const auto& [axis, want] : axes) {
      using How = Rows::Want::How;
      sweep[axis] = want.how == How::largest ? Values(want.values.back())
                    : want.how == How::first ? Values(want.values.front())
                                             : want.values;
    }
  }
  return cases_of(family, sweeps, 0);
}

Record row_of(const Case& at, const Family& family, const std::string& quantity, double value) {
  Record r;
  r.platform = "Invented, OpenCL 3.0";
  r.device = "Device";
  r.driver = "1";
  r.device_type = "gpu";
  r.compute_units = 1;
  r.family = at.family;
  for (const auto& [axis, cell] : at.axes) r.axes.emplace_back(axis, text_of(cell));
  r.case_id = at.id();
  r.status = Status::ok;
  r.timer = Timer::event;
  r.cache = "warm";
  Cost cost{};
  try {
    cost = plan_of(family, at, roomy()).cost;
  } catch (const Error&) {
    cost = {.read = 1000000, .written = 0, .flops = 1000000, .items = 1000000};
  }
  const double work = quantity == "gflop_per_s"    ? static_cast<double>(cost.flops)
                      : quantity == "gitems_per_s" ? static_cast<double>(cost.items)
                      : quantity == "gb_per_s"     ? static_cast<double>(cost.read + cost.written)
                                                   : 0;
  const double seconds = work > 0 ? work / (1e9 * value) : quantity == "time" ? 1e-6 * value : 1e-4;
  r.time_s = r.time_low_s = r.time_high_s = seconds;
  r.gb_per_s = 1e-9 * static_cast<double>(cost.read + cost.written) / seconds;
  r.gflop_per_s = 1e-9 * static_cast<double>(cost.flops) / seconds;
  r.gitems_per_s = 1e-9 * static_cast<double>(cost.items) / seconds;
  if (quantity == "of_ceiling") r.of_ceiling = value;
  return r;
}

std::vector<Record> rows_for(const Rule& rule, const json& values) {
  std::vector<Record> out;
  std::set<std::string> seen;
  const auto& families = all_families();
  for (const auto& [rows, quantity] :
       {std::pair{&rule.of, rule.quantity}, std::pair{&rule.of_before, rule.quantity},
        std::pair{&rule.to, rule.quantity_to}, std::pair{&rule.to_before, rule.quantity_to}}) {
    if (rows->empty()) continue;
    const Family& family = *std::ranges::find(families, rows->family, &Family::name);
    for (const auto& at : cases_for(*rows, family)) {
      if (!seen.insert(at.id()).second) continue;
      // What a family concludes from is speed: of operations where there are any.
      const std::string by = rule.kind != Rule::Kind::finding ? quantity
                             : rule.of.family == "arithmetic" ? "gflop_per_s"
                                                              : "gb_per_s";
      out.push_back(row_of(at, family, by, value_for(at, values)));
    }
  }
  return out;
}

Ruling ruling_of(const Claim& claim, const Rule& rule, const json& values) {
  Claim one = claim;
  one.decisions = {{Setting::at_best, rule}};
  const ResultsSet results = results_of(rows_for(rule, values));
  const auto rows = device_rows(results);
  return rulings_of(one, rows.at(0), all_families()).at(0);
}

std::string told(const Ruling& ruling) {
  constexpr std::array words = {"holds", "fails", "within noise", "not testable", "void"};
  return fmt::format("{} {} {}", words.at(static_cast<std::size_t>(ruling.verdict)),
                     ruling.number ? fmt::format("{:.4g}", ruling.number->value) : "", ruling.note);
}

// What says the opposite, or something else.
Rule turned_round(Rule rule) {
  if (rule.is == Rule::Is::equal) {
    rule.bound *= 4;
  } else {
    rule.is = rule.is == Rule::Is::above ? Rule::Is::below : Rule::Is::above;
  }
  return rule;
}

TEST(TwoSided, EveryClaimHoldsWhereItIsTrueAndFailsWhereItIsFalse) {
  std::ifstream in(CLWEAVE_SOURCE_DIR "/tests/answers/claims_two_sided.json");
  const json both = json::parse(in);
  std::size_t decided = 0;
  for (const auto& claim : load_claims("")) {
    if (claim.decisions.empty()) continue;
    ++decided;
    ASSERT_TRUE(both.contains(claim.id)) << claim.id << " has no invented rows in claims_two_sided.json";
    const json& rows = both.at(claim.id);
    for (const auto& decision : claim.decisions) {
      SCOPED_TRACE(claim.id + (decision.setting == Setting::as_published ? " as published" : " at its best"));
      const Ruling of_true = ruling_of(claim, decision.rule, rows.at("true"));
      const Ruling of_false = ruling_of(claim, decision.rule, rows.at("false"));
      EXPECT_EQ(of_true.verdict, Verdict::holds) << told(of_true);
      EXPECT_EQ(of_false.verdict, Verdict::fails) << told(of_false);
      const Rule other = turned_round(decision.rule);
      EXPECT_FALSE(ruling_of(claim, other, rows.at("true")).verdict == Verdict::holds &&
                   ruling_of(claim, other, rows.at("false")).verdict == Verdict::fails)
          << "turned round it says the same";
    }
  }
  EXPECT_EQ(decided, both.size()) << "rows of a claim that is not there";
}

}  // namespace
