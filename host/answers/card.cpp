// SPDX-License-Identifier: Apache-2.0
#include "answers/card.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/csv.hpp"
#include "base/quantity.hpp"
#include "base/table.hpp"

namespace clweave {

namespace {

using Picked = std::vector<const Timed*>;

std::string cell(const Timed& timed, const std::string& axis) {
  const auto it = timed.axes.find(axis);
  return it != timed.axes.end() ? it->second : "";
}

std::int64_t number(const Timed& timed, const std::string& axis) {
  const Value value = value_of(cell(timed, axis));
  const auto* n = std::get_if<std::int64_t>(&value);
  return n != nullptr ? *n : 0;
}

// One way to see a card grow: each trait is a number that follows from the rows of one family.
class Writer {
 public:
  Writer(const DeviceRows& rows, const std::vector<Family>& families) : rows_(rows), families_(families) {}

  // What a number came from.
  struct Answer {
    double value;
    Picked from = {};
    std::string note = {};
  };
  using Number = std::function<std::optional<Answer>(Clock)>;

  void add(const std::string& name, const std::string& unit, const std::string& meaning,
           const std::string& family, const Number& number_of) {
    Trait trait{name, meaning, unit, {}, "", {}, ""};
    const auto value = [&](Clock clock) -> std::optional<double> {
      const auto answer = number_of(clock);
      if (!answer) return {};
      return answer->value;
    };
    trait.figure = figure(rows_, value);
    if (trait.figure) {
      const auto answer = number_of(rows_.clocks.front());
      trait.note = answer->note;
      for (const auto* timed : answer->from) trait.cases.push_back(timed->record->case_id);
    } else {
      trait.command = fmt::format("clweave run --device \"{}\" --family {}", rows_.device, family);
    }
    card_.traits.push_back(std::move(trait));
  }

  // A finding of a family, which sees all rows of it that `counts` takes.
  void add_finding(const std::string& name, const std::string& unit, const std::string& meaning,
                   const std::string& family, const std::string& finding, double scale = 1,
                   const std::function<bool(const Timed&)>& counts = {}) {
    add(name, unit, meaning, family, [=, this](Clock clock) -> std::optional<Answer> {
      const auto it = std::ranges::find(families_, family, &Family::name);
      if (it == families_.end() || !it->findings) return {};
      const Picked rows = of(family, counts);
      for (const auto& found : it->findings(outcomes_of(*it, rows, clock), device_of(rows_))) {
        if (found.name == finding && found.value) return Answer{scale * *found.value, rows, ""};
      }
      return {};
    });
  }

  Picked of(const std::string& family, const std::function<bool(const Timed&)>& counts = {}) const {
    Picked out;
    for (const auto& timed : rows_.timed) {
      if (timed.record->family == family && (!counts || counts(timed))) out.push_back(&timed);
    }
    // Of one clock, the one of most rows.
    const auto by_device =
        std::ranges::count_if(out, [](const Timed* t) { return cell(*t, timer_axis) == "event"; });
    const std::string timer = 2 * by_device >= std::ssize(out) ? "event" : "host";
    std::erase_if(out, [&](const Timed* timed) { return cell(*timed, timer_axis) != timer; });
    return out;
  }

  // Those of the largest n among them.
  static Picked largest(const Picked& rows) {
    std::int64_t most = 0;
    for (const auto* timed : rows) most = std::max(most, number(*timed, "n"));
    Picked out;
    std::ranges::copy_if(rows, std::back_inserter(out),
                         [&](const Timed* timed) { return number(*timed, "n") == most; });
    return out;
  }

  static const Timed* fastest(const Picked& rows, Clock clock) {
    const auto it =
        std::ranges::min_element(rows, {}, [&](const Timed* timed) { return clock[timed->index]; });
    return it != rows.end() ? *it : nullptr;
  }

  // The highest rate of the rows that have one.
  static std::optional<Answer> best_rate(const Picked& rows, clweave::Number Record::*rate, Clock clock) {
    std::optional<Answer> out;
    for (const auto* timed : rows) {
      if (!(timed->record->*rate)) continue;
      const double value = *(timed->record->*rate) * *timed->record->time_s / clock[timed->index];
      if (!out || value > out->value) out = Answer{value, {timed}, ""};
    }
    return out;
  }

  std::optional<Answer> ceiling(Ceiling ceiling, Clock clock) const {
    return best_rate(of("ceiling", [&](const Timed& timed) { return timed.record->ceiling == ceiling; }),
                     of_arithmetic(ceiling) ? &Record::gflop_per_s : &Record::gb_per_s, clock);
  }

  Card finish() {
    card_.device = rows_.device;
    card_.name = rows_.name();
    return std::move(card_);
  }

  const DeviceRows& rows() const { return rows_; }
  const std::vector<Family>& families() const { return families_; }

 private:
  const DeviceRows& rows_;
  const std::vector<Family>& families_;
  Card card_;
};

using Answer = Writer::Answer;

std::optional<Answer> ratio(const Timed* of, const Timed* to, Clock clock) {
  if (of == nullptr || to == nullptr) return {};
  return Answer{clock[of->index] / clock[to->index], {of, to}, ""};
}

// Two paths dealt item by item over one path.
std::optional<Answer> two_paths(const Writer& w, Clock clock) {
  const auto of_paths = [&](std::int64_t paths) {
    return Writer::fastest(Writer::largest(w.of("lanes",
                                                [&](const Timed& timed) {
                                                  return number(timed, "paths") == paths &&
                                                         number(timed, "granularity") == 1;
                                                })),
                           clock);
  };
  return ratio(of_paths(2), of_paths(1), clock);
}

// Every stride-th element is read instead of each.
std::optional<Answer> stride(const Writer& w, Clock clock) {
  const auto line = w.of("access", [](const Timed& timed) {
    return cell(timed, "kernel") == "line" && cell(timed, "type") == "uint" &&
           number(timed, "group") == 256 && number(timed, "offset") == 0;
  });
  const Picked rows = Writer::largest(line);
  const Timed* straight = nullptr;
  const Timed* apart = nullptr;
  for (const auto* timed : rows) {
    if (cell(*timed, "side") == "neither") straight = timed;
    if (cell(*timed, "side") == "read" &&
        (apart == nullptr || number(*timed, "stride") > number(*apart, "stride")))
      apart = timed;
  }
  auto out = ratio(apart, straight, clock);
  if (out) out->note = "stride " + cell(*apart, "stride");
  return out;
}

Picked plain_copies(const Writer& w) {
  return Writer::largest(w.of("copy", [](const Timed& timed) {
    return cell(timed, "kernel") == "no_loop" && cell(timed, "type") == "uint" &&
           cell(timed, "store") != "streaming";
  }));
}

// The least width with 97 % of the best rate.
std::optional<Answer> vector_width(const Writer& w, Clock clock) {
  std::map<std::int64_t, const Timed*> best;
  const Picked rows = plain_copies(w);
  for (const auto* timed : rows) {
    const Timed*& entry = best[number(*timed, "width")];
    if (entry == nullptr || clock[timed->index] < clock[entry->index]) entry = timed;
  }
  const Timed* fastest = Writer::fastest(rows, clock);
  if (best.size() < 2) return {};
  for (const auto& [width, timed] : best) {
    if (clock[fastest->index] >= 0.97 * clock[timed->index])
      return Answer{static_cast<double>(width), {timed, fastest}, ""};
  }
  return {};
}

// Rows of one launch that differ in their group alone: of copies where there are enough, else of grayscale.
std::map<std::int64_t, const Timed*> groups(const Writer& w, Clock clock) {
  std::map<std::int64_t, const Timed*> out;
  const auto gather = [&](const Picked& rows) {
    out.clear();
    for (const auto* timed : rows) {
      const Timed*& entry = out[number(*timed, "group")];
      if (entry == nullptr || clock[timed->index] < clock[entry->index]) entry = timed;
    }
  };
  Picked scalar = plain_copies(w);
  std::erase_if(scalar, [](const Timed* timed) { return number(*timed, "width") != 1; });
  gather(scalar);
  if (out.size() >= 4) return out;
  const Picked naive = w.of("grayscale", [](const Timed& timed) {
    return cell(timed, "kernel") == "naive" && cell(timed, "pitch") == "tight" &&
           cell(timed, "image") == "2272x1704";
  });
  gather(naive);
  return out.size() >= 4 ? out : std::map<std::int64_t, const Timed*>();
}

std::optional<Answer> best_group(const Writer& w, Clock clock) {
  const auto by_group = groups(w, clock);
  if (by_group.empty()) return {};
  const auto best =
      *std::ranges::min_element(by_group, {}, [&](const auto& entry) { return clock[entry.second->index]; });
  return Answer{static_cast<double>(best.first), {best.second}, best.second->record->family};
}

// The largest group over the smallest that is within 5 % of the best, without a worse one between.
std::optional<Answer> plateau(const Writer& w, Clock clock) {
  const auto by_group = groups(w, clock);
  const auto best = best_group(w, clock);
  if (!best) return {};
  const double limit = 1.05 * clock[best->from.front()->index];
  auto low = by_group.find(static_cast<std::int64_t>(best->value)), high = low;
  while (low != by_group.begin() && clock[std::prev(low)->second->index] <= limit) --low;
  while (std::next(high) != by_group.end() && clock[std::next(high)->second->index] <= limit) ++high;
  Picked from;
  for (auto it = low; it != std::next(high); ++it) from.push_back(it->second);
  return Answer{static_cast<double>(high->first) / static_cast<double>(low->first), from,
                fmt::format("{} to {} items", low->first, high->first)};
}

// Of few items: one group of at most 128 per compute unit.
std::optional<Answer> chains_needed(const Writer& w, Clock clock) {
  const auto floats = w.of("arithmetic", [](const Timed& timed) {
    return cell(timed, "type") == "float" && cell(timed, "operation") == "mad" && timed.record->gflop_per_s;
  });
  const auto peak = Writer::best_rate(floats, &Record::gflop_per_s, clock);
  std::int64_t items = 0;
  for (const auto* timed : floats) {
    if (number(*timed, "groups_per_unit") == 1 && number(*timed, "width") == 1 &&
        number(*timed, "group") <= 128)
      items = std::max(items, number(*timed, "group"));
  }
  std::map<std::int64_t, Picked> by_ilp;
  for (const auto* timed : floats) {
    if (number(*timed, "groups_per_unit") == 1 && number(*timed, "width") == 1 &&
        number(*timed, "group") == items)
      by_ilp[number(*timed, "ilp")].push_back(timed);
  }
  if (!peak || by_ilp.size() < 3) return {};
  std::optional<Answer> most;
  for (const auto& [ilp, rows] : by_ilp) {
    const auto rate = Writer::best_rate(rows, &Record::gflop_per_s, clock);
    if (rate->value >= 0.9 * peak->value)
      return Answer{
          static_cast<double>(ilp), {rate->from.front(), peak->from.front()}, fmt::format("{} items", items)};
    if (!most || rate->value > most->value) most = rate;
  }
  return Answer{HUGE_VAL,
                {most->from.front(), peak->from.front()},
                fmt::format("{} items reach {:.0f} %", items, 100 * most->value / peak->value)};
}

std::optional<Answer> of_copy(const Writer& w, const std::string& family, Clock clock) {
  const auto copy = w.ceiling(Ceiling::copy, clock);
  Picked rows = w.of(family);
  std::erase_if(rows, [](const Timed* timed) { return timed->record->cached == "yes"; });
  // What an algorithm moves in vain is no merit.
  std::erase_if(rows, [](const Timed* timed) {
    const std::string kernel = cell(*timed, "kernel");
    return kernel == "hillis_steele" || kernel == "encode" || cell(*timed, "task") == "round_trip" ||
           cell(*timed, "tuple") > "1" || cell(*timed, "scan_order") > "1";
  });
  auto best = Writer::best_rate(rows, &Record::gb_per_s, clock);
  if (!copy || !best) return {};
  const Timed& row = *best->from.front();
  best->value /= copy->value;
  best->note = fmt::format("{} {}", cell(row, "kernel"), cell(row, "type"));
  best->from.push_back(copy->from.front());
  return best;
}

std::optional<Answer> single_pass(const Writer& w, Clock clock) {
  const Picked rows = w.of("scan", [](const Timed& timed) {
    return cell(timed, "type") == "uint" && cell(timed, "op") == "sum" &&
           cell(timed, "form") == "inclusive" && cell(timed, "task") == "scan" &&
           cell(timed, "scan_order") == "1" && cell(timed, "tuple") == "1" && cell(timed, "drop") == "0";
  });
  Picked three, one;
  for (const auto* timed : rows) {
    if (cell(*timed, "kernel") == "three_phase") three.push_back(timed);
  }
  three = Writer::largest(three);  // single passes may have been measured at larger sizes alone
  if (three.empty()) return {};
  const std::set<std::string> several = {"hillis_steele", "three_phase", "reduce_then_scan", "batched"};
  for (const auto* timed : rows) {
    if (!several.contains(cell(*timed, "kernel")) && cell(*timed, "n") == cell(*three.front(), "n"))
      one.push_back(timed);
  }
  const Timed* best = Writer::fastest(one, clock);
  auto out = ratio(Writer::fastest(three, clock), best, clock);
  if (out) out->note = fmt::format("{}, n={}", cell(*best, "kernel"), cell(*best, "n"));
  return out;
}

// Default over best launch parameters, of the work of which most were tried.
std::optional<Answer> headroom(const Writer& w, Clock clock) {
  struct Tried {
    Picked rows;
    const Timed* standard = nullptr;
  };
  std::map<std::string, Tried> works;
  for (const auto& family : w.families()) {
    for (const auto* timed : w.of(family.name)) {
      std::string work = family.name;
      bool standard = true;
      for (const auto& axis : family.axes) {
        const std::string value = cell(*timed, axis.name);
        if (!axis.tunable) work += " " + axis.name + "=" + value;
        standard = standard && (!axis.tunable || value == text_of(axis.values.front()));
      }
      works[work].rows.push_back(timed);
      if (standard) works[work].standard = timed;
    }
  }
  const Tried* most = nullptr;
  for (const auto& [work, tried] : works) {
    if (tried.standard != nullptr && tried.rows.size() >= 4 &&
        (most == nullptr || tried.rows.size() > most->rows.size()))
      most = &tried;
  }
  if (most == nullptr) return {};
  const Timed* best = Writer::fastest(most->rows, clock);
  auto out = ratio(most->standard, best, clock);
  out->note =
      fmt::format("{} {}, {} launches", best->record->family, cell(*best, "kernel"), most->rows.size());
  return out;
}

}  // namespace

Card card_of(const DeviceRows& rows, const std::vector<Family>& families) {
  Writer w(rows, families);
  const auto units = static_cast<double>(rows.compute_units);
  w.add_finding("lockstep_width", "items", "items in lock-step, by their times", "lanes", "lockstep_width");
  w.add("two_paths", "x", "time of two paths among neighbours over one", "lanes",
        [&](Clock clock) { return two_paths(w, clock); });
  w.add_finding("mapping_penalty", "x", "time with neighbours a row apart over adjacent ones", "divergence",
                "coalescing_penalty");
  w.add("stride_penalty", "x", "time of strided reads over straight ones", "access",
        [&](Clock clock) { return stride(w, clock); });
  w.add("vector_width", "words", "least vector with 97 % of the best copy", "copy",
        [&](Clock clock) { return vector_width(w, clock); });
  w.add("best_group", "items", "best work-group", "grayscale",
        [&](Clock clock) { return best_group(w, clock); });
  w.add("group_plateau", "x", "largest over smallest group within 5 % of it", "grayscale",
        [&](Clock clock) { return plateau(w, clock); });
  w.add_finding("bytes_in_flight_unit", "B", "in flight per compute unit for 90 % of bandwidth", "occupancy",
                "bytes_in_flight_measured");
  if (units > 0) {
    w.add_finding("bytes_in_flight", "B", "in flight for 90 % of bandwidth", "occupancy",
                  "bytes_in_flight_measured", units);
  } else {
    w.add("bytes_in_flight", "B", "in flight for 90 % of bandwidth", "latency,arithmetic,occupancy",
          [](Clock) { return std::optional<Answer>(); });
  }
  w.add("chains_needed", "chains", "per item for 90 % of peak with few items", "arithmetic",
        [&](Clock clock) { return chains_needed(w, clock); });
  w.add_finding("cache_1_latency", "ns", "dependent load in the first level", "latency", "cache_1_latency");
  w.add_finding("cache_1_bytes", "B", "which holds", "latency", "cache_1_bytes");
  w.add_finding("cache_2_latency", "ns", "dependent load in the second level", "latency", "cache_2_latency");
  w.add_finding("cache_2_bytes", "B", "which holds", "latency", "cache_2_bytes");
  w.add_finding("memory_latency", "ns", "dependent load in memory", "latency", "memory_latency");
  w.add_finding("launch_latency", "us", "launch, back to back", "latency", "launch_latency", 1e-3);
  w.add_finding("round_trip_latency", "us", "launch that the host waits for", "latency", "round_trip_latency",
                1e-3);
  for (const auto& family : families) {
    for (const auto& said : family.on_card)
      w.add_finding(said.finding, said.unit, said.meaning, family.name, said.finding);
  }
  for (const auto& [name, kernel, meaning] :
       {std::tuple("atomics_one", "atomic_one", "atomic additions to one counter"),
        std::tuple("atomics_item", "atomic_item", "atomic additions to one's own counter")}) {
    w.add(name, "G/s", meaning, "latency", [&w, kernel = kernel](Clock clock) {
      return Writer::best_rate(
          w.of("latency", [&](const Timed& timed) { return cell(timed, "kernel") == kernel; }),
          &Record::gitems_per_s, clock);
    });
  }
  for (const auto& [ceiling, meaning] :
       {std::pair(Ceiling::copy, "copy, both directions"), std::pair(Ceiling::read, "read"),
        std::pair(Ceiling::local, "read of local memory"),
        std::pair(Ceiling::arithmetic_float, "multiply-adds of float"),
        std::pair(Ceiling::arithmetic_double, "multiply-adds of double"),
        std::pair(Ceiling::arithmetic_int, "multiply-adds of int")}) {
    w.add(text_of(ceiling), unit_of(ceiling), meaning, "copy",
          [&w, ceiling = ceiling](Clock clock) { return w.ceiling(ceiling, clock); });
  }
  w.add("balance", "op/B", "float operations per byte read", "copy",
        [&](Clock clock) -> std::optional<Answer> {
          auto arithmetic = w.ceiling(Ceiling::arithmetic_float, clock);
          const auto read = w.ceiling(Ceiling::read, clock);
          if (!arithmetic || !read) return {};
          return Answer{arithmetic->value / read->value, {arithmetic->from.front(), read->from.front()}, ""};
        });
  for (const std::string family : {"reduction", "scan", "compaction"}) {
    // Smaller ones may fit a cache.
    w.add("best_" + family, "of copy", "best " + family + ", its GB/s over those of a copy",
          family + " --set n=67108864", [&w, family](Clock clock) { return of_copy(w, family, clock); });
  }
  w.add("single_pass_gain", "x", "time of a scan in three phases over the best in one", "scan",
        [&](Clock clock) { return single_pass(w, clock); });
  w.add("tuning_headroom", "x", "time of the default launch over the best", "copy --preset paper",
        [&](Clock clock) { return headroom(w, clock); });
  return w.finish();
}

namespace {

std::string number_text(double value, const std::string& unit) {
  if (std::isinf(value)) return "not reached";
  if (unit == "B") return bytes_text(value);
  return std::abs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

// "23.4 (23.1 to 23.7) ns".
std::string figure_text(const Trait& trait) {
  if (!trait.figure) return "";
  const auto& [value, low, high] = *trait.figure;
  std::string out = number_text(value, trait.unit);
  const std::string from = number_text(low, trait.unit), to = number_text(high, trait.unit);
  if (from != to) out += fmt::format(" ({} to {})", from, to);
  return out;
}

std::string unit_text(const Trait& trait) { return trait.unit == "B" ? "" : trait.unit; }

Table table_of(const std::vector<Card>& cards, bool colour) {
  std::vector<Table::Column> heads = {{"trait"}};
  for (std::size_t c = 0; c < cards.size(); ++c)
    heads.push_back(
        {cards.size() == 1 ? "value" : std::string(1, static_cast<char>('A' + c % 26)), Align::right});
  heads.push_back({"unit"});
  if (cards.size() == 1) heads.push_back({"by"});
  heads.push_back({"meaning"});
  Table table(heads);
  for (std::size_t t = 0; t < cards.front().traits.size(); ++t) {
    const Trait& first = cards.front().traits[t];
    if (std::ranges::none_of(cards, [&](const Card& card) { return card.traits[t].figure.has_value(); }))
      continue;
    std::vector<std::string> cells = {paint(first.name, Style::cyan, colour)};
    for (const auto& card : cards) {
      const Trait& trait = card.traits[t];
      cells.push_back(cards.size() == 1 ? figure_text(trait)
                      : !trait.figure   ? "-"
                                        : number_text(trait.figure->value, trait.unit));
    }
    cells.push_back(unit_text(first));
    if (cards.size() == 1) cells.push_back(first.note);
    cells.push_back(first.meaning);
    table.add(std::move(cells));
  }
  return table;
}

// The runs that would tell what a card lacks, each once.
std::string missing_text(const Card& card, bool colour) {
  std::map<std::string, std::vector<std::string>> by_command;
  for (const auto& trait : card.traits) {
    if (!trait.figure) by_command[trait.command].push_back(trait.name);
  }
  std::string out;
  for (const auto& [command, names] : by_command)
    out += fmt::format("  {}\n    {}\n", paint(fmt::format("{}", fmt::join(names, ", ")), Style::dim, colour),
                       command);
  return out.empty() ? out : paint("not measured on " + card.device, Style::bold, colour) + "\n" + out;
}

}  // namespace

std::string fingerprint_text(const std::vector<Card>& cards, const Screen& screen, bool with_cases) {
  std::string out;
  for (std::size_t c = 0; c < cards.size(); ++c) {
    const std::string letter = cards.size() == 1 ? "" : fmt::format("{}  ", static_cast<char>('A' + c % 26));
    out += fmt::format("{}{}\n", letter, paint(cards[c].name, Style::bold, screen.colour));
  }
  out += "\n" + table_of(cards, screen.colour).text(screen.colour);
  for (const auto& card : cards) {
    if (const std::string rest = missing_text(card, screen.colour); !rest.empty()) out += "\n" + rest;
    if (!with_cases) continue;
    out += "\n" + paint("rows of " + card.device, Style::bold, screen.colour) + "\n";
    for (const auto& trait : card.traits) {
      if (trait.cases.empty()) continue;
      out += "  " + trait.name + "\n";
      for (const auto& id : trait.cases) out += "    " + id + "\n";
    }
  }
  return out;
}

std::string fingerprint_markdown(const std::vector<Card>& cards) {
  std::string out;
  for (std::size_t c = 0; c < cards.size(); ++c) {
    const std::string letter = cards.size() == 1 ? "" : fmt::format("{}: ", static_cast<char>('A' + c % 26));
    out += fmt::format("* {}{}\n", letter, cards[c].name);
  }
  return out + "\n" + table_of(cards, false).markdown();
}

std::string fingerprint_csv(const std::vector<Card>& cards) {
  std::string out = csv_line(std::vector<std::string>{"device", "trait", "value", "low", "high", "unit",
                                                      "note", "meaning", "command", "cases"});
  for (const auto& card : cards) {
    for (const auto& trait : card.traits) {
      const auto number = [&](double Figure::*member) {
        return trait.figure ? fmt::format("{}", *trait.figure.*member) : std::string();
      };
      out += csv_line(std::vector<std::string>{card.name, trait.name, number(&Figure::value),
                                               number(&Figure::low), number(&Figure::high), trait.unit,
                                               trait.note, trait.meaning, trait.command,
                                               fmt::format("{}", fmt::join(trait.cases, ";"))});
    }
  }
  return out;
}

std::string fingerprint_json(const std::vector<Card>& cards) {
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
  };
  auto out = nlohmann::json::array();
  for (const auto& card : cards) {
    auto traits = nlohmann::json::array();
    for (const auto& trait : card.traits) {
      nlohmann::json entry = {{"trait", trait.name}, {"unit", trait.unit}, {"meaning", trait.meaning}};
      if (trait.figure) {
        entry["value"] = number(trait.figure->value);
        entry["low"] = number(trait.figure->low);
        entry["high"] = number(trait.figure->high);
        entry["note"] = trait.note;
        entry["cases"] = trait.cases;
      } else {
        entry["command"] = trait.command;
      }
      traits.push_back(std::move(entry));
    }
    out.push_back({{"device", card.name}, {"traits", std::move(traits)}});
  }
  return out.dump(2) + "\n";
}

}  // namespace clweave
