// SPDX-License-Identifier: Apache-2.0
// test_two_sided: every shipped claim holds by rows of which its sentence is just true, and fails by rows of
// which it is just false; with its relation turned round, or with another claim's bound, it does not.
// Launches that no rule lists change nothing, one that is missing leaves it undecided.
//
// claims_two_sided.json names the rows: of those that a rule asks for, what each takes. A value is in the
// unit of what the rule compares: microseconds, GB/s, Gop/s, G items/s, a fraction, or a number. It goes to
// the rows that have these axes; of several the last, of none 100.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/claims/load.hpp"
#include "analysis/claims/report.hpp"
#include "base/text.hpp"
#include "plans.hpp"
#include "suite/mock_devices.hpp"

using namespace clweave::commands;

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
std::vector<Case> cases_for(const RowQuery& rows, const Family& family) {
  Sweeps sweeps;
  for (const auto& axes : rows.alternatives()) {
    auto& sweep = sweeps.emplace_back();
    for (const auto& [axis, want] : axes) {
      using How = RowQuery::AxisQuery::How;
      sweep[axis] = want.how == How::largest ? Values(want.values.back())
                    : want.how == How::first ? Values(want.values.front())
                                             : want.values;
    }
  }
  return cases_of(family, sweeps, 0);
}

// Returns the cost of a case on a large device. Each is planned once: most cases are asked for by several
// claims.
Cost cost_of(const Family& family, const Case& at) {
  static std::map<std::string, Cost> known;
  const auto [it, is_new] = known.try_emplace(at.id());
  if (is_new) {
    try {
      it->second = plan_of(family, at, roomy()).cost;
    } catch (const Error&) {
      it->second = {.read = 1000000, .written = 0, .flops = 1000000, .items = 1000000};
    }
  }
  return it->second;
}

Record row_of(const Case& at, const RowQuery& rows, const Family& family, const std::string& quantity,
              double value) {
  Record r;
  r.platform = "NVIDIA CUDA, invented";
  r.device = "Device";
  r.driver = "1";
  r.device_type = "gpu";
  r.compute_units = 2;
  r.family = at.family;
  for (const auto& [axis, cell] : at.axes) r.axes.emplace_back(axis, text_of(cell));
  r.case_id = at.id();
  if (!rows.api.empty()) {
    r.api = rows.api;
    Case work = at;
    std::erase_if(work.axes, [&](const auto& axis) { return rows.values(axis.first).empty(); });
    r.case_id = work.id();
  }
  r.status = Status::ok;
  r.timer = Timer::event;
  r.cache = "warm";
  const Cost cost = cost_of(family, at);
  const double work = quantity == "gflop_per_s"    ? static_cast<double>(cost.flops)
                      : quantity == "gitems_per_s" ? static_cast<double>(cost.items)
                      : quantity == "gb_per_s"     ? static_cast<double>(cost.read + cost.written)
                                                   : 0;
  const double seconds = work > 0 ? work / (1e9 * value) : quantity == "time" ? 1e-6 * value : 1e-4;
  r.time_s = r.time_low_s = r.time_high_s = seconds;
  r.bytes = static_cast<std::int64_t>(cost.read + cost.written);
  r.flops = static_cast<std::int64_t>(cost.flops);
  r.gb_per_s = 1e-9 * static_cast<double>(cost.read + cost.written) / seconds;
  r.gflop_per_s = 1e-9 * static_cast<double>(cost.flops) / seconds;
  r.gitems_per_s = 1e-9 * static_cast<double>(cost.items) / seconds;
  if (quantity == "fraction_of_peak") r.fraction_of_peak = value;
  if (quantity == "value") r.value = value;
  if (std::ranges::find(family.derived, quantity, &Derived::name) != family.derived.end())
    r.axes.emplace_back(quantity, fmt::format("{}", value));
  return r;
}

// Returns the quantity in which the values of a rule's rows are given: of findings the family's, operations
// or bytes or the time.
std::string quantity_of(const Rule& rule, const std::string& quantity) {
  return rule.kind != Rule::Kind::finding        ? quantity
         : rule.numerator.family == "arithmetic" ? "gflop_per_s"
         : rule.numerator.family == "occupancy"  ? "gb_per_s"
                                                 : "time";
}

void add_rows(const Rule& rule, const json& values, std::set<std::string>& seen, std::vector<Record>& out) {
  const auto& families = all_families();
  for (const auto& [rows, quantity] :
       {std::pair{&rule.numerator, rule.quantity}, std::pair{&rule.numerator_before_change, rule.quantity},
        std::pair{&rule.denominator, rule.denominator_quantity},
        std::pair{&rule.denominator_before_change, rule.denominator_quantity}}) {
    if (rows->empty()) continue;
    const Family& family = *std::ranges::find(families, rows->family, &Family::name);
    for (const auto& at : cases_for(*rows, family)) {
      if (!seen.insert(rows->api + at.id()).second) continue;
      out.push_back(row_of(at, *rows, family, quantity_of(rule, quantity), value_for(at, values)));
    }
  }
}

std::vector<Record> rows_for(const Criterion& criterion, const json& values) {
  std::vector<Record> out;
  std::set<std::string> seen;
  add_rows(criterion.rule, values, seen, out);
  for (const auto& precondition : criterion.preconditions) add_rows(precondition, values, seen, out);
  const std::size_t first_run = out.size();
  for (std::size_t run = 2; run <= criterion.rule.min_runs; ++run) {
    for (std::size_t i = 0; i < first_run; ++i) {
      out.push_back(out[i]);
      out.back().run = static_cast<int>(run);
    }
  }
  return out;
}

std::int64_t largest_in(const Values& values) {
  std::int64_t most = 0;
  for (const auto& value : values) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) most = std::max(most, *number);
  }
  return most;
}

// Launches and sizes that neither the rule nor what it takes for granted lists, each a hundred times as fast
// as any that they do.
std::vector<Record> further_rows(const Criterion& criterion) {
  const Rule& rule = criterion.rule;
  std::vector<Rule> listing = criterion.preconditions;
  listing.push_back(rule);
  std::vector<Record> out;
  const auto& families = all_families();
  for (const auto& [rows, quantity] :
       {std::pair{&rule.numerator, rule.quantity}, std::pair{&rule.numerator_before_change, rule.quantity},
        std::pair{&rule.denominator, rule.denominator_quantity},
        std::pair{&rule.denominator_before_change, rule.denominator_quantity}}) {
    if (rows->empty()) continue;
    const Family& family = *std::ranges::find(families, rows->family, &Family::name);
    for (const auto& axis : family.axes) {
      const std::int64_t most = largest_in(rows->values(axis.name));
      if (most == 0) continue;
      std::int64_t beyond = 0;  // listed on no side
      for (const auto& each : listing) {
        for (const RowQuery* side : {&each.numerator, &each.numerator_before_change, &each.denominator,
                                     &each.denominator_before_change})
          beyond = std::max(beyond, 2 * largest_in(side->values(axis.name)) + 2);
      }
      for (const auto& at : cases_for(*rows, family)) {
        const std::string by = quantity_of(rule, quantity);
        out.push_back(row_of(at.with(axis.name, beyond), *rows, family, by, by == "time" ? 0.1 : 1e5));
      }
    }
  }
  return out;
}

ResultsSet results_with(std::vector<Record> records) {
  // A device is what has rows of its own.
  if (std::ranges::all_of(records, &Record::is_baseline)) {
    Record own = records.front();
    own.api = opencl_api;
    own.family = own.case_id = "copy";
    own.axes.clear();
    records.push_back(own);
  }
  return results_of(records, all_families());
}

ClaimResult ruling_of(const Claim& claim, const Criterion& criterion, const ResultsSet& results) {
  Claim one = claim;
  one.criteria = {criterion};
  const auto rows = device_rows(results);
  ClaimResult out = claim_results_of(one, rows.at(0), all_families()).at(0);
  out.claim = nullptr;
  out.criterion = nullptr;
  return out;
}

std::string told(const ClaimResult& claim_result) {
  constexpr std::array words = {"holds",     "fails",        "within noise", "not measured",
                                "undecided", "not testable", "no evidence"};
  return fmt::format("{} {} {}", words.at(static_cast<std::size_t>(claim_result.verdict)),
                     claim_result.estimate ? fmt::format("{:.4g}", claim_result.estimate->value) : "",
                     claim_result.note);
}

// Verdicts that contradict, or say something else.
Criterion turned_round(Criterion criterion) {
  Rule& rule = criterion.rule;
  if (rule.direction == Rule::Direction::equal) {
    rule.bound *= 4;
  } else {
    rule.direction =
        rule.direction == Rule::Direction::above ? Rule::Direction::below : Rule::Direction::above;
  }
  return criterion;
}

// Returns whether the number of a rule takes any value: others count, stand on a few places, or are judged by
// more than one bound.
bool is_continuous(const Rule& rule) {
  using Kind = Rule::Kind;
  if (rule.kind == Kind::finding) {
    static const std::set<std::string> counted = {"regional_minima_loops_width1",
                                                  "slowdown_at_ends_2275x3300", "parabola_gain_2275x3300",
                                                  "bytes_in_flight_per_cu", "fft_over_balance"};
    return !counted.contains(rule.findings.front());
  }
  return rule.kind != Kind::trend;
}

// How far an estimate is from where its verdict begins, as a factor.
double beyond(const Estimate& estimate, const Rule& rule, bool holds) {
  const double wide = 1 + rule.margin;
  const auto from = [&](double limit) { return std::exp(std::abs(std::log(estimate.value / limit))); };
  const double upper = from(rule.bound * wide), lower = from(rule.bound / wide);
  if (rule.direction == Rule::Direction::equal) return std::min(upper, lower);
  return (rule.direction == Rule::Direction::above) == holds ? upper : lower;
}

class TwoSided : public testing::Test {
 protected:
  // The rows of which the sentence is just true, or just false, and what the criterion says of them.
  struct Rows {
    std::vector<Record> records;
    ResultsSet results;
    ClaimResult claim_result;
  };
  struct CriterionWithRows {
    std::string name;
    Claim claim;
    Criterion criterion;
    Rows when_true, when_false;
  };

  static Rows rows_with_ruling(const Claim& claim, const Criterion& criterion, const json& values) {
    auto records = rows_for(criterion, values);
    auto results = results_with(records);
    auto claim_result = ruling_of(claim, criterion, results);
    return {std::move(records), std::move(results), std::move(claim_result)};
  }

  // Every criterion of every shipped claim, evaluated once for all tests.
  static const std::vector<CriterionWithRows>& all() {
    static const std::vector<CriterionWithRows> out = [] {
      std::ifstream in(CLWEAVE_SOURCE_DIR "/tests/analysis/claims_two_sided.json");
      const json both = json::parse(in);
      std::vector<CriterionWithRows> all;
      std::size_t decided = 0;
      for (const auto& claim : load_claims("")) {
        if (claim.criteria.empty() || claim.criteria.front().rule.across) continue;
        if (claim.criteria.front().rule.is_of_compilers()) continue;  // no rows of a run decide it
        ++decided;
        EXPECT_TRUE(both.contains(claim.id)) << claim.id << " has no invented rows in claims_two_sided.json";
        if (!both.contains(claim.id)) continue;
        for (const auto& criterion : claim.criteria) {
          const char* setting =
              criterion.launches == LaunchChoice::as_published ? " as published" : " at its best";
          const json& values = both.at(claim.id);
          all.push_back({claim.id + setting, claim, criterion,
                         rows_with_ruling(claim, criterion, values.at("true")),
                         rows_with_ruling(claim, criterion, values.at("false"))});
        }
      }
      EXPECT_EQ(decided, both.size()) << "rows of a claim that is not there";
      return all;
    }();
    return out;
  }
};

TEST_F(TwoSided, EveryClaimHoldsWhereItIsJustTrueAndFailsWhereItIsJustFalse) {
  for (const auto& [name, claim, criterion, when_true, when_false] : all()) {
    SCOPED_TRACE(name);
    const ClaimResult &of_true = when_true.claim_result, &of_false = when_false.claim_result;
    EXPECT_EQ(of_true.verdict, Verdict::holds) << told(of_true);
    EXPECT_EQ(of_false.verdict, Verdict::fails) << told(of_false);
    if (is_continuous(criterion.rule) && of_true.estimate && of_false.estimate) {
      EXPECT_LT(beyond(*of_true.estimate, criterion.rule, true), 1.005) << told(of_true);
      EXPECT_LT(beyond(*of_false.estimate, criterion.rule, false), 1.005) << told(of_false);
    }
    const Criterion other = turned_round(criterion);
    EXPECT_FALSE(ruling_of(claim, other, when_true.results).verdict == Verdict::holds &&
                 ruling_of(claim, other, when_false.results).verdict == Verdict::fails)
        << "turned round it says the same";
  }
}

TEST_F(TwoSided, WithTheBoundsOfAnotherClaimOneOfBothSaysSomethingElse) {
  struct Estimates {
    const CriterionWithRows* of;
    Estimate when_true, when_false;
  };
  std::vector<Estimates> estimates;
  for (const auto& each : all()) {
    if (!is_continuous(each.criterion.rule)) continue;
    const ClaimResult &of_true = each.when_true.claim_result, &of_false = each.when_false.claim_result;
    ASSERT_TRUE(of_true.estimate && of_false.estimate) << each.name;
    estimates.push_back({&each, *of_true.estimate, *of_false.estimate});
  }
  const auto says_the_same = [](const Estimates& one, double bound) {
    Rule rule = one.of->criterion.rule;
    rule.bound = bound;
    return verdict_of(one.when_true, rule) == Verdict::holds &&
           verdict_of(one.when_false, rule) == Verdict::fails;
  };
  for (const auto& one : estimates) {
    for (const auto& other : estimates) {
      const Rule &rule = one.of->criterion.rule, &others = other.of->criterion.rule;
      if (rule.direction != others.direction || std::abs(rule.bound - others.bound) < 0.002 * rule.bound)
        continue;
      EXPECT_FALSE(says_the_same(one, others.bound) && says_the_same(other, rule.bound))
          << one.of->name << " and " << other.of->name;
    }
  }
}

TEST_F(TwoSided, RowsThatARuleDoesNotListChangeNothing) {
  for (const auto& [name, claim, criterion, when_true, when_false] : all()) {
    SCOPED_TRACE(name);
    const auto further = further_rows(criterion);
    for (const Rows* side : {&when_true, &when_false}) {
      auto records = side->records;
      records.insert(records.end(), further.begin(), further.end());
      const ClaimResult &before = side->claim_result,
                        after = ruling_of(claim, criterion, results_with(records));
      EXPECT_EQ(told(after), told(before));
      EXPECT_EQ(after.cases, before.cases);
    }
  }
}

TEST_F(TwoSided, ALaunchThatIsMissingLeavesItUndecided) {
  for (const auto& [name, claim, criterion, when_true, when_false] : all()) {
    SCOPED_TRACE(name);
    auto records = when_true.records;
    // What takes AMD's compiler cannot be missing here, on NVIDIA's platform.
    const auto counts = [](const Record& record) {
      return record.case_id.find("subgroup_impl=amd") == std::string::npos;
    };
    if (std::ranges::count_if(records, counts) == 1) continue;
    const auto from_middle = records.begin() + static_cast<std::ptrdiff_t>(records.size() / 2);
    auto missing = std::find_if(from_middle, records.end(), counts);
    if (missing == records.end()) missing = std::ranges::find_if(records, counts);
    const std::string gone = missing->case_id;
    std::erase_if(records, [&](const Record& record) { return record.case_id == gone; });
    EXPECT_EQ(ruling_of(claim, criterion, results_with(records)).verdict, Verdict::not_measured);
  }
}

}  // namespace
