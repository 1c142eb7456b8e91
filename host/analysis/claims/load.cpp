// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/near_word.hpp"
#include "results/record.hpp"
#include "suite/family.hpp"

namespace clweave::claims {

extern const std::string_view embedded_claims;  // generated from results/published/claims.json

namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorCode::io, what); }

void check_keys(const json& object, const std::vector<std::string>& known, const std::string& where) {
  if (!object.is_object()) fail(where + " must be an object");
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) == known.end())
      fail(fmt::format("{} has no '{}'{}", where, key, suggestion(key, known)));
  }
}

std::string text_at(const json& object, const char* key, const std::string& otherwise = "") {
  const auto it = object.find(key);
  if (it == object.end()) return otherwise;
  if (!it->is_string()) fail(std::string(key) + " must be a text");
  return it->get<std::string>();
}

double number_at(const json& object, const char* key, double otherwise) {
  const auto it = object.find(key);
  if (it == object.end()) return otherwise;
  if (!it->is_number()) fail(std::string(key) + " must be a number");
  return it->get<double>();
}

bool is_true_at(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) return false;
  if (!it->is_boolean()) fail(std::string(key) + " must be true or false");
  return it->get<bool>();
}

std::vector<std::string> texts_at(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) return {};
  if (it->is_string()) return {it->get<std::string>()};
  if (!it->is_array()) fail(std::string(key) + " must be a text or a list of texts");
  std::vector<std::string> out;
  for (const auto& text : *it) {
    if (!text.is_string()) fail(fmt::format("{} must list texts, not {}", key, text.dump()));
    out.push_back(text);
  }
  return out;
}

Value value_from(const json& v) {
  if (v.is_number_unsigned() &&
      v.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    fail(v.dump() + " is too large");
  if (v.is_number_integer()) return v.get<std::int64_t>();
  if (v.is_number()) return v.get<double>();
  if (v.is_string()) return v.get<std::string>();
  fail("a value must be a number or a word, not " + v.dump());
}

Values values_from(const json& list) {
  Values out;
  if (!list.is_array() || list.empty()) fail("a list of values, not " + list.dump());
  for (const auto& v : list) out.push_back(value_from(v));
  return out;
}

RowQuery::AxisQuery axis_query_from(const json& v) {
  using How = RowQuery::AxisQuery::How;
  if (v.is_array()) return {How::one_of, values_from(v)};
  if (!v.is_object()) return {How::one_of, Values(value_from(v))};
  for (const auto& [how, name] :
       {std::pair{How::tried, "try"}, {How::largest, "largest"}, {How::first, "first"}}) {
    if (v.size() == 1 && v.contains(name)) return {how, values_from(v.at(name))};
  }
  fail(R"(an axis takes a value, a list, {"try": list}, {"largest": list} or {"first": list}, not )" +
       v.dump());
}

RowQuery query_from(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) return {};
  if (!it->is_object() || !it->contains("family")) fail(std::string(key) + " must name a family");
  RowQuery out{text_at(*it, "family"), text_at(*it, "api"), {}, {}};
  for (const auto& [axis, v] : it->items()) {
    if (axis != "family" && axis != "api" && axis != "any_of") out.axes.emplace(axis, axis_query_from(v));
  }
  for (const auto& each : it->value("any_of", json::array())) {
    if (!each.is_object()) fail("any_of lists objects of axes");
    auto& axes = out.any_of.emplace_back();
    for (const auto& [axis, v] : each.items()) {
      axes.emplace(axis, axis_query_from(v));
      if (out.axes.contains(axis)) fail("any_of asks again for " + axis);
      if (axes.at(axis).depends_on_device()) fail(axis + ": what all rows share does not stand in any_of");
    }
  }
  return out;
}

// Returns whether any side of the rule chooses among several launches.
bool tries(const Rule& rule) {
  return std::ranges::any_of(rule_sides, [&](const auto& side) {
    return std::ranges::any_of((rule.*side.second).alternatives(),
                               [](const auto& axes) { return tries_of(axes) > 1; });
  });
}

bool is_derived(const std::string& quantity) {
  return std::ranges::any_of(all_families(), [&](const Family& family) {
    return std::ranges::find(family.derived, quantity, &Derived::name) != family.derived.end();
  });
}

// Checks that a gain's competitors are the same before and after.
void check_competitors(const Rule& rule) {
  if (rule.kind != Rule::Kind::gain) return;
  for (const auto& axis : rule.competitor_axes) {
    const auto sorted = [&](const RowQuery& query) {
      Values values = query.values(axis);
      std::ranges::sort(values);
      return values;
    };
    if (sorted(rule.denominator) != sorted(rule.denominator_before_change))
      fail(fmt::format("each {}: to and to_before have different ones, and a gain needs the same", axis));
  }
}

void read_bound(const json& object, Bound& out) {
  int bounds = 0;
  for (const auto& [name, direction] : {std::pair{"above", Bound::Direction::above},
                                        {"below", Bound::Direction::below},
                                        {"equal", Bound::Direction::equal},
                                        {"rising", Bound::Direction::above},
                                        {"falling", Bound::Direction::below}}) {
    if (!object.contains(name)) continue;
    out.direction = direction;
    out.bound = number_at(object, name, 1);
    ++bounds;
  }
  out.margin = number_at(object, "margin", out.margin);
  if (bounds != 1) fail("decided_by needs one of above, below, equal, rising, falling");
  if (out.bound <= 0 || out.margin < 0) fail("a bound is positive, a margin not negative");
}

void read_sides(const json& object, Rule& out) {
  for (const auto& [name, side] : rule_sides) out.*side = query_from(object, name);
  if (out.numerator.empty()) fail("decided_by needs 'of': the rows that decide");
  for (const auto& [name, side] : rule_sides) {
    const bool before = side == &Rule::numerator_before_change || side == &Rule::denominator_before_change;
    const bool needed = out.kind == Rule::Kind::gain && side != &Rule::numerator;
    if (needed ? (out.*side).empty() : before && !(out.*side).empty())
      fail(fmt::format("{} is what a gain needs, and it alone", name));
  }
}

void read_quantities(const json& object, Rule& out) {
  out.quantity = text_at(object, "quantity", out.quantity);
  out.denominator_quantity = text_at(object, "quantity_to", out.quantity);
  for (const auto& quantity : {out.quantity, out.denominator_quantity}) {
    if (quantity != "time" && quantity != registers_quantity &&
        std::ranges::find(columns(), quantity, &Column::name) == columns().end() && !is_derived(quantity))
      fail("no quantity '" + quantity + "'");
  }
  if ((out.quantity == registers_quantity) != (out.denominator_quantity == registers_quantity))
    fail("registers are compared with registers");
}

void read_findings(const json& object, Rule& out) {
  out.findings = texts_at(object, "finding");
  out.denominator_finding = text_at(object, "finding_to");
  if ((out.kind == Rule::Kind::finding) == out.findings.empty())
    fail("finding is what the number finding needs, and it alone");
  const auto also = object.find("also");
  if (also == object.end()) return;
  if (out.findings.empty()) fail("also names a finding, beside another");
  for (const auto& each : also->is_array() ? *also : json::array({*also})) {
    check_keys(each, {"finding", "above", "below", "equal", "margin"}, "also");
    auto& condition = out.extra_conditions.emplace_back();
    condition.margin = 0;
    read_bound(each, condition);
    condition.finding = text_at(each, "finding");
    if (condition.finding.empty()) fail("also needs 'finding'");
  }
}

Rule::Kind kind_from(const json& object) {
  if (const auto kind = enum_named<Rule::Kind>(text_at(object, "number"))) return *kind;
  fail(fmt::format("number must be one of {}", fmt::join(enum_names(Rule::Kind{}), ", ")));
}

// Reads "across": "spread", or {"of": words, "to": words} of devices.
std::optional<Rule::AcrossDevices> across_from(const json& object) {
  const auto it = object.find("across");
  if (it == object.end()) return {};
  if (*it == "spread") return Rule::AcrossDevices{};
  if (!it->is_object()) fail(R"(across takes "spread" or {"of": words, "to": words})");
  check_keys(*it, {"of", "to"}, "across");
  Rule::AcrossDevices out{texts_at(*it, "of"), texts_at(*it, "to")};
  if (out.numerator.empty() || out.denominator.empty()) fail("across needs words of devices in of and to");
  return out;
}

// Keys of the file and members of Rule: number is `kind`; of and to are `numerator` and `denominator`,
// of_before and to_before what these improve on; quantity_to and finding_to are those of the denominator;
// along is `varied_axes`, same `matched_axes`, each `competitor_axes`; also is `extra_conditions`; times is
// `factor`, runs `min_runs`, memory `bandwidth_bound`; above, below, equal, rising and falling are
// `direction` and `bound`. Of a Claim, given is `precondition`.
Rule rule_from(const json& object) {
  check_keys(object,
             {"across", "number", "of",      "to",      "of_before",  "to_before", "quantity", "quantity_to",
              "along",  "same",   "each",    "finding", "finding_to", "also",      "above",    "below",
              "equal",  "rising", "falling", "margin",  "unit",       "memory",    "times",    "runs"},
             "decided_by");
  using Kind = Rule::Kind;
  Rule out;
  out.kind = kind_from(object);
  read_sides(object, out);
  read_quantities(object, out);
  read_findings(object, out);
  out.varied_axes = texts_at(object, "along");
  const bool has_curve = out.kind != Kind::ratio && out.kind != Kind::gain && out.kind != Kind::finding;
  if (has_curve && out.varied_axes.empty()) fail("this number needs 'along'");
  out.matched_axes = texts_at(object, "same");
  out.competitor_axes = texts_at(object, "each");
  check_competitors(out);
  out.bandwidth_bound = is_true_at(object, "memory");
  if (object.contains("times") && out.kind != Kind::ratio) fail("times is for a ratio alone");
  out.factor = number_at(object, "times", out.factor);
  if (out.factor <= 0) fail("times is positive");
  const double runs = number_at(object, "runs", 1);
  constexpr double most_runs = 1000;  // as of --runs
  if (!(runs >= 1 && runs <= most_runs) || runs != std::floor(runs))
    fail("runs is a whole number from 1 to 1000");
  out.min_runs = static_cast<std::size_t>(runs);
  out.unit = text_at(object, "unit", out.unit);
  out.across = across_from(object);
  if (out.across && out.kind != Kind::ratio) fail("across is for a ratio alone");
  read_bound(object, out);
  return out;
}

// Returns the query of the best launches with the published ones beside them, for no launch is the best that
// is slower than the source's. Size and type remain those that the device has room for.
RowQuery with_launches_of(const RowQuery& best, const RowQuery& published) {
  const auto of_device = [&](const auto& axis) {
    const auto query = best.axes.find(axis.first);
    return query != best.axes.end() && query->second.depends_on_device();
  };
  RowQuery out{best.family, best.api, {}, {}};
  std::ranges::copy_if(best.axes, std::inserter(out.axes, out.axes.end()), of_device);
  for (const RowQuery* query : {&best, &published}) {
    for (auto launch : query->alternatives()) {
      using How = RowQuery::AxisQuery::How;
      std::erase_if(launch, of_device);
      for (auto& [axis, of_axis] : launch) {
        if (of_axis.how == How::first) of_axis.how = How::one_of;
      }
      if (std::ranges::find(out.any_of, launch) == out.any_of.end()) out.any_of.push_back(std::move(launch));
    }
  }
  return out;
}

// Reads decided_by and, if as_published is there, the same with the launch of the source in place of those
// that are tried (a JSON merge patch, RFC 7386: null removes an axis). A claim of this project was never
// published, so that it is always at its best.
std::vector<Criterion> decisions_from(const json& object, bool ours) {
  if (!object.contains("decided_by")) {
    if (object.contains("as_published")) fail("as_published changes decided_by, which is not there");
    return {};
  }
  Rule best = rule_from(object.at("decided_by"));
  const bool tried = tries(best);
  if (!object.contains("as_published"))
    return {{tried || ours ? LaunchChoice::at_best : LaunchChoice::as_published, best}};
  json changed = object.at("decided_by");
  changed.merge_patch(object.at("as_published"));
  const Rule published = rule_from(changed);
  if (!tried || tries(published))
    fail("as_published names one launch, in place of those that decided_by tries");
  for (const auto& [name, side] : rule_sides) {
    if (!(best.*side).empty()) best.*side = with_launches_of(best.*side, published.*side);
  }
  return {{LaunchChoice::as_published, published}, {LaunchChoice::at_best, best}};
}

Claim claim_from(const json& object) {
  check_keys(object,
             {"id", "statement", "source", "published", "decided_by", "as_published", "given", "untestable",
              "published_bug", "known_incorrect", "check", "only_if_named"},
             "a claim");
  Claim out;
  out.id = text_at(object, "id");
  out.statement = text_at(object, "statement");
  out.source = text_at(object, "source");
  if (out.id.empty() || out.statement.empty() || out.source.empty()) fail("needs id, statement and source");
  // It becomes a word of the commands that reports suggest.
  if (out.id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
      std::string::npos)
    fail("an id has letters, digits, - _ . alone");
  for (const auto& entry : object.value("published", json::array())) {
    check_keys(entry, {"device", "value", "note"}, "published");
    out.published.push_back({text_at(entry, "device"), number_at(entry, "value", 0), text_at(entry, "note")});
  }
  out.criteria = decisions_from(object, out.ours());
  out.precondition = text_at(object, "given");
  out.untestable = text_at(object, "untestable");
  out.published_bug = text_at(object, "published_bug");
  out.known_incorrect = query_from(object, "known_incorrect");
  out.check = text_at(object, "check");
  out.only_if_named = is_true_at(object, "only_if_named");
  if (!out.criteria.empty() ? !out.untestable.empty() : out.untestable.empty() == out.published_bug.empty())
    fail("needs decided_by, or a reason why it is untestable, or the published_bug that leaves no evidence");
  if (out.published_bug.empty() != (out.known_incorrect.empty() && out.check.empty()))
    fail("a published_bug comes with a known_incorrect case or a check that shows it");
  return out;
}

// Finds the precondition, the rule of the claim that must hold first: the one of the same launch
// configuration if there are two.
void find_precondition(Claim& claim, const std::vector<Claim>& before) {
  if (claim.precondition.empty()) return;
  const auto other = std::ranges::find(before, claim.precondition, &Claim::id);
  if (other == before.end() || other->criteria.empty())
    fail("given names a claim before it that rows decide, not " + claim.precondition);
  for (auto& criterion : claim.criteria) {
    const auto like = std::ranges::find(other->criteria, criterion.launches, &Criterion::launches);
    criterion.preconditions = {like != other->criteria.end() ? like->rule : other->criteria.front().rule};
  }
}

}  // namespace

std::vector<Claim> parse_claims(std::string_view text, const std::string& name) {
  std::vector<Claim> out;
  std::string at;
  try {
    std::string why;
    const json all = parsed_json(text, &why);
    if (all.is_discarded()) fail(why);
    if (!all.is_array()) fail("the file must be a list of claims");
    for (const auto& entry : all) {
      at = entry.is_object() ? entry.value("id", "") : "";
      Claim claim = claim_from(entry);
      if (std::ranges::find(out, claim.id, &Claim::id) != out.end()) fail("a second claim of this id");
      find_precondition(claim, out);
      out.push_back(std::move(claim));
    }
  } catch (const json::exception& error) {
    throw Error(ErrorCode::io, fmt::format("{}: {}: {}", name, at.empty() ? "claims" : "claim " + at,
                                           plain_json_error(error.what())));
  } catch (const Error& error) {
    throw Error(ErrorCode::io, fmt::format("{}: claim {}: {}", name, at, error.what()));
  }
  return out;
}

namespace {

void check_axis(const Family& family, const std::string& name, const Values& values, const std::string& api) {
  // Native baselines have these of their own.
  if (!api.empty() && (name == threads_axis || name == kernel_axis)) return;
  const Axis* axis = family.axis(name);
  std::vector<std::string> known;
  for (const auto& other : family.axes) known.push_back(other.name);
  if (axis == nullptr) fail(fmt::format("{} has no axis {}{}", family.name, name, suggestion(name, known)));
  for (const auto& value : values) {
    if (!axis->taken(value))
      fail(fmt::format("{}: {}={}: {}", family.name, name, text_of(value), axis->refusal(value)));
  }
}

// Refuses what no family of this clweave has, and more cases than anybody measures.
void check_query(const RowQuery& query) {
  constexpr double most_cases = 100'000;
  const auto& families = all_families();
  const auto family = std::ranges::find(families, query.family, &Family::name);
  if (family == families.end()) {
    std::vector<std::string> known;
    for (const auto& other : families) known.push_back(other.name);
    fail(fmt::format("there is no family {}{}", query.family, suggestion(query.family, known)));
  }
  double cases = 0;
  for (const auto& axes : query.alternatives()) {
    double product = 1;
    for (const auto& [name, of_axis] : axes) {
      check_axis(*family, name, of_axis.values, query.api);
      product *= static_cast<double>(of_axis.values.size());
    }
    cases += product;
  }
  if (cases > most_cases)
    fail(fmt::format("asks for {:.0f} cases of {}; at most {:.0f}", cases, query.family, most_cases));
}

void check_queries(const Claim& claim) {
  if (!claim.known_incorrect.empty()) check_query(claim.known_incorrect);
  for (const auto& criterion : claim.criteria) {
    for (const auto& [name, side] : rule_sides) {
      if (const RowQuery& query = criterion.rule.*side; !query.empty()) check_query(query);
    }
  }
}

}  // namespace

std::vector<Claim> load_claims(const std::string& path) {
  if (path.empty()) return parse_claims(embedded_claims, "claims.json");
  if (std::error_code none; !std::filesystem::exists(path, none))
    throw Error(ErrorCode::io, "cannot read " + path +
                                   " (--claims-file takes a file such as results/published/claims.json)");
  auto claims = parse_claims(json_text(path), path);
  for (const auto& claim : claims) {
    try {
      check_queries(claim);
    } catch (const Error& error) {
      throw Error(ErrorCode::io, fmt::format("{}: claim {}: {}", path, claim.id, error.what()));
    }
  }
  return claims;
}

std::vector<Claim> chosen_claims(std::vector<Claim> claims, const std::vector<std::string>& ids) {
  for (const auto& id : ids) {
    if (std::ranges::find(claims, id, &Claim::id) != claims.end()) continue;
    std::vector<std::string> known;
    for (const auto& claim : claims) known.push_back(claim.id);
    throw Error(ErrorCode::usage, fmt::format("--claim {}: there is no such claim{}", id,
                                              suggestion(id, known, "clweave claims FILE.csv")));
  }
  if (!ids.empty())
    std::erase_if(claims, [&](const Claim& claim) { return std::ranges::find(ids, claim.id) == ids.end(); });
  return claims;
}

}  // namespace clweave::claims
