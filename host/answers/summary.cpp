// SPDX-License-Identifier: Apache-2.0
#include "answers/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/quantity.hpp"

namespace clweave {

namespace {

using Cases = std::vector<const MedianCase*>;

// The share of the ceiling that its work has to share: of what fits a cache memory's ceiling says nothing.
double share_of(const MedianCase& one) {
  const Look& look = one.look();
  return look.of_ceiling && !look.cached ? *look.of_ceiling : 0;
}

Number speed_of(const MedianCase& one, const Family& family) {
  return family.view.quantity == "items" ? one.look().gitems_per_s : one.look().rate();
}

// The case nearest to its ceiling, else the fastest; null where slowness is the point or nothing was
// measured.
const MedianCase* best_of(const Cases& cases, const Family& family) {
  const MedianCase* best = nullptr;
  if (family.view.quantity == "slowdown") return best;
  const auto rank = [&](const MedianCase& one) {
    return std::pair(share_of(one), speed_of(one, family).value_or(0));
  };
  for (const auto* one : cases) {
    const Look& look = one->look();
    if (!look.ok() || look.exhibit || one->cold || !speed_of(*one, family)) continue;
    if (best == nullptr || rank(*one) > rank(*best)) best = one;
  }
  return best;
}

// The axes that vary, those of the view's rows first: words alone, numbers with their name.
std::string variant_text(const MedianCase& one, const Cases& cases, const Family& family) {
  std::vector<std::string> names = family.view.rows;
  for (const auto& axis : family.axes) {
    const bool varies = std::ranges::any_of(
        cases, [&](const MedianCase* c) { return c->axis(axis.name) != one.axis(axis.name); });
    if (varies && std::ranges::find(names, axis.name) == names.end()) names.push_back(axis.name);
  }
  std::vector<std::string> parts;
  for (const auto& name : names) {
    const std::string& value = one.axis(name);
    const bool word = std::holds_alternative<std::string>(value_of(value));
    if (!value.empty()) parts.push_back(word ? value : name + "=" + value);
  }
  if (one.tuned) parts.emplace_back("(tuned)");
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string speed_text(const MedianCase& one, const Family& family) {
  const Number speed = speed_of(one, family);
  if (!speed) return "-";
  return fmt::format("{:.4g} {}", *speed,
                     family.view.quantity == "items" ? "G items/s"
                     : one.look().of_operations      ? "Gop/s"
                                                     : "GB/s");
}

void add_families(Report& out, const MedianDevice& device, const std::vector<Family>& families) {
  Table table({{"family"},
               {"best variant", Align::left, Give::cut},
               {"of ceiling", Align::right},
               {"speed", Align::right},
               {"cases", Align::right, Give::keep, 1}});
  for (const auto& family : families) {
    Cases cases;
    std::vector<std::string> findings;
    for (const auto& one : device.cases) {
      if (one.family != family.name) continue;
      if (one.finding.empty())
        cases.push_back(&one);
      else if (one.look().value)
        findings.push_back(fmt::format("{} {:.3g} {}", one.finding, *one.look().value, one.unit));
    }
    if (cases.empty() || family.name == "ceiling") continue;
    const std::string count = std::to_string(cases.size());
    const MedianCase* best = best_of(cases, family);
    if (best == nullptr || (!best->look().of_ceiling && !findings.empty())) {
      const auto ok = std::ranges::count_if(cases, [](const MedianCase* one) { return one->look().ok(); });
      table.add({family.name,
                 !findings.empty() ? fmt::format("{}", fmt::join(findings, ", "))
                                   : fmt::format("{} of {} ok", ok, count),
                 "", "", count});
      continue;
    }
    const Look& look = best->look();
    table.add(
        {family.name, variant_text(*best, cases, family) + (look.doubtful() ? " *" : ""),
         look.of_ceiling ? fmt::format("{:.0f} %{}", 100 * *look.of_ceiling, look.cached ? " c" : "") : "-",
         speed_text(*best, family), count});
  }
  if (!table.empty()) out.table(std::move(table));
}

// A line for each kind of what was odd: how many cases, and the first of them.
void add_odd(Report& out, const MedianDevice& device) {
  struct Odd {
    const char* what;
    bool (*is)(const Look&);
    bool bad = false;
  };
  const std::vector<Odd> kinds = {
      {"failed", [](const Look& l) { return l.failed(); }, true},
      {"wrong as published (exhibits)", [](const Look& l) { return l.exhibit && !l.ok(); }},
      {"that the device cannot run", [](const Look& l) { return l.status == Status::unsupported; }},
      {"measured while the device ran slow *", [](const Look& l) { return l.ok() && l.disturbed; }},
      {"whose median is not known as well as was asked *",
       [](const Look& l) { return l.ok() && l.unsettled && !l.disturbed; }},
      {"whose buffers fit a cache c", [](const Look& l) { return l.ok() && l.cached; }}};
  for (const auto& kind : kinds) {
    std::size_t n = 0;
    const MedianCase* first = nullptr;
    for (const auto& one : device.cases) {
      if (!one.finding.empty() || !kind.is(one.look())) continue;
      if (n++ == 0) first = &one;
    }
    if (n == 0) continue;
    const Look& look = first->look();
    std::string line = fmt::format("{} {}: {}", n, kind.what, first->id);
    if (!look.ok()) {
      const std::string reason = look.reason.substr(0, look.reason.find('\n'));
      line += fmt::format(", {}{}{}", look.status, reason.empty() ? "" : ": ", reason);
    }
    // Two lines of a hundred columns at most: reasons may be long, and the screen is not.
    out.line("  " + paint(cut(line, 180, "~"), kind.bad ? Style::red : Style::dim));
  }
}

void add_device(Report& out, const MedianDevice& device, const std::vector<Family>& families) {
  out.line();
  out.line(fmt::format("{}  {}, driver {}", paint(device.name, Style::bold), device.platform, device.driver));
  std::vector<std::string> ceilings;
  for (const auto& [ceiling, best] : device.ceilings)
    ceilings.push_back(fmt::format("{} {:.4g} {}", ceiling, best, unit_of(ceiling)));
  if (!ceilings.empty()) out.line(fmt::format("ceilings: {}", fmt::join(ceilings, ", ")));
  out.line();
  add_families(out, device, families);
  std::map<std::string, std::size_t> counts;
  for (const auto& one : device.cases) {
    if (!one.finding.empty()) continue;
    for (const auto& look : one.looks) ++counts[(look.exhibit ? "exhibit " : "") + text_of(look.status)];
  }
  std::vector<std::string> totals;
  for (const auto& [status, count] : counts) totals.push_back(fmt::format("{} {}", count, status));
  out.line(fmt::format("{} rows: {}", device.rows, fmt::join(totals, ", ")));
  add_odd(out, device);
}

}  // namespace

Report summary_of(const std::vector<Record>& records, const std::vector<Family>& families,
                  const std::vector<std::string>& files) {
  MedianCases all;
  for (const auto& record : records) all.add(record);
  all.settle();
  Report out;
  std::string family;
  const MedianCase* failed = nullptr;
  for (const auto& device : all.devices()) {
    add_device(out, device, families);
    for (const auto& one : device.cases) {
      if (!one.finding.empty()) continue;
      if (failed == nullptr && one.look().failed()) failed = &one;
      if (family.empty() && one.family != "ceiling") family = one.family;
    }
  }
  if (all.devices().empty() || files.empty()) return out;
  const std::string names = fmt::format("{}", fmt::join(files, " "));
  out.line();
  out.line("in " + names);
  if (failed != nullptr)
    out.command(fmt::format("  clweave run --replay {} --case {}", files.front(), failed->id));
  out.command(fmt::format("  clweave show {}{}", names, family.empty() ? "" : " --family " + family));
  out.command(fmt::format("  clweave fingerprint {}", names));
  if (failed == nullptr)
    out.command(all.devices().size() > 1 ? fmt::format("  clweave compare {}", names)
                                         : fmt::format("  clweave claims {}", names));
  return out;
}

}  // namespace clweave
