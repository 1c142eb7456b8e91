// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "analysis/claims/compiled.hpp"
#include "analysis/claims/doubts.hpp"
#include "analysis/claims/rules.hpp"
#include "analysis/claims/selection.hpp"
#include "base/shell_word.hpp"

namespace clweave::claims {

Verdict verdict_of(const Estimate& estimate, const Bound& bound) {
  const double low = bound.bound / (1 + bound.margin), high = bound.bound * (1 + bound.margin);
  const bool above = estimate.low > high, below = estimate.high < low;
  switch (bound.direction) {
    case Bound::Direction::above:
      return above ? Verdict::holds : below ? Verdict::fails : Verdict::within_noise;
    case Bound::Direction::below:
      return below ? Verdict::holds : above ? Verdict::fails : Verdict::within_noise;
    case Bound::Direction::equal: break;
  }
  if (estimate.low >= low && estimate.high <= high) return Verdict::holds;
  return above || below ? Verdict::fails : Verdict::within_noise;
}

std::optional<Verdict> verdict_of(const PublishedValue& published, const Claim& claim) {
  if (claim.criteria.empty() || !claim.published_bug.empty()) return {};
  return verdict_of({published.value, published.value, published.value}, claim.criteria.front().rule);
}

namespace {

// ---- At one size and type --------------------------------------------------------------------------------

struct EstimateWithVerdict : RuleEstimate {
  Verdict verdict = Verdict::undecided;
};

// Orders verdicts from the least favourable to the claim.
int rank(Verdict verdict) { return verdict == Verdict::fails ? 0 : verdict == Verdict::within_noise ? 1 : 2; }

// Adds the verdict: the least favourable of those on the estimate and on each condition.
EstimateWithVerdict with_verdict(const Rule& rule, RuleEstimate estimate) {
  EstimateWithVerdict out{std::move(estimate)};
  if (out.is_undecided) return out;
  out.verdict = verdict_of(out.estimate, rule);
  for (const auto& condition : out.conditions)
    out.verdict = std::ranges::min(out.verdict, verdict_of(condition.estimate, condition.bound), {}, rank);
  return out;
}

// Returns whether `one` speaks more against the claim than `other`.
bool is_less_favourable(const EstimateWithVerdict& one, const EstimateWithVerdict& other, const Rule& rule) {
  if (rank(one.verdict) != rank(other.verdict)) return rank(one.verdict) < rank(other.verdict);
  const auto support = [&](const EstimateWithVerdict& result) {
    const double log = std::log(result.estimate.value / rule.bound);
    switch (rule.direction) {
      case Bound::Direction::above: return log;
      case Bound::Direction::below: return -log;
      case Bound::Direction::equal: break;
    }
    return -std::abs(log);
  };
  return support(one) < support(other);
}

// Keeps the least favourable estimate, as the claim must hold for each, and the rows of all estimates.
class LeastFavourable {
 public:
  LeastFavourable(const Rule& rule, const DeviceRows& device) : rule_(&rule), device_(&device) {}

  // Adds an estimate for these values of the matched axes and the competitor.
  void add(std::optional<RuleEstimate> estimate, const AxisValues& axis_values) {
    if (!estimate) return;
    if (!axis_values.empty())
      estimate->note =
          text_of_axis_values(axis_values) + (estimate->note.empty() ? "" : ": ") + estimate->note;
    used_.insert(estimate->used.begin(), estimate->used.end());
    all_.push_back(std::move(*estimate));
  }

  std::optional<EstimateWithVerdict> finish() {
    widen();
    std::optional<EstimateWithVerdict> least;
    for (auto& estimate : all_) {
      EstimateWithVerdict result = with_verdict(*rule_, std::move(estimate));
      if (!least || is_less_favourable(result, *least, *rule_)) least = std::move(result);
    }
    if (least) least->used = std::move(used_);
    return least;
  }

 private:
  // Widens the intervals towards the claim: among many estimates one speaks against it by chance. Takes the
  // distribution of the least of all resampled over measured estimates, each in units of its own half width
  // (step-down procedures by resampling: Westfall and Young 1993, of which this is the first step).
  void widen() {
    widths_.clear();
    for (const auto& one : all_) widths_.push_back(std::log(one.estimate.high / one.estimate.low) / 2);
    if (all_.size() < 2) return;
    const auto extreme = [&](bool least) {
      return estimate_of_claim(*device_, [&](Resample sample) -> std::optional<double> {
        double out = 0;
        for (std::size_t i = 0; i < all_.size(); ++i) {
          const auto value = deviation(i, sample);
          if (i == 0 || (least ? value < out : value > out)) out = value;
        }
        return out;
      });
    };
    using Direction = Bound::Direction;
    if (rule_->direction != Direction::below) {
      const double luck = -extreme(true)->low;
      for (std::size_t i = 0; i < all_.size(); ++i) {
        Estimate& one = all_[i].estimate;
        if (widths_[i] > 0) one.high = std::max(one.high, one.value * std::exp(luck * widths_[i]));
      }
    }
    if (rule_->direction != Direction::above) {
      const double luck = extreme(false)->high;
      for (std::size_t i = 0; i < all_.size(); ++i) {
        Estimate& one = all_[i].estimate;
        if (widths_[i] > 0) one.low = std::min(one.low, one.value / std::exp(luck * widths_[i]));
      }
    }
  }

  // Returns by how many half widths an estimate of one sample is above the one as measured.
  double deviation(std::size_t i, Resample sample) const {
    if (!(widths_[i] > 0) || !all_[i].number) return 0;
    const auto value = all_[i].number(sample);
    return value && *value > 0 ? std::log(*value / all_[i].estimate.value) / widths_[i] : 0;
  }

  const Rule* rule_;
  const DeviceRows* device_;
  std::vector<RuleEstimate> all_;
  std::vector<double> widths_;  // half, of the logarithms; not positive: without an interval
  std::set<const TimedCase*> used_;
};

// Tests every combination of the matched axes, which are equal on both sides, and keeps the least favourable
// result. Competitor axes are the denominator's alone: each of their values is an opponent of its own. A rule
// of kind gain divides two speed-ups, so each side has rows before the change that it speaks of. A rule of
// kind finding tests every finding.
std::optional<EstimateWithVerdict> least_favourable_estimate(const Rule& rule, const Sides& all,
                                                             const DeviceRows& device,
                                                             const std::vector<Family>& families) {
  LeastFavourable least(rule, device);
  const RowsByAxisValues numerator(all.numerator, rule.matched_axes),
      denominator(all.denominator, rule.matched_axes),
      numerator_before_change(all.numerator_before_change, rule.matched_axes),
      denominator_before_change(all.denominator_before_change, rule.matched_axes);
  for (const auto& matched : numerator.distinct_keys()) {
    const Sides sides{numerator.at(matched), denominator.at(matched), numerator_before_change.at(matched),
                      denominator_before_change.at(matched)};
    if (rule.kind == Rule::Kind::finding) {
      const auto conclusions =
          std::make_shared<const Conclusions>(*family_named(families, rule.numerator.family), sides.numerator,
                                              device, Conclusions::Times::without_intervals);
      for (const auto& finding : rule.findings)
        least.add(estimate_finding_rule(rule, finding, conclusions, sides.numerator, device), matched);
      continue;
    }
    const RowsByAxisValues by_competitor(sides.denominator, rule.competitor_axes),
        by_competitor_before_change(sides.denominator_before_change, rule.competitor_axes);
    const auto competitors =
        rule.competitor_axes.empty() ? std::vector<AxisValues>(1) : by_competitor.distinct_keys();
    for (const auto& competitor : competitors) {
      AxisValues axis_values = matched;
      axis_values.insert(axis_values.end(), competitor.begin(), competitor.end());
      const Sides against{sides.numerator, by_competitor.at(competitor), sides.numerator_before_change,
                          by_competitor_before_change.at(competitor)};
      least.add(estimate_rule(rule, against, device), axis_values);
    }
  }
  return least.finish();
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

// Returns why there are too few rows for a verdict. In this order: rows of CUDA that this device cannot have;
// rows that were not measured; the reason of a failed row, from a side without successful rows if there is
// one. Of several failed rows it takes the one closest to the defaults: why the portable implementation
// failed says more than that a vendor's extension is lacking.
std::string reason_without_rows(const Rule& rule, bool incomplete, const DeviceRows& device,
                                const std::vector<Family>& families) {
  std::vector<const RowQuery*> without_rows, with_rows;
  for (const auto& [name, side] : rule_sides) {
    const RowQuery& query = rule.*side;
    if (query.empty()) continue;
    (rows_of(query, device, families).rows.empty() ? without_rows : with_rows).push_back(&query);
  }
  if (!has_cuda(device.results->platform) &&
      std::ranges::any_of(without_rows, [](const RowQuery* query) { return query->api == "cuda"; }))
    return "CUDA runs on devices of NVIDIA alone";
  if (incomplete) return no_rows;
  for (const auto* query : without_rows.empty() ? with_rows : without_rows) {
    const auto failed = failed_of(*query, device, families);
    const auto closest_to_defaults = std::ranges::min_element(
        failed, {}, [&](const FailedCase* row) { return axes_off_default(*row->name, families); });
    if (closest_to_defaults != failed.end())
      return fmt::format("{}: {}", (*closest_to_defaults)->status, (*closest_to_defaults)->reason);
  }
  return no_rows;
}

// Returns the option that measures the largest size of the rule, if the rows are of a smaller one.
std::string option_for_largest_size(const AxisValues& chosen, const Rule& rule) {
  for (const auto& [axis, value] : chosen) {
    const auto query = rule.numerator.axes.find(axis);
    if (query == rule.numerator.axes.end() || query->second.how != RowQuery::AxisQuery::How::largest)
      continue;
    const Value largest = std::ranges::max(query->second.values, {}, number_in);
    if (number_in(value) < number_in(largest)) return fmt::format(" --set {}={}", axis, text_of(largest));
  }
  return {};
}

// Returns the first row that is markedly faster than the measured memory bandwidth, as a
// working set slightly larger than a cache still hits in it; null if there is none or the rule is not about
// memory.
const TimedCase* row_above_memory_bandwidth(const Rule& rule, const std::vector<const TimedCase*>& used,
                                            const DeviceRows& device) {
  constexpr double markedly = 1.1;
  if (!rule.bandwidth_bound) return nullptr;
  const auto fast = std::ranges::find_if(used, [&](const TimedCase* timed) {
    return of_memory(timed->representative->peak) &&
           device.measured().fraction_of_peak(*timed).value_or(0) > markedly;
  });
  return fast != used.end() ? *fast : nullptr;
}

// Returns whether a row has a number of work-groups per compute unit, on a GPU that its driver reports as a
// single compute unit. Drivers on top of another API do so; such a launch leaves most of the GPU idle.
bool is_sized_by_single_compute_unit(const Sides& sides, const DeviceRows& device,
                                     const std::vector<Family>& families) {
  if (device.results->type != "gpu" || device.results->compute_units != 1) return false;
  const auto is_sized_by_compute_units = [&](const TimedCase* timed) {
    const Family& family = *family_named(families, timed->family());
    const auto at = case_of(family, *timed->name);
    return at && std::ranges::any_of(family.axes, [&](const Axis& axis) {
             return axis.per_compute_unit && family.uses(*at, axis.name) && axis.per_compute_unit(*at);
           });
  };
  return std::ranges::any_of(all_sides, [&](const Side& side) {
    return std::ranges::any_of(sides.*side.rows, is_sized_by_compute_units);
  });
}

// Returns why complete rows cannot be compared: the fastest launch may be one that was too fast to be true
// (status implausible), or the work-groups are counted by compute units and the driver reports one; empty if
// they can be.
std::string reason_not_comparable(const std::vector<ExpectedCases>& expected, const Sides& sides,
                                  const DeviceRows& device, const std::vector<Family>& families) {
  for (const auto& side : expected) {
    const auto rows =
        side.without_time([](const FailedCase& row) { return row.status == Status::implausible; });
    if (!rows.empty())
      return fmt::format("the fastest may be a launch that is implausible: {} ({})", rows.front()->reason,
                         rows.front()->name->id);
  }
  return is_sized_by_single_compute_unit(sides, device, families) ? sized_for_one_compute_unit : "";
}

// ---- Notes -----------------------------------------------------------------------------------------------

// Writes the values that all rows share, of the axes that say what is computed and of those that the rule
// names; without the chosen ones.
std::string text_of_common_axis_values(const Rule& rule, const std::vector<const TimedCase*>& rows,
                                       const AxisValues& chosen) {
  std::vector<std::string> axes = {type_axis, elements_axis};
  for (const auto& [name, side] : rule_sides) {
    for (const auto& alternative : (rule.*side).alternatives()) {
      for (const auto& [axis, query] : alternative) {
        if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
      }
    }
  }
  AxisValues common;
  for (const auto& axis : axes) {
    if (std::ranges::find(chosen, axis, &AxisValues::value_type::first) != chosen.end()) continue;
    const Value first = value_in(*rows.front(), axis);
    if (text_of(first).empty() ||
        std::ranges::any_of(rows, [&](const TimedCase* timed) { return value_in(*timed, axis) != first; }))
      continue;
    common.emplace_back(axis, first);
  }
  return text_of_axis_values(common);
}

// Names the cases that cannot run here. As published: by launch configuration, without the axes that choose
// an implementation (Axis::implementation). At its best: by kernel, as only the fastest configuration of each
// counts.
std::string text_of_left_out_cases(const Criterion& criterion, const std::vector<ExpectedCases>& expected,
                                   const std::vector<Family>& families) {
  const Rule& rule = criterion.rule;
  std::set<std::string> compared = {kernel_axis};
  for (const auto* axes : {&rule.competitor_axes, &rule.matched_axes, &rule.varied_axes})
    compared.insert(axes->begin(), axes->end());
  if (criterion.launches == LaunchChoice::as_published) {
    for (const auto& [name, side] : rule_sides) {
      for (const auto& axes : (rule.*side).alternatives()) {
        for (const auto& [axis, query] : axes) {
          if (query.how == RowQuery::AxisQuery::How::one_of) compared.insert(axis);
        }
      }
      if (const Family* family = family_named(families, (rule.*side).family)) {
        for (const auto& axis : family->axes) {
          if (axis.implementation) compared.erase(axis.name);
        }
      }
    }
  }
  std::set<std::string> out;
  for (const auto& side : expected) out.merge(side.left_out(compared));
  if (out.empty()) return {};
  return fmt::format("without {}{}, which cannot run here", *out.begin(),
                     out.size() > 1 ? fmt::format(" and {} more", out.size() - 1) : "");
}

std::string join_non_empty(std::vector<std::string> parts, std::string_view separator) {
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string command_of(const Claim& claim, const DeviceRows& device, const std::string& extra_options = "") {
  return fmt::format("clweave run --device {} --claim {}{}", shell_quoted(device.results->name), claim.id,
                     extra_options);
}

// ---- A criterion -----------------------------------------------------------------------------------------

// Evaluates one criterion, ignoring its preconditions, at the first size and type whose rows are complete and
// conclusive.
class CriterionEvaluator {
 public:
  CriterionEvaluator(const Claim& claim, const Criterion& criterion, const DeviceRows& device,
                     const std::vector<Family>& families)
      : claim_(claim), criterion_(criterion), rule_(criterion.rule), device_(device), families_(families) {
    out_.claim = &claim;
    out_.criterion = &criterion;
  }

  ClaimResult evaluate() && {
    Sides all;
    // Whether the rows of a side come from a version with other defaults of tunable axes.
    std::array<bool, all_sides.size()> has_other_defaults = {};
    for (std::size_t s = 0; s < all_sides.size(); ++s) {
      const RowQuery& query = rule_.*all_sides[s].query;
      if (query.empty()) continue;
      auto selected = rows_of(query, device_, families_);
      all.*all_sides[s].rows = std::move(selected.rows);
      has_other_defaults[s] = selected.has_other_defaults;
    }
    for (const auto& sides : sides_by_choice(rule_, all)) {
      if (try_to_decide_at(sides, has_other_defaults)) return std::move(out_);
    }
    explain_missing_verdict();
    return std::move(out_);
  }

 private:
  // Returns whether the result is final; if not, the next size or type is tried.
  bool try_to_decide_at(const Sides& sides, const std::array<bool, all_sides.size()>& has_other_defaults) {
    const ChosenValues chosen(sides.chosen.begin(), sides.chosen.end());
    std::vector<ExpectedCases> expected;
    for (std::size_t s = 0; s < all_sides.size(); ++s) {
      const auto& [query, rows] = all_sides[s];
      if (!(rule_.*query).empty())
        expected.emplace_back(rule_.*query, sides.*rows, has_other_defaults[s], chosen, device_, families_);
    }
    if (!std::ranges::all_of(expected, &ExpectedCases::is_complete)) {
      incomplete_ = true;
      return false;
    }
    if (const Doubt doubt = doubt_of(expected); !doubt.why.empty()) {
      set_undecided(doubt);
      return true;
    }
    const auto result = least_favourable_estimate(rule_, sides, device_, families_);
    if (!result) {
      without_estimate_ = true;
      return false;
    }
    if (result->verdict == Verdict::undecided) {
      set_undecided(result->note);
      return true;
    }
    if (auto why = reason_not_comparable(expected, sides, device_, families_); !why.empty()) {
      set_undecided(why);
      return true;
    }
    std::vector<const TimedCase*> used(result->used.begin(), result->used.end());
    std::ranges::sort(used, {}, &TimedCase::index);
    out_.cached = std::ranges::any_of(
        used, [](const TimedCase* timed) { return std::ranges::any_of(timed->runs, &RunTime::cached); });
    if (out_.cached && rule_.bandwidth_bound) {
      if (!cached_choice_) cached_choice_ = sides.chosen;
      return false;
    }
    if (const Doubt doubt = doubt_of(rule_, sides, result->used); !doubt.why.empty()) {
      set_undecided(doubt);
      return true;
    }
    if (const TimedCase* fast = row_above_memory_bandwidth(rule_, used, device_)) {
      set_undecided(fmt::format("{} ({})", above_memory_bandwidth, fast->name->id));
      return true;
    }
    conclude(*result, sides.chosen, used, text_of_left_out_cases(criterion_, expected, families_));
    return true;
  }

  void set_undecided(const std::string& why) {
    out_.verdict = Verdict::undecided;
    out_.note = why;
  }

  void set_undecided(const Doubt& doubt) {
    set_undecided(doubt.why);
    out_.doubtful = doubt.cases;
    out_.extra_options = doubt.options;
    out_.command = command_of(claim_, device_, out_.extra_options);
  }

  void conclude(const EstimateWithVerdict& result, AxisValues chosen,
                const std::vector<const TimedCase*>& used, const std::string& left_out) {
    out_.verdict = result.verdict;
    out_.estimate = result.estimate;
    chosen.insert(chosen.end(), result.varied_values.begin(), result.varied_values.end());
    out_.chosen = text_of_axis_values(chosen);
    out_.left_out = left_out;
    out_.runs = SIZE_MAX;
    for (const auto* timed : used) {
      out_.cases.push_back(timed->name->id);
      out_.runs = std::min(out_.runs, timed->runs.size());
    }
    std::string too_few;
    if (out_.runs < rule_.min_runs) {
      out_.verdict = Verdict::undecided;
      too_few =
          fmt::format("{} of the {} runs needed, as it varies from run to run", out_.runs, rule_.min_runs);
      out_.command = command_of(claim_, device_, fmt::format(" --runs {}", rule_.min_runs));
    }
    const std::string common = text_of_common_axis_values(rule_, used, chosen);
    out_.note =
        join_non_empty({join_non_empty({out_.chosen, common}, " "), result.note, left_out, too_few}, ": ");
  }

  void explain_missing_verdict() {
    out_.cached = cached_choice_.has_value();
    if (cached_choice_) {
      set_undecided(in_cache);
      out_.extra_options = option_for_largest_size(*cached_choice_, rule_);
      if (!out_.extra_options.empty()) out_.command = command_of(claim_, device_, out_.extra_options);
      return;
    }
    out_.note = reason_without_rows(rule_, incomplete_ && !without_estimate_, device_, families_);
    out_.verdict = out_.note == no_rows ? Verdict::not_measured : Verdict::not_testable;
    if (out_.note == no_rows && needs_baselines(rule_)) out_.extra_options = " --with-baselines";
    out_.command = command_of(claim_, device_, out_.extra_options);
  }

  const Claim& claim_;
  const Criterion& criterion_;
  const Rule& rule_;
  const DeviceRows& device_;
  const std::vector<Family>& families_;
  ClaimResult out_;
  bool incomplete_ = false;                  // rows are missing at some size or type
  bool without_estimate_ = false;            // at some size or type all rows are there, and give no estimate
  std::optional<AxisValues> cached_choice_;  // the first whose rows fit a cache, of a claim about memory
};

ClaimResult result_ignoring_preconditions(const Claim& claim, const Criterion& criterion,
                                          const DeviceRows& device, const std::vector<Family>& families) {
  return CriterionEvaluator(claim, criterion, device, families).evaluate();
}

// Returns an undecided result that says so if a precondition does not hold; std::nullopt if all hold.
std::optional<ClaimResult> result_of_unmet_precondition(const Claim& claim, const Criterion& criterion,
                                                        const DeviceRows& device,
                                                        const std::vector<Family>& families) {
  for (const Rule& precondition : criterion.preconditions) {
    const Criterion first_criterion{criterion.launches, precondition};
    const ClaimResult first = result_ignoring_preconditions(claim, first_criterion, device, families);
    if (first.verdict == Verdict::holds) continue;
    ClaimResult out;
    out.claim = &claim;
    out.criterion = &criterion;
    if (first.verdict == Verdict::not_measured || first.verdict == Verdict::not_testable) {
      out.verdict = first.verdict;
      out.note = first.note;
      out.command = first.command;
    } else {
      out.verdict = Verdict::undecided;
      out.note = fmt::format("says something only where {} holds", claim.precondition);
      if (!first.doubtful.empty()) {
        out.note += ", and " + first.note;
        out.doubtful = first.doubtful;
        out.extra_options = first.extra_options;
        out.command = first.command;
      }
    }
    return out;
  }
  return {};
}

ClaimResult result_of_criterion(const Claim& claim, const Criterion& criterion, const DeviceRows& device,
                                const std::vector<Family>& families) {
  auto unmet = result_of_unmet_precondition(claim, criterion, device, families);
  if (!unmet) return result_ignoring_preconditions(claim, criterion, device, families);
  // A claim that something brings the largest gain needs it to bring one. If that is undecided, but another
  // gain is measurably larger, the claim fails all the same.
  if (criterion.rule.kind == Rule::Kind::gain && unmet->verdict == Verdict::undecided) {
    ClaimResult claim_result = result_ignoring_preconditions(claim, criterion, device, families);
    if (claim_result.verdict == Verdict::fails) return claim_result;
  }
  return *std::move(unmet);
}

// ---- Offline compilers -----------------------------------------------------------------------------------

// Decides a rule about registers by what a compiler for such a device makes of the kernels.
ClaimResult result_of_compilers(const Claim& claim, const Criterion& criterion, const DeviceRows& device,
                                const std::vector<Family>& families) {
  ClaimResult out;
  if (const auto compiled = compiled_rows_of(*device.results, families)) {
    const auto rows = device_rows(compiled->results);
    out = result_ignoring_preconditions(claim, criterion, rows.front(), families);
    std::set<std::string> compilers;
    for (const auto& id : out.cases) compilers.insert(compiled->compilers.at(id));
    out.note = join_non_empty({out.note, fmt::format("{}", fmt::join(compilers, "; "))}, ": ");
  } else {
    out.note = fmt::format(
        "OpenCL tells no registers, and no compiler for such a device was asked offline; for {} there are "
        "figures",
        compiled_targets());
  }
  out.claim = &claim;
  out.criterion = &criterion;
  out.command.clear();  // no run would tell more
  out.extra_options.clear();
  if (!out.estimate) out.verdict = Verdict::not_testable;
  return out;
}

// ---- Several devices -------------------------------------------------------------------------------------

bool is_named(const DeviceRows& device, const std::vector<std::string>& words) {
  const std::string names = device.results->name + "\n" + device.results->platform;
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return names.find(word) != std::string::npos; });
}

using Devices = std::vector<const DeviceRows*>;

// Returns the first device of each model of GPU that is named; of all models where no words are given.
Devices devices_of(std::span<const DeviceRows> all, const std::vector<std::string>& words) {
  Devices out;
  for (const auto& device : all) {
    if (device.results->type == "gpu" && (words.empty() || is_named(device, words)) &&
        std::ranges::none_of(
            out, [&](const DeviceRows* other) { return other->results->name == device.results->name; }))
      out.push_back(&device);
  }
  return out;
}

// Returns the rule at each value of the axes that the claim must hold for, so that devices are compared at
// the same values.
std::vector<Rule> rules_at_each_value(const Rule& rule) {
  std::vector<Rule> out = {rule};
  const auto split = [&](const std::string& axis, const auto& sides) {
    std::vector<Rule> finer;
    for (const auto& one : out) {
      for (const auto& value : (one.*sides.front()).values(axis)) {
        Rule& at = finer.emplace_back(one);
        for (const auto side : sides) {
          if (const auto query = (at.*side).axes.find(axis); query != (at.*side).axes.end())
            query->second = {RowQuery::AxisQuery::How::one_of, Values(value)};
        }
      }
    }
    if (!finer.empty()) out = std::move(finer);
  };
  for (const auto& axis : rule.matched_axes) split(axis, std::array{&Rule::numerator, &Rule::denominator});
  for (const auto& axis : rule.competitor_axes) split(axis, std::array{&Rule::denominator});
  for (auto& one : out) {
    one.matched_axes.clear();
    one.competitor_axes.clear();
  }
  return out;
}

// Compares the number between devices by the ends of its intervals, which are independent of each other: the
// interval of the quotient holds the true one where each holds its own.
Estimate quotient(const std::vector<Estimate>& over, const std::vector<Estimate>& under, bool is_spread) {
  const auto least = [](const std::vector<Estimate>& all, double Estimate::*end) {
    return std::ranges::min(all, {}, end).*end;
  };
  const auto most = [](const std::vector<Estimate>& all, double Estimate::*end) {
    return std::ranges::max(all, {}, end).*end;
  };
  if (!is_spread)
    return {least(over, &Estimate::value) / most(under, &Estimate::value),
            least(over, &Estimate::low) / most(under, &Estimate::high),
            least(over, &Estimate::high) / most(under, &Estimate::low)};
  return {most(over, &Estimate::value) / least(over, &Estimate::value),
          std::max(1.0, most(over, &Estimate::low) / least(over, &Estimate::high)),
          most(over, &Estimate::high) / least(over, &Estimate::low)};
}

// Decides a rule that compares devices, at one value of each axis.
class AcrossDevices {
 public:
  AcrossDevices(const Claim& claim, const Criterion& criterion, std::span<const DeviceRows> all,
                const std::vector<Family>& families)
      : claim_(claim),
        criterion_(criterion),
        across_(*criterion.rule.across),
        all_(all),
        families_(families) {
    out_.claim = &claim;
    out_.verdict = Verdict::undecided;
  }

  ClaimResult evaluate() && {
    const Devices over = devices_of(all_, across_.numerator), under = devices_of(all_, across_.denominator);
    if (across_.is_spread() ? over.size() < 2 : over.empty() || under.empty()) {
      out_.note = missing(over, under);
      return std::move(out_);
    }
    const auto numerators = estimates_of(over);
    const auto denominators = across_.is_spread() ? numerators : estimates_of(under);
    if (numerators.empty() || denominators.empty()) return std::move(out_);
    out_.estimate = quotient(numerators, denominators, across_.is_spread());
    out_.verdict = verdict_of(*out_.estimate, criterion_.rule);
    out_.note =
        fmt::format("{}{}: {}", out_.chosen, out_.chosen.empty() ? "" : " on", fmt::join(numbers_, ", "));
    return std::move(out_);
  }

 private:
  std::string missing(const Devices& over, const Devices& under) const {
    const std::string command = fmt::format("clweave claims A.csv B.csv --claim {}", claim_.id);
    if (across_.is_spread()) return "it takes GPUs of two models: " + command;
    const auto& words = over.empty() ? across_.numerator : across_.denominator;
    return fmt::format("it takes {} {}: {}", over.empty() && under.empty() ? "GPUs of both, one" : "a GPU",
                       fmt::join(words, " or "), command);
  }

  // Returns the number on each device; empty if one has none, and notes why.
  std::vector<Estimate> estimates_of(const Devices& devices) {
    std::vector<Estimate> out;
    for (const auto* device : devices) {
      ClaimResult one = result_ignoring_preconditions(claim_, criterion_, *device, families_);
      if (!one.estimate || one.verdict == Verdict::undecided) return without(*device, one);
      if (!numbers_.empty() && one.chosen != out_.chosen) {
        out_.note = fmt::format("measured at different sizes: {} and {}", out_.chosen, one.chosen);
        return {};
      }
      out_.chosen = one.chosen;
      out_.cached = out_.cached || one.cached;
      out_.runs = numbers_.empty() ? one.runs : std::min(out_.runs, one.runs);
      out_.cases.insert(out_.cases.end(), one.cases.begin(), one.cases.end());
      numbers_.push_back(fmt::format("{} {:.3g}", device->results->name, one.estimate->value));
      out.push_back(*one.estimate);
    }
    return out;
  }

  std::vector<Estimate> without(const DeviceRows& device, const ClaimResult& one) {
    out_.note = fmt::format("{}: {}", device.results->name, one.note);
    out_.verdict = one.verdict == Verdict::not_measured ? Verdict::not_measured : Verdict::undecided;
    out_.doubtful = one.doubtful;
    out_.extra_options = one.extra_options;
    out_.command = one.command;
    return {};
  }

  const Claim& claim_;
  const Criterion& criterion_;
  const Rule::AcrossDevices& across_;
  std::span<const DeviceRows> all_;
  const std::vector<Family>& families_;
  ClaimResult out_;
  std::vector<std::string> numbers_;
};

// Returns the least favourable result at each value of the axes that the claim must hold for.
ClaimResult result_across(const Claim& claim, const Criterion& criterion, std::span<const DeviceRows> all,
                          const std::vector<Family>& families) {
  std::optional<ClaimResult> least;
  const auto order = [](const ClaimResult& result) {
    return result.estimate ? rank(result.verdict) : -1;  // one that is undecided leaves all undecided
  };
  for (const auto& rule : rules_at_each_value(criterion.rule)) {
    const Criterion one{criterion.launches, rule};
    ClaimResult result = AcrossDevices(claim, one, all, families).evaluate();
    if (!least || order(result) < order(*least)) least = std::move(result);
  }
  least->criterion = &criterion;
  return *std::move(least);
}

// Writes how many of the rows that show the published bug are wrong here, and in what way the first is.
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

std::vector<ClaimResult> claim_results_of(const Claim& claim, const DeviceRows& device,
                                          const std::vector<Family>& families,
                                          std::span<const DeviceRows> all) {
  const std::string known_incorrect = known_incorrect_text(claim, device, families);
  std::vector<ClaimResult> out;
  for (const auto& criterion : claim.criteria)
    out.push_back(criterion.rule.across ? result_across(claim, criterion, all, families)
                  : criterion.rule.is_of_compilers()
                      ? result_of_compilers(claim, criterion, device, families)
                      : result_of_criterion(claim, criterion, device, families));
  if (out.empty()) {
    ClaimResult& none = out.emplace_back();
    none.claim = &claim;
    none.verdict = claim.untestable.empty() ? Verdict::no_evidence : Verdict::not_testable;
    none.note = claim.untestable;
    if (!claim.known_incorrect.empty() && known_incorrect.empty()) none.command = command_of(claim, device);
  }
  for (auto& claim_result : out) claim_result.known_incorrect = known_incorrect;
  return out;
}

}  // namespace clweave::claims
