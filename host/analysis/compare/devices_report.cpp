// SPDX-License-Identifier: Apache-2.0
// devices_report: the comparison of devices as tables, rows and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/compare/devices.hpp"
#include "base/number.hpp"
#include "report/table.hpp"

namespace clweave::compare {

namespace {

std::string factor_text(double factor) {
  return factor < 10 ? fmt::format("{:.1f}x", factor) : fmt::format("{:.0f}x", factor);
}

// Returns a table's columns: the measured devices, and the published ones that a family has figures of.
std::vector<std::size_t> shown_devices(const DeviceComparison& all, const FamilyComparison* family) {
  std::vector<std::size_t> out;
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    const bool there = family != nullptr && std::ranges::any_of(family->variants, [&](const VariantRow& row) {
                         return row.on[d].state != State::absent;
                       });
    if (!all.devices[d]->published || there) out.push_back(d);
  }
  return out;
}

std::string percent(const Number& fraction) {
  return fraction ? fmt::format("{:.0f}%", 100 * *fraction) : "";
}

std::size_t first_measured(const DeviceComparison& all) {
  return static_cast<std::size_t>(std::ranges::find(all.devices, false, &DeviceResults::published) -
                                  all.devices.begin());
}

struct Look {
  const char* mark;
  Style style;
  const char* name;
};

Look look_of(State state) {
  switch (state) {
    case State::ok: return {"●", Style::green, "ok"};
    case State::slow: return {"○", Style::yellow, "slow"};
    case State::wrong: return {"✗", Style::red, "wrong"};
    case State::unsupported: return {"–", Style::dim, "unsupported"};
    case State::timeout: return {"T", Style::red, "timeout"};
    case State::other: return {"!", Style::red, "failed"};
    case State::absent: return {"·", Style::dim, "not run"};
  }
  return {};
}

void devices_block(const DeviceComparison& all, Report& out) {
  std::set<State> states;
  for (const auto& totals : all.totals) {
    for (const auto& [state, count] : totals.cases) states.insert(state);
  }
  std::vector<Table::Column> heads = {{"device"}, {"driver"}};
  for (const auto state : states) heads.push_back({look_of(state).name, Align::right});
  heads.push_back({"not run", Align::right});
  heads.push_back({"known incorrect", Align::right});
  heads.push_back({"wins", Align::right});
  heads.push_back({"speed", Align::right});
  Table table(heads);
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    const auto& device = *all.devices[d];
    const auto& totals = all.totals[d];
    if (device.published) continue;
    std::vector<std::string> cells = {paint(all.labels[d], Style::bold), device.driver};
    const auto number = [](std::size_t n) { return n > 0 ? std::to_string(n) : ""; };
    for (const auto state : states) {
      const auto it = totals.cases.find(state);
      cells.push_back(it != totals.cases.end() ? paint(number(it->second), look_of(state).style) : "");
    }
    cells.push_back(number(totals.elsewhere));
    cells.push_back(number(totals.known_incorrect));
    cells.push_back(all.common > 0 ? std::to_string(totals.wins) : "");
    cells.push_back(totals.speed ? fmt::format("{:.3g}x", *totals.speed) : "-");
    table.add(cells);
  }
  out.table(std::move(table));
  std::string published;
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    if (!all.devices[d]->published) continue;
    published += (published.empty() ? "published: " : ", ") + all.labels[d];
  }
  if (!published.empty()) out.line(published);
  out.line(fmt::format(
      "wins, speed (geometric mean): over the {} of {} cases that are ok on all{}{}{}", all.common, all.cases,
      all.by_host > 0 ? fmt::format(", {} of them by the host's clock", all.by_host) : "",
      all.clocks > 0 ? fmt::format("; {} by clocks that do not compare", all.clocks) : "",
      all.slowed > 0 ? fmt::format("; {} more while a machine was not quiet", all.slowed) : ""));
}

// Marks what rows say that were measured while the machine was not quiet.
constexpr const char* slowed_mark = "*";
const char* mark_of(bool slowed) { return slowed ? slowed_mark : ""; }

void explain_mark(bool is_shown, Report& out) {
  if (is_shown) out.line(fmt::format("* undecided: {}.", machine_was_busy));
}

std::string best_cell(const FamilyComparison& family, std::size_t d) {
  const int v = family.best[d];
  if (v < 0) return paint("-", Style::dim);
  const auto& row = family.variants[static_cast<std::size_t>(v)];
  std::string text = row.name;
  if (const Number& fraction = family.best_fraction[d]) text += paint(" " + percent(fraction), Style::dim);
  return text + mark_of(family.best_undecided[d]);
}

std::string agreement_text(const FamilyComparison& family) {
  if (!family.agreement) return "-";
  const bool slowed = std::ranges::any_of(family.variants, &VariantRow::is_slowed);
  return fmt::format("{:.2f} ({}){}", *family.agreement, family.ranked, mark_of(slowed));
}

std::string cost_text(const DeviceComparison& all, const FamilyComparison& family) {
  if (family.one_for_all < 0) return "-";
  const auto& row = family.variants[static_cast<std::size_t>(family.one_for_all)];
  std::string costs;
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    if (all.devices[d]->published || !row.on[d].efficiency) continue;
    costs += fmt::format("{}{:.0f}", costs.empty() ? "" : ", ", 100 * (1 - *row.on[d].efficiency));
  }
  return fmt::format("{}: {} %{}", row.name, costs,
                     mark_of(std::ranges::any_of(row.on, &VariantOnDevice::efficiency_slowed)));
}

// Returns whether a cell has the mark.
bool overview_block(const DeviceComparison& all, Report& out) {
  std::vector<Table::Column> heads = {{"best variant"}};
  for (const auto d : shown_devices(all, nullptr)) heads.push_back({all.labels[d]});
  const auto measured = std::ranges::count(all.devices, false, &DeviceResults::published);
  heads.push_back({measured == 2 ? "tau" : "W", Align::right, Overflow::keep, 2});
  heads.push_back({"one for all: costs", Align::left, Overflow::cut, 1});
  Table table(heads);
  for (const auto& family : all.families) {
    if (!family.of_variants) continue;
    std::vector<std::string> cells = {paint(family.name, Style::cyan)};
    for (const auto d : shown_devices(all, nullptr)) cells.push_back(best_cell(family, d));
    cells.push_back(agreement_text(family));
    cells.push_back(cost_text(all, family));
    table.add(cells);
  }
  const bool marked = table.has_mark(slowed_mark);
  out.table(std::move(table));
  return marked;
}

void matrix_block(const DeviceComparison& all, Report& out) {
  std::vector<Table::Column> heads = {{"variants"}};
  for (const auto d : shown_devices(all, nullptr)) heads.push_back({all.labels[d]});
  Table table(heads);
  std::set<State> met;
  for (const auto& family : all.families) {
    if (!family.of_variants) continue;
    std::vector<std::string> cells = {paint(family.name, Style::cyan)};
    for (const auto d : shown_devices(all, nullptr)) {
      std::string strip;
      for (const auto& row : family.variants) {
        const Look look = look_of(row.on[d].state);
        met.insert(row.on[d].state);
        strip += paint(look.mark, look.style);
      }
      cells.push_back(strip);
    }
    table.add(cells);
  }
  out.table(std::move(table));
  std::string legend;
  for (const auto state : met) {
    const Look look = look_of(state);
    legend += fmt::format("{}{} {}{}", legend.empty() ? "" : "  ", paint(look.mark, look.style), look.name,
                          state == State::slow ? ": below half of the best" : "");
  }
  out.line(legend);
}

std::string sentence(const DeviceComparison& all, const Inversion& one) {
  return fmt::format("{}: {} beats {} {} on {} and loses {} on {}{}", one.family, one.winner, one.loser,
                     factor_text(one.factor), all.labels[one.where], factor_text(one.loss),
                     all.labels[one.elsewhere], one.condition.empty() ? "" : " (" + one.condition + ")");
}

void inversions_block(const DeviceComparison& all, Report& out, std::size_t per_family) {
  std::vector<std::string> lines, undecided;
  std::size_t left = 0;
  for (const auto& family : all.families) {
    for (std::size_t i = 0; i < family.inversions.size(); ++i) {
      const Inversion& one = family.inversions[i];
      if (i < per_family)
        (one.undecided ? undecided : lines).push_back(sentence(all, one));
      else
        ++left;
    }
  }
  out.line("");
  if (lines.empty())
    out.line(fmt::format("no two variants change places by {:.3g}x or more{}", least_factor,
                         undecided.empty() ? "" : " in rows of a quiet machine"));
  else
    out.line("inverted rankings:");
  for (const auto& line : lines) out.line("  " + line);
  if (!undecided.empty()) out.line(fmt::format("undecided: {}:", machine_was_busy));
  for (const auto& line : undecided) out.line("  " + line);
  if (left > 0) out.line(fmt::format("  and {} more pairs of variants: --all", left));
}

// Joins a group of devices: "A, B".
std::string labels_text(const DeviceComparison& all, const std::vector<std::size_t>& devices) {
  std::string text;
  for (const auto d : devices) text += (text.empty() ? "" : ", ") + all.labels[d];
  return text;
}

void same_bits_block(const DeviceComparison& all, Report& out) {
  if (all.same_bits.empty()) return;
  Table table({{"same bits"}, {"output"}, {"devices that agree bit by bit; others behind a bar"}});
  for (const SameBits& one : all.same_bits) {
    std::string groups;
    for (const auto& group : one.groups) groups += (groups.empty() ? "" : " | ") + labels_text(all, group);
    if (!one.unsteady.empty())
      groups += fmt::format("{}other bits in each run: {}", groups.empty() ? "" : " | ",
                            labels_text(all, one.unsteady));
    table.add({one.case_id, one.output, groups});
  }
  out.line("");
  out.table(std::move(table));
}

std::string variant_cell(const VariantOnDevice& on, bool of_variants) {
  const Look look = look_of(on.state);
  if (!of_variants && on.relative) return fmt::format("{:.3g}x{}", *on.relative, mark_of(on.slowed));
  if (!on.fraction && !on.speedup && !on.efficiency) {
    if (on.state == State::absent) return "";
    return paint(on.state == State::ok ? "ok" : look.name, look.style);
  }
  std::string text;
  if (on.fraction) text += fmt::format("{:3.0f}%", 100 * *on.fraction);
  if (on.speedup) text += fmt::format("{}{:>6}", text.empty() ? "" : " ", factor_text(*on.speedup));
  if (text.empty()) text = "ok";
  text += mark_of(on.slowed);
  if (on.state == State::slow) text = paint(text, Style::yellow);
  if (on.state != State::ok && on.state != State::slow) text += " " + paint(look.name, look.style);
  return text;
}

// Returns whether what it shows has the mark.
bool family_block(const DeviceComparison& all, const FamilyComparison& family, Report& out) {
  std::vector<Table::Column> heads = {{family.name}};
  const auto devices = shown_devices(all, &family);
  for (const auto d : devices) heads.push_back({all.labels[d], Align::right});
  if (family.of_variants) {
    heads.push_back({"portability", Align::right});
    heads.push_back({"worst", Align::right});
  }
  Table table(heads);
  for (const auto& row : family.variants) {
    std::vector<std::string> cells = {row.name};
    for (const auto d : devices) {
      std::string cell = variant_cell(row.on[d], family.of_variants);
      if (family.of_variants && family.best[d] >= 0 &&
          &family.variants[static_cast<std::size_t>(family.best[d])] == &row)
        cell = paint(cell, Style::bold);
      cells.push_back(cell);
    }
    if (family.of_variants) {
      cells.push_back(percent(row.portability));
      cells.push_back(percent(row.worst));
    }
    table.add(cells);
  }
  out.line("");
  bool marked = table.has_mark(slowed_mark);
  out.table(std::move(table));
  std::string what = family.of_variants
                         ? (family.by_peak ? "% of the device's measured peak, speed over " : "speed over ") +
                               family.reference
                         : "speed over " + all.labels[first_measured(all)];
  what += fmt::format("; conditions: {}", family.conditions);
  if (family.agreement) what += fmt::format("; rankings agree {}", agreement_text(family));
  marked = marked || what.ends_with(slowed_mark);
  out.line(paint(what, Style::dim));
  return marked;
}

Cell cell_of(const Number& number) { return number ? Cell(rounded(*number)) : Cell(); }

Cell cell_of(std::size_t count) { return static_cast<std::int64_t>(count); }

// Returns the JSON that is in no row: totals per device, and inversions.
nlohmann::ordered_json facts_of(const DeviceComparison& all) {
  using Json = nlohmann::ordered_json;
  const auto number = [](const Number& n) { return n ? Json(*n) : Json(); };
  Json out = {{"mode", "devices"},
              {"notes", all.notes},
              {"cases", all.cases},
              {"common_cases", all.common},
              {"common_cases_by_host_clock", all.by_host},
              {"cases_by_incomparable_clocks", all.clocks},
              {"cases_while_not_quiet", all.slowed},
              {"devices", Json::array()},
              {"inversions", Json::array()},
              {"same_bits", Json::array()}};
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    const auto& device = *all.devices[d];
    const auto& totals = all.totals[d];
    Json one = {{"label", all.labels[d]},
                {"device", device.name},
                {"platform", device.platform},
                {"driver", device.driver},
                {"published", device.published},
                {"peaks", Json::object()},
                {"known_incorrect", totals.known_incorrect},
                {"not_run", totals.elsewhere},
                {"wins", totals.wins},
                {"speed", number(totals.speed)}};
    for (const auto& [peak, rate] : device.peaks) one["peaks"][text_of(peak)] = rate;
    for (const auto& [state, count] : totals.cases) one["counts"][look_of(state).name] = count;
    out["devices"].push_back(std::move(one));
  }
  for (const auto& family : all.families) {
    for (const auto& inversion : family.inversions)
      out["inversions"].push_back({{"family", inversion.family},
                                   {"winner", inversion.winner},
                                   {"loser", inversion.loser},
                                   {"condition", inversion.condition},
                                   {"wins_on", all.labels[inversion.where]},
                                   {"factor", inversion.factor},
                                   {"loses_on", all.labels[inversion.elsewhere]},
                                   {"loss", inversion.loss},
                                   {"undecided", inversion.undecided}});
  }
  for (const SameBits& bits : all.same_bits) {
    Json groups = Json::array(), unsteady = Json::array();
    for (const auto& group : bits.groups) {
      groups.push_back(Json::array());
      for (const auto d : group) groups.back().push_back(all.labels[d]);
    }
    for (const auto d : bits.unsteady) unsteady.push_back(all.labels[d]);
    out["same_bits"].push_back({{"case", bits.case_id},
                                {"output", bits.output},
                                {"groups", std::move(groups)},
                                {"unsteady", std::move(unsteady)}});
  }
  return out;
}

void add_rows(const DeviceComparison& all, Report& out) {
  out.columns({"family", "variant", "device", "state", "fraction_of_peak", "reference", "speedup",
               "efficiency", "conditions", "portability", "worst", "relative", "family_conditions",
               "agreement", "ranked", "one_for_all", "disturbed"});
  for (const auto& family : all.families) {
    const Cell one_for_all =
        family.one_for_all < 0 ? Cell() : family.variants[static_cast<std::size_t>(family.one_for_all)].name;
    for (const auto& row : family.variants) {
      for (std::size_t d = 0; d < all.devices.size(); ++d) {
        const auto& on = row.on[d];
        out.row({family.name, row.name, all.labels[d], look_of(on.state).name, cell_of(on.fraction),
                 family.reference, cell_of(on.speedup), cell_of(on.efficiency), cell_of(on.conditions),
                 cell_of(row.portability), cell_of(row.worst), cell_of(on.relative),
                 cell_of(family.conditions), cell_of(family.agreement), cell_of(family.ranked), one_for_all,
                 on.slowed});
      }
    }
  }
  out.nest({{"families", {"family", "reference", "family_conditions", "agreement", "ranked", "one_for_all"}},
            {"variants", {"variant", "portability", "worst"}},
            {"devices"}},
           [facts = facts_of(all)] { return facts; });
}

}  // namespace

Report report_of(const DeviceComparison& all, bool chosen, bool every_table) {
  Report out;
  for (const auto& note : all.notes) out.line(paint("note: " + note, Style::yellow));
  devices_block(all, out);
  if (!chosen) {
    out.line("");
    const bool marked = overview_block(all, out);
    out.line(
        "% of the device's own measured peak, in its best launch configuration; above 100 % from the "
        "caches.");
    out.line("W, tau: how far rankings (of so many variants) agree, 1 is full.");
    out.line("One for all: what it loses to each device's best.");
    explain_mark(marked, out);
    out.line("");
    matrix_block(all, out);
  }
  if (chosen || every_table) {
    bool marked = false;
    for (const auto& family : all.families) marked |= family_block(all, family, out);
    if (std::ranges::any_of(all.families, &FamilyComparison::of_variants))
      out.line(paint(
          "portability: harmonic mean over the devices (Pennycook), 0 where one cannot; worst: speed over "
          "the best variant where it suits least",
          Style::dim));
    explain_mark(marked, out);
  }
  same_bits_block(all, out);
  inversions_block(all, out, chosen || every_table ? 20 : 1);
  if (!chosen && !every_table) out.line("\n--family NAME or --all shows every variant, --csv every number.");
  add_rows(all, out);
  return out;
}

}  // namespace clweave::compare
