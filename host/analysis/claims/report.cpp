// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "analysis/rows/case_labels.hpp"
#include "base/quantity.hpp"
#include "base/shell_word.hpp"
#include "report/table.hpp"

namespace clweave::claims {

namespace {

std::string painted(Verdict verdict) {
  constexpr std::array styles = {Style::green,  Style::red, Style::yellow, Style::dim,
                                 Style::yellow, Style::dim, Style::cyan};
  return paint(text_of(verdict), styles.at(static_cast<std::size_t>(verdict)));
}

std::string unit_of(const Claim& claim) {
  return claim.criteria.empty() ? "" : claim.criteria.front().rule.unit;
}

// Writes a verdict with its estimate. Several devices differ in the sizes chosen for them, so that these
// stand beside the estimates; where a maximum lies is always part of it.
std::string found_text(const ClaimResult& claim_result, bool with_configuration) {
  std::string text = painted(claim_result.verdict);
  if (claim_result.estimate)
    text += fmt::format(" {}", number_text(claim_result.estimate->value, claim_result.criterion->rule.unit));
  if (claim_result.cached) text += " cached";
  const bool is_maximum =
      claim_result.criterion != nullptr && claim_result.criterion->rule.kind == Rule::Kind::most;
  if ((with_configuration || is_maximum) && !claim_result.chosen.empty())
    text += " at " + claim_result.chosen;
  return text;
}

std::string asked_text(const Rule& rule) {
  const std::string margin = rule.margin == 0 ? "" : fmt::format(" ±{:.3g} %", 100 * rule.margin);
  const std::string bound = number_text(rule.bound, rule.unit);
  if (rule.kind == Rule::Kind::trend)
    return (rule.direction == Rule::Direction::above ? "rising" : "falling") +
           (rule.bound == 1 ? "" : " to " + bound) + margin;
  switch (rule.direction) {
    case Rule::Direction::above: return "> " + bound + margin;
    case Rule::Direction::below: return "< " + bound + margin;
    case Rule::Direction::equal: return bound + margin;
  }
  return "";
}

// Writes each published value with the verdict it gives on its own claim, if it can.
std::vector<std::string> published_texts(const Claim& claim) {
  std::vector<std::string> out;
  for (const auto& p : claim.published) {
    const auto verdict = verdict_of(p, claim);
    out.push_back(fmt::format("{} {}{}", number_text(p.value, unit_of(claim)), p.device,
                              verdict ? ": " + text_of(*verdict) : ""));
  }
  return out;
}

}  // namespace

std::string evidence_text(const Claim& claim) {
  auto parts = published_texts(claim);
  if (!claim.published_bug.empty()) parts.emplace_back("discarded: wrong results");
  return fmt::format("{}", fmt::join(parts, ", "));
}

namespace {

// Groups the claim_results of a device by claim.
std::vector<std::vector<const ClaimResult*>> by_claim(const DeviceClaimResults& device) {
  std::vector<std::vector<const ClaimResult*>> out;
  for (const auto& claim_result : device.claim_results) {
    if (out.empty() || out.back().front()->claim != claim_result.claim) out.emplace_back();
    out.back().push_back(&claim_result);
  }
  return out;
}

// Returns null if the claim has no such criterion.
const ClaimResult* decided(const std::vector<const ClaimResult*>& claim_results, LaunchChoice launches) {
  for (const auto* claim_result : claim_results) {
    if (claim_result->criterion != nullptr && claim_result->criterion->launches == launches)
      return claim_result;
  }
  return nullptr;
}

constexpr std::array launch_choices = {LaunchChoice::as_published, LaunchChoice::at_best};

// Builds the table of all claims: the statement and its verdicts come first, and what decides them gives way
// on a narrow screen.
Table table_of(const std::vector<DeviceClaimResults>& devices) {
  const bool one = devices.size() == 1;
  std::vector<Table::Column> heads = {{"statement", Align::left, Overflow::wrap}};
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (const auto choice : launch_choices)
      heads.push_back({one ? text_of(choice) : letter_of(d) + " " + text_of(choice)});
  }
  heads.push_back({"claim", Align::left, Overflow::keep, 4});
  if (one)
    heads.insert(heads.end(),
                 {{"holds if", Align::left, Overflow::keep, 3}, {"at", Align::left, Overflow::cut, 1}});
  heads.push_back({"published, by the same bound", Align::left, Overflow::cut, 2});
  Table table(heads);
  std::vector<std::vector<std::vector<const ClaimResult*>>> all;
  for (const auto& device : devices) all.push_back(by_claim(device));
  for (std::size_t c = 0; c < all.front().size(); ++c) {
    const ClaimResult& first = *all.front()[c].front();
    const Claim& claim = *first.claim;
    std::vector<std::string> cells = {claim.statement};
    for (const auto& device : all) {
      for (const auto choice : launch_choices) {
        const ClaimResult* claim_result =
            claim.criteria.empty() ? device[c].front() : decided(device[c], choice);
        cells.push_back(claim_result != nullptr ? found_text(*claim_result, !one) : "");
      }
    }
    cells.push_back(claim.id);
    if (one) {
      cells.push_back(first.criterion != nullptr ? asked_text(first.criterion->rule) : "");
      std::vector<std::string> notes;
      for (const auto* claim_result : all.front()[c]) {
        if (claim_result->estimate && !claim_result->note.empty()) notes.push_back(claim_result->note);
      }
      cells.push_back(fmt::format("{}", fmt::join(notes, "; ")));
    }
    cells.push_back(evidence_text(claim));
    table.add(std::move(cells));
  }
  return table;
}

// Counts verdicts: "71 published claims as published: 20 holds, 8 fails", the same at their best, and those
// of this project.
std::vector<std::string> tallies(const DeviceClaimResults& device) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& what, const auto& belongs) {
    std::map<Verdict, int> counts;
    int all = 0, cached = 0;
    for (const auto& claim_result : device.claim_results) {
      if (!belongs(claim_result)) continue;
      ++counts[claim_result.verdict];
      ++all;
      cached += claim_result.cached && claim_result.estimate ? 1 : 0;
    }
    std::vector<std::string> parts;
    for (const auto verdict : {Verdict::holds, Verdict::fails, Verdict::within_noise, Verdict::no_evidence,
                               Verdict::undecided, Verdict::not_measured, Verdict::not_testable}) {
      if (counts[verdict] > 0) parts.push_back(fmt::format("{} {}", counts[verdict], text_of(verdict)));
    }
    if (cached > 0) parts.push_back(fmt::format("{} of these on rows that fit a cache", cached));
    if (all > 0) out.push_back(fmt::format("{} {}: {}", all, what, fmt::join(parts, ", ")));
  };
  for (const auto choice : launch_choices) {
    add(fmt::format("published claims {}", text_of(choice)), [&](const ClaimResult& r) {
      return !r.claim->ours() && r.criterion != nullptr && r.criterion->launches == choice;
    });
  }
  add("published claims without a test",
      [](const ClaimResult& r) { return !r.claim->ours() && r.criterion == nullptr; });
  add("claims of clweave", [](const ClaimResult& r) { return r.claim->ours(); });
  return out;
}

// Adds the published evidence that is discarded: each error once, with the claims that rest on it.
void add_published_bugs(const std::vector<DeviceClaimResults>& devices, Report& out) {
  std::vector<std::string> told;
  const auto& claim_results = devices.front().claim_results;
  for (std::size_t c = 0; c < claim_results.size(); ++c) {
    const Claim& claim = *claim_results[c].claim;
    if (claim.published_bug.empty() || std::ranges::find(told, claim.published_bug) != told.end()) continue;
    if (told.empty()) {
      out.line();
      out.line(paint("published evidence that is discarded", Style::bold));
    }
    told.push_back(claim.published_bug);
    std::vector<std::string> ids;
    for (const auto& other : claim_results) {
      if (other.claim->published_bug == claim.published_bug && (ids.empty() || ids.back() != other.claim->id))
        ids.push_back(other.claim->id);
    }
    out.line(fmt::format("  {}  {}", paint(fmt::format("{}", fmt::join(ids, ", ")), Style::cyan),
                         claim.published_bug));
    for (const auto& device : devices) {
      if (!device.claim_results[c].known_incorrect.empty())
        out.line(fmt::format("    {}: {}", device.device, device.claim_results[c].known_incorrect));
    }
    out.command("    repeat it: " +
                (claim.check.empty()
                     ? fmt::format("clweave run --no-peak --claim {} --where form=known_incorrect", claim.id)
                     : claim.check));
  }
}

// Writes " (first id and 4 more)"; empty if there is none.
std::string first_of(const std::vector<std::string>& ids) {
  if (ids.empty()) return {};
  return fmt::format(" ({}{})", ids.front(),
                     ids.size() > 1 ? fmt::format(" and {} more", ids.size() - 1) : "");
}

// Adds each reason for which there is no verdict once, with its claims and the run that would decide them.
void add_untested(const DeviceClaimResults& device, Report& out) {
  struct Reason {
    std::string note, extra_options;
    std::vector<std::string> ids, doubtful;
  };
  std::vector<Reason> reasons;
  for (const auto& claim_result : device.claim_results) {
    if (claim_result.verdict != Verdict::not_measured && claim_result.verdict != Verdict::undecided &&
        claim_result.verdict != Verdict::not_testable)
      continue;
    auto reason = std::ranges::find_if(reasons, [&](const Reason& r) {
      return r.note == claim_result.note && r.extra_options == claim_result.extra_options;
    });
    if (reason == reasons.end())
      reason = reasons.insert(reason, {claim_result.note, claim_result.extra_options, {}, {}});
    for (const auto& id : claim_result.doubtful) {
      if (std::ranges::find(reason->doubtful, id) == reason->doubtful.end()) reason->doubtful.push_back(id);
    }
    if (reason->ids.empty() || reason->ids.back() != claim_result.claim->id)
      reason->ids.push_back(claim_result.claim->id);
  }
  // Claims that only wait for a run come last.
  const auto waits = [](const Reason& r) { return r.note == no_rows || !r.extra_options.empty(); };
  std::stable_partition(reasons.begin(), reasons.end(), std::not_fn(waits));
  for (const auto& reason : reasons) {
    if (&reason == &reasons.front()) {
      out.line();
      out.line(paint("no verdict on " + device.device, Style::bold));
    }
    const bool at_its_end = reason.note == in_cache && reason.extra_options.empty();
    out.line(fmt::format("  {}  {}{}{}", paint(fmt::format("{}", fmt::join(reason.ids, ", ")), Style::dim),
                         reason.note, at_its_end ? ", nor is a larger size part of the claim" : "",
                         first_of(reason.doubtful)));
    if (waits(reason))
      out.command(fmt::format("    clweave run --device {} --claim {}{}", shell_quoted(device.device),
                              fmt::join(reason.ids, ","), reason.extra_options));
  }
}

// Adds the cases that verdicts leave out, which the table of several devices has no room for.
void add_left_out(const DeviceClaimResults& device, Report& out) {
  std::map<std::string, std::vector<std::string>> claims;  // by what is left out
  for (const auto& claim_result : device.claim_results) {
    if (claim_result.left_out.empty()) continue;
    auto& ids = claims[claim_result.left_out];
    if (ids.empty() || ids.back() != claim_result.claim->id) ids.push_back(claim_result.claim->id);
  }
  if (claims.empty()) return;
  out.line();
  out.line(paint("decided by what is left on " + device.device, Style::bold));
  for (const auto& [left_out, ids] : claims)
    out.line(fmt::format("  {}  {}", paint(fmt::format("{}", fmt::join(ids, ", ")), Style::dim), left_out));
}

void add_cases(const DeviceClaimResults& device, Report& out) {
  out.line();
  out.line(paint("rows of " + device.device, Style::bold));
  for (const auto& claim_result : device.claim_results) {
    if (claim_result.cases.empty()) continue;
    const auto& [value, low, high] = *claim_result.estimate;
    out.line(fmt::format("  {} {}  {}, {}, {} {}", claim_result.claim->id,
                         text_of(claim_result.criterion->launches),
                         figure_text(value, low, high, claim_result.criterion->rule.unit),
                         claim_result.note.empty() ? "at its only size" : claim_result.note,
                         claim_result.runs, claim_result.runs == 1 ? "run" : "runs"));
    for (const auto& id : claim_result.cases) out.command("    " + id);
  }
}

const char* remark =
    "As published: launched as in the source. At its best: the same problem by the fastest of the launches "
    "tried,\n"
    "as many for each side; or clweave's own claim. cached: some buffers fit the device's cache.\n"
    "A claim holds or fails where the whole 98.5 % interval lies beyond bound and margin.\n"
    "Runs are taken to differ at least as much as they usually do, on CPUs by 26 %; more of them tell more:\n"
    "clweave run --claims --runs 5";

// Adds a row per claim_result, which JSON nests by device; made when asked for, as a fleet has many.
void add_rows(const std::vector<DeviceClaimResults>& devices, Report& out) {
  out.columns({"device",    "claim",      "setting",   "verdict",  "value",
               "value_low", "value_high", "unit",      "asked",    "note",
               "cached",    "runs",       "published", "evidence", "known_incorrect",
               "check",     "statement",  "source",    "command",  "cases"});
  out.rows([&devices](const std::function<void(Report::Row)>& take) {
    for (const auto& device : devices) {
      for (const auto& r : device.claim_results) {
        const Claim& claim = *r.claim;
        const auto cell_of = [&](double Estimate::*member) {
          return r.estimate ? Cell(*r.estimate.*member) : Cell();
        };
        take({device.name,
              claim.id,
              r.criterion != nullptr ? Cell(text_of(r.criterion->launches)) : Cell(),
              text_of(r.verdict),
              cell_of(&Estimate::value),
              cell_of(&Estimate::low),
              cell_of(&Estimate::high),
              unit_of(claim),
              r.criterion != nullptr ? Cell(asked_text(r.criterion->rule)) : Cell(),
              r.note + first_of(r.doubtful),
              r.cached,
              r.cases.empty() ? Cell() : Cell(static_cast<std::int64_t>(r.runs)),
              published_texts(claim),
              claim.published_bug.empty() ? Cell() : Cell("discarded: " + claim.published_bug),
              r.known_incorrect,
              claim.check,
              claim.statement,
              claim.source,
              r.command,
              r.cases});
      }
    }
  });
  out.nest({{"", {"device"}}, {"claims"}});
}

}  // namespace

Report report_of(const std::vector<DeviceClaimResults>& devices, bool with_cases) {
  Report out;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::string letter = devices.size() == 1 ? "" : letter_of(d) + "  ";
    out.line(letter + paint(devices[d].name, Style::bold));
    for (const auto& tally : tallies(devices[d])) out.line(std::string(letter.size(), ' ') + tally);
  }
  out.line();
  out.table(table_of(devices));
  out.line();
  out.line(remark);
  add_published_bugs(devices, out);
  for (const auto& device : devices) {
    add_untested(device, out);
    add_left_out(device, out);
    if (with_cases) add_cases(device, out);
  }
  add_rows(devices, out);
  return out;
}

}  // namespace clweave::claims
