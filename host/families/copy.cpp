// SPDX-License-Identifier: Apache-2.0
// copy: how does the loop structure of a copy kernel affect bandwidth?
//
// After "Parallel Stream Compaction: [3] Loops and sequences" (Crazy on Cuda, 2018): no loop, grid-stride
// loops, and contiguous sequences per sub-group, among them those of Billeter, Olsson and Assarsson (2009).
// Published launch configurations that do not cover the array are form=known_incorrect.
//
// Rates count every element as read once and written once.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/curve_fit.hpp"
#include "families/shared/contents.hpp"
#include "families/shared/search_values.hpp"
#include "families/shared/work_groups.hpp"
#include "suite/device_size.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

constexpr std::int64_t published_n = 1 << 24;
constexpr std::int64_t billeter_groups = 120,
                       billeter_items = 128;  // 4 work-groups per multiprocessor of 2009
constexpr std::int64_t default_width = 4, default_work_group = 256, default_groups = 8192;
constexpr std::int64_t published_lanes = 32;

bool has_sequences(const Case& at) {
  return at.is("kernel", "warp_stride") || at.text("kernel").starts_with("billeter");
}

// Divides the vectors into sequences: each has `base` chunks, the first `extra` ones one more; the last is
// clipped to the array.
struct Split {
  std::uint32_t sequences, vectors, chunk, base, extra;

  std::uint64_t begin(std::uint64_t s) const {
    return std::min<std::uint64_t>(vectors, (s * base + std::min<std::uint64_t>(s, extra)) * chunk);
  }
  std::uint64_t end(std::uint64_t s) const { return s + 1 == sequences ? vectors : begin(s + 1); }
  std::uint64_t longest() const { return std::max(end(0), vectors - begin(sequences - 1)); }
};

Split split_of(const Case& at, std::uint64_t vectors, std::uint64_t sequences, std::uint64_t lanes) {
  const auto make = [&](std::uint64_t chunk, std::uint64_t base, std::uint64_t extra) {
    return Split{static_cast<std::uint32_t>(sequences), static_cast<std::uint32_t>(vectors),
                 static_cast<std::uint32_t>(chunk), static_cast<std::uint32_t>(base),
                 static_cast<std::uint32_t>(extra)};
  };
  if (at.is("kernel", "billeter")) return make(1, ceil_div(vectors, sequences), 0);
  if (at.is("kernel", "billeter_chag")) {
    const std::uint64_t chunks = vectors / lanes;
    return make(lanes, chunks / sequences, chunks % sequences);
  }
  if (at.is("split", "even")) return make(1, vectors / sequences, vectors % sequences);
  // Multiples of the sub-group size, so that every sequence is aligned for coalesced access.
  return make(lanes, ceil_div(ceil_div(vectors, lanes), sequences), 0);
}

// Returns the sequence length as the published tables print it, elsewhere by their formula.
std::uint64_t published_length(const Case& at, std::uint64_t vectors, std::uint64_t sequences) {
  if (at.is("kernel", "billeter") && at.number("n") == published_n) {
    if (at.number("width") == 1) return 32768;
    if (at.number("width") == 2) return 17464;
  }
  return vectors / sequences;
}

void need_trips(const DeviceInfo& device, std::uint64_t trips) {
  Plan::need(trips <= device.most_turns(),
             "the device silently leaves every loop after " + std::to_string(device.most_turns()) +
                 " iterations, and this one has " + std::to_string(trips) + ": use more groups");
}

// Adds the launches of the kernels with one sequence per sub-group.
void add_sequences(Plan& p, const Case& at, const DeviceInfo& device, Buffer out, Buffer in,
                   std::uint64_t lanes) {
  const auto n = static_cast<std::uint32_t>(at.number("n"));
  const auto group = static_cast<std::size_t>(at.number("group"));
  const std::size_t items = group * static_cast<std::size_t>(at.number("groups"));
  const std::uint64_t sequences = items / lanes;
  const std::uint64_t vectors = n / static_cast<std::uint64_t>(at.number("width"));
  Plan::need(sequences <= UINT32_MAX, "the kernels count to 4294967295 sequences");
  if (at.is("form", "known_incorrect")) {
    const std::uint64_t length = published_length(at, vectors, sequences);
    p.derive("sequence_size", static_cast<std::int64_t>(length));
    need_trips(device, length / lanes + 1);
    p.launch("sequences_published", {items}, {group}, out, in, static_cast<std::uint32_t>(length));
    return;
  }
  const Split split = split_of(at, vectors, sequences, lanes);
  p.derive("sequence_size", static_cast<std::int64_t>(split.longest()));
  need_trips(device, split.longest() / lanes + 1);
  if (at.is("setup", "outside")) {
    p.launch("sequences", {items}, {group}, out, in, n, split.chunk, split.base, split.extra);
    return;
  }
  const auto ends = p.output<std::uint32_t>(sequences);
  p.launch("split", {round_up(sequences, group)}, {group}, ends, split.sequences, split.vectors, split.chunk,
           split.base, split.extra);
  p.launch("sequences_read", {items}, {group}, out, in, ends, n);
  p.expect<std::uint32_t>(ends,
                          [split](std::uint64_t s) { return static_cast<std::uint32_t>(split.end(s)); });
}

// Returns the number of a configuration in the published searches and plots: by work-group size, then groups.
// They have none for one element per work-item, which is no loop.
std::optional<std::int64_t> published_index_of(const Case& at) {
  const std::int64_t group = at.number("group");
  if (at.number("n") != published_n || at.is("form", "known_incorrect")) return {};
  if (at.is("kernel", "no_loop") && group % 32 == 0 && group <= 1024) return group / 32;
  if (!at.is("kernel", "grid_stride") && !at.is("kernel", "warp_stride")) return {};
  const std::int64_t step = published_n / group / 32,
                     threads = std::countr_zero(static_cast<std::uint64_t>(group)) - 6;
  const bool searched =
      std::has_single_bit(static_cast<std::uint64_t>(group)) && group >= 64 && group <= 1024;
  if (!searched || at.number("groups") % step != 0 || at.number("groups") >= 32 * step) return {};
  return 31 * threads + at.number("groups") / step;
}

std::string fault_of(const Case& at) {
  if (at.is("kernel", "no_loop")) return "as published, the number of groups is rounded down";
  if (at.is("kernel", "warp_stride") && at.number("width") == 4)
    return "as published, the length of a sequence is rounded down (the 26 printed would leave the array)";
  return "as published, the length of a sequence is rounded down";
}

template <class T>
Plan plan(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  const auto width = static_cast<std::uint64_t>(at.number("width"));
  const auto group = static_cast<std::size_t>(at.number("group"));
  const auto ilp = static_cast<std::uint64_t>(at.number("ilp"));
  const std::string& kernel = at.text("kernel");
  const bool published = at.is("form", "known_incorrect");
  const std::int64_t lockstep = published ? published_lanes : std::max<std::int64_t>(device.lockstep, 1);
  const auto lanes = static_cast<std::uint64_t>(std::gcd(lockstep, at.number("group")));

  Plan p;
  p.define("T", type_name<T>()).define("W", std::to_string(width) + "u");
  p.define("V", type_name<T>() + (width == 1 ? "" : std::to_string(width)));
  p.define("LANES", std::to_string(lanes) + "u").define("ILP", std::to_string(ilp) + "u");
  if (at.is("store", "streaming")) p.define("STREAMING", 1);
  const Contents<T> value(at);
  const auto in = p.input<T>(n, value);
  const auto out = p.output<T>(n);
  const auto count = static_cast<std::uint32_t>(n);
  // At least one work-group, as the elements after the last full vector need a work-item too.
  const std::size_t vectors = std::max<std::size_t>(n / width, 1);
  if (has_sequences(at)) {
    p.derive("sequence_width", static_cast<std::int64_t>(lanes));
    add_sequences(p, at, device, out, in, lanes);
  } else if (kernel == "buffer") {
    p.steps.emplace_back(CopyBuffer{in, out, n * sizeof(T)});
  } else if (kernel == "grid_stride") {
    const std::size_t items = group * static_cast<std::size_t>(at.number("groups"));
    need_trips(device, vectors / items + 1);
    p.launch(kernel, {items}, {group}, out, in, count);
  } else if (published) {
    Plan::need(vectors >= group, "as published, it launches no work-group");
    p.launch("no_loop", {vectors / group * group}, {group}, out, in, count);
  } else {
    const std::size_t items = ceil_div(vectors, ilp);
    p.launch(kernel, {round_up(items, group)}, {group}, out, in, count);
  }
  if (const auto number = published_index_of(at)) p.derive("published_index", *number);
  p.expect<T>(out, value);
  p.cost = {.read = n * sizeof(T), .written = n * sizeof(T), .flops = 0, .items = n};
  if (at.is("contents", "random")) p.peak = Peak::copy;
  if (published) p.known_incorrect = fault_of(at);
  return p;
}

// Allows known-incorrect cases only in published configurations of one type, at sizes that they scale to.
// Keeps axes that a kernel ignores at their default.
bool is_valid(const Case& at) {
  const std::string& kernel = at.text("kernel");
  const bool billeter = kernel.starts_with("billeter");
  const bool loops = kernel == "grid_stride" || has_sequences(at);
  const bool published = at.is("form", "known_incorrect");
  if (billeter && (at.number("groups") != billeter_groups || at.number("group") != billeter_items))
    return false;
  if (!loops && at.number("groups") != default_groups) return false;
  if (kernel != "ilp" && at.number("ilp") != 1) return false;
  if (at.is("store", "streaming") && (kernel == "buffer" || billeter || published)) return false;
  if (at.is("setup", "inside") && (!has_sequences(at) || published)) return false;
  if (kernel == "buffer" && (at.number("width") != default_width ||
                             at.number("group") != default_work_group || !at.is("type", "uint")))
    return false;
  return !published ||
         (at.is("type", "uint") && (kernel == "no_loop" || kernel == "warp_stride" || kernel == "billeter"));
}

// Returns the published search: numbers of groups in steps of 1/32 of one element per work-item.
Sweeps published_search() {
  const Values widths = {1, 2, 4};
  Values threads;
  for (std::int64_t t = 32; t <= 1024; t += 32) threads.emplace_back(t);
  Sweeps sweeps = {"kernel=buffer", "kernel=no_loop width=" + widths + " group=" + threads};
  for (const char* kernel : {"grid_stride", "warp_stride"}) {
    for (std::int64_t group = 64; group <= 1024; group *= 2) {
      Values groups;
      for (std::int64_t k = 1; k <= 32; ++k) groups.emplace_back(k * (published_n / group / 32));
      sweeps.push_back("kernel=" + Values{kernel} + " width=" + widths + " group=" + Values(group) +
                       " groups=" + groups +
                       (Values{kernel} == Values{"warp_stride"} ? " split=even,aligned" : ""));
    }
  }
  // Adds a launch of the published summary, which has the time of 256 x 32768 in the search.
  sweeps.emplace_back("kernel=grid_stride width=1 group=800 groups=1024");
  sweeps.push_back("kernel=billeter,billeter_chag width=" + widths + " group=" + Values{billeter_items} +
                   " groups=" + Values{billeter_groups} + " setup=outside,inside");
  return sweeps;
}

// Returns the rows of the published tables that do not cover the array.
Sweeps published_known_incorrect() {
  return {"kernel=no_loop width=2 group=704 form=known_incorrect",
          "kernel=billeter width=1,2,4 group=" + Values{billeter_items} +
              " groups=" + Values{billeter_groups} + " form=known_incorrect",
          "kernel=warp_stride width=2,4 group=256 groups=38912 form=known_incorrect"};
}

// ---- Findings ---------------------------------------------------------------------------------------------

// Configurations of one kernel and width, in the order of the search.
using SearchSpace = std::vector<const Outcome*>;

std::string launch_text(const Outcome& o) {
  std::string text = std::to_string(o.at.number("group"));
  if (o.at.is("kernel", "grid_stride") || has_sequences(o.at))
    text += fmt::format("x{}", o.at.number("groups"));
  if (o.at.is("kernel", "no_loop"))
    text += fmt::format("x{}", ceil_div(std::max<std::int64_t>(o.at.number("n") / o.at.number("width"), 1),
                                        o.at.number("group")));
  if (o.at.is("kernel", "ilp")) text += " ilp " + std::to_string(o.at.number("ilp"));
  return text;
}

// Finds configurations faster than both neighbours in the search by more than their confidence intervals; by
// noise alone a third of all points would be.
SearchSpace local_minima(const SearchSpace& search) {
  const auto is_faster = [](const Outcome& one, const Outcome& other) {
    return one.high_s.value_or(one.time_s) < other.low_s.value_or(other.time_s);
  };
  SearchSpace minima;
  for (std::size_t i = 1; i + 1 < search.size(); ++i) {
    if (is_faster(*search[i], *search[i - 1]) && is_faster(*search[i], *search[i + 1]))
      minima.push_back(search[i]);
  }
  return minima;
}

// The times of a search as curves: over the number of groups, one for each group size, or over the group size
// where a kernel launches as many as there is work for.
std::vector<std::vector<double>> curves_of(const SearchSpace& search) {
  const bool has_groups = std::ranges::any_of(search, [&](const Outcome* o) {
    return o->at.number("groups") != search.front()->at.number("groups");
  });
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> curves;
  for (const auto* o : search)
    curves[{o->at.number("ilp"), has_groups ? o->at.number("group") : 0}].push_back(o->time_s);
  std::vector<std::vector<double>> out;
  for (auto& [at, times] : curves) out.push_back(std::move(times));
  return out;
}

// The regional minima of a search: valleys deeper than half a per cent, by which those of the published
// search differ.
struct Valleys {
  std::size_t launches = 0;  // searched
  std::size_t sure = 0;      // deeper than noise makes them on a level, and with ridges of several launches
  std::size_t possible = 0;
};

Valleys valleys_of(const SearchSpace& search) {
  constexpr double published_depth = 1.005;
  constexpr double range_of_noise = 5;  // standard deviations: hardly ever exceeded by normal noise to both
                                        // sides of one of some dozens of places
  const auto curves = curves_of(search);
  const double depth = std::max(published_depth, std::exp(range_of_noise * roughness(curves)));
  Valleys out{.launches = search.size()};
  for (const auto& times : curves) {
    out.sure += count_valleys(without_lone_peaks(times), depth);
    out.possible += count_valleys(times, published_depth);
  }
  return out;
}

Finding regional_minima(const std::string& name, const Valleys& valleys, const std::string& more = "") {
  Finding out{"regional_minima_" + name, static_cast<double>(valleys.sure), "minima",
              fmt::format("regional minima among {} launches, deeper than half a per cent and than noise{}",
                          valleys.launches, more)};
  out.low = out.value;
  out.high = static_cast<double>(std::max(valleys.sure, valleys.possible));
  return out;
}

// Adds the regional minima of the searches of both loops together, at each width of which there are both.
void add_minima_of_loops(std::vector<Finding>& out, const std::map<std::string, Valleys>& valleys) {
  const std::string_view grid_stride = "grid_stride_";
  for (const auto& [name, grid] : valleys) {
    if (!name.starts_with(grid_stride)) continue;
    const std::string width = name.substr(grid_stride.size());
    const auto other = valleys.find("warp_stride_even_" + width);
    if (other == valleys.end()) continue;
    const Valleys& warp = other->second;
    out.push_back(regional_minima(
        "loops_" + width,
        {grid.launches + warp.launches, grid.sure + warp.sure, grid.possible + warp.possible},
        fmt::format(": {} of grid-stride loops, {} of warp-stride loops", grid.sure, warp.sure)));
  }
}

// Says what a launch taken at random loses to the fastest, on average. The fastest of some dozens of equal
// ones is hardly ever more than three standard deviations faster by chance: so much less it may be.
Finding random_launch_cost(const std::string& name, const SearchSpace& search) {
  constexpr double luck_of_fastest = 3;
  double sum = 0, least = HUGE_VAL;
  for (const auto* o : search) {
    sum += o->time_s;
    least = std::min(least, o->time_s);
  }
  const double cost = sum / static_cast<double>(search.size()) / least;
  Finding out{"random_launch_cost_" + name, cost, "ratio",
              fmt::format("mean time of {} launches / the shortest, {}", search.size(), name)};
  out.low = cost / std::exp(luck_of_fastest * roughness(curves_of(search)));
  out.high = cost;
  return out;
}

std::string microseconds(double seconds) {
  const auto tenths = static_cast<std::int64_t>(std::llround(1e7 * seconds));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " us";
}

std::string speed_text(double bytes, double seconds) {
  return microseconds(seconds) + fmt::format(", {:.1f} GB/s", 1e-9 * bytes / seconds);
}

// Returns the key of the published best of such copies; empty if none was published: all published sequences
// are split evenly.
std::string published_key(const Case& at) {
  if (at.number("n") != published_n || (at.is("kernel", "warp_stride") && !at.is("split", "even"))) return "";
  return fmt::format("best_{}{}_width{}", at.text("kernel"), at.is("setup", "inside") ? "_inside" : "",
                     at.number("width"));
}

// Formats configuration, time, bandwidth and sequence size, as the published tables do.
std::string best_text(const Outcome& best, const DeviceInfo& device) {
  const auto bytes = as_double(best.bytes);
  std::string text = "best launch configuration " + launch_text(best) + ", " + speed_text(bytes, best.time_s);
  if (has_sequences(best.at)) {
    const Plan made = plan<std::uint32_t>(best.at, device);
    const auto size =
        std::ranges::find(made.derived, "sequence_size", [](const auto& column) { return column.first; });
    text += ", sequences of " + size->second;
  }
  return text;
}

// Asks for the best kernel and clEnqueueCopyBuffer at the device's size.
std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  const auto counts = [](const Case& at) {
    return at.is("type", "uint") && at.is("form", "corrected") && at.is("contents", "random") &&
           !at.is("kernel", "buffer");
  };
  auto out = at_device_size(outcomes, device, 1, plan<std::uint32_t>, counts);
  for (const auto& o : outcomes) {
    if (out.empty() || !o.at.is("kernel", "buffer") || !o.at.is("type", "uint") ||
        !o.at.is("contents", "random"))
      continue;
    out.push_back(o.at.with("n", out.front().at("n")));
    break;
  }
  return out;
}

// Adds findings of copies without a loop: the least vector width with 97 % of the best bandwidth, and the
// best work-group for one word per work-item.
void add_plain_copies(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  const auto is_plain = [](const Case& at) {
    return at.is("kernel", "no_loop") && at.is("type", "uint") && at.is("form", "corrected") &&
           !at.is("store", "streaming");
  };
  const std::int64_t n = common_size(outcomes, is_plain);
  std::map<std::int64_t, const Outcome*> fastest;  // by width
  std::vector<const Outcome*> scalar;
  for (const auto& o : outcomes) {
    if (!is_plain(o.at) || o.at.number("n") != n) continue;
    const Outcome*& entry = fastest[o.at.number("width")];
    if (entry == nullptr || o.time_s < entry->time_s) entry = &o;
    if (o.at.number("width") == 1) scalar.push_back(&o);
  }
  add_group_findings(out, scalar);
  if (fastest.size() < 2) return;
  const Outcome* best =
      std::ranges::min_element(fastest, {}, [](const auto& entry) { return entry.second->time_s; })->second;
  const auto least = std::ranges::find_if(
      fastest, [&](const auto& entry) { return best->time_s >= 0.97 * entry.second->time_s; });
  out.push_back(
      {.name = "vector_width",
       .value = static_cast<double>(least->first),
       .unit = "words",
       .text = fmt::format("vectors of {} elements reach 97 % of the best copy bandwidth", least->first),
       .from = {least->second, best}});
}

// Adds, at the most common n, the best configuration of each kernel and width, the spread, and the local
// minima of a search.
std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  const auto counts = [](const Case& at) {
    return at.is("type", "uint") && at.is("form", "corrected") && at.is("contents", "random");
  };
  const std::int64_t largest = common_size(outcomes, counts);
  // Looks each outcome's axes up once: a search may have 100 000 rows, and an interval concludes 200 times.
  using Place = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::map<std::string, std::vector<std::pair<Place, const Outcome*>>> searches;
  const Outcome* fastest = nullptr;
  const Outcome* buffer = nullptr;
  for (const auto& o : outcomes) {
    if (o.at.number("n") != largest || !counts(o.at)) continue;
    if (o.at.is("kernel", "buffer")) {
      buffer = &o;
      continue;
    }
    if (fastest == nullptr || o.time_s < fastest->time_s) fastest = &o;
    searches[o.at.text("kernel") + (o.at.is("setup", "inside") ? "_inside" : "") +
             (o.at.is("split", "even") ? "_even" : "") + "_width" + std::to_string(o.at.number("width"))]
        .emplace_back(Place(o.at.number("group"), o.at.number("groups"), o.at.number("ilp")), &o);
  }
  std::vector<Finding> out;
  if (buffer != nullptr && fastest != nullptr)
    out.push_back(ratio_of("best_over_buffer", *buffer, *fastest,
                           "bandwidth of the best copy, " + fastest->at.text("kernel") + " width " +
                               std::to_string(fastest->at.number("width")) + " " + launch_text(*fastest) +
                               " / that of clEnqueueCopyBuffer, n=" + std::to_string(largest)));
  std::map<std::string, Valleys> valleys;
  for (auto& [name, places] : searches) {
    if (!std::ranges::is_sorted(places, {}, &std::pair<Place, const Outcome*>::first))
      std::ranges::stable_sort(places, {}, &std::pair<Place, const Outcome*>::first);
    SearchSpace search;
    for (const auto& [place, outcome] : places) search.push_back(outcome);
    const auto [best, worst] =
        std::ranges::minmax_element(search, {}, [](const Outcome* o) { return o->time_s; });
    out.push_back({.name = "best_" + name,
                   .value = 1e6 * (*best)->time_s,
                   .unit = "us",
                   .text = best_text(**best, device),
                   .published = published_key((*best)->at)});
    if (search.size() < 8) continue;
    out.push_back(ratio_of("spread_" + name, **worst, **best,
                           "time of the worst of " + std::to_string(search.size()) +
                               " launch configurations, " + launch_text(**worst) + " / time of the best"));
    std::string list;
    const SearchSpace minima = local_minima(search);
    for (const auto* o : minima) {
      const auto number = published_index_of(o->at);
      list += fmt::format("{}{}{} {}", list.empty() ? "" : ", ", number ? fmt::format("#{} ", *number) : "",
                          launch_text(*o), microseconds(o->time_s));
    }
    out.push_back(regional_minima(name, valleys[name] = valleys_of(search)));
    out.push_back(random_launch_cost(name, search));
    out.push_back({"local_minima_" + name, static_cast<double>(minima.size()), "launches",
                   "faster than both neighbours in the search, beyond their intervals: " + list});
  }
  add_minima_of_loops(out, valleys);
  add_plain_copies(out, outcomes);
  return out;
}

}  // namespace

Family copy() {
  const Values kernels = {"no_loop", "grid_stride", "warp_stride",  "ilp",
                          "buffer",  "billeter",    "billeter_chag"};
  const Values types = {"uint", "uchar", "ulong", "float", "double"};
  const Values widths = {4, 1, 2, 8, 16};
  const Values ilps = {1, 2, 4, 8, 14};
  const Values work_groups = {256, 32, 64, 128, 512, 1024};
  const Values groups = {8192, 2, 8, 32, 120, 512, 2048, 4096, 16384, 32768, 65536, 131072};
  const Values both = {"outside", "inside"};
  const Values fixed_billeter = {"billeter", "billeter_chag"};
  Values powers;
  for (std::int64_t n = 1 << 10; n <= 1 << 30; n *= 2) powers.emplace_back(n);
  return {
      .name = "copy",
      .question = "How do loop structure and launch configuration of a copy kernel affect bandwidth?",
      .brief = "copy bandwidth by launch configuration",
      .axes =
          {{.name = "kernel",
            .meaning = "no_loop: one vector per work-item; grid_stride: a loop that steps by the number of "
                       "work-items; warp_stride: each sub-group copies one contiguous sequence; ilp: several "
                       "vectors per work-item, all loaded "
                       "before the first is stored; buffer: clEnqueueCopyBuffer; billeter: "
                       "warp_stride by 120 work-groups of 128 work-items, sequences of equal length "
                       "(Billeter 2009); billeter_chag: the same, of whole sub-group widths, as in the "
                       "authors' library",
            .values = kernels},
           {.name = "type",
            .meaning = "element type",
            .values = types,
            .alike = alike_within({{"uint", "float"}, {"ulong", "double"}})},
           {.name = "width",
            .meaning = "vector width, in elements",
            .values = widths,
            .tunable = true,
            .domain = powers_of_two(1, 16)},
           {.name = "group",
            .meaning = "work-items per work-group",
            .values = work_groups,
            .tunable = true,
            .domain = whole(1, 65536),
            .search_values = group_sizes},
           {.name = "groups",
            .meaning = "work-groups of a loop; the other kernels launch as many as n needs",
            .values = groups,
            .tunable = true,
            .domain = whole(1, 1 << 24),
            .when = [](const Case& at) { return at.is("kernel", "grid_stride") || has_sequences(at); },
            .search_values =
                [](const Case& at, const DeviceInfo& device) {
                  Values search_values = groups_by_unit(at, device);
                  search_values.emplace_back(default_groups);
                  return search_values;
                }},
           {.name = "ilp",
            .meaning = "vectors that a work-item of kernel ilp loads before it stores any",
            .values = ilps,
            .tunable = true,
            .domain = whole(1, 32),
            .when = [](const Case& at) { return at.is("kernel", "ilp"); }},
           {.name = "store",
            .meaning = "plain: ordinary stores; streaming: non-temporal ones, where the compiler has them",
            .values = {"plain", "streaming"},
            .tunable = true},
           {.name = "setup",
            .meaning = "partition into sequences: outside: computed before the timing; inside: by a launch "
                       "that is timed too",
            .values = both},
           {.name = "split",
            .meaning =
                "length of a warp_stride sequence: aligned: a multiple of the sub-group size; even: as "
                "published, vectors / sequences, rounded down or up",
            .values = {"aligned", "even"},
            .tunable = true,
            .when =
                [](const Case& at) { return at.is("kernel", "warp_stride") && at.is("form", "corrected"); }},
           {.name = "n",
            .meaning = "elements",
            .values = Values(published_n),
            .domain = whole(1, UINT32_MAX)},
           {.name = "form",
            .meaning = "corrected: copies the array; known_incorrect: a published configuration that does "
                       "not cover it",
            .values = {"corrected", "known_incorrect"}},
           axis_contents({})},
      .presets =
          {.smoke = {"kernel=no_loop width=1,4 group=64 n=1,63,64,65,1009",
                     "kernel=grid_stride,warp_stride width=1,4 group=64 groups=3 n=1,65,1009",
                     "kernel=ilp ilp=2 group=32 n=1,1009,4096",
                     "kernel=ilp ilp=14 width=1 group=32 n=1009,4096",
                     "kernel=no_loop type=" + types + " width=2 n=1009",
                     "kernel=no_loop type=" + types + " contents=ramp n=4099",
                     "kernel=no_loop type=uchar width=8,16 n=1009", "kernel=no_loop store=streaming n=1009",
                     "kernel=no_loop type=uchar,ulong width=1,2 store=streaming n=1009",
                     "kernel=buffer n=1,1009",
                     "kernel=warp_stride group=64,96 groups=3 setup=inside n=65,1009",
                     "kernel=warp_stride width=1,2 group=64 groups=3 setup=" + both + " split=even n=1,1009",
                     "kernel=billeter width=1 group=" + Values{billeter_items} +
                         " groups=" + Values{billeter_groups} + " n=20011",
                     "kernel=billeter_chag group=" + Values{billeter_items} +
                         " groups=" + Values{billeter_groups} + " setup=" + both + " n=20011",
                     "kernel=no_loop width=2 group=704 n=4096 form=known_incorrect",
                     "kernel=billeter width=1 group=" + Values{billeter_items} +
                         " groups=" + Values{billeter_groups} + " n=4096 form=known_incorrect"},
           .quick = {"kernel=buffer n=" + Values{published_n},
                     "kernel=no_loop width=1,4 n=" + Values{published_n},
                     "kernel=ilp width=4 ilp=1,4 n=" + Values{published_n},
                     "kernel=no_loop width=16 store=streaming n=" + Values{published_n},
                     "kernel=grid_stride width=1,4 groups=512,8192 n=" + Values{published_n},
                     "kernel=warp_stride width=1,4 n=" + Values{published_n},
                     "kernel=" + fixed_billeter + " group=" + Values{billeter_items} +
                         " groups=" + Values{billeter_groups} + " n=" + Values{published_n},
                     "kernel=billeter setup=inside group=" + Values{billeter_items} +
                         " groups=" + Values{billeter_groups} + " n=" + Values{published_n}},
           .profile = {"kernel=buffer n=" + Values{published_n},
                       "kernel=no_loop width=1,4 n=" + Values{published_n}},
           // Twice the work-groups of one size, and as many of twice the size.
           .paper = published_search() +
                    Sweeps{"kernel=no_loop width=1 group=128,256 n=" + Values{published_n, 2 * published_n}} +
                    published_known_incorrect(),
           .full =
               Sweeps{"kernel=buffer,no_loop,ilp,grid_stride,warp_stride ilp=1,4 n=" + powers,
                      "kernel=" + fixed_billeter + " group=" + Values{billeter_items} +
                          " groups=" + Values{billeter_groups} + " n=" + powers,
                      "kernel=no_loop,ilp,grid_stride,warp_stride type=" + types + " width=" + widths +
                          " ilp=1,4 n=" + Values{published_n},
                      "kernel=ilp width=" + widths + " ilp=" + ilps + " n=134217728",
                      "kernel=buffer,no_loop,grid_stride contents=zeros,constant,ramp n=16777216,134217728",
                      // No power of two, and a prime.
                      "kernel=no_loop,ilp,grid_stride,warp_stride width=1,2,4 n=16000000,16777213,134217689",
                      "kernel=" + fixed_billeter + " width=1,2,4 group=" + Values{billeter_items} +
                          " groups=" + Values{billeter_groups} + " setup=" + both +
                          " n=16000000,16777213,134217689"} +
               published_known_incorrect(),
           .tune = {"kernel=no_loop,grid_stride,warp_stride,buffer", "kernel=ilp ilp=4"}},
      .view = {.rows = {"kernel", "type", "width"},
               .columns = {"n"},
               .quantity = "rate",
               .chapter = "Copy",
               .graphs = {{.name = "every launch configuration",
                           .kind = Graph::Kind::launches,
                           .x = {"width", "group", "groups"},
                           .series = {"kernel"}},
                          {.name = "search space",
                           .x = {"groups"},
                           .series = {"group"},
                           .apart = {"kernel", "width"},
                           .where = {"kernel=grid_stride,warp_stride"}},
                          {.name = "size", .x = {"n"}, .series = {"kernel"}}},
               .headline = true,
               .reference_of = Peak::copy},
      .derived = {{"sequence_width", "work-items that process one sequence together"},
                  {"sequence_size", "vectors of the longest sequence"},
                  {"published_index", "number of the configuration in the published search and its chart"}},
      .is_valid = is_valid,
      .plan = for_types<std::uint32_t, std::uint8_t, std::uint64_t, float, double>(
          []<class T>(const Case& at, const DeviceInfo& device) { return plan<T>(at, device); }),
      .refine = refine,
      .findings = findings,
      .traits = {{"best_group", "items", "fastest work-group size of the copy"},
                 {"group_plateau", "x", "largest / smallest work-group size within 5 % of the fastest"},
                 {"vector_width", "words", "smallest vector width with 97 % of the best copy bandwidth",
                  TraitGroup::memory}}};
}

}  // namespace clweave::families
