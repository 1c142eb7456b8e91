// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "analysis/profile/trait_notes.hpp"
#include "analysis/rows/best.hpp"
#include "analysis/rows/case_labels.hpp"
#include "base/quantity.hpp"
#include "base/shell_word.hpp"
#include "report/table.hpp"
#include "suite/family.hpp"

namespace clweave::profile {

namespace {

// A number with the rows that it follows from.
struct Answer {
  double value;
  RowSelection from = {};
  std::string note = {};
  bool may_be_another = false;  // a row that was slowed may be better in truth than those it follows from
};
// Computes a number for each bootstrap draw from rows that were selected before.
using DrawnNumber = std::function<std::optional<Answer>(Resample)>;

// Keeps the rows of one clock, that of most rows: times of different clocks do not compare.
RowSelection of_one_clock(RowSelection rows) {
  const auto by_device =
      std::ranges::count_if(rows, [](const TimedCase* timed) { return timed->is(timer_axis, "event"); });
  const char* timer = 2 * by_device >= std::ssize(rows) ? "event" : "host";
  std::erase_if(rows, [&](const TimedCase* timed) { return !timed->is(timer_axis, timer); });
  return rows;
}

std::string command_of(const DeviceRows& rows, const std::string& family) {
  return fmt::format("clweave run --device {} --family {}", shell_quoted(rows.results->name), family);
}

// Fills in the number, its interval and its rows; without a number, the command that would measure it.
Trait trait_of(Trait trait, const DeviceRows& rows, const std::string& family, const DrawnNumber& number_of) {
  trait.figure = estimate(rows, [&](Resample clock) -> std::optional<double> {
    const auto answer = number_of(clock);
    if (!answer) return {};
    return answer->value;
  });
  if (!trait.figure) {
    trait.command = command_of(rows, family);
    return trait;
  }
  const auto answer = number_of(rows.measured());
  trait.note = answer->note;
  for (const auto* timed : answer->from) trait.cases.push_back(timed->name->id);
  if (std::ranges::any_of(answer->from, [](const TimedCase* timed) { return timed->is_disturbed(); })) {
    trait.disturbed = trait.figure->value;
    trait.figure.reset();
    trait.undecided = machine_was_busy;
  } else if (answer->may_be_another) {
    trait.remark = "the best of the quiet rows; a row that another program slowed may be better";
  }
  return trait;
}

// ---- Findings of the families
// ------------------------------------------------------------------------------

// The findings of a family, drawn again with its rows.
struct Concluded {
  RowSelection rows;
  Conclusions conclusions;

  Concluded(const Family& family, RowSelection selected, const DeviceRows& device)
      : rows(of_one_clock(std::move(selected))), conclusions(family, rows, device) {}
};

Trait trait_of(const TraitSpec& spec, const Family& family, const Concluded& known,
               const DeviceRows& device) {
  const auto from = [&](const Finding& found) {
    const RowSelection some = known.conclusions.rows_of(found);
    return some.empty() ? known.rows : some;
  };
  Trait trait = trait_of({.name = spec.finding,
                          .meaning = spec.meaning,
                          .unit = spec.unit,
                          .group = spec.group.value_or(family.trait_group),
                          .headline = spec.headline},
                         device, family.name, [&](Resample clock) -> std::optional<Answer> {
                           const Finding* found = known.conclusions.find(spec.finding, clock);
                           if (found == nullptr || !found->value) return {};
                           return Answer{spec.scale * *found->value, from(*found), found->note};
                         });
  const Finding* found = known.conclusions.find(spec.finding, device.measured());
  if (found == nullptr) return trait;
  if (!found->value) {
    trait.undecided = found->text;
    trait.command.clear();
    for (const auto* row : from(*found)) trait.cases.push_back(row->name->id);
    if (found->low && found->high) trait.range = {spec.scale * *found->low, spec.scale * *found->high};
  } else if (trait.figure && found->low && found->high) {
    trait.figure->low = std::min(trait.figure->low, spec.scale * *found->low);
    trait.figure->high = std::max(trait.figure->high, spec.scale * *found->high);
  }
  return trait;
}

void add_findings(std::vector<Trait>& out, const Family& family, const DeviceRows& device) {
  std::optional<Concluded> usual, with_tuned;
  for (const auto& spec : family.traits) {
    auto& known = spec.with_tuned ? with_tuned : usual;
    if (!known)
      known.emplace(family, spec.with_tuned ? device.with_tuned(family.name) : device.of(family.name),
                    device);
    const auto same = std::ranges::find(out, spec.finding, &Trait::name);
    if (same != out.end() && same->is_known()) continue;
    Trait trait = trait_of(spec, family, *known, device);
    if (same != out.end())
      *same = std::move(trait);
    else
      out.push_back(std::move(trait));
  }
}

// ---- Measured peaks
// ----------------------------------------------------------------------------------------

// The highest rate among the rows that measure this peak.
DrawnNumber peak(const DeviceRows& device, Peak name) {
  RowSelection rows = device.of(peak_family);
  std::erase_if(rows, [&](const TimedCase* timed) { return timed->representative->peak != name; });
  const auto rate = of_arithmetic(name) ? &RunTime::gflop_per_s : &RunTime::gb_per_s;
  return [rows = of_one_clock(std::move(rows)), rate](Resample clock) {
    std::optional<Answer> out;
    for (const auto* timed : rows) {
      if (!(timed->representative->*rate)) continue;
      const double value =
          *(timed->representative->*rate) * timed->representative->time_s / clock[timed->index];
      if (!out || value > out->value) out = Answer{value, {timed}};
    }
    if (out && clock.draw() == 0) {
      out->may_be_another = std::ranges::any_of(rows, [&](const TimedCase* timed) {
        const RunTime& run = *timed->representative;
        return run.slowed && run.*rate && *(run.*rate) * run.time_s / run.least_s() > out->value;
      });
    }
    return out;
  };
}

const char* unit_text(Peak name) {
  if (!of_arithmetic(name)) return unit_of(name);
  return name == Peak::arithmetic_int || name == Peak::arithmetic_long ? "GOP/s" : "GFLOP/s";
}

void add_peaks(std::vector<Trait>& out, const DeviceRows& device) {
  struct Shown {
    Peak name;
    const char *meaning, *headline;
  };
  static constexpr std::array peaks = {Shown{Peak::copy, "copy bandwidth, both directions", "copy bandwidth"},
                                       Shown{Peak::read, "read bandwidth", ""},
                                       Shown{Peak::write, "write bandwidth", ""},
                                       Shown{Peak::local, "local memory read bandwidth", ""},
                                       Shown{Peak::arithmetic_float, "FP32 multiply-add", "FP32 throughput"},
                                       Shown{Peak::arithmetic_double, "FP64 multiply-add", ""},
                                       Shown{Peak::arithmetic_int, "INT32 multiply-add", ""}};
  for (const auto& [name, meaning, headline] : peaks) {
    out.push_back(trait_of({.name = text_of(name),
                            .meaning = meaning,
                            .unit = unit_text(name),
                            .group = of_arithmetic(name) ? TraitGroup::formats : TraitGroup::memory,
                            .headline = headline},
                           device, peak_family, peak(device, name)));
  }
  out.push_back(trait_of({.name = "balance",
                          .meaning = "float operations per byte read",
                          .unit = "FLOP/B",
                          .group = TraitGroup::formats},
                         device, peak_family,
                         [arithmetic_of = peak(device, Peak::arithmetic_float),
                          read_of = peak(device, Peak::read)](Resample clock) -> std::optional<Answer> {
                           const auto arithmetic = arithmetic_of(clock), read = read_of(clock);
                           if (!arithmetic || !read) return {};
                           return Answer{arithmetic->value / read->value,
                                         {arithmetic->from.front(), read->from.front()},
                                         {},
                                         arithmetic->may_be_another || read->may_be_another};
                         }));
}

// ---- Best rows
// ---------------------------------------------------------------------------------------------

// Names the launch parameters that tuning chose, where they are not the family's defaults.
std::string launch_text(const TimedCase& row, const Family& family) {
  std::vector<std::string> parts;
  for (const auto& axis : family.axes) {
    const Value* its = row.axis(axis.name);
    if (its == nullptr || is_size(axis.name) || axis.name == "kernel" || axis.name == "type" ||
        text_of(*its) == text_of(axis.values.front()))
      continue;
    parts.push_back((needs_name(*its) ? axis.name + "=" : "") + text_of(*its));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

// The rate of the best row over that of a copy; nothing where all rows fit a cache.
DrawnNumber of_copy(const DeviceRows& device, const Family& family) {
  std::unordered_map<const CaseTimes*, const TimedCase*> timed;
  for (const auto* row : of_one_clock(device.with_tuned(family.name))) timed[row->at] = row;
  auto all = contenders(family, *device.results);
  std::erase_if(all, [&](const Contender& one) {
    return !timed.contains(one.at) || one.run.cached || !one.run.gb_per_s;
  });
  return [&family, timed, all = std::move(all),
          copy_of = peak(device, Peak::copy)](Resample clock) -> std::optional<Answer> {
    const auto seconds = [&](const Contender& one) { return clock[timed.at(one.at)->index]; };
    const auto copy = copy_of(clock);
    const Contender* best = best_row(family, all, seconds);
    if (!copy || best == nullptr) return {};
    const TimedCase& row = *timed.at(best->at);
    Answer out{*best->run.gb_per_s * best->run.time_s / seconds(*best) / copy->value,
               {&row, copy->from.front()},
               fmt::format("{} {}", row.cell("kernel"), row.cell("type"))};
    if (row.tuned) out.note += fmt::format(", tuned: {}", launch_text(row, family));
    out.may_be_another = copy->may_be_another || (clock.draw() == 0 && is_undecided(family, all, *best));
    return out;
  };
}

void add_bests(std::vector<Trait>& out, const DeviceRows& device, const std::vector<Family>& families) {
  for (const auto& family : families) {
    if (!family.memory_bound) continue;
    // Smaller sizes may fit a cache.
    out.push_back(trait_of({.name = "best_" + family.name,
                            .meaning = "GB/s of the best " + family.name + " / GB/s of a copy",
                            .unit = "of copy",
                            .group = TraitGroup::algorithms},
                           device, family.name + " --set n=67108864", of_copy(device, family)));
  }
}

// ---- Tuning
// ------------------------------------------------------------------------------------------------

// The launch configurations of one piece of work.
struct Tried {
  const Family* family = nullptr;
  RowSelection rows;
  const TimedCase* standard = nullptr;  // the default configuration
};

// Finds the work of which most configurations were tried; without rows if none had four.
Tried most_tried(const DeviceRows& device, const std::vector<Family>& families) {
  Tried most;
  for (const auto& family : families) {
    std::map<std::string, Tried> works;
    for (const auto* timed : of_one_clock(device.of(family.name))) {
      std::string work;
      bool standard = true;
      for (const auto& axis : family.axes) {
        const Value* value = timed->axis(axis.name);
        if (!axis.tunable) work.append(value != nullptr ? text_of(*value) : "").append("/");
        standard = standard && (!axis.tunable || (value != nullptr && *value == axis.values.front()));
      }
      Tried& tried = works[work];
      tried.family = &family;
      tried.rows.push_back(timed);
      if (standard) tried.standard = timed;
    }
    for (auto& [work, tried] : works) {
      if (tried.standard != nullptr && tried.rows.size() >= 4 && tried.rows.size() > most.rows.size())
        most = std::move(tried);
    }
  }
  return most;
}

void add_headroom(std::vector<Trait>& out, const DeviceRows& device, const std::vector<Family>& families) {
  const Tried tried = most_tried(device, families);
  const auto searched = std::ranges::find_if(families, [](const Family& family) {
    return !family.presets.tune.empty() && family.name != peak_family;
  });
  const std::string family = searched != families.end() ? searched->name : families.front().name;
  out.push_back(trait_of({.name = "tuning_headroom",
                          .meaning = "time of the default / best launch configuration",
                          .unit = "x",
                          .group = TraitGroup::algorithms},
                         device, family + " --preset paper", [&](Resample clock) -> std::optional<Answer> {
                           if (tried.rows.empty()) return {};
                           const TimedCase* best = *std::ranges::min_element(
                               tried.rows, {}, [&](const TimedCase* timed) { return clock[timed->index]; });
                           return Answer{clock[tried.standard->index] / clock[best->index],
                                         {tried.standard, best},
                                         fmt::format("{} {}, {} launches", tried.family->name,
                                                     best->cell("kernel"), tried.rows.size())};
                         }));
}

}  // namespace

Profile profile_of(const DeviceRows& rows, const std::vector<Family>& families) {
  Profile out{.device = rows.results->name, .name = rows.name(), .traits = {}};
  for (const auto& family : families) add_findings(out.traits, family, rows);
  add_peaks(out.traits, rows);
  add_bests(out.traits, rows, families);
  add_headroom(out.traits, rows, families);
  std::ranges::stable_sort(out.traits, {}, &Trait::group);
  for (auto& trait : out.traits) {
    if (trait.remark.empty()) trait.remark = note_on(trait, rows);
  }
  return out;
}

namespace {

// The unit stands in a column of its own; bytes have one each.
std::string value_text(const Trait& trait, bool with_interval) {
  const std::string unit = trait.unit == "B" ? "B" : "";
  if (trait.figure) {
    const auto& [value, low, high] = *trait.figure;
    return with_interval ? figure_text(value, low, high, unit) : number_text(value, unit);
  }
  if (trait.undecided.empty()) return "-";
  if (!with_interval || !trait.range) return trait.without_figure();
  return fmt::format("{} to {}, {}", number_text(trait.range->first, unit),
                     number_text(trait.range->second, unit), trait.without_figure());
}

const char* title_of(TraitGroup group) {
  switch (group) {
    case TraitGroup::execution: return "execution";
    case TraitGroup::memory: return "memory hierarchy";
    case TraitGroup::host_link: return "host link";
    case TraitGroup::synchronisation: return "synchronisation";
    case TraitGroup::formats: return "number formats";
    case TraitGroup::algorithms: return "algorithms";
  }
  return "";
}

std::string unit_text(const Trait& trait) { return trait.unit == "B" ? "" : trait.unit; }

Table table_of(const std::vector<Profile>& profiles) {
  std::vector<Table::Column> heads = {{"trait"}};
  for (std::size_t c = 0; c < profiles.size(); ++c)
    heads.push_back({profiles.size() == 1 ? "value" : letter_of(c), Align::right});
  heads.push_back({"unit"});
  if (profiles.size() == 1) heads.push_back({"by", Align::left, Overflow::cut, 1});
  heads.push_back({"meaning", Align::left, Overflow::cut, 2});
  Table table(heads);
  std::optional<TraitGroup> group;
  for (std::size_t t = 0; t < profiles.front().traits.size(); ++t) {
    const Trait& first = profiles.front().traits[t];
    if (std::ranges::none_of(profiles, [&](const Profile& profile) { return profile.traits[t].is_known(); }))
      continue;
    if (group != first.group) {
      std::vector<std::string> title(heads.size());
      title.front() = paint(title_of(first.group), Style::bold);
      table.add(std::move(title));
      group = first.group;
    }
    std::vector<std::string> cells = {paint(first.name, Style::cyan)};
    for (const auto& profile : profiles) cells.push_back(value_text(profile.traits[t], profiles.size() == 1));
    cells.push_back(unit_text(first));
    if (profiles.size() == 1) cells.push_back(first.note);
    cells.push_back(first.meaning);
    table.add(std::move(cells));
  }
  return table;
}

// The runs that would tell what a profile lacks, each once.
void add_missing(const Profile& profile, Report& out) {
  std::map<std::string, std::vector<const Trait*>> by_command;
  for (const auto& trait : profile.traits) {
    if (!trait.is_known()) by_command[trait.command].push_back(&trait);
  }
  if (by_command.empty()) return;
  out.line();
  out.line(paint("not measured on " + profile.device, Style::bold));
  for (const auto& [command, traits] : by_command) {
    for (const auto* trait : traits)
      out.line(fmt::format("  {}: {}", paint(trait->name, Style::dim), trait->meaning));
    out.command("    " + command);
  }
}

// Gives each sentence that `sentence` holds once, with the names of all traits that it is of.
std::vector<std::pair<const Trait*, std::vector<std::string>>> by_sentence(const Profile& profile,
                                                                           std::string Trait::*sentence) {
  std::vector<std::pair<const Trait*, std::vector<std::string>>> out;
  for (const auto& trait : profile.traits) {
    if ((trait.*sentence).empty()) continue;
    const auto known =
        std::ranges::find_if(out, [&](const auto& one) { return one.first->*sentence == trait.*sentence; });
    auto& names =
        known != out.end() ? known->second : out.emplace_back(&trait, std::vector<std::string>()).second;
    names.push_back(paint(trait.name, Style::cyan));
  }
  return out;
}

void add_undecided(const Profile& profile, Report& out) {
  for (const auto& [first, names] : by_sentence(profile, &Trait::undecided)) {
    const bool none = std::string_view(first->without_figure()) == "none found";
    out.line(fmt::format("{} of {}{}: {}", fmt::join(names, ", "), profile.device,
                         none                ? ""
                         : names.size() == 1 ? " is undecided"
                                             : " are undecided",
                         first->undecided));
  }
}

void add_remarks(const Profile& profile, Report& out) {
  for (const auto& [first, names] : by_sentence(profile, &Trait::remark))
    out.line(fmt::format("{} of {}: {}", fmt::join(names, ", "), profile.device, first->remark));
}

void add_cases(const Profile& profile, Report& out) {
  out.line();
  out.line(paint("rows of " + profile.device, Style::bold));
  for (const auto& trait : profile.traits) {
    if (trait.cases.empty()) continue;
    out.line("  " + trait.name);
    for (const auto& id : trait.cases) out.command("    " + id);
  }
}

std::array<std::optional<double>, 3> numbers_of(const Trait& trait) {
  if (trait.figure) return {trait.figure->value, trait.figure->low, trait.figure->high};
  if (trait.range) return {std::nullopt, trait.range->first, trait.range->second};
  return {};
}

// Infinity is a word, as JSON has no number for it.
Cell number_cell(const std::optional<double>& number) {
  if (!number) return {};
  return std::isfinite(*number) ? Cell(*number) : Cell(fmt::format("{}", *number));
}

void add_rows(const std::vector<Profile>& profiles, Report& out) {
  out.nest({{"", {"device"}}, {"traits"}});
  out.columns({"device", "group", "trait", "value", "value_low", "value_high", "unit", "note", "meaning",
               "command", "cases", "remark"});
  out.rows([&profiles](const std::function<void(Report::Row)>& take) {
    for (const auto& profile : profiles) {
      for (const auto& trait : profile.traits) {
        const auto [value, low, high] = numbers_of(trait);
        take({profile.name, title_of(trait.group), trait.name, number_cell(value), number_cell(low),
              number_cell(high), trait.unit, trait.undecided.empty() ? trait.note : trait.undecided,
              trait.meaning, trait.command, trait.cases, trait.remark});
      }
    }
  });
}

}  // namespace

Report report_of(const std::vector<Profile>& profiles, bool with_cases) {
  Report out;
  for (std::size_t c = 0; c < profiles.size(); ++c)
    out.line((profiles.size() == 1 ? "" : letter_of(c) + "  ") + paint(profiles[c].name, Style::bold));
  out.line();
  out.table(table_of(profiles));
  for (const auto& profile : profiles) add_undecided(profile, out);
  for (const auto& profile : profiles) add_remarks(profile, out);
  for (const auto& profile : profiles) {
    add_missing(profile, out);
    if (with_cases) add_cases(profile, out);
  }
  add_rows(profiles, out);
  return out;
}

}  // namespace clweave::profile
