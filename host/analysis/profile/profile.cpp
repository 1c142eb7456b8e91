// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "analysis/profile/trait_notes.hpp"
#include "analysis/rows/baselines.hpp"
#include "analysis/rows/case_labels.hpp"
#include "base/quantity.hpp"
#include "report/table.hpp"
#include "suite/family.hpp"

namespace clweave::profile {

namespace {

// One way to see a card grow: each trait is a number that follows from the rows of one family.
class Writer {
 public:
  Writer(const DeviceRows& rows, const std::vector<Family>& families) : rows_(rows), families_(families) {}

  void about(TraitGroup group) { group_ = group; }  // what is added from now on

  // What a number came from.
  struct Answer {
    double value;
    RowSelection from = {};
    std::string note = {};
  };
  // What it needs of the rows is selected when it is made: it is asked for each draw.
  using DrawnNumber = std::function<std::optional<Answer>(Resample)>;

  void add(const std::string& name, const std::string& unit, const std::string& meaning,
           const std::string& family, const DrawnNumber& number_of) {
    Trait trait{name, meaning, unit, group_};
    const auto value = [&](Resample clock) -> std::optional<double> {
      const auto answer = number_of(clock);
      if (!answer) return {};
      return answer->value;
    };
    trait.figure = estimate(rows_, value);
    if (trait.figure) {
      const auto answer = number_of(rows_.measured());
      trait.note = answer->note;
      for (const auto* timed : answer->from) trait.cases.push_back(timed->name->id);
    } else {
      trait.command = fmt::format("clweave run --device \"{}\" --family {}", rows_.results->name, family);
    }
    card_.traits.push_back(std::move(trait));
  }

  // A finding of a family, which sees all its rows.
  void add_finding(const std::string& name, const std::string& unit, const std::string& meaning,
                   const std::string& family, const std::string& finding, double scale = 1) {
    const auto known = std::ranges::find(families_, family, &Family::name);
    if (known == families_.end()) return add(name, unit, meaning, family, [](Resample) { return none(); });
    const RowSelection rows = of(family);
    if (concluding_ != family) conclusions_.emplace(*known, rows, rows_);
    concluding_ = family;
    const Conclusions& conclusions = *conclusions_;
    add(name, unit, meaning, family, [&](Resample clock) -> std::optional<Answer> {
      const Finding* found = conclusions.find(finding, clock);
      if (found == nullptr || !found->value) return {};
      return Answer{scale * *found->value, rows, ""};
    });
    const Finding* found = conclusions.find(finding, rows_.measured());
    if (found == nullptr) return;
    Trait& trait = card_.traits.back();
    if (!found->value) {
      trait.undecided = found->text;
      trait.command.clear();
      for (const auto* row : rows) trait.cases.push_back(row->name->id);
      if (found->low && found->high) trait.range = {scale * *found->low, scale * *found->high};
    } else if (trait.figure && found->low && found->high) {
      trait.figure->low = std::min(trait.figure->low, scale * *found->low);
      trait.figure->high = std::max(trait.figure->high, scale * *found->high);
    }
  }

  static std::optional<Answer> none() { return {}; }

  RowSelection of(const std::string& family, const std::function<bool(const Timed&)>& counts = {}) const {
    return of_one_clock(rows_.of(family), counts);
  }
  // For what the device can do at its best.
  RowSelection with_tuned(const std::string& family,
                          const std::function<bool(const Timed&)>& counts = {}) const {
    return of_one_clock(rows_.with_tuned(family), counts);
  }

  static RowSelection of_one_clock(const RowSelection& rows,
                                   const std::function<bool(const Timed&)>& counts) {
    RowSelection out;
    for (const auto* timed : rows) {
      if (!counts || counts(*timed)) out.push_back(timed);
    }
    // Of one clock, the one of most rows.
    const auto by_device =
        std::ranges::count_if(out, [](const Timed* t) { return t->is(timer_axis, "event"); });
    const char* timer = 2 * by_device >= std::ssize(out) ? "event" : "host";
    std::erase_if(out, [&](const Timed* timed) { return !timed->is(timer_axis, timer); });
    return out;
  }

  // Those of the n that most have, of several the largest.
  static RowSelection of_one_size(const RowSelection& rows) {
    std::map<std::int64_t, RowSelection> by_size;
    for (const auto* timed : rows) by_size[timed->number("n")].push_back(timed);
    RowSelection out;
    for (const auto& [n, same] : by_size) out = same.size() >= out.size() ? same : out;
    return out;
  }

  static const Timed* fastest(const RowSelection& rows, Resample clock) {
    const auto it =
        std::ranges::min_element(rows, {}, [&](const Timed* timed) { return clock[timed->index]; });
    return it != rows.end() ? *it : nullptr;
  }

  // The highest rate of the rows that have one.
  static std::optional<Answer> best_rate(const RowSelection& rows, Number RunTime::*rate, Resample clock) {
    std::optional<Answer> out;
    for (const auto* timed : rows) {
      if (!(timed->any->*rate)) continue;
      const double value = *(timed->any->*rate) * timed->any->time_s / clock[timed->index];
      if (!out || value > out->value) out = Answer{value, {timed}, ""};
    }
    return out;
  }

  DrawnNumber ceiling(Ceiling ceiling) const {
    const RowSelection rows =
        of(ceiling_family, [&](const Timed& timed) { return timed.any->ceiling == ceiling; });
    const auto rate = of_arithmetic(ceiling) ? &RunTime::gflop_per_s : &RunTime::gb_per_s;
    return [rows, rate](Resample clock) { return best_rate(rows, rate, clock); };
  }

  Profile finish() {
    card_.device = rows_.results->name;
    card_.name = rows_.name();
    std::ranges::stable_sort(card_.traits, {}, &Trait::group);
    for (auto& trait : card_.traits) trait.remark = note_on(trait, rows_);
    return std::move(card_);
  }

  const DeviceRows& rows() const { return rows_; }
  const std::vector<Family>& families() const { return families_; }

 private:
  const DeviceRows& rows_;
  const std::vector<Family>& families_;
  TraitGroup group_ = TraitGroup::execution;
  std::string concluding_;                  // the last family asked
  std::optional<Conclusions> conclusions_;  // of it
  Profile card_;
};

using Answer = Writer::Answer;
using DrawnNumber = Writer::DrawnNumber;

std::optional<Answer> ratio(const Timed* of, const Timed* to, Resample clock) {
  if (of == nullptr || to == nullptr) return {};
  return Answer{clock[of->index] / clock[to->index], {of, to}, ""};
}

// Two paths dealt item by item over one path.
DrawnNumber two_paths(const Writer& w) {
  const auto of_paths = [&](std::int64_t paths) {
    return Writer::of_one_size(w.of("lanes", [&](const Timed& timed) {
      return timed.number("paths") == paths && timed.number("granularity") == 1;
    }));
  };
  return [two = of_paths(2), one = of_paths(1)](Resample clock) {
    return ratio(Writer::fastest(two, clock), Writer::fastest(one, clock), clock);
  };
}

// Every stride-th element is read instead of each.
DrawnNumber stride(const Writer& w) {
  const auto line = w.of("access", [](const Timed& timed) {
    return timed.is("kernel", "line") && timed.is("type", "uint") && timed.number("group") == 256 &&
           timed.number("offset") == 0;
  });
  const RowSelection rows = Writer::of_one_size(line);
  const Timed* straight = nullptr;
  const Timed* apart = nullptr;
  for (const auto* timed : rows) {
    if (timed->is("side", "neither")) straight = timed;
    if (timed->is("side", "read") && (apart == nullptr || timed->number("stride") > apart->number("stride")))
      apart = timed;
  }
  return [apart, straight](Resample clock) {
    auto out = ratio(apart, straight, clock);
    if (out) out->note = "stride " + apart->cell("stride");
    return out;
  };
}

RowSelection plain_copies(const Writer& w) {
  return Writer::of_one_size(w.of("copy", [](const Timed& timed) {
    return timed.is("kernel", "no_loop") && timed.is("type", "uint") && !timed.is("store", "streaming");
  }));
}

using ByNumber = std::map<std::int64_t, RowSelection>;

ByNumber by_number(const RowSelection& rows, const char* axis) {
  ByNumber out;
  for (const auto* timed : rows) out[timed->number(axis)].push_back(timed);
  return out;
}

// The least width with 97 % of the best rate.
DrawnNumber vector_width(const Writer& w) {
  return [by_width = by_number(plain_copies(w), "width")](Resample clock) -> std::optional<Answer> {
    if (by_width.size() < 2) return {};
    std::map<std::int64_t, const Timed*> best;
    for (const auto& [width, rows] : by_width) best[width] = Writer::fastest(rows, clock);
    const auto seconds = [&](const auto& entry) { return clock[entry.second->index]; };
    const Timed* fastest = std::ranges::min_element(best, {}, seconds)->second;
    const auto least = std::ranges::find_if(
        best, [&](const auto& entry) { return clock[fastest->index] >= 0.97 * seconds(entry); });
    return Answer{static_cast<double>(least->first), {least->second, fastest}, ""};
  };
}

// Rows of one launch that differ in their group alone: of copies where there are enough, else of grayscale.
ByNumber groups(const Writer& w) {
  RowSelection scalar = plain_copies(w);
  std::erase_if(scalar, [](const Timed* timed) { return timed->number("width") != 1; });
  ByNumber out = by_number(scalar, "group");
  if (out.size() >= 4) return out;
  out = by_number(w.of("grayscale",
                       [](const Timed& timed) {
                         return timed.is("kernel", "naive") && timed.is("pitch", "tight") &&
                                timed.is("image", "2272x1704");
                       }),
                  "group");
  return out.size() >= 4 ? out : ByNumber();
}

// The fastest of each group, and the best of them.
struct BestGroup {
  std::map<std::int64_t, const Timed*> all;
  std::map<std::int64_t, const Timed*>::const_iterator best;

  BestGroup(const ByNumber& groups, Resample clock) {
    for (const auto& [group, rows] : groups) all[group] = Writer::fastest(rows, clock);
    best = std::ranges::min_element(std::as_const(all), {},
                                    [&](const auto& entry) { return clock[entry.second->index]; });
  }
};

DrawnNumber best_group(const Writer& w) {
  return [by_group = groups(w)](Resample clock) -> std::optional<Answer> {
    if (by_group.empty()) return {};
    const BestGroup of(by_group, clock);
    return Answer{static_cast<double>(of.best->first), {of.best->second}, of.best->second->family()};
  };
}

// The largest group over the smallest that is within 5 % of the best, without a worse one between.
DrawnNumber plateau(const Writer& w) {
  return [by_group = groups(w)](Resample clock) -> std::optional<Answer> {
    if (by_group.empty()) return {};
    const BestGroup of(by_group, clock);
    const double limit = 1.05 * clock[of.best->second->index];
    auto low = of.best, high = of.best;
    while (low != of.all.begin() && clock[std::prev(low)->second->index] <= limit) --low;
    while (std::next(high) != of.all.end() && clock[std::next(high)->second->index] <= limit) ++high;
    RowSelection from;
    for (auto it = low; it != std::next(high); ++it) from.push_back(it->second);
    return Answer{static_cast<double>(high->first) / static_cast<double>(low->first), from,
                  fmt::format("{} to {} items", low->first, high->first)};
  };
}

// What a launch takes beside its steps, by the case that was measured with two numbers of them: at most half
// of the shorter. Of several such cases the least.
double beside_steps(const RowSelection& rows, Resample clock) {
  std::optional<double> out;
  for (const auto* few : rows) {
    for (const auto* many : rows) {
      const bool alike = std::ranges::all_of(std::array{"ilp", "group", "unroll"}, [&](const char* axis) {
        return many->number(axis) == few->number(axis);
      });
      if (!alike || many->number("trips") <= few->number("trips")) continue;
      const double short_s = clock[few->index], long_s = clock[many->index];
      const double of_steps = (long_s - short_s) * static_cast<double>(few->number("trips")) /
                              static_cast<double>(many->number("trips") - few->number("trips"));
      const double beside_s = std::clamp(short_s - of_steps, 0.0, short_s / 2);
      out = std::min(out.value_or(beside_s), beside_s);
    }
  }
  return out.value_or(0);
}

// Of few items: one group of at most 128 per compute unit. Their launches are short, so what a launch takes
// by itself does not count.
DrawnNumber chains_needed(const Writer& w) {
  const RowSelection floats = w.of("arithmetic", [](const Timed& timed) {
    return timed.is("type", "float") && timed.is("operation", "mad") && timed.any->gflop_per_s;
  });
  RowSelection few = floats;
  std::erase_if(few, [](const Timed* timed) {
    return timed->number("groups_per_unit") != 1 || timed->number("width") != 1 ||
           timed->number("group") > 128;
  });
  const ByNumber by_group = by_number(few, "group");
  const std::int64_t items = by_group.empty() ? 0 : by_group.rbegin()->first;
  const ByNumber by_ilp = by_group.empty() ? ByNumber() : by_number(by_group.rbegin()->second, "ilp");
  return [floats, few, items, by_ilp](Resample clock) -> std::optional<Answer> {
    const auto peak = Writer::best_rate(floats, &RunTime::gflop_per_s, clock);
    if (!peak || by_ilp.size() < 3) return {};
    const double beside_s = beside_steps(few, clock);
    std::optional<Answer> most;
    for (const auto& [ilp, rows] : by_ilp) {
      auto rate = Writer::best_rate(rows, &RunTime::gflop_per_s, clock);
      const double took_s = clock[rate->from.front()->index];
      rate->value *= took_s / std::max(took_s - beside_s, took_s / 2);
      if (rate->value >= 0.9 * peak->value)
        return Answer{static_cast<double>(ilp),
                      {rate->from.front(), peak->from.front()},
                      fmt::format("{} items", items)};
      if (!most || rate->value > most->value) most = rate;
    }
    return Answer{HUGE_VAL,
                  {most->from.front(), peak->from.front()},
                  fmt::format("{} items reach {:.0f} %", items, 100 * most->value / peak->value)};
  };
}

// How a row was launched that tune chose: what its family would have done otherwise.
std::string launch_text(const Timed& row, const std::vector<Family>& families) {
  const auto family = std::ranges::find(families, row.family(), &Family::name);
  std::vector<std::string> parts;
  for (const auto& axis : family != families.end() ? family->axes : std::vector<Axis>()) {
    const Value* its = row.axis(axis.name);
    if (its == nullptr || is_size(axis.name) || axis.name == "kernel" || axis.name == "type" ||
        text_of(*its) == text_of(axis.values.front()))
      continue;
    parts.push_back((needs_name(*its) ? axis.name + "=" : "") + text_of(*its));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

DrawnNumber of_copy(const Writer& w, const std::string& family) {
  RowSelection rows = w.with_tuned(family);
  std::erase_if(rows, [](const Timed* timed) { return timed->any->cached; });
  // What an algorithm moves in vain is no merit.
  std::erase_if(rows, [](const Timed* timed) {
    const std::string kernel = timed->cell("kernel");
    return kernel == "hillis_steele" || kernel.starts_with("encode") || is_for_comparison(*timed->name) ||
           timed->is("task", "round_trip") || timed->number("tuple") > 1 || timed->number("scan_order") > 1;
  });
  std::int64_t largest = 0;
  for (const auto* timed : rows) largest = std::max(largest, timed->number("n"));
  std::erase_if(rows, [&](const Timed* timed) { return timed->number("n") < largest / part_of_largest; });
  return [rows, &w, copy_of = w.ceiling(Ceiling::copy)](Resample clock) -> std::optional<Answer> {
    const auto copy = copy_of(clock);
    auto best = Writer::best_rate(rows, &RunTime::gb_per_s, clock);
    if (!copy || !best) return {};
    const Timed& row = *best->from.front();
    best->value /= copy->value;
    best->note = fmt::format("{} {}", row.cell("kernel"), row.cell("type"));
    if (row.tuned) best->note += fmt::format(", tuned: {}", launch_text(row, w.families()));
    best->from.push_back(copy->from.front());
    return best;
  };
}

DrawnNumber single_pass(const Writer& w) {
  const RowSelection rows = w.with_tuned("scan", [](const Timed& timed) {
    return timed.is("type", "uint") && timed.is("op", "sum") && timed.is("form", "inclusive") &&
           timed.is("task", "scan") && timed.number("scan_order") == 1 && timed.number("tuple") == 1 &&
           timed.number("drop") == 0 && !is_for_comparison(*timed.name);
  });
  RowSelection three, one;
  for (const auto* timed : rows) {
    if (timed->is("kernel", "three_phase")) three.push_back(timed);
  }
  // At the largest size that both were measured at.
  const std::set<std::string> several = {"hillis_steele", "three_phase", "reduce_then_scan", "batched"};
  std::int64_t n = 0;
  for (const auto* timed : rows) {
    if (several.contains(timed->cell("kernel"))) continue;
    one.push_back(timed);
    if (std::ranges::any_of(three, [&](const Timed* t) { return t->number("n") == timed->number("n"); }))
      n = std::max(n, timed->number("n"));
  }
  for (auto* some : {&three, &one})
    std::erase_if(*some, [&](const Timed* timed) { return timed->number("n") != n; });
  return [three, one](Resample clock) {
    const Timed* best = Writer::fastest(one, clock);
    auto out = ratio(Writer::fastest(three, clock), best, clock);
    if (out) out->note = fmt::format("{}, n={}", best->cell("kernel"), best->cell("n"));
    return out;
  };
}

// Default over best launch parameters, of the work of which most were tried.
DrawnNumber headroom(const Writer& w) {
  struct Tried {
    RowSelection rows;
    const Timed* standard = nullptr;
  };
  Tried most;
  for (const auto& family : w.families()) {
    std::map<std::string, Tried> works;
    for (const auto* timed : w.of(family.name)) {
      std::string work;
      bool standard = true;
      for (const auto& axis : family.axes) {
        const Value* value = timed->axis(axis.name);
        if (!axis.tunable) work.append(value != nullptr ? text_of(*value) : "").append("/");
        standard = standard && (!axis.tunable || (value != nullptr && *value == axis.values.front()));
      }
      Tried& tried = works[work];
      tried.rows.push_back(timed);
      if (standard) tried.standard = timed;
    }
    for (auto& [work, tried] : works) {
      if (tried.standard != nullptr && tried.rows.size() >= 4 && tried.rows.size() > most.rows.size())
        most = std::move(tried);
    }
  }
  return [tried = most](Resample clock) {
    const Timed* best = Writer::fastest(tried.rows, clock);
    auto out = ratio(tried.standard, best, clock);
    if (out)
      out->note = fmt::format("{} {}, {} launches", best->family(), best->cell("kernel"), tried.rows.size());
    return out;
  };
}

}  // namespace

Profile profile_of(const DeviceRows& rows, const std::vector<Family>& families) {
  Writer w(rows, families);
  const auto units = static_cast<double>(rows.results->compute_units);
  w.add_finding("lockstep_width", "items", "items in lock-step, by their times", "lanes", "lockstep_width");
  w.add("two_paths", "x", "time of two paths among neighbours over one", "lanes", two_paths(w));
  w.add("best_group", "items", "best work-group", "grayscale", best_group(w));
  w.add("group_plateau", "x", "largest over smallest group within 5 % of it", "grayscale", plateau(w));
  w.add("chains_needed", "chains", "per item for 90 % of peak with few items", "arithmetic",
        chains_needed(w));
  w.about(TraitGroup::memory);
  w.add_finding("mapping_penalty", "x", "time with neighbours a row apart over adjacent ones", "divergence",
                "coalescing_penalty");
  w.add("stride_penalty", "x", "time of strided reads over straight ones", "access", stride(w));
  w.add("vector_width", "words", "least vector with 97 % of the best copy", "copy", vector_width(w));
  w.add_finding("bytes_in_flight_unit", "B", "in flight per compute unit for 90 % of bandwidth", "occupancy",
                "bytes_in_flight_measured");
  if (units > 0) {
    w.add_finding("bytes_in_flight", "B", "in flight for 90 % of bandwidth", "occupancy",
                  "bytes_in_flight_measured", units);
  } else {
    w.add("bytes_in_flight", "B", "in flight for 90 % of bandwidth", "latency,arithmetic,occupancy",
          [](Resample) { return Writer::none(); });
  }
  w.add_finding("memory_latency", "ns", "dependent load in memory", "latency", "memory_latency");
  w.about(TraitGroup::synchronisation);
  w.add_finding("launch_latency", "us", "launch, back to back", "latency", "launch_latency", 1e-3);
  w.add_finding("round_trip_latency", "us", "launch that the host waits for", "latency", "round_trip_latency",
                1e-3);
  for (const auto& family : families) {
    w.about(family.trait_group);
    for (const auto& said : family.traits)
      w.add_finding(said.finding, said.unit, said.meaning, family.name, said.finding);
  }
  for (const auto& [ceiling, meaning] :
       {std::pair(Ceiling::copy, "copy, both directions"), std::pair(Ceiling::read, "read"),
        std::pair(Ceiling::local, "read of local memory"),
        std::pair(Ceiling::arithmetic_float, "multiply-adds of float"),
        std::pair(Ceiling::arithmetic_double, "multiply-adds of double"),
        std::pair(Ceiling::arithmetic_int, "multiply-adds of int")}) {
    w.about(of_arithmetic(ceiling) ? TraitGroup::formats : TraitGroup::memory);
    w.add(text_of(ceiling), unit_of(ceiling), meaning, "copy", w.ceiling(ceiling));
  }
  w.add("balance", "op/B", "float operations per byte read", "copy",
        [arithmetic_of = w.ceiling(Ceiling::arithmetic_float),
         read_of = w.ceiling(Ceiling::read)](Resample clock) -> std::optional<Answer> {
          const auto arithmetic = arithmetic_of(clock), read = read_of(clock);
          if (!arithmetic || !read) return {};
          return Answer{arithmetic->value / read->value, {arithmetic->from.front(), read->from.front()}, ""};
        });
  w.about(TraitGroup::algorithms);
  for (const std::string family : {"reduction", "scan", "compaction"}) {
    // Smaller ones may fit a cache.
    w.add("best_" + family, "of copy", "best " + family + ", its GB/s over those of a copy",
          family + " --set n=67108864", of_copy(w, family));
  }
  w.add("single_pass_gain", "x", "time of a scan in three phases over the best in one", "scan",
        single_pass(w));
  w.add("tuning_headroom", "x", "time of the default launch over the best", "copy --preset paper",
        headroom(w));
  return w.finish();
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
  if (!with_interval || !trait.range) return "undecided";
  return fmt::format("{} to {}, undecided", number_text(trait.range->first, unit),
                     number_text(trait.range->second, unit));
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

Table table_of(const std::vector<Profile>& cards) {
  std::vector<Table::Column> heads = {{"trait"}};
  for (std::size_t c = 0; c < cards.size(); ++c)
    heads.push_back({cards.size() == 1 ? "value" : letter_of(c), Align::right});
  heads.push_back({"unit"});
  if (cards.size() == 1) heads.push_back({"by", Align::left, Overflow::cut, 1});
  heads.push_back({"meaning", Align::left, Overflow::cut, 2});
  Table table(heads);
  std::optional<TraitGroup> group;
  for (std::size_t t = 0; t < cards.front().traits.size(); ++t) {
    const Trait& first = cards.front().traits[t];
    if (std::ranges::none_of(cards, [&](const Profile& card) { return card.traits[t].is_known(); })) continue;
    if (group != first.group) {
      std::vector<std::string> title(heads.size());
      title.front() = paint(title_of(first.group), Style::bold);
      table.add(std::move(title));
      group = first.group;
    }
    std::vector<std::string> cells = {paint(first.name, Style::cyan)};
    for (const auto& card : cards) cells.push_back(value_text(card.traits[t], cards.size() == 1));
    cells.push_back(unit_text(first));
    if (cards.size() == 1) cells.push_back(first.note);
    cells.push_back(first.meaning);
    table.add(std::move(cells));
  }
  return table;
}

// The runs that would tell what a card lacks, each once.
void add_missing(const Profile& card, Report& out) {
  std::map<std::string, std::vector<std::string>> by_command;
  for (const auto& trait : card.traits) {
    if (!trait.is_known()) by_command[trait.command].push_back(trait.name);
  }
  if (by_command.empty()) return;
  out.line();
  out.line(paint("not measured on " + card.device, Style::bold));
  for (const auto& [command, names] : by_command) {
    out.line("  " + paint(fmt::format("{}", fmt::join(names, ", ")), Style::dim));
    out.command("    " + command);
  }
}

void add_undecided(const Profile& card, Report& out) {
  for (const auto& trait : card.traits) {
    if (!trait.undecided.empty())
      out.line(fmt::format("{} of {} is undecided: {}", paint(trait.name, Style::cyan), card.device,
                           trait.undecided));
  }
}

void add_remarks(const Profile& card, Report& out) {
  for (const auto& trait : card.traits) {
    if (!trait.remark.empty())
      out.line(fmt::format("{} of {}: {}", paint(trait.name, Style::cyan), card.device, trait.remark));
  }
}

void add_cases(const Profile& card, Report& out) {
  out.line();
  out.line(paint("rows of " + card.device, Style::bold));
  for (const auto& trait : card.traits) {
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

void add_rows(const std::vector<Profile>& cards, Report& out) {
  out.columns({"device", "group", "trait", "value", "low", "high", "unit", "note", "meaning", "command",
               "cases", "remark"});
  out.rows([&cards](const std::function<void(Report::Row)>& take) {
    for (const auto& card : cards) {
      for (const auto& trait : card.traits) {
        const auto number = [](const std::optional<double>& value) {
          return value ? fmt::format("{}", *value) : std::string();
        };
        const auto [value, low, high] = numbers_of(trait);
        take({card.name, title_of(trait.group), trait.name, number(value), number(low), number(high),
              trait.unit, trait.undecided.empty() ? trait.note : trait.undecided, trait.meaning,
              trait.command, fmt::format("{}", fmt::join(trait.cases, ";")), trait.remark});
      }
    }
  });
}

nlohmann::json document_of(const std::vector<Profile>& cards) {
  const auto number = [](const std::optional<double>& value) {
    return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json(nullptr);
  };
  auto out = nlohmann::json::array();
  for (const auto& card : cards) {
    auto traits = nlohmann::json::array();
    for (const auto& trait : card.traits) {
      nlohmann::json entry = {{"group", title_of(trait.group)},
                              {"trait", trait.name},
                              {"unit", trait.unit},
                              {"meaning", trait.meaning}};
      if (trait.is_known()) {
        const auto [value, low, high] = numbers_of(trait);
        entry["value"] = number(value);
        entry["low"] = number(low);
        entry["high"] = number(high);
        entry["note"] = trait.note;
        entry["cases"] = trait.cases;
      } else {
        entry["command"] = trait.command;
      }
      if (!trait.undecided.empty()) entry["undecided"] = trait.undecided;
      if (!trait.remark.empty()) entry["remark"] = trait.remark;
      traits.push_back(std::move(entry));
    }
    out.push_back({{"device", card.name}, {"traits", std::move(traits)}});
  }
  return out;
}

}  // namespace

Report report_of(const std::vector<Profile>& cards, bool with_cases) {
  Report out;
  for (std::size_t c = 0; c < cards.size(); ++c)
    out.line((cards.size() == 1 ? "" : letter_of(c) + "  ") + paint(cards[c].name, Style::bold));
  out.line();
  out.table(table_of(cards));
  for (const auto& card : cards) add_undecided(card, out);
  for (const auto& card : cards) add_remarks(card, out);
  for (const auto& card : cards) {
    add_missing(card, out);
    if (with_cases) add_cases(card, out);
  }
  add_rows(cards, out);
  out.document([&cards] { return document_of(cards); });
  return out;
}

}  // namespace clweave::profile
