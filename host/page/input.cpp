// SPDX-License-Identifier: Apache-2.0
#include "page/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "analysis/rows/baselines.hpp"
#include "analysis/rows/best.hpp"
#include "analysis/rows/device_rows.hpp"
#include "base/quantity.hpp"
#include "charts/graph.hpp"
#include "charts/published_steps.hpp"
#include "charts/titles.hpp"
#include "page/section.hpp"
#include "suite/added_families.hpp"

namespace clweave::page {

namespace {

std::string chapter_of(const Family& family) {
  std::string out = family.view.chapter.empty() ? family.name : family.view.chapter;
  if (out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

// Returns the chapter of the family whose rows a trait comes from, or would.
std::string chapter_of(const Trait& trait, const std::vector<Family>& families) {
  if (!trait.figure || trait.cases.empty()) return "";
  const std::string name = trait.cases.front().substr(0, trait.cases.front().find('/'));
  const auto family = std::ranges::find(families, name, &Family::name);
  return family != families.end() ? chapter_of(*family) : "";
}

std::string size_text(std::int64_t n) {
  const auto power = std::countr_zero(static_cast<std::uint64_t>(n));
  return n >= 65536 && n == std::int64_t{1} << power ? fmt::format("2^{}", power) : std::to_string(n);
}

// Returns the best row of a family: its variant, size and rate.
std::string best_text(const DeviceResults& device, const Family& family) {
  const auto all = contenders(family, device);
  const Contender* best = best_row(family, all);
  if (best == nullptr) return not_measured;
  const CaseName& name = *best->at->name;
  const RunTime& run = best->run;
  const Value* variant = family.view.rows.empty() ? nullptr : name.axis(family.view.rows.front());
  std::string out = variant != nullptr ? text_of(*variant) : "";
  const Value* n = name.axis(elements_axis);
  if (const auto* size = n != nullptr ? std::get_if<std::int64_t>(n) : nullptr; size != nullptr && *size > 0)
    out += " at n = " + size_text(*size);
  out += ", " + (run.fraction_of_peak && !run.cached ? percent_text(*run.fraction_of_peak, 0) + " of peak"
                                                     : speed_text(*best, family));
  return is_undecided(family, all, *best) ? out + ", undecided: the machine was not quiet" : out;
}

std::vector<Fact> facts_of(const DeviceResults& device, const Profile& profile,
                           const std::vector<Family>& families) {
  std::vector<Fact> out;
  for (const auto& trait : profile.traits) {
    if (trait.headline.empty()) continue;
    out.push_back(
        {trait.headline, trait_value(trait),
         trait.meaning + ": " + (trait.is_known() ? trait_text(trait) : "to measure it: " + trait.command),
         chapter_of(trait, families)});
  }
  for (const auto& family : families) {
    if (!family.view.headline) continue;
    const std::string best = best_text(device, family);
    out.push_back({"best " + family.name, best,
                   "the best row among the largest sizes measured here; section Comparison has what devices "
                   "share",
                   best == not_measured ? "" : chapter_of(family)});
  }
  return out;
}

ClaimCounts counts_of(const std::vector<ClaimResult>& claim_results) {
  ClaimCounts out;
  for (const auto& claim_result : claim_results) {
    if (!claim_result.claim->ours()) ++out.by_verdict[claim_result.verdict];
  }
  return out;
}

std::vector<DeviceInput> devices_of(const Sources& sources, const std::vector<Claim>& claims,
                                    const std::vector<std::string>& labels) {
  std::vector<DeviceInput> out;
  const auto every = device_rows(*sources.set);
  for (const auto& rows : every) {
    DeviceInput& device = out.emplace_back();
    device.label = labels[out.size() - 1];
    device.results = rows.results;
    device.profile = profile_of(rows, *sources.families);
    device.facts = facts_of(*rows.results, device.profile, *sources.families);
    device.anomalies = anomalies_of(*rows.results);
    for (const auto& claim : claims) {
      for (auto& claim_result : claim_results_of(claim, rows, *sources.families, every))
        device.claim_results.push_back(std::move(claim_result));
    }
    device.counts = counts_of(device.claim_results);
  }
  return out;
}

DeviceTable findings_of(const Family& family, const std::vector<DeviceInput>& devices) {
  DeviceTable out;
  for (const auto& device : devices) {
    for (const auto& found : device.results->findings) {
      if (found.family != family.name) continue;
      const Finding& one = found.typical();
      out.push_back({device.label, one.name,
                     one.value ? figure_text(*one.value, one.low, one.high, one.unit) : "undecided",
                     one.text});
    }
  }
  return out;
}

DeviceTable bests_of(const Family& family, const std::vector<DeviceInput>& devices) {
  DeviceTable out;
  for (const auto& device : devices) {
    if (std::string best = best_text(*device.results, family); best != not_measured)
      out.push_back({device.label, std::move(best)});
  }
  return out;
}

// Returns whether all that was measured, but peaks, are kernels of the user's own.
bool is_own_alone(const std::vector<DeviceInput>& devices, const std::vector<Family>& families) {
  bool any = false;
  for (const auto& device : devices) {
    for (const auto& at : device.results->cases) {
      if (at.family() == peak_family) continue;
      const auto family = std::ranges::find(families, at.family(), &Family::name);
      if (family != families.end() && !is_added(family->name)) return false;
      any = true;
    }
  }
  return any;
}

// Chapters with kernels of the user's own first, then those of several families, those of one behind them.
// Where own kernels alone were measured, chapters of others that have nothing to show are left out.
std::vector<Chapter> chapters_of(const ResultsSet& set, const std::vector<Family>& families,
                                 const std::vector<DeviceInput>& devices,
                                 const std::vector<std::string>& labels) {
  std::vector<std::vector<BaselineRow>> baselines;
  for (const auto& device : devices) baselines.push_back(baseline_rows(set, *device.results, families));
  struct Placed {
    bool own = false, alone = false;
    Chapter chapter;
  };
  std::map<std::string, Placed> by_title;
  for (const auto& family : families) {
    const std::string title = chapter_of(family);
    if (title == roofline_title) continue;  // that section shows it
    FamilyInput one{.name = family.name, .question = family.question, .own = is_added(family.name)};
    one.charts = graphs_of(family, set);
    if (auto steps = published_steps(family, set, labels)) one.charts.push_back(*std::move(steps));
    for (std::size_t d = 0; d < devices.size(); ++d) {
      for (const auto& row : baselines[d]) {
        if (row.family != family.name) continue;
        one.baselines.push_back({labels[d]});
        one.baselines.back().insert(one.baselines.back().end(), row.cells.begin(), row.cells.end());
      }
    }
    one.findings = findings_of(family, devices);
    if (one.is_empty()) one.bests = bests_of(family, devices);
    Placed& placed = by_title[title];
    placed.own = placed.own || is_added(family.name);
    placed.alone = family.view.chapter.empty();
    placed.chapter.title = title;
    placed.chapter.families.push_back(std::move(one));
  }
  std::map<std::tuple<bool, bool, std::string>, Chapter> in_order;
  const bool own_alone = is_own_alone(devices, families);
  for (auto& [title, placed] : by_title) {
    if (own_alone && !placed.own && placed.chapter.is_empty()) continue;
    in_order[{!placed.own, placed.alone, title}] = std::move(placed.chapter);
  }
  std::vector<Chapter> out;
  for (auto& [unused, chapter] : in_order) out.push_back(std::move(chapter));
  return out;
}

}  // namespace

std::size_t ClaimCounts::of(Verdict verdict) const {
  const auto it = by_verdict.find(verdict);
  return it != by_verdict.end() ? it->second : 0;
}

std::vector<std::string> Input::labels() const {
  std::vector<std::string> out;
  for (const auto& device : devices) out.push_back(device.label);
  return out;
}

Input input_of(Sources sources) {
  const ResultsSet& set = *sources.set;
  const auto labels = device_labels(measured(set));
  Input out;
  out.claims = std::move(sources.claims);
  out.devices = devices_of(sources, out.claims, labels);
  out.chapters = chapters_of(set, *sources.families, out.devices, labels);
  out.rooflines = rooflines_of(set);
  if (out.devices.size() > 1) out.comparison = compare_devices(set, *sources.families);
  out.changes = sources.changes;
  out.origins = std::move(sources.origins);
  out.files = {set.files.begin(), set.files.end()};
  out.notes = set.notes;
  out.rows = set.rows;
  out.families = sources.families;
  out.command = std::move(sources.command);
  out.list = std::move(sources.list);
  return out;
}

}  // namespace clweave::page
