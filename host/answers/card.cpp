// SPDX-License-Identifier: Apache-2.0
#include "answers/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "answers/short_names.hpp"
#include "base/quantity.hpp"
#include "base/table.hpp"

namespace clweave {

namespace {

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
      const auto answer = number_of(rows_.measured());
      trait.note = answer->note;
      for (const auto* timed : answer->from) trait.cases.push_back(timed->name->id);
    } else {
      trait.command = fmt::format("clweave run --device \"{}\" --family {}", rows_.results->name, family);
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
    for (const auto* timed : rows_.of(family)) {
      if (!counts || counts(*timed)) out.push_back(timed);
    }
    // Of one clock, the one of most rows.
    const auto by_device =
        std::ranges::count_if(out, [](const Timed* t) { return t->is(timer_axis, "event"); });
    const char* timer = 2 * by_device >= std::ssize(out) ? "event" : "host";
    std::erase_if(out, [&](const Timed* timed) { return !timed->is(timer_axis, timer); });
    return out;
  }

  // Those of the largest n among them.
  static Picked largest(const Picked& rows) {
    std::int64_t most = 0;
    for (const auto* timed : rows) most = std::max(most, timed->number("n"));
    Picked out;
    std::ranges::copy_if(rows, std::back_inserter(out),
                         [&](const Timed* timed) { return timed->number("n") == most; });
    return out;
  }

  static const Timed* fastest(const Picked& rows, Clock clock) {
    const auto it =
        std::ranges::min_element(rows, {}, [&](const Timed* timed) { return clock[timed->index]; });
    return it != rows.end() ? *it : nullptr;
  }

  // The highest rate of the rows that have one.
  static std::optional<Answer> best_rate(const Picked& rows, clweave::Number RunTime::*rate, Clock clock) {
    std::optional<Answer> out;
    for (const auto* timed : rows) {
      if (!(timed->any->*rate)) continue;
      const double value = *(timed->any->*rate) * timed->any->time_s / clock[timed->index];
      if (!out || value > out->value) out = Answer{value, {timed}, ""};
    }
    return out;
  }

  std::optional<Answer> ceiling(Ceiling ceiling, Clock clock) const {
    return best_rate(of("ceiling", [&](const Timed& timed) { return timed.any->ceiling == ceiling; }),
                     of_arithmetic(ceiling) ? &RunTime::gflop_per_s : &RunTime::gb_per_s, clock);
  }

  Card finish() {
    card_.device = rows_.results->name;
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
                                                  return timed.number("paths") == paths &&
                                                         timed.number("granularity") == 1;
                                                })),
                           clock);
  };
  return ratio(of_paths(2), of_paths(1), clock);
}

// Every stride-th element is read instead of each.
std::optional<Answer> stride(const Writer& w, Clock clock) {
  const auto line = w.of("access", [](const Timed& timed) {
    return timed.is("kernel", "line") && timed.is("type", "uint") && timed.number("group") == 256 &&
           timed.number("offset") == 0;
  });
  const Picked rows = Writer::largest(line);
  const Timed* straight = nullptr;
  const Timed* apart = nullptr;
  for (const auto* timed : rows) {
    if (timed->is("side", "neither")) straight = timed;
    if (timed->is("side", "read") && (apart == nullptr || timed->number("stride") > apart->number("stride")))
      apart = timed;
  }
  auto out = ratio(apart, straight, clock);
  if (out) out->note = "stride " + apart->cell("stride");
  return out;
}

Picked plain_copies(const Writer& w) {
  return Writer::largest(w.of("copy", [](const Timed& timed) {
    return timed.is("kernel", "no_loop") && timed.is("type", "uint") && !timed.is("store", "streaming");
  }));
}

// The least width with 97 % of the best rate.
std::optional<Answer> vector_width(const Writer& w, Clock clock) {
  std::map<std::int64_t, const Timed*> best;
  const Picked rows = plain_copies(w);
  for (const auto* timed : rows) {
    const Timed*& entry = best[timed->number("width")];
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
      const Timed*& entry = out[timed->number("group")];
      if (entry == nullptr || clock[timed->index] < clock[entry->index]) entry = timed;
    }
  };
  Picked scalar = plain_copies(w);
  std::erase_if(scalar, [](const Timed* timed) { return timed->number("width") != 1; });
  gather(scalar);
  if (out.size() >= 4) return out;
  const Picked naive = w.of("grayscale", [](const Timed& timed) {
    return timed.is("kernel", "naive") && timed.is("pitch", "tight") && timed.is("image", "2272x1704");
  });
  gather(naive);
  return out.size() >= 4 ? out : std::map<std::int64_t, const Timed*>();
}

std::optional<Answer> best_group(const Writer& w, Clock clock) {
  const auto by_group = groups(w, clock);
  if (by_group.empty()) return {};
  const auto best =
      *std::ranges::min_element(by_group, {}, [&](const auto& entry) { return clock[entry.second->index]; });
  return Answer{static_cast<double>(best.first), {best.second}, best.second->family()};
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
    return timed.is("type", "float") && timed.is("operation", "mad") && timed.any->gflop_per_s;
  });
  const auto peak = Writer::best_rate(floats, &RunTime::gflop_per_s, clock);
  std::int64_t items = 0;
  for (const auto* timed : floats) {
    if (timed->number("groups_per_unit") == 1 && timed->number("width") == 1 && timed->number("group") <= 128)
      items = std::max(items, timed->number("group"));
  }
  std::map<std::int64_t, Picked> by_ilp;
  for (const auto* timed : floats) {
    if (timed->number("groups_per_unit") == 1 && timed->number("width") == 1 &&
        timed->number("group") == items)
      by_ilp[timed->number("ilp")].push_back(timed);
  }
  if (!peak || by_ilp.size() < 3) return {};
  std::optional<Answer> most;
  for (const auto& [ilp, rows] : by_ilp) {
    const auto rate = Writer::best_rate(rows, &RunTime::gflop_per_s, clock);
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
  std::erase_if(rows, [](const Timed* timed) { return timed->any->cached; });
  // What an algorithm moves in vain is no merit.
  std::erase_if(rows, [](const Timed* timed) {
    const std::string kernel = timed->cell("kernel");
    return kernel == "hillis_steele" || kernel == "encode" || timed->is("task", "round_trip") ||
           timed->number("tuple") > 1 || timed->number("scan_order") > 1;
  });
  auto best = Writer::best_rate(rows, &RunTime::gb_per_s, clock);
  if (!copy || !best) return {};
  const Timed& row = *best->from.front();
  best->value /= copy->value;
  best->note = fmt::format("{} {}", row.cell("kernel"), row.cell("type"));
  best->from.push_back(copy->from.front());
  return best;
}

std::optional<Answer> single_pass(const Writer& w, Clock clock) {
  const Picked rows = w.of("scan", [](const Timed& timed) {
    return timed.is("type", "uint") && timed.is("op", "sum") && timed.is("form", "inclusive") &&
           timed.is("task", "scan") && timed.number("scan_order") == 1 && timed.number("tuple") == 1 &&
           timed.number("drop") == 0;
  });
  Picked three, one;
  for (const auto* timed : rows) {
    if (timed->is("kernel", "three_phase")) three.push_back(timed);
  }
  three = Writer::largest(three);  // single passes may have been measured at larger sizes alone
  if (three.empty()) return {};
  const std::set<std::string> several = {"hillis_steele", "three_phase", "reduce_then_scan", "batched"};
  for (const auto* timed : rows) {
    if (!several.contains(timed->cell("kernel")) && timed->number("n") == three.front()->number("n"))
      one.push_back(timed);
  }
  const Timed* best = Writer::fastest(one, clock);
  auto out = ratio(Writer::fastest(three, clock), best, clock);
  if (out) out->note = fmt::format("{}, n={}", best->cell("kernel"), best->cell("n"));
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
        const std::string value = timed->cell(axis.name);
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
  out->note = fmt::format("{} {}, {} launches", best->family(), best->cell("kernel"), most->rows.size());
  return out;
}

}  // namespace

Card card_of(const DeviceRows& rows, const std::vector<Family>& families) {
  Writer w(rows, families);
  const auto units = static_cast<double>(rows.results->compute_units);
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
          w.of("latency", [&](const Timed& timed) { return timed.is("kernel", kernel); }),
          &RunTime::gitems_per_s, clock);
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

// The unit stands in a column of its own; bytes have one each.
std::string own_unit(const Trait& trait) { return trait.unit == "B" ? "B" : ""; }

std::string unit_text(const Trait& trait) { return trait.unit == "B" ? "" : trait.unit; }

Table table_of(const std::vector<Card>& cards) {
  std::vector<Table::Column> heads = {{"trait"}};
  for (std::size_t c = 0; c < cards.size(); ++c)
    heads.push_back({cards.size() == 1 ? "value" : letter_of(c), Align::right});
  heads.push_back({"unit"});
  if (cards.size() == 1) heads.push_back({"by", Align::left, Give::cut, 1});
  heads.push_back({"meaning", Align::left, Give::cut, 2});
  Table table(heads);
  for (std::size_t t = 0; t < cards.front().traits.size(); ++t) {
    const Trait& first = cards.front().traits[t];
    if (std::ranges::none_of(cards, [&](const Card& card) { return card.traits[t].figure.has_value(); }))
      continue;
    std::vector<std::string> cells = {paint(first.name, Style::cyan)};
    for (const auto& card : cards) {
      const Trait& trait = card.traits[t];
      cells.push_back(!trait.figure      ? "-"
                      : cards.size() > 1 ? number_text(trait.figure->value, own_unit(trait))
                                         : figure_text(trait.figure->value, trait.figure->low,
                                                       trait.figure->high, own_unit(trait)));
    }
    cells.push_back(unit_text(first));
    if (cards.size() == 1) cells.push_back(first.note);
    cells.push_back(first.meaning);
    table.add(std::move(cells));
  }
  return table;
}

// The runs that would tell what a card lacks, each once.
void add_missing(const Card& card, Report& out) {
  std::map<std::string, std::vector<std::string>> by_command;
  for (const auto& trait : card.traits) {
    if (!trait.figure) by_command[trait.command].push_back(trait.name);
  }
  if (by_command.empty()) return;
  out.line();
  out.line(paint("not measured on " + card.device, Style::bold));
  for (const auto& [command, names] : by_command) {
    out.line("  " + paint(fmt::format("{}", fmt::join(names, ", ")), Style::dim));
    out.command("    " + command);
  }
}

void add_cases(const Card& card, Report& out) {
  out.line();
  out.line(paint("rows of " + card.device, Style::bold));
  for (const auto& trait : card.traits) {
    if (trait.cases.empty()) continue;
    out.line("  " + trait.name);
    for (const auto& id : trait.cases) out.command("    " + id);
  }
}

void add_rows(const std::vector<Card>& cards, Report& out) {
  out.columns({"device", "trait", "value", "low", "high", "unit", "note", "meaning", "command", "cases"});
  for (const auto& card : cards) {
    for (const auto& trait : card.traits) {
      const auto number = [&](double Figure::*member) {
        return trait.figure ? fmt::format("{}", *trait.figure.*member) : std::string();
      };
      out.row({card.name, trait.name, number(&Figure::value), number(&Figure::low), number(&Figure::high),
               trait.unit, trait.note, trait.meaning, trait.command,
               fmt::format("{}", fmt::join(trait.cases, ";"))});
    }
  }
}

nlohmann::json document_of(const std::vector<Card>& cards) {
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
  return out;
}

}  // namespace

Report report_of(const std::vector<Card>& cards, bool with_cases) {
  Report out;
  for (std::size_t c = 0; c < cards.size(); ++c)
    out.line((cards.size() == 1 ? "" : letter_of(c) + "  ") + paint(cards[c].name, Style::bold));
  out.line();
  out.table(table_of(cards));
  for (const auto& card : cards) {
    add_missing(card, out);
    if (with_cases) add_cases(card, out);
  }
  add_rows(cards, out);
  out.document(document_of(cards));
  return out;
}

}  // namespace clweave
