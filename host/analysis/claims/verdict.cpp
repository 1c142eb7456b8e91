// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/claims/rules.hpp"
#include "analysis/claims/selection.hpp"

namespace clweave::claims {

Verdict verdict_of(const Figure& number, const Bound& rule) {
  const double low = rule.bound / (1 + rule.margin), high = rule.bound * (1 + rule.margin);
  const bool above = number.low > high, below = number.high < low;
  switch (rule.is) {
    case Bound::Is::above: return above ? Verdict::holds : below ? Verdict::fails : Verdict::within_noise;
    case Bound::Is::below: return below ? Verdict::holds : above ? Verdict::fails : Verdict::within_noise;
    case Bound::Is::equal: break;
  }
  if (number.low >= low && number.high <= high) return Verdict::holds;
  return above || below ? Verdict::fails : Verdict::within_noise;
}

std::optional<Verdict> verdict_of(const PublishedValue& published, const Claim& claim) {
  if (claim.decisions.empty() || !claim.fault.empty()) return {};
  return verdict_of({published.value, published.value, published.value}, claim.decisions.front().rule);
}

namespace {

// ---- At one place ----------------------------------------------------------------------------------------

struct Judged : RuleNumber {
  Verdict verdict = Verdict::undecided;
};

int rank(Verdict verdict) { return verdict == Verdict::fails ? 0 : verdict == Verdict::within_noise ? 1 : 2; }

Judged judged(const Rule& rule, RuleNumber number) {
  Judged out{std::move(number)};
  if (out.is_undecided) return out;
  out.verdict = verdict_of(out.number, rule);
  for (const auto& [further, bound] : out.conditions)
    out.verdict = std::ranges::min(out.verdict, verdict_of(further, bound), {}, rank);
  return out;
}

// Returns whether one number speaks more against the claim than another.
bool is_worse(const Judged& one, const Judged& other, const Rule& rule) {
  if (rank(one.verdict) != rank(other.verdict)) return rank(one.verdict) < rank(other.verdict);
  const auto distance = [&](const Judged& j) {
    const double log = std::log(j.number.value / rule.bound);
    return rule.is == Bound::Is::above ? log : rule.is == Bound::Is::below ? -log : -std::abs(log);
  };
  return distance(one) < distance(other);
}

// Keeps the number that speaks most against the claim, which must hold for each, and the rows of all.
class WorstOf {
 public:
  explicit WorstOf(const Rule& rule) : rule_(&rule) {}

  void add(std::optional<RuleNumber> number, const Cells& where) {
    if (!number) return;
    if (!where.empty())
      number->note = text_of_cells(where) + (number->note.empty() ? "" : ": ") + number->note;
    used_.insert(number->used.begin(), number->used.end());
    Judged one = judged(*rule_, std::move(*number));
    if (!worst_ || is_worse(one, *worst_, *rule_)) worst_ = std::move(one);
  }

  std::optional<Judged> finish() {
    if (worst_) worst_->used = std::move(used_);
    return std::move(worst_);
  }

 private:
  const Rule* rule_;
  std::optional<Judged> worst_;
  std::set<const Timed*> used_;
};

// Judges the rows of one place: for each value of the axes that are the same on both sides, against each
// opponent, and by each finding.
std::optional<Judged> judged_at(const Rule& rule, const Sides& at, const DeviceRows& device,
                                const std::vector<Family>& families) {
  WorstOf worst(rule);
  const RowsByCells of(at.of, rule.same), to(at.to, rule.same), of_before(at.of_before, rule.same),
      to_before(at.to_before, rule.same);
  for (const auto& cells : of.different()) {
    const Sides sides{of.at(cells), to.at(cells), of_before.at(cells), to_before.at(cells)};
    if (rule.kind == Rule::Kind::finding) {
      const Conclusions conclusions(*family_named(families, rule.of.family), sides.of, device,
                                    Conclusions::Times::exact);
      for (const auto& finding : rule.findings)
        worst.add(number_of(rule, finding, conclusions, sides.of, device), cells);
      continue;
    }
    const RowsByCells opposed(sides.to, rule.each), opposed_before(sides.to_before, rule.each);
    const auto opponents = rule.each.empty() ? std::vector<Cells>(1) : opposed.different();
    for (const auto& opponent : opponents) {
      Cells where = cells;
      where.insert(where.end(), opponent.begin(), opponent.end());
      worst.add(
          number_of(rule, {sides.of, opposed.at(opponent), sides.of_before, opposed_before.at(opponent)},
                    device),
          where);
    }
  }
  return worst.finish();
}

// ---- Why there is no verdict -----------------------------------------------------------------------------

std::ptrdiff_t axes_off_default(const CaseName& name, const std::vector<Family>& families) {
  const Family* family = family_named(families, name.family);
  if (family == nullptr) return 0;
  return std::ranges::count_if(family->axes, [&](const Axis& axis) {
    const Value* value = name.axis(axis.name);
    return value != nullptr && !is_same(*value, axis.values.front());
  });
}

// Returns why there is nothing to decide with: rows that cannot exist, rows that failed, first of a side that
// has no others, or rows that are not there. Of several failed rows the one with fewest axes off their
// defaults counts: why the portable implementation failed says more than that a vendor's is lacking.
std::string reason_without_rows(const Rule& rule, bool incomplete, const DeviceRows& device,
                                const std::vector<Family>& families) {
  std::vector<const RowQuery*> empty, some;
  for (const auto& [name, side] : rule_sides) {
    const RowQuery& query = rule.*side;
    if (!query.empty()) (rows_of(query, device, families).rows.empty() ? empty : some).push_back(&query);
  }
  if (!has_cuda(device.results->platform) &&
      std::ranges::any_of(empty, [](const RowQuery* query) { return query->api == "cuda"; }))
    return "CUDA runs on devices of NVIDIA alone";
  if (incomplete) return no_rows;
  for (const auto* query : empty.empty() ? some : empty) {
    const auto failed = failed_of(*query, device, families);
    const auto plainest = std::ranges::min_element(
        failed, {}, [&](const FailedCase* row) { return axes_off_default(*row->name, families); });
    if (plainest != failed.end()) return fmt::format("{}: {}", (*plainest)->status, (*plainest)->reason);
  }
  return no_rows;
}

// Returns the option that asks for the largest size of the rule, if the rows are of a smaller one.
std::string option_for_larger(const Cells& place, const Rule& rule) {
  for (const auto& [axis, cell] : place) {
    const auto query = rule.of.axes.find(axis);
    if (query == rule.of.axes.end() || query->second.how != RowQuery::AxisQuery::How::largest) continue;
    const Value most = std::ranges::max(query->second.values, {}, number_in);
    if (number_in(cell) < number_in(most)) return fmt::format(" --set {}={}", axis, text_of(most));
  }
  return {};
}

// Returns the first row that is markedly faster than memory was found to be, as a set a little larger than a
// cache is partly served by it; null if there is none or the rule is not about memory.
const Timed* beyond_memory_of(const Rule& rule, const std::vector<const Timed*>& used,
                              const DeviceRows& device) {
  constexpr double markedly = 1.1;
  if (!rule.memory) return nullptr;
  const auto fast = std::ranges::find_if(used, [&](const Timed* timed) {
    return of_memory(timed->any->peak) && device.measured().fraction_of_peak(*timed).value_or(0) > markedly;
  });
  return fast != used.end() ? *fast : nullptr;
}

// Returns whether a row launched so many work-groups per compute unit of a GPU that its driver calls one
// unit, as drivers on top of another API do: such launches fill next to nothing of it.
bool is_of_one_unit(const Sides& sides, const DeviceRows& device, const std::vector<Family>& families) {
  if (device.results->type != "gpu" || device.results->compute_units != 1) return false;
  const auto counts_units = [&](const Timed* timed) {
    const Family& family = *family_named(families, timed->family());
    const auto at = case_of(family, *timed->name);
    return at && std::ranges::any_of(family.axes, [&](const Axis& axis) {
             return axis.per_compute_unit && family.uses(*at, axis.name) && axis.per_compute_unit(*at);
           });
  };
  return std::ranges::any_of(
      all_sides, [&](const Side& side) { return std::ranges::any_of(sides.*side.rows, counts_units); });
}

// Returns why rows that are all there do not decide: the fastest may be another, or the launches are not of
// the device's size; empty if they do.
std::string void_by(const std::vector<WantedCases>& wanted, const Sides& sides, const DeviceRows& device,
                    const std::vector<Family>& families) {
  for (const auto& side : wanted) {
    if (const FailedCase* row = side.implausible())
      return fmt::format("the fastest may be a launch that is implausible: {} ({})", row->reason,
                         row->name->id);
  }
  return is_of_one_unit(sides, device, families) ? one_unit : "";
}

// ---- Notes -----------------------------------------------------------------------------------------------

// Writes the values that all rows share, of the axes that say what is computed and of those that the rule
// names.
std::string shared_cells(const Rule& rule, const std::vector<const Timed*>& rows, const Cells& place) {
  std::vector<std::string> axes = {type_axis, elements_axis};
  for (const auto& [name, side] : rule_sides) {
    for (const auto& each : (rule.*side).alternatives()) {
      for (const auto& [axis, query] : each) {
        if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
      }
    }
  }
  Cells shared;
  for (const auto& axis : axes) {
    if (std::ranges::find(place, axis, &Cells::value_type::first) != place.end()) continue;
    const Value first = value_in(*rows.front(), axis);
    if (text_of(first).empty() ||
        std::ranges::any_of(rows, [&](const Timed* timed) { return value_in(*timed, axis) != first; }))
      continue;
    shared.emplace_back(axis, first);
  }
  return text_of_cells(shared);
}

// Names what could not take part in a decision. As published, each launch is one of its own, but not each
// implementation (Axis::implementation); at its best a kernel has several launches, of which the fastest
// counts.
std::string without_text(const Decision& decision, const std::vector<WantedCases>& wanted,
                         const std::vector<Family>& families) {
  const Rule& rule = decision.rule;
  std::set<std::string> along = {kernel_axis};
  for (const auto* axes : {&rule.each, &rule.same, &rule.along}) along.insert(axes->begin(), axes->end());
  if (decision.launched == Launched::as_published) {
    for (const auto& [name, side] : rule_sides) {
      for (const auto& axes : (rule.*side).alternatives()) {
        for (const auto& [axis, query] : axes) {
          if (query.how == RowQuery::AxisQuery::How::one_of) along.insert(axis);
        }
      }
      if (const Family* family = family_named(families, (rule.*side).family)) {
        for (const auto& axis : family->axes) {
          if (axis.implementation) along.erase(axis.name);
        }
      }
    }
  }
  std::set<std::string> out;
  for (const auto& side : wanted) out.merge(side.left_out(along));
  if (out.empty()) return {};
  return fmt::format("without {}{}, which cannot run here", *out.begin(),
                     out.size() > 1 ? fmt::format(" and {} more", out.size() - 1) : "");
}

std::string joined(std::vector<std::string> parts, std::string_view with) {
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, with));
}

std::string command_of(const Claim& claim, const DeviceRows& device, const std::string& more = "") {
  return fmt::format("clweave run --device \"{}\" --claim {}{}", device.results->name, claim.id, more);
}

// ---- A decision ------------------------------------------------------------------------------------------

// Finds the ruling of one decision, whatever must hold first: by the first place of the rule at which all
// rows are there and decide.
class Judge {
 public:
  Judge(const Claim& claim, const Decision& decision, const DeviceRows& device,
        const std::vector<Family>& families)
      : claim_(claim), decision_(decision), rule_(decision.rule), device_(device), families_(families) {
    out_.claim = &claim;
    out_.decision = &decision;
  }

  Ruling ruling() && {
    Sides all;
    std::array<bool, all_sides.size()> other_defaults = {};
    for (std::size_t s = 0; s < all_sides.size(); ++s) {
      const RowQuery& query = rule_.*all_sides[s].query;
      if (query.empty()) continue;
      auto selected = rows_of(query, device_, families_);
      all.*all_sides[s].rows = std::move(selected.rows);
      other_defaults[s] = selected.other_defaults;
    }
    for (const auto& sides : places_of(rule_, all)) {
      if (is_decided_at(sides, other_defaults)) return std::move(out_);
    }
    conclude_without_place();
    return std::move(out_);
  }

 private:
  bool is_decided_at(const Sides& sides, const std::array<bool, all_sides.size()>& other_defaults) {
    const Choice choice(sides.place.begin(), sides.place.end());
    std::vector<WantedCases> wanted;
    for (std::size_t s = 0; s < all_sides.size(); ++s) {
      const auto& [query, rows] = all_sides[s];
      if (!(rule_.*query).empty())
        wanted.emplace_back(rule_.*query, sides.*rows, other_defaults[s], choice, device_, families_);
    }
    if (!std::ranges::all_of(wanted, &WantedCases::is_complete)) {
      incomplete_ = true;
      return false;
    }
    const auto number = judged_at(rule_, sides, device_, families_);
    if (!number) {
      undecidable_ = true;
      return false;
    }
    if (number->verdict == Verdict::undecided) return leave_undecided(number->note);
    if (auto why = void_by(wanted, sides, device_, families_); !why.empty()) return leave_undecided(why);
    std::vector<const Timed*> used(number->used.begin(), number->used.end());
    std::ranges::sort(used, {}, &Timed::index);
    out_.cached = std::ranges::any_of(
        used, [](const Timed* timed) { return std::ranges::any_of(timed->runs, &RunTime::cached); });
    if (out_.cached && rule_.memory) {
      if (!in_a_cache_) in_a_cache_ = sides.place;
      return false;
    }
    if (const Timed* fast = beyond_memory_of(rule_, used, device_))
      return leave_undecided(fmt::format("{} ({})", beyond_memory, fast->name->id));
    conclude(*number, sides.place, used, without_text(decision_, wanted, families_));
    return true;
  }

  bool leave_undecided(const std::string& why) {
    out_.verdict = Verdict::undecided;
    out_.note = why;
    return true;
  }

  void conclude(const Judged& number, const Cells& place, const std::vector<const Timed*>& used,
                const std::string& without) {
    out_.verdict = number.verdict;
    out_.number = number.number;
    Cells at = place;
    at.insert(at.end(), number.where.begin(), number.where.end());
    out_.place = text_of_cells(at);
    out_.without = without;
    out_.runs = SIZE_MAX;
    for (const auto* timed : used) {
      out_.cases.push_back(timed->name->id);
      out_.runs = std::min(out_.runs, timed->runs.size());
    }
    std::string too_few;
    if (out_.runs < rule_.runs) {
      out_.verdict = Verdict::undecided;
      too_few = fmt::format("{} of {} runs, by which it may vary", out_.runs, rule_.runs);
      out_.command = command_of(claim_, device_, fmt::format(" --runs {}", rule_.runs));
    }
    out_.note = joined(
        {joined({out_.place, shared_cells(rule_, used, at)}, " "), number.note, without, too_few}, ": ");
  }

  void conclude_without_place() {
    out_.cached = in_a_cache_.has_value();
    if (in_a_cache_) {
      leave_undecided(in_cache);
      out_.more = option_for_larger(*in_a_cache_, rule_);
      if (!out_.more.empty()) out_.command = command_of(claim_, device_, out_.more);
      return;
    }
    out_.note = reason_without_rows(rule_, incomplete_ && !undecidable_, device_, families_);
    out_.verdict = out_.note == no_rows ? Verdict::not_measured : Verdict::not_testable;
    if (out_.note == no_rows && has_natives(rule_)) out_.more = " --with-baselines";
    out_.command = command_of(claim_, device_, out_.more);
  }

  const Claim& claim_;
  const Decision& decision_;
  const Rule& rule_;
  const DeviceRows& device_;
  const std::vector<Family>& families_;
  Ruling out_;
  bool incomplete_ = false;          // rows are missing at some place
  bool undecidable_ = false;         // at some place all rows are there, and give no number
  std::optional<Cells> in_a_cache_;  // the first place whose rows fit a cache, of a claim about memory
};

Ruling ruling_alone(const Claim& claim, const Decision& decision, const DeviceRows& device,
                    const std::vector<Family>& families) {
  return Judge(claim, decision, device, families).ruling();
}

// Returns the ruling that says why nothing follows if the claim that must hold first does not;
// std::nullopt if it holds.
std::optional<Ruling> ruling_not_given(const Claim& claim, const Decision& decision, const DeviceRows& device,
                                       const std::vector<Family>& families) {
  for (const Rule& given : decision.given) {
    const Decision alone{decision.launched, given};
    const Ruling first = ruling_alone(claim, alone, device, families);
    if (first.verdict == Verdict::holds) continue;
    Ruling out;
    out.claim = &claim;
    out.decision = &decision;
    if (first.verdict == Verdict::not_measured || first.verdict == Verdict::not_testable) {
      out.verdict = first.verdict;
      out.note = first.note;
      out.command = first.command;
    } else {
      out.verdict = Verdict::undecided;
      out.note = fmt::format("says something only where {} holds", claim.given);
    }
    return out;
  }
  return {};
}

Ruling ruling_by(const Claim& claim, const Decision& decision, const DeviceRows& device,
                 const std::vector<Family>& families) {
  auto not_given = ruling_not_given(claim, decision, device, families);
  if (!not_given) return ruling_alone(claim, decision, device, families);
  // A device without any gain cannot have the largest gain; neither can the one with the smallest, whatever
  // else holds.
  if (decision.rule.kind == Rule::Kind::gain && not_given->verdict == Verdict::undecided) {
    Ruling alone = ruling_alone(claim, decision, device, families);
    if (alone.verdict == Verdict::fails) return alone;
  }
  return *std::move(not_given);
}

// Writes how many of the rows that show the fault are wrong here, and how the first is.
std::string known_incorrect_text(const Claim& claim, const DeviceRows& device,
                                 const std::vector<Family>& families) {
  if (claim.known_incorrect.empty()) return {};
  std::size_t wrong = 0, all = 0;
  std::string first;
  for (const auto* row : failed_of(claim.known_incorrect, device, families)) {
    ++all;
    if (row->status != Status::wrong_result) continue;
    if (wrong++ == 0) first = row->reason.substr(0, row->reason.rfind("; first wrong"));
  }
  return all == 0 ? "" : fmt::format("{} of {} rows wrong{}{}", wrong, all, first.empty() ? "" : ": ", first);
}

}  // namespace

std::vector<Ruling> rulings_of(const Claim& claim, const DeviceRows& device,
                               const std::vector<Family>& families) {
  const std::string known_incorrect = known_incorrect_text(claim, device, families);
  std::vector<Ruling> out;
  for (const auto& decision : claim.decisions) out.push_back(ruling_by(claim, decision, device, families));
  if (out.empty()) {
    Ruling& none = out.emplace_back();
    none.claim = &claim;
    none.verdict = claim.untestable.empty() ? Verdict::no_evidence : Verdict::not_testable;
    none.note = claim.untestable;
    if (!claim.known_incorrect.empty() && known_incorrect.empty()) none.command = command_of(claim, device);
  }
  for (auto& ruling : out) ruling.known_incorrect = known_incorrect;
  return out;
}

}  // namespace clweave::claims
