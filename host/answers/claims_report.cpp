// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "answers/claims.hpp"
#include "answers/short_names.hpp"
#include "base/quantity.hpp"
#include "base/table.hpp"

namespace clweave {

namespace {

std::string verdict_text(Verdict verdict) {
  constexpr std::array texts = {"holds", "fails", "within noise", "not testable", "void"};
  return texts.at(static_cast<std::size_t>(verdict));
}

std::string painted(Verdict verdict) {
  constexpr std::array styles = {Style::green, Style::red, Style::yellow, Style::dim, Style::cyan};
  return paint(verdict_text(verdict), styles.at(static_cast<std::size_t>(verdict)));
}

std::string found_text(const Ruling& ruling) {
  if (!ruling.number) return "";
  const auto& [value, low, high] = *ruling.number;
  return figure_text(value, low, high, ruling.claim->rule->unit);
}

std::string asked_text(const Rule& rule) {
  const std::string margin =
      rule.kind == Rule::Kind::minima || rule.margin == 0 ? "" : fmt::format(" ±{:.3g} %", 100 * rule.margin);
  const std::string bound = number_text(rule.bound, rule.unit);
  if (rule.kind == Rule::Kind::trend)
    return (rule.is == Rule::Is::above ? "rising" : "falling") + (rule.bound == 1 ? "" : " to " + bound) +
           margin;
  switch (rule.is) {
    case Rule::Is::above: return "> " + bound + margin;
    case Rule::Is::below: return "< " + bound + margin;
    case Rule::Is::equal: return bound + margin;
  }
  return "";
}

std::string published_text(const Claim& claim) {
  std::vector<std::string> parts;
  for (const auto& p : claim.published) {
    const std::string value =
        claim.rule ? number_text(p.value, claim.rule->unit) : fmt::format("{:.4g}", p.value);
    parts.push_back(value + " " + p.device);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What was published, then what is thought of it.
std::string evidence_text(const Claim& claim) {
  std::string text = published_text(claim);
  if (claim.fault.empty()) return text;
  return text.empty() ? "void" : text + ", void";
}

// The sentence and what became of it come first; what decides it gives way on a narrow screen.
Table table_of(const std::vector<DeviceRulings>& devices) {
  std::vector<Table::Column> heads = {{"statement", Align::left, Give::wrap}};
  if (devices.size() == 1) {
    heads.insert(heads.end(), {{"verdict"}, {"here"}});
  } else {
    for (std::size_t d = 0; d < devices.size(); ++d) heads.push_back({letter_of(d)});
  }
  heads.push_back({"claim", Align::left, Give::keep, 4});
  if (devices.size() == 1)
    heads.insert(heads.end(), {{"asked", Align::left, Give::keep, 3}, {"at", Align::left, Give::cut, 1}});
  heads.push_back({"published", Align::left, Give::cut, 2});
  Table table(heads);
  for (std::size_t c = 0; c < devices.front().rulings.size(); ++c) {
    const Ruling& first = devices.front().rulings[c];
    const Claim& claim = *first.claim;
    std::vector<std::string> cells = {claim.statement};
    if (devices.size() == 1) {
      cells.push_back(painted(first.verdict));
      cells.push_back(found_text(first));
    } else {
      for (const auto& device : devices) {
        const Ruling& ruling = device.rulings[c];
        const std::string number =
            ruling.number ? " " + number_text(ruling.number->value, claim.rule->unit) : "";
        cells.push_back(painted(ruling.verdict) + number);
      }
    }
    cells.push_back(claim.id);
    if (devices.size() == 1) {
      cells.push_back(claim.rule ? asked_text(*claim.rule) : "");
      cells.push_back(first.number ? first.note : "");
    }
    cells.push_back(evidence_text(claim));
    table.add(std::move(cells));
  }
  return table;
}

std::string tally_text(const DeviceRulings& device) {
  std::vector<std::string> parts;
  for (const auto verdict :
       {Verdict::holds, Verdict::fails, Verdict::within_noise, Verdict::no_evidence, Verdict::not_testable}) {
    const auto n = std::ranges::count(device.rulings, verdict, &Ruling::verdict);
    if (n > 0) parts.push_back(fmt::format("{} {}", n, verdict_text(verdict)));
  }
  return fmt::format("{} claims: {}", device.rulings.size(), fmt::join(parts, ", "));
}

// The void evidence: each fault once, with the claims that rest on it.
void add_faults(const std::vector<DeviceRulings>& devices, Report& out) {
  std::vector<std::string> told;
  const auto& rulings = devices.front().rulings;
  for (std::size_t c = 0; c < rulings.size(); ++c) {
    const Claim& claim = *rulings[c].claim;
    if (claim.fault.empty() || std::ranges::find(told, claim.fault) != told.end()) continue;
    if (told.empty()) {
      out.line();
      out.line(paint("published evidence that is void", Style::bold));
    }
    told.push_back(claim.fault);
    std::vector<std::string> ids;
    for (const auto& other : rulings) {
      if (other.claim->fault == claim.fault) ids.push_back(other.claim->id);
    }
    out.line(
        fmt::format("  {}  {}", paint(fmt::format("{}", fmt::join(ids, ", ")), Style::cyan), claim.fault));
    for (const auto& device : devices) {
      if (!device.rulings[c].exhibit.empty())
        out.line(fmt::format("    {}: {}", device.device, device.rulings[c].exhibit));
    }
    out.command("    repeat it: " +
                (claim.check.empty()
                     ? fmt::format("clweave run --no-ceiling --claim {} --where form=published", claim.id)
                     : claim.check));
  }
}

// What fails for a reason of its own, then what only waits for a run.
void add_untested(const DeviceRulings& device, Report& out) {
  std::vector<std::string> unmeasured;
  bool headed = false;
  const auto head = [&] {
    if (headed) return;
    headed = true;
    out.line();
    out.line(paint("not testable on " + device.device, Style::bold));
  };
  for (const auto& ruling : device.rulings) {
    if (ruling.verdict != Verdict::not_testable) continue;
    head();
    if (ruling.note == no_rows) {
      unmeasured.push_back(ruling.claim->id);
    } else {
      out.line(fmt::format("  {}  {}", paint(ruling.claim->id, Style::dim), ruling.note));
    }
  }
  if (unmeasured.empty()) return;
  out.line(
      fmt::format("  {}  {}", paint(fmt::format("{}", fmt::join(unmeasured, ", ")), Style::dim), no_rows));
  out.command(
      fmt::format("    clweave run --device \"{}\" --claim {}", device.device, fmt::join(unmeasured, ",")));
}

void add_cases(const DeviceRulings& device, Report& out) {
  out.line();
  out.line(paint("rows of " + device.device, Style::bold));
  for (const auto& ruling : device.rulings) {
    if (ruling.cases.empty()) continue;
    out.line(fmt::format("  {}  {}, {} {}", ruling.claim->id,
                         ruling.note.empty() ? "at its only size" : ruling.note, ruling.runs,
                         ruling.runs == 1 ? "run" : "runs"));
    for (const auto& id : ruling.cases) out.command("    " + id);
  }
}

const char* remark =
    "A claim holds or fails where the whole 95 % interval lies beyond bound and margin. Rows of one run know "
    "nothing\n"
    "of the noise between runs: clweave run --claims --runs 5 does.";

nlohmann::json number_json(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace

namespace {

void add_rows(const std::vector<DeviceRulings>& devices, Report& out) {
  out.columns({"device", "claim", "verdict", "value", "low", "high", "unit", "asked", "note", "runs",
               "published", "evidence", "exhibit", "statement", "source", "command", "cases"});
  for (const auto& device : devices) {
    for (const auto& r : device.rulings) {
      const Claim& claim = *r.claim;
      const auto number = [&](double Figure::*member) {
        return r.number ? fmt::format("{}", *r.number.*member) : std::string();
      };
      out.row({device.name, claim.id, verdict_text(r.verdict), number(&Figure::value), number(&Figure::low),
               number(&Figure::high), claim.rule ? claim.rule->unit : "",
               claim.rule ? asked_text(*claim.rule) : "", r.note,
               r.cases.empty() ? "" : std::to_string(r.runs), published_text(claim),
               claim.fault.empty() ? "" : "void: " + claim.fault, r.exhibit, claim.statement, claim.source,
               r.command, fmt::format("{}", fmt::join(r.cases, ";"))});
    }
  }
}

nlohmann::json document_of(const std::vector<DeviceRulings>& devices) {
  auto out = nlohmann::json::array();
  for (const auto& device : devices) {
    auto rulings = nlohmann::json::array();
    for (const auto& r : device.rulings) {
      const Claim& claim = *r.claim;
      nlohmann::json entry = {{"claim", claim.id},      {"statement", claim.statement},
                              {"source", claim.source}, {"verdict", verdict_text(r.verdict)},
                              {"note", r.note},         {"runs", r.cases.empty() ? 0 : r.runs},
                              {"cases", r.cases}};
      if (r.number) {
        entry["value"] = number_json(r.number->value);
        entry["low"] = number_json(r.number->low);
        entry["high"] = number_json(r.number->high);
        entry["unit"] = claim.rule->unit;
        entry["asked"] = asked_text(*claim.rule);
      }
      auto published = nlohmann::json::array();
      for (const auto& p : claim.published)
        published.push_back({{"device", p.device}, {"value", p.value}, {"note", p.note}});
      entry["published"] = published;
      if (!claim.fault.empty())
        entry["evidence"] = {{"void", claim.fault}, {"here", r.exhibit}, {"check", claim.check}};
      if (!r.command.empty()) entry["command"] = r.command;
      rulings.push_back(std::move(entry));
    }
    out.push_back({{"device", device.name}, {"claims", std::move(rulings)}});
  }
  return out;
}

}  // namespace

Report report_of(const std::vector<DeviceRulings>& devices, bool with_cases) {
  Report out;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::string letter = devices.size() == 1 ? "" : letter_of(d) + "  ";
    out.line(letter + paint(devices[d].name, Style::bold));
    out.line(std::string(letter.size(), ' ') + tally_text(devices[d]));
  }
  out.line();
  out.table(table_of(devices));
  out.line();
  out.line(remark);
  add_faults(devices, out);
  for (const auto& device : devices) {
    add_untested(device, out);
    if (with_cases) add_cases(device, out);
  }
  add_rows(devices, out);
  out.document(document_of(devices));
  return out;
}

}  // namespace clweave
