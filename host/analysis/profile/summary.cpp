// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analysis/profile/glance.hpp"
#include "analysis/profile/peak_shares.hpp"
#include "analysis/profile/times_table.hpp"
#include "analysis/rows/baselines.hpp"
#include "analysis/rows/best.hpp"
#include "analysis/rows/case_labels.hpp"
#include "base/quantity.hpp"
#include "base/shell_word.hpp"
#include "suite/family.hpp"

namespace clweave::profile {

namespace {

// Names the axes that vary, those of the view's rows first and launch parameters last. Leaves out the last
// ones if there is no room.
std::string variant_text(const CaseTimes& one, const std::vector<const CaseTimes*>& others,
                         const Family& family) {
  const std::size_t room = one.tuned ? 60 : 40;  // a tuned configuration is to be launched again
  std::vector<std::string> names = family.view.rows;
  for (const bool tunable : {false, true}) {
    for (const auto& axis : family.axes) {
      if (axis.tunable == tunable && std::ranges::find(names, axis.name) == names.end())
        names.push_back(axis.name);
    }
  }
  std::string out;
  for (const auto& name : names) {
    const Value* value = one.name->axis(name);
    const bool varies = std::ranges::any_of(others, [&](const CaseTimes* other) {
      const Value* its = other->name->axis(name);
      return (its == nullptr) != (value == nullptr) || (value != nullptr && *its != *value);
    });
    if (value == nullptr || !(varies || others.size() == 1)) continue;
    const std::string part = (needs_name(*value) ? name + "=" : "") + text_of(*value);
    if (!out.empty() && out.size() + 1 + part.size() > room) {
      out += " ..";
      break;
    }
    if (!out.empty()) out += ' ';
    out += cut(part, room, "~");
    if (others.size() == 1) break;
  }
  return out + (one.tuned ? " (tuned)" : "");
}

// Shows one or two findings: traits of the device profile first, then in the family's order.
std::string findings_text(const DeviceResults& device, const Family& family) {
  std::vector<const Finding*> found;
  for (const auto& one : device.findings) {
    if (one.family == family.name && one.typical().value) found.push_back(&one.typical());
  }
  std::ranges::stable_sort(found, {}, [&](const Finding* one) {
    return std::ranges::find(family.traits, one->name, &TraitSpec::finding) - family.traits.begin();
  });
  std::vector<std::string> parts;
  if (found.size() > 2) found.resize(2);
  for (const auto* one : found)
    parts.push_back(fmt::format("{} {}", one->name, number_text(*one->value, one->unit)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// The marks in what is shown, which alone are explained.
struct ShownMarks {
  std::set<std::string> met;

  void add(const Table& table) {
    for (const char* mark : {doubtful_mark, cached_mark}) {
      if (table.has_mark(mark)) met.insert(mark);
    }
  }
};

void add_families(Report& out, const DeviceResults& device, const std::vector<Family>& families,
                  ShownMarks& marks) {
  Table table({{"family"},
               {"best variant", Align::left, Overflow::cut},
               {"of peak", Align::right},
               {"speed", Align::right},
               {"cases", Align::right, Overflow::keep, 1}});
  std::map<std::string_view, std::vector<const CaseTimes*>> by_family;
  for (const auto& at : device.cases) by_family[at.family()].push_back(&at);
  for (const auto& family : families) {
    const auto& cases = by_family[family.name];
    if (cases.empty() || family.name == peak_family) continue;
    const auto others = contenders(family, cases);
    const Contender* best = best_row(family, others);
    const std::string findings = findings_text(device, family), count = std::to_string(cases.size());
    // Shows the findings of a family instead if it is viewed by slowdown, which no best row sums up.
    const bool any = best != nullptr && best->speed(family) && family.view.quantity != "slowdown";
    if (!any || (!best->run.fraction_of_peak && !findings.empty())) {
      const auto ok = std::ranges::count_if(cases, &CaseTimes::ok);
      table.add(
          {family.name, !findings.empty() ? findings : fmt::format("{} of {} ok", ok, count), "", "", count});
      continue;
    }
    const RunTime& run = best->run;
    table.add({family.name,
               variant_text(*best->at, cases, family) +
                   (run.doubtful() || is_undecided(family, others, *best) ? doubtful_mark : ""),
               share_text(run), speed_text(*best, family), count});
  }
  marks.add(table);
  if (!table.empty()) out.table(std::move(table));
}

void add_times(Report& out, const DeviceResults& device, const std::vector<Family>& families,
               ShownMarks& marks) {
  if (auto times = times_table(device, families)) {
    marks.add(*times);
    out.line();
    out.table(*std::move(times));
  }
}

// Adds the least energy per byte of memory and per operation of a run with --energy, and the meter's name; or
// why there is none.
void add_energy(Report& out, const DeviceResults& device) {
  if (device.meter_reason.empty()) return;
  CaseLabels names;
  for (const auto& at : device.cases) names.learn(*at.name);
  bool none = true;
  for (const bool operations : {false, true}) {
    std::string least;
    double least_j = 0;
    for (const auto& at : device.cases) {
      const auto run = at.ranks() ? at.typical() : std::nullopt;
      if (!run || run->of_operations() != operations) continue;
      if (!operations && (!of_memory(run->peak) || run->cached)) continue;
      const auto pico = [&](const Number& energy) -> Number {
        const Number joules = run->joules_of_unit(energy);
        return joules ? Number(1e12 * *joules) : Number();
      };
      const Number each = pico(run->energy_j);
      if (!each || (!least.empty() && *each >= least_j)) continue;
      least_j = *each;
      least = fmt::format("{} {}",
                          figure_text(*each, pico(run->energy_low_j), pico(run->energy_high_j),
                                      operations ? "pJ/op" : "pJ/B"),
                          names.of(*at.name));
    }
    if (least.empty()) continue;
    out.line(cut((none ? "energy: " : "        ") + least, 100, "~"));
    none = false;
  }
  const std::string by = device.meter.empty() ? "" : " by " + device.meter;
  out.line(paint(cut(fmt::format("{}{}: {}", none ? "no energy" : " ", by, device.meter_reason), 180, "~"),
                 none ? Style::yellow : Style::dim));
}

// Returns the rows of these families and how they ended: "7 rows: 6 ok, 1 timeout".
std::string counts_text(const DeviceResults& device, const std::vector<std::string>& families) {
  DeviceResults part = device;
  part.keep(families);
  part.rows = 0;
  for (const auto& at : part.cases) part.rows += at.rows;
  std::map<std::string, std::size_t> counts;
  for (const auto& [how, count] : part.counts())
    counts[(how.first ? "known incorrect " : "") + text_of(how.second)] = count;
  std::vector<std::string> totals;
  for (const auto& [status, count] : counts) totals.push_back(fmt::format("{} {}", count, status));
  return fmt::format("{} rows: {}", part.rows, fmt::join(totals, ", "));
}

// Counts the rows of what was asked for, and apart from them those of peaks measured for their sake.
void add_counts(Report& out, const DeviceResults& device) {
  std::set<std::string> families;
  for (const auto& at : device.cases) families.insert(at.family());
  const bool beside = families.size() > 1 && families.erase(peak_family) > 0;
  out.line(counts_text(device, {families.begin(), families.end()}));
  if (beside) out.line("peaks of the device: " + counts_text(device, {peak_family}));
}

void add_peaks(Report& out, const DeviceResults& device, ShownMarks& marks) {
  std::vector<std::string> peaks;
  for (const auto& [peak, best] : device.peaks) {
    const bool is_quiet = device.quiet_peaks.contains(peak);
    if (!is_quiet) marks.met.insert(doubtful_mark);
    peaks.push_back(
        fmt::format("{} {}{}", peak, number_text(best, unit_of(peak)), is_quiet ? "" : doubtful_mark));
  }
  if (!peaks.empty()) out.line(fmt::format("peaks: {}", fmt::join(peaks, ", ")));
}

// Adds what the table of preset glance has no room for: type, compute units, clock as the driver tells it.
void add_identity(Report& out, const DeviceResults& device) {
  std::vector<std::string> parts;
  if (!device.type.empty()) parts.push_back(device.type);
  if (device.compute_units > 0) parts.push_back(fmt::format("{} compute units", device.compute_units));
  if (device.clock_mhz) parts.push_back(fmt::format("{:.0f} MHz as the driver says", *device.clock_mhz));
  if (!parts.empty()) out.line(fmt::format("{}", fmt::join(parts, ", ")));
}

// `glance` has the rows of a run of that preset; null: it is another.
void add_device(Report& out, const DeviceResults& device, const std::vector<Family>& families,
                const DeviceRows* glance) {
  out.line();
  const std::string platform = device.platform.substr(0, device.platform.find(", "));
  out.line(fmt::format("{}  {}, driver {}", paint(cut(device.name, 50, "~"), Style::bold),
                       cut(platform, 30, "~"), cut(device.driver, 20, "~")));
  ShownMarks marks;
  if (glance != nullptr) {
    add_identity(out, device);
    out.line();
    Table table = glance_table(*glance, families);
    marks.add(table);
    out.table(std::move(table));
    out.line(
        paint("of peak: measured here; of theoretical: clock times width, unknown where no driver tells both",
              Style::dim));
  } else {
    add_peaks(out, device, marks);
    out.line();
    add_families(out, device, families, marks);
    add_times(out, device, families, marks);
  }
  for (const auto& why : missing_shares(device, families)) out.line(paint(why, Style::dim));
  add_energy(out, device);
  add_counts(out, device);
  // Cuts reasons, which may be long, to two lines of a hundred columns.
  for (const auto& odd : anomalies_of(device)) {
    const std::string text = odd.kind + (marks.met.contains(odd.mark) ? odd.mark : "") + ": " + odd.first;
    out.line("  " + paint(cut(text, 180, "~"), odd.failure ? Style::red : Style::dim));
  }
}

}  // namespace

std::vector<Anomaly> anomalies_of(const DeviceResults& device) {
  std::vector<Anomaly> out;
  struct Odd {
    const char* what;
    bool (*is)(const CaseTimes&, const RunTime*);
    const char* mark = "";
    bool bad = false;
  };
  static const std::vector<Odd> kinds = {
      {"failed", [](const CaseTimes& at, const RunTime*) { return at.failed(); }, "", true},
      {"known-incorrect as published",
       [](const CaseTimes& at, const RunTime*) { return at.known_incorrect && !at.ok(); }},
      {"that the device cannot run",
       [](const CaseTimes& at, const RunTime*) { return at.status == Status::unsupported; }},
      {"whose output nothing checked, unverified: they do not rank",
       [](const CaseTimes& at, const RunTime*) { return at.ok() && at.unverified; }},
      {"measured while the machine was not quiet",
       [](const CaseTimes&, const RunTime* run) { return run != nullptr && run->slowed; }, doubtful_mark},
      {"whose median is not known as well as was asked",
       [](const CaseTimes&, const RunTime* run) { return run != nullptr && run->unsettled && !run->slowed; },
       doubtful_mark},
      {"whose buffers fit a cache",
       [](const CaseTimes&, const RunTime* run) { return run != nullptr && run->cached; }, cached_mark}};
  CaseLabels names;
  std::vector<std::optional<RunTime>> runs;
  for (const auto& at : device.cases) {
    names.learn(*at.name);
    runs.push_back(at.typical(!at.was_run(false)));
  }
  for (const auto& kind : kinds) {
    std::size_t n = 0;
    const CaseTimes* first = nullptr;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!kind.is(device.cases[i], runs[i] ? &*runs[i] : nullptr)) continue;
      if (n++ == 0) first = &device.cases[i];
    }
    if (n == 0) continue;
    std::string of = names.of(*first->name);
    if (!first->ok()) {
      const std::string reason = first->reason.substr(0, first->reason.find('\n'));
      of += fmt::format(", {}{}{}", first->status, reason.empty() ? "" : ": ", reason);
    }
    out.push_back({fmt::format("{} {}", n, kind.what), std::move(of), kind.bad, kind.mark});
  }
  return out;
}

Report summary_of(const ResultsSet& set, const std::vector<Family>& families,
                  const std::vector<std::string>& files) {
  Report out;
  for (const auto& note : set.notes) out.line(paint("note: " + note, Style::yellow));
  const auto devices = measured(set);
  std::string family;
  const CaseTimes* failed = nullptr;
  const auto ids = glance_ids(families);
  const auto glances =
      std::ranges::count_if(devices, [&](const DeviceResults* device) { return is_of_glance(*device, ids); });
  const auto rows = glances > 0 ? device_rows(set) : std::vector<DeviceRows>();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const DeviceResults* device = devices[d];
    add_device(out, *device, families, glances > 0 && is_of_glance(*device, ids) ? &rows.at(d) : nullptr);
    add_baselines(out, set, *device, families);
    for (const auto& at : device->cases) {
      if (failed == nullptr && at.failed()) failed = &at;
      if (family.empty() && at.family() != peak_family) family = at.family();
    }
  }
  if (devices.empty() || files.empty()) return out;
  const std::string names = shell_words(files);
  out.line();
  out.line("in " + names);
  if (failed != nullptr)
    out.command(fmt::format("  clweave run --replay {} --case {}", shell_word(files.front()),
                            shell_word(failed->id())));
  if (glances == std::ssize(devices)) {
    out.command("  clweave list");
    out.command(
        fmt::format("  clweave run --device {} --preset profile", shell_quoted(devices.front()->name)));
    out.command(fmt::format("  clweave profile {}", names));
    return out;
  }
  out.command(
      fmt::format("  clweave show {}{}", names, family.empty() ? "" : " --family " + shell_word(family)));
  out.command(fmt::format("  clweave profile {}", names));
  if (failed == nullptr)
    out.command(devices.size() > 1 ? fmt::format("  clweave compare-devices {}", names)
                                   : fmt::format("  clweave claims {}", names));
  return out;
}

}  // namespace clweave::profile
