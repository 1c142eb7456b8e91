// SPDX-License-Identifier: Apache-2.0
// changes_report: the comparison of runs as tables, rows and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/compare/changes.hpp"
#include "base/number.hpp"
#include "base/quantity.hpp"
#include "report/table.hpp"

namespace clweave::compare {

namespace {

std::string ratio_text(double ratio) { return fmt::format("{:.3g}x", ratio); }

std::string number_of(std::size_t n, const char* unit) {
  return fmt::format("{} {}{}", n, unit, n == 1 ? "" : "s");
}

// Tells what the noise of the cases is taken from.
std::string source_text(const Basis& basis) {
  const char* unit = basis.files ? "session" : "run";
  const std::string typical = percent_text(basis.spread, 1);
  const std::string widened =
      basis.wider > 1.05 ? fmt::format(", widened {:.3g} times, as these cases scatter more", basis.wider)
                         : "";
  switch (basis.source) {
    case Basis::Source::assumed:
      return fmt::format(
          "\n  One run a side tells nothing of its own noise. Assumed: {}{}.\n  --runs 5 on both sides, or "
          "--noise with sessions of no change, resolve more.",
          basis.prior.empty() ? typical + " between processes" : basis.prior, widened);
    case Basis::Source::runs:
      return fmt::format("; {}s differ by {}{}", unit, typical, widened) +
             (basis.files ? ""
                          : "\n  Runs of one file share its session: --noise tells what sessions differ by.");
    case Basis::Source::sessions: return fmt::format("; without a change sessions differ by {}", typical);
  }
  return "";
}

// Tells the smallest changes that this comparison calls.
std::string power_text(const RunComparison& all, const Basis& basis) {
  std::vector<double> least, alone;
  for (const auto& row : all.cases) {
    if (row.transition != Transition::compared || row.device != basis.device || row.least_alone == 0)
      continue;
    least.push_back(row.least);
    alone.push_back(row.least_alone);
  }
  if (alone.empty()) return "";
  return fmt::format(
      "\n  With {} against {} it calls a change of {} of one typical case, of {} of all alike.",
      basis.old_units, number_of(basis.new_units, basis.files ? "session" : "run"),
      percent_text(median(alone), 0), percent_text(median(least), 0));
}

std::string group_text(const Together& group) {
  return fmt::format("{} {} ({:.3f} .. {:.3f})", number_of(group.cases, "case"), ratio_text(group.ratio),
                     group.low, group.high);
}

// Tells by what the units of a side differ.
std::string units_text(const Basis& basis, double ratio, const std::string& odd) {
  const char* unit = basis.files ? "session" : "run";
  return odd.empty()
             ? fmt::format("{}s of one side differ by up to {}", unit, ratio_text(ratio))
             : fmt::format("{} takes {} the time of its side's other {}s", odd, ratio_text(ratio), unit);
}

// Tells of a change that the cases agree in, but not the units of a side.
std::string disagreement_text(const Basis& basis, const Together& group) {
  return fmt::format("\n  Undecided whether {} changed together: {}. {}", group_text(group),
                     units_text(basis, group.units_ratio, group.odd_unit),
                     group.odd_unit.empty() ? "More of them tell." : "Measure it again.");
}

// Tells what many cases changed by alike.
std::string together_text(const Basis& basis) {
  std::string out;
  for (const auto& group : basis.together) {
    if (group.units_ratio != 1) out += disagreement_text(basis, group);
  }
  if (out.empty() && basis.units_ratio != 1)
    out += fmt::format("\n  In most cases alike, {}: that is no change of theirs.",
                       units_text(basis, basis.units_ratio, basis.odd_unit));
  const auto changed = [](const Together& group) { return group.verdict != Change::undecided; };
  if (std::ranges::none_of(basis.together, changed)) return out;
  out += basis.together.size() > 1 ? fmt::format("\n  Two groups: {}, {}.", group_text(basis.together[0]),
                                                 group_text(basis.together[1]))
                                   : "\n  Together: " + group_text(basis.together[0]) + ".";
  return out + fmt::format(
                   " Sessions may share a clock: {} of a change that many cases\n  share is not "
                   "held against any of them; several sessions a side (--against) tell.",
                   percent_text(std::expm1(basis.shared), 0));
}

std::string doubt_text(const Basis& basis) {
  std::string out;
  if (basis.slowed > 0)
    out += fmt::format(
        "\n  {} undecided, as the machine ({}) was not quiet beside them: other work, or a lower "
        "clock.",
        basis.slowed == 1 ? "1 case is" : fmt::format("{} cases are", basis.slowed),
        basis.machine.empty() ? basis.device : basis.machine);
  switch (basis.another_card) {
    case Basis::AnotherCard::no: break;
    case Basis::AnotherCard::by_uuid:
      out += "\n  The sides are another GPU each, by their UUIDs: a verdict may be one on the GPUs.";
      break;
    case Basis::AnotherCard::by_scatter:
      out += fmt::format(
          "\n  The cases scatter {:.3g} times as much as their noise tells, as those of another GPU of the "
          "model "
          "do,\n  or of another state of the machine: a verdict may be one on that.",
          basis.wider);
  }
  return out;
}

std::string basis_text(const RunComparison& all, const Basis& basis) {
  std::string out = basis.device;
  if (basis.old_driver != basis.new_driver)
    out += fmt::format(", driver {} -> {}", basis.old_driver, basis.new_driver);
  const char* unit = basis.files ? "session" : "run";
  out += fmt::format(": {} against {}", number_of(basis.old_units, unit), number_of(basis.new_units, unit));
  if (basis.by_host > 0)
    out += fmt::format(" ({} cases by the host's clock: the device's was not trusted in every run)",
                       basis.by_host);
  const bool any = std::ranges::any_of(all.cases, [&](const ComparedCase& row) {
    return row.transition == Transition::compared && row.device == basis.device;
  });
  if (!any) return out;
  return out + source_text(basis) + power_text(all, basis) + together_text(basis) + doubt_text(basis);
}

Style style_of(const ComparedCase& row) {
  if (row.transition == Transition::broken || row.verdict == Change::slower) return Style::red;
  if (row.transition == Transition::fixed || row.verdict == Change::faster) return Style::green;
  return Style::dim;
}

// Ranks the worst first: broken, slower by how much, faster, then the uncertain.
int rank_of(const ComparedCase& row) {
  if (row.transition == Transition::broken) return 0;
  if (row.verdict == Change::slower) return 1;
  if (row.verdict == Change::faster) return 2;
  if (row.transition == Transition::fixed) return 3;
  if (row.transition == Transition::apart) return 4;
  if (row.transition == Transition::failing) return 7;
  if (row.transition != Transition::compared) return 8;
  return row.verdict == Change::undecided ? 5 : 6;
}

void cases_block(const RunComparison& all, Report& out, bool every) {
  std::vector<const ComparedCase*> shown;
  for (const auto& row : all.cases) {
    if (every || rank_of(row) <= 4) shown.push_back(&row);
  }
  std::ranges::stable_sort(shown, {}, [](const ComparedCase* row) {
    return std::pair(rank_of(*row), row->ratio > 0 ? -std::abs(std::log(row->ratio)) : 0.0);
  });
  constexpr std::size_t most = 20;
  const std::size_t left = every || shown.size() <= most ? 0 : shown.size() - most;
  shown.resize(shown.size() - left);
  if (!shown.empty()) {
    Table table({{"verdict"},
                 {"case", Align::left, Overflow::cut},
                 {"old", Align::right},
                 {"new", Align::right},
                 {"new/old", Align::right},
                 {"95 % interval", Align::left, Overflow::cut, 1}});
    for (const auto* row : shown) {
      const bool compared = row->transition == Transition::compared;
      std::string device = all.devices.size() > 1 ? " on " + row->device : "";
      table.add({paint(boost::to_upper_copy<std::string>(compared ? word_of(row->verdict)
                                                                  : word_of(row->transition)),
                       style_of(*row)),
                 row->name + device, row->old_s ? seconds_text(*row->old_s) : "-",
                 row->new_s ? seconds_text(*row->new_s) : "-", compared ? ratio_text(row->ratio) : "",
                 compared ? fmt::format("{:.3f} .. {:.3f}", row->low, row->high)
                          : row->reason.substr(0, row->reason.find('\n')).substr(0, 60)});
    }
    out.line("");
    out.table(std::move(table));
    if (left > 0) out.line(fmt::format("and {} more: --all shows every case", left));
  }
}

void families_block(const RunComparison& all, Report& out) {
  Table families({{"family"},
                  {"slower", Align::right},
                  {"faster", Align::right},
                  {"same", Align::right},
                  {"undecided", Align::right},
                  {"new/old, geometric mean", Align::right}});
  std::vector<std::string> names;
  for (const auto& row : all.cases) {
    if (row.transition == Transition::compared && std::ranges::find(names, row.family) == names.end())
      names.push_back(row.family);
  }
  for (const auto& name : names) {
    std::map<Change, int> counts;
    std::vector<double> ratios;
    for (const auto& row : all.cases) {
      if (row.family != name || row.transition != Transition::compared) continue;
      ++counts[row.verdict];
      ratios.push_back(row.ratio);
    }
    const auto cell = [&](Change verdict) {
      return counts[verdict] > 0 ? std::to_string(counts[verdict]) : "";
    };
    families.add({name, paint(cell(Change::slower), Style::red), paint(cell(Change::faster), Style::green),
                  cell(Change::same), cell(Change::undecided), ratio_text(geometric_mean(ratios))});
  }
  if (!names.empty()) {
    out.line("");
    out.table(std::move(families));
  }
}

Cell rounded_cell(const Number& number) { return number ? Cell(rounded(*number)) : Cell(); }

nlohmann::ordered_json together_of(const Basis& basis) {
  auto out = nlohmann::ordered_json::array();
  for (const auto& group : basis.together)
    out.push_back({{"cases", group.cases},
                   {"ratio", group.ratio},
                   {"ratio_low", group.low},
                   {"ratio_high", group.high},
                   {"verdict", word_of(group.verdict)},
                   {"odd_unit", group.odd_unit},
                   {"units_ratio", group.units_ratio}});
  return out;
}

// Returns the JSON that is in no row: files, the evidence per device, and counts.
nlohmann::ordered_json facts_of(const RunComparison& all) {
  using Json = nlohmann::ordered_json;
  Json out = {{"mode", "runs"},     {"old", all.old_files}, {"new", all.new_files},
              {"notes", all.notes}, {"margin", all.margin}, {"devices", Json::array()}};
  for (const auto& basis : all.devices) {
    const char* source = basis.source == Basis::Source::assumed ? "assumed"
                         : basis.source == Basis::Source::runs  ? "runs"
                                                                : "sessions";
    out["devices"].push_back(
        {{"device", basis.device},
         {"old_driver", basis.old_driver},
         {"new_driver", basis.new_driver},
         {"spread_from", source},
         {"spread", basis.spread},
         {"unit", basis.files ? "session" : "run"},
         {"by_host_clock", basis.by_host},
         {"slowed", basis.slowed},
         {"machine", basis.machine},
         {"widened", basis.wider},
         {"shared_by_session", basis.shared},
         {"another_card", basis.another_card == Basis::AnotherCard::no        ? ""
                          : basis.another_card == Basis::AnotherCard::by_uuid ? "uuid"
                                                                              : "scatter"},
         {"together", together_of(basis)},
         {"old_units", basis.old_units},
         {"new_units", basis.new_units},
         {"odd_unit", basis.odd_unit},
         {"units_ratio", basis.units_ratio}});
  }
  for (const auto verdict : {Change::slower, Change::faster, Change::same, Change::undecided})
    out["counts"][word_of(verdict)] = all.count(verdict);
  for (const auto one : {Transition::broken, Transition::fixed, Transition::failing, Transition::apart,
                         Transition::gone, Transition::added})
    out["counts"][word_of(one)] = all.count(one);
  return out;
}

void add_rows(const RunComparison& all, Report& out) {
  out.columns({"device", "family", "case_id", "what", "verdict", "ratio", "ratio_low", "ratio_high",
               "p_adjusted", "least_change", "old_s", "new_s", "old_runs", "new_runs", "reason"});
  out.rows([&all](const std::function<void(Report::Row)>& take) {
    for (const auto& row : all.cases) {
      const bool compared = row.transition == Transition::compared;
      const auto number = [&](double value) { return compared ? Cell(rounded(value)) : Cell(); };
      const auto count = [&](std::size_t n) {
        return compared ? Cell(static_cast<std::int64_t>(n)) : Cell();
      };
      take({row.device, row.family, row.id, word_of(row.transition),
            compared ? Cell(word_of(row.verdict)) : Cell(), number(row.ratio), number(row.low),
            number(row.high), number(row.p), number(row.least), rounded_cell(row.old_s),
            rounded_cell(row.new_s), count(row.old_runs), count(row.new_runs), row.reason});
    }
  });
  out.nest({{"cases"}}, [&all] { return facts_of(all); });
}

}  // namespace

Report report_of(const RunComparison& all, bool every) {
  Report out;
  for (const auto& note : all.notes) out.line(paint("note: " + note, Style::yellow));
  for (const auto& basis : all.devices) out.line(basis_text(all, basis));
  out.line("");
  const auto counted = [&](auto what, Style style) {
    const std::size_t n = all.count(what);
    const std::string text = fmt::format("{} {}", n, boost::to_upper_copy<std::string>(word_of(what)));
    return n > 0 ? paint(text, style) : text;
  };
  std::string totals = fmt::format("{}  {}  {}  {}", counted(Change::slower, Style::red),
                                   counted(Change::faster, Style::green), counted(Change::same, Style::bold),
                                   counted(Change::undecided, Style::bold));
  for (const auto& [what, style] :
       {std::pair{Transition::broken, Style::red}, {Transition::fixed, Style::green}}) {
    if (all.count(what) > 0) totals += "  " + counted(what, style);
  }
  out.line(totals);
  std::vector<std::string> rest;
  for (const auto what : {Transition::apart, Transition::failing, Transition::gone, Transition::added}) {
    if (const auto n = all.count(what); n > 0) rest.push_back(fmt::format("{} {}", n, word_of(what)));
  }
  out.line(fmt::format("{} cases compared{}{}", all.count(Transition::compared),
                       rest.empty() ? "" : "; not compared: ", fmt::join(rest, ", ")));

  cases_block(all, out, every);
  families_block(all, out);
  out.line("");
  out.line(fmt::format(
      "Times are geometric means of runs. SLOWER, FASTER: beyond {} with 99 % confidence, changed at a false "
      "discovery rate of 1 %\nover all cases. SAME: the interval lies within it.",
      percent_text(all.margin, all.margin * 100 == std::round(all.margin * 100) ? 0 : 1)));
  add_rows(all, out);
  return out;
}

}  // namespace clweave::compare
