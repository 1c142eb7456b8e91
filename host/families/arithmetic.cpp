// SPDX-License-Identifier: Apache-2.0
// arithmetic: how much occupancy and how much ILP reach peak arithmetic throughput?
//
// Volkov's experiment ("Better performance at lower occupancy", 2010), as taught by Vuduc (2014): dependency
// chains of x = x * scale + shift. More work-items hide the latency, and so does ILP, more chains per
// work-item; one work-group per compute unit shows how much is needed. A multiply-add counts as two
// operations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/curve_fit.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

// Storage and chain of a type. Integers wrap, with a random scale. Floats have scale and shift 1, so every
// step is exact and they count the steps. Halves are exact to 2048 only, so their scale is -1 and they
// alternate.
struct Half {};
template <class T>
struct Chain {
  using Stored = T;
  static std::string type() { return type_name<T>(); }
  static Stored stored(T x) { return x; }
  static T start(std::uint64_t seed, std::uint64_t i) {
    if constexpr (std::is_integral_v<T>) return Random<T>(seed, 1)(i);
    return static_cast<T>(Random<std::uint8_t>(seed, 1)(i));
  }
  static T scale(std::uint64_t seed) {
    if constexpr (std::is_integral_v<T>) return Random<T>(seed, 2)(0) | T{1};
    return 1;
  }
  static T shift(std::uint64_t seed) {
    if constexpr (std::is_integral_v<T>) return Random<T>(seed, 2)(1);
    return 1;
  }
};
template <>
struct Chain<Half> {
  using Stored = std::uint16_t;
  static std::string type() { return "half"; }
  // Integers below 2048.
  static Stored stored(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if (x == 0) return 0;
    return static_cast<Stored>(((bits >> 16) & 0x8000U) | (((bits >> 13) - (112U << 10)) & 0x7FFFU));
  }
  static float start(std::uint64_t seed, std::uint64_t i) {
    return static_cast<float>((Random<std::uint8_t>(seed, 1)(i) >> 2) + 1);
  }
  static float scale(std::uint64_t) { return -1; }
  static float shift(std::uint64_t) { return 3; }
};

// Composes `steps` steps of x * scale + shift into one.
template <class T>
std::pair<T, T> steps_in_one(T scale, T shift, std::uint64_t steps) {
  T factor = 1, term = 0;
  for (; steps > 0; steps /= 2) {
    if (steps % 2 == 1) {
      term = static_cast<T>(term * scale + shift);
      factor = static_cast<T>(factor * scale);
    }
    shift = static_cast<T>(shift * scale + shift);
    scale = static_cast<T>(scale * scale);
  }
  return {factor, term};
}

template <class T>
Plan plan_of_type(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  using Of = Chain<T>;
  using Stored = typename Of::Stored;
  if constexpr (std::is_same_v<T, Half>)
    Plan::need(device.fp16, "the device has no half precision (cl_khr_fp16)");
  // The chains' sum must stay below 2^24, where floats are still exact.
  const std::uint64_t ilp = at.count("ilp"), unroll = at.count("unroll"), trips = at.count("iterations");
  const std::uint64_t group = at.count("group"), per_unit = at.count("groups_per_cu");
  const std::uint64_t width = at.count("width");
  Plan::need(trips % unroll == 0, "iterations must be a multiple of unroll");
  const std::uint64_t items = device.units() * per_unit * group, n = items * width;

  Plan p;
  p.define("T", Of::type()).define("V", Of::type() + (width > 1 ? std::to_string(width) : ""));
  p.define("OPERATION", at.is("operation", "mad") ? 0 : at.is("operation", "fma") ? 1 : 2);
  if constexpr (std::is_integral_v<T>) p.define("OPERATION", 2);
  p.define("ILP", static_cast<std::int64_t>(ilp)).define("UNROLL", static_cast<std::int64_t>(unroll));
  const auto in =
      p.input<Stored>(n, [seed = at.seed](std::uint64_t i) { return Of::stored(Of::start(seed, i)); });
  const auto out = p.output<Stored>(n);
  const auto scale = Of::scale(at.seed), shift = Of::shift(at.seed);
  p.launch("chains", {items}, {group}, out, in, Of::stored(scale), Of::stored(shift),
           static_cast<std::uint32_t>(trips / unroll));
  using Number = std::remove_const_t<decltype(scale)>;
  const auto [factor, term] = steps_in_one<Number>(scale, shift, trips);
  p.expect<Stored>(out, [=, seed = at.seed, factor = factor, term = term](std::uint64_t i) {
    Number sum = 0;
    for (std::uint64_t k = 0; k < ilp; ++k)
      sum = static_cast<Number>(sum + (Of::start(seed, i) + static_cast<Number>(k)) * factor + term);
    return Of::stored(sum);
  });
  p.cost = {
      .read = n * sizeof(Stored), .written = n * sizeof(Stored), .flops = n * ilp * 2 * trips, .items = n};
  // Leaves half without a peak: family peak measures none, as not every device has the type.
  if constexpr (!std::is_same_v<T, Half>) {
    using SampleSet = std::conditional_t<std::is_integral_v<T>, std::make_signed<T>, std::type_identity<T>>;
    p.peak = enum_named<Peak>("arithmetic_" + type_name<typename SampleSet::type>()).value();
  }
  p.derive("chains_per_group", static_cast<std::int64_t>(group * ilp * width));
  return p;
}

// The operands of int and long wrap, so they are unsigned on the device.
Plan plan(const Case& at, const DeviceInfo& device) {
  if (at.is("type", "half")) return plan_of_type<Half>(at, device);
  return for_types<float, double, std::int32_t, std::int64_t>(
      []<class T>(const Case& c, const DeviceInfo& d) {
        if constexpr (std::is_integral_v<T>)
          return plan_of_type<std::make_unsigned_t<T>>(c, d);
        else
          return plan_of_type<T>(c, d);
      })(at, device);
}

double in_flight(const Case& at) {
  return static_cast<double>(at.number("group") * at.number("ilp") * at.number("width"));
}

bool is_alone(const Case& at) {
  return at.is("operation", "mad") && at.number("groups_per_cu") == 1 && at.number("width") == 1;
}

double plateau_of(const Rates& rates) {
  return std::ranges::max_element(rates, {}, &Rates::value_type::second)->second;
}

// Estimates the launch overhead from the shortest pair of cases that differ in iterations only; 0 without
// one.
double launch_seconds(const std::vector<Outcome>& outcomes) {
  std::map<std::string, std::map<double, double>> times;  // by trips
  for (const auto& o : outcomes) {
    if (!is_alone(o.at)) continue;
    Case but_trips = o.at;
    std::erase_if(but_trips.axes, [](const auto& axis) { return axis.first == "iterations"; });
    times[but_trips.id()][static_cast<double>(o.at.number("iterations"))] = o.time_s;
  }
  double least = std::numeric_limits<double>::max(), launch = 0;
  for (const auto& [id, by_trips] : times) {
    if (by_trips.size() < 2) continue;
    const auto [few, time] = *by_trips.begin();
    const auto [many, longer] = *std::next(by_trips.begin());
    if (time >= least) continue;
    least = time;
    launch = std::max(0.0, time - (longer - time) / (many - few) * few);
  }
  return launch;
}

// Derives from one work-group per compute unit the latency of a step, the chains in flight that Little's law
// predicts for the highest rate, and those measured for 90 % of it. Where more work-items bring nothing
// because they are serialised, as on CPUs, only one work-item's chains count.
void add_little(std::vector<Finding>& out, const std::vector<Outcome>& outcomes, const std::string& type) {
  const double launch_s = launch_seconds(outcomes);
  const auto rate = [&](const Outcome& o) {  // steps per second of a compute unit
    return in_flight(o.at) * static_cast<double>(o.at.number("groups_per_cu") * o.at.number("iterations")) /
           (o.time_s - std::min(launch_s, o.time_s / 2));
  };
  Rates by_items;  // with one chain per work-item
  std::size_t alone = 0;
  for (const auto& o : outcomes) {
    if (!o.at.is("type", type) || !is_alone(o.at)) continue;
    ++alone;
    if (o.at.number("ilp") != 1) continue;
    double& fastest = by_items[static_cast<double>(o.at.number("group"))];
    fastest = std::max(fastest, rate(o));
  }
  if (alone < 4 || by_items.size() < 2) return;
  const bool turns = by_items.rbegin()->second < 2 * by_items.begin()->second;

  Rates rates;  // by chains
  double best = 0;
  for (const auto& o : outcomes) {
    if (!o.at.is("type", type) || o.at.number("width") != 1) continue;
    best = std::max(best, rate(o));
    if (!turns && !is_alone(o.at)) continue;
    double& fastest = rates[turns ? static_cast<double>(o.at.number("ilp")) : in_flight(o.at)];
    fastest = std::max(fastest, rate(o));
  }
  const double latency = rates.begin()->first / rates.begin()->second, predicted = best * latency;
  out.push_back({"latency_" + type, 1e9 * latency, "ns",
                 fmt::format("latency of a dependent {} multiply-add {:.3g} ns", type, 1e9 * latency)});
  std::string text = turns ? "work-items are serialised: " : "";
  text += fmt::format(
      "by Little's law a compute unit needs {:.4g} {} dependency chains: {:.3g} ns latency times {:.4g} "
      "steps per ns",
      predicted, type, 1e9 * latency, 1e-9 * best);
  const auto needed = where_reached(rates, 0.9 * best);
  if (!needed)
    text += fmt::format("; the most measured, {}, reached {:.0f} %", rates.rbegin()->first,
                        100 * rates.rbegin()->second / best);
  out.push_back({"concurrency_predicted_" + type, predicted, "chains", text});
  if (needed) {
    text = fmt::format("{:.4g} {} dependency chains reach 90 % of the best{}: {:.2f} of the prediction",
                       needed->at, type, needed->between(best), needed->at / predicted);
    // Little's law again, from the rate at that point: only a different latency explains the difference.
    if (needed->at > 2 * predicted || 2 * needed->at < predicted)
      text += fmt::format(", as a step takes {:.4g} ns there", 1e9 * needed->at / (0.9 * best));
    out.push_back({"concurrency_measured_" + type, needed->at, "chains", text});
  }
  if (turns) return;
  // As in the slides: ILP 1, whose plateau lies below the peak if occupancy alone does not reach it.
  const double plateau = plateau_of(by_items);
  const auto begins = where_reached(by_items, 0.9 * plateau);
  if (begins && begins->from.first < by_items.rbegin()->first)  // else it may still rise
    out.push_back({.name = "plateau_begins_" + type,
                   .value = begins->at,
                   .unit = "items",
                   .text = fmt::format(
                       "with ILP 1 ({}), {:.4g} work-items reach 90 % of their plateau{}: {:.2f} of latency "
                       "times issue rate",
                       type, begins->at, begins->between(plateau), begins->at / predicted),
                   .published = "plateau_begins_" + type});
}

double steps_per_second(const Outcome& o) {
  return in_flight(o.at) * static_cast<double>(o.at.number("iterations")) / o.time_s;
}

// The rates of float chains with one group per compute unit, by items, for a number of chains each.
Rates rates_by_items(const std::vector<Outcome>& outcomes, std::int64_t ilp) {
  Rates out;
  for (const auto& o : outcomes) {
    if (!o.at.is("type", "float") || !is_alone(o.at) || o.at.number("ilp") != ilp) continue;
    double& fastest = out[static_cast<double>(o.at.number("group"))];
    fastest = std::max(fastest, steps_per_second(o));
  }
  return out;
}

// Returns why the items at which a rate is reached cannot be told; empty if they can.
std::string unseen(const Rates& rates, double rate) {
  const auto there = where_reached(rates, rate);
  if (!there || there->below.first > 0) return "";
  return fmt::format("group={}, the smallest measured, has the rate already: smaller ones may, too",
                     there->from.first);
}

// Compares the items at which one chain each reaches its plateau with Little's law: latency, from the fewest
// items, times the best rate of any number of chains. Where a plateau begins is a matter of taste, so that
// the interval spans 90 to 98 % of it, and how the curve bends between two places.
void add_plateau_over_little(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  const Rates rates = rates_by_items(outcomes, 1);
  if (rates.size() < 3) return;
  double best = 0;
  for (const auto& o : outcomes) {
    if (o.at.is("type", "float") && is_alone(o.at)) best = std::max(best, steps_per_second(o));
  }
  const double predicted = rates.begin()->first * best / rates.begin()->second;
  Finding found{"plateau_over_little", {}, "ratio", ""};
  for (const double fraction : {0.90, 0.95, 0.98}) {
    const double rate = fraction * plateau_of(rates);
    found.text = unseen(rates, rate);
    const auto begins = where_reached(rates, rate);
    if (found.text.empty() && begins->from.first >= rates.rbegin()->first)
      found.text = fmt::format("no plateau is seen: at group={} it may still rise", rates.rbegin()->first);
    if (!found.text.empty()) {
      found.value = found.low = found.high = {};
      break;
    }
    const double ratio = begins->at / predicted;
    if (fraction == 0.95) found.value = ratio;
    found.low = std::min(found.low.value_or(ratio), begins->at_least / predicted);
    found.high = std::max(found.high.value_or(ratio), ratio);
  }
  if (found.value)
    found.text = fmt::format(
        "with one dependency chain each, {:.4g} work-items reach 95 % of their plateau; latency times issue "
        "rate is {:.4g}",
        *found.value * predicted, predicted);
  out.push_back(std::move(found));
}

// Compares the items that one chain each needs with those that four chains need for the same rate: 90 % of
// the lower of both plateaus, as what reaches half as much with as few is not as good.
void add_items_over_chains(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  const Rates one = rates_by_items(outcomes, 1), four = rates_by_items(outcomes, 4);
  if (one.size() < 3 || four.size() < 3) return;
  const double rate = 0.9 * std::min(plateau_of(one), plateau_of(four));
  Finding found{"items_of_1_over_4_chains", {}, "ratio", unseen(one, rate)};
  if (found.text.empty()) found.text = unseen(four, rate);
  if (found.text.empty()) {
    const auto of = where_reached(one, rate), to = where_reached(four, rate);
    found.value = of->at / to->at;
    found.low = of->at_least / to->at;
    found.high = of->at / to->at_least;
    found.text =
        fmt::format("{:.4g} work-items with one dependency chain each, {:.4g} with four, for the same rate",
                    of->at, to->at);
  }
  out.push_back(std::move(found));
}

// Returns the peak that fractions refer to: the measured one if the row has it, else its own rate.
double peak_beside(const Outcome& o, double rate) {
  return rate / std::min(1.0, o.fraction_of_peak.value_or(1));
}

// Compares full occupancy with ILP 1, 2 .. with the peak.
void add_items_alone(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  std::map<std::string, std::map<std::int64_t, double>>
      rates;  // by type and ilp, many work-groups per compute unit
  std::map<std::string, double> best;
  for (const auto& o : outcomes) {
    const double rate = as_double(o.flops) / o.time_s;
    double& most = best[o.at.text("type")];
    most = std::max(most, peak_beside(o, rate));
    if (o.at.number("groups_per_cu") < 2 || o.at.number("width") != 1) continue;
    double& fastest = rates[o.at.text("type")][o.at.number("ilp")];
    fastest = std::max(fastest, rate);
  }
  for (const auto& [type, by_ilp] : rates) {
    if (!by_ilp.contains(1) || best[type] == 0) continue;
    std::vector<std::string> fractions;
    for (const auto& [ilp, rate] : by_ilp)
      fractions.push_back(fmt::format("{}: {:.2f}", ilp, rate / best[type]));
    out.push_back(
        {"items_alone_" + type, by_ilp.at(1) / best[type], "of peak",
         fmt::format("fraction of {} peak at full occupancy, by ILP: {}", type, fmt::join(fractions, ", "))});
  }
}

// Estimates the launch overhead from cases with two numbers of iterations: the least over such pairs, and at
// most half of the shorter time.
double least_launch_seconds(const std::vector<const Outcome*>& outcomes) {
  std::optional<double> out;
  for (const auto* few : outcomes) {
    for (const auto* many : outcomes) {
      const bool alike = std::ranges::all_of(std::array{"ilp", "group", "unroll"}, [&](const char* axis) {
        return many->at.number(axis) == few->at.number(axis);
      });
      const std::int64_t less = few->at.number("iterations"), more = many->at.number("iterations");
      if (!alike || more <= less) continue;
      const double of_steps =
          (many->time_s - few->time_s) * static_cast<double>(less) / static_cast<double>(more - less);
      const double beside_s = std::clamp(few->time_s - of_steps, 0.0, few->time_s / 2);
      out = std::min(out.value_or(beside_s), beside_s);
    }
  }
  return out.value_or(0);
}

// Finds the ILP needed for 90 % of peak at low occupancy: one work-group of at most 128 per compute unit.
// Such launches are short, so their overhead is subtracted.
void add_ilp_needed(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  const auto rate = [](const Outcome& o) { return 1e-9 * as_double(o.flops) / o.time_s; };
  const Outcome* peak = nullptr;
  std::vector<const Outcome*> few;
  std::int64_t items = 0;
  for (const auto& o : outcomes) {
    if (!o.at.is("type", "float") || !o.at.is("operation", "mad") || o.flops.value_or(0) == 0) continue;
    if (peak == nullptr || rate(o) > rate(*peak)) peak = &o;
    if (!is_alone(o.at) || o.at.number("group") > 128) continue;
    few.push_back(&o);
    items = std::max(items, o.at.number("group"));
  }
  std::map<std::int64_t, const Outcome*> by_ilp;  // the fastest of each
  for (const auto* o : few) {
    if (o->at.number("group") != items) continue;
    const Outcome*& entry = by_ilp[o->at.number("ilp")];
    if (entry == nullptr || rate(*o) > rate(*entry)) entry = o;
  }
  if (by_ilp.size() < 3) return;
  const double beside_s = least_launch_seconds(few);
  const auto of_peak = [&](const Outcome& o) {
    return rate(o) * o.time_s / std::max(o.time_s - beside_s, o.time_s / 2) / rate(*peak);
  };
  Finding found{.name = "ilp_needed",
                .value = HUGE_VAL,
                .unit = "chains",
                .text = "ILP for 90 % of peak with one small work-group per compute unit"};
  const auto enough =
      std::ranges::find_if(by_ilp, [&](const auto& entry) { return of_peak(*entry.second) >= 0.9; });
  if (enough != by_ilp.end()) {
    found.value = static_cast<double>(enough->first);
    found.note = fmt::format("{} work-items", items);
    found.from = {enough->second, peak};
  } else {
    const auto& [ilp, best] =
        *std::ranges::max_element(by_ilp, {}, [&](const auto& entry) { return of_peak(*entry.second); });
    found.note = fmt::format("{} work-items reach {:.0f} %", items, 100 * of_peak(*best));
    found.from = {best, peak};
  }
  found.text += ": " + found.note;
  out.push_back(std::move(found));
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  const auto units = static_cast<double>(device.units());
  const auto rate = [&](const Outcome& o) {
    return 2e-9 * units * in_flight(o.at) *
           static_cast<double>(o.at.number("groups_per_cu") * o.at.number("iterations")) / o.time_s;
  };
  std::map<std::string, double> peaks;  // Gop/s by type
  double peak_of_float = 0;             // measured, if known
  std::map<std::int64_t, double> plateaus,
      of_32;  // float, one work-group per compute unit, by ilp; with 32 work-items
  for (const auto& o : outcomes) {
    double& peak = peaks[o.at.text("type")];
    peak = std::max(peak, rate(o));
    if (!o.at.is("type", "float")) continue;
    peak_of_float = std::max(peak_of_float, peak_beside(o, rate(o)));
    if (o.at.number("groups_per_cu") != 1 || o.at.number("width") != 1) continue;
    double& plateau = plateaus[o.at.number("ilp")];
    plateau = std::max(plateau, rate(o));
    if (o.at.number("group") == 32) of_32[o.at.number("ilp")] = rate(o);
  }
  std::vector<Finding> out;
  for (const auto& [type, peak] : peaks)
    out.push_back({"peak_" + type, peak, type == "int" || type == "long" ? "GOP/s" : "GFLOP/s",
                   fmt::format("best {} throughput", type)});
  for (const std::int64_t ilp : {1, 2, 4, 8, 16}) {
    if (!plateaus.contains(ilp) || plateaus.size() < 2) continue;
    const double fraction = plateaus[ilp] / peak_of_float;
    std::string text =
        fmt::format("ILP {} reaches {:.2f} of FP32 peak with one work-group per compute unit", ilp, fraction);
    if (of_32.contains(ilp)) text += fmt::format(", with 32 work-items {:.2f}", of_32[ilp] / peak_of_float);
    const std::string name = fmt::format("plateau_ilp_{}", ilp);
    out.push_back({.name = name, .value = fraction, .unit = "of peak", .text = text, .published = name});
  }
  for (const auto& [type, peak] : peaks) add_little(out, outcomes, type);
  add_items_alone(out, outcomes);
  add_ilp_needed(out, outcomes);
  add_plateau_over_little(out, outcomes);
  add_items_over_chains(out, outcomes);
  return out;
}

}  // namespace

Family arithmetic() {
  const Values types = {"float", "double", "int", "long", "half"};
  const Values operations = {"mad", "fma", "mul_add"};
  const Values chains = {1, 2, 3, 4, 8, 16};
  const Sweep alone = {{"ilp", chains},
                       {"group", {1, 32, 64, 96, 128, 192, 256, 384, 512, 640, 768, 896, 1024}},
                       {"iterations", {16384}}};
  const Sweep others = {
      {"type", {"double", "int", "long"}}, {"group", {32, 64, 128, 256, 512, 1024}}, {"iterations", {16384}}};
  const Sweep ends = {{"type", {"float", "double", "int", "long"}},
                      {"ilp", {1, 16}},
                      {"group", {32, 1024}},
                      {"iterations", {16384, 32768}}};
  // Full occupancy with little ILP: do work-items alone suffice?
  const Sweep full_of_items = {{"type", {"float", "double", "int", "long"}},
                               {"ilp", {1, 2, 3}},
                               {"groups_per_cu", {2, 64}},
                               {"group", {256, 1024}},
                               {"iterations", {4096, 8192}}};
  const Sweep peak = {{"type", types},         {"operation", operations}, {"ilp", {4, 8, 16}},
                      {"groups_per_cu", {64}}, {"group", {256}},          {"iterations", {4096, 8192}}};
  // What processors need, whose vectors are not made of work-items; int and long have operation mad alone.
  const std::string wide_vectors =
      "type=float,double,int,long,half operation=mad,fma ilp=8 width=16 group=1 groups_per_cu=64 "
      "iterations=16384";
  const Sweep wide = {
      {"type", types},         {"operation", operations},    {"ilp", {4, 8}}, {"width", {16}}, {"group", {1}},
      {"groups_per_cu", {64}}, {"iterations", {8192, 16384}}};
  return {
      .name = "arithmetic",
      .question =
          "How much occupancy (resident work-items) and how much ILP (independent chains of dependent steps) "
          "reach peak "
          "arithmetic throughput?",
      .brief = "occupancy and ILP that reach peak FLOP/s",
      .axes = {{.name = "operation",
                .meaning = "fma: rounded once; mad: a multiply-add rounded as the device likes; mul_add: a "
                           "multiplication, then "
                           "an addition",
                .values = operations},
               {.name = "type", .meaning = "type of the operands; int and long wrap", .values = types},
               {.name = "ilp",
                .meaning = "independent dependency chains per work-item",
                .values = chains,
                .domain = whole(1, 32)},
               {.name = "unroll",
                .meaning = "unroll factor: steps per loop iteration",
                .values = {8, 4, 16},
                .tunable = true,
                .domain = whole(1, 64)},
               {.name = "width",
                .meaning = "vector width; each vector element is a dependency chain",
                .values = {1, 4, 16},
                .tunable = true,
                .domain = powers_of_two(1, 16)},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {256, 1, 32, 64, 96, 128, 192, 384, 512, 640, 768, 896, 1024},
                .domain = whole(1, 65536)},
               {.name = "groups_per_cu",
                .meaning = "work-groups per compute unit",
                .values = {1, 2, 64},
                .domain = whole(1, 4096),
                .per_compute_unit = more_than_zero("groups_per_cu")},
               {.name = "iterations",
                .meaning = "steps of each dependency chain",
                .values = {4096, 8192, 16384, 32768},
                .domain = multiples_of(2, 2, 400000)}},
      .presets =
          {.smoke = {"type=" + types + " ilp=3 group=32 iterations=16",
                     "operation=" + operations + " ilp=1,16 unroll=4 group=32 iterations=8",
                     "type=float,long width=4 group=1 iterations=16"},
           .quick = {"ilp=1,2,4,8 group=128,1024", "ilp=1,4 group=32", "group=32 iterations=8192",
                     "type=double,int,long group=32,128,256,512",
                     "type=float,double,int,long ilp=8 groups_per_cu=64",
                     "ilp=1,2,3 group=1024 groups_per_cu=2", "type=half ilp=8 width=2 groups_per_cu=64",
                     wide_vectors},
           .profile = {"ilp=1,2,4,8 group=128", "group=32 iterations=4096,8192", "ilp=8 groups_per_cu=64",
                       "operation=mad,fma ilp=8 width=16 group=1 groups_per_cu=64 iterations=16384"},
           .paper = {alone, others, ends, full_of_items, peak, wide},
           .full = {alone, others, ends, full_of_items, peak, wide,
                    "ilp=1,4,8,16 unroll=4,16 groups_per_cu=64 group=64,256,1024 iterations=4096,8192"}},
      .view = {.rows = {"ilp"},
               .columns = {"group"},
               .quantity = "rate",
               .chapter = "Parallelism",
               .graphs = {{.name = "threads",
                           .x = {"group"},
                           .series = {"ilp"},
                           .apart = {"width"},
                           .quantity = "fraction_of_peak",
                           .findings = {"plateau_ilp_1", "latency_{type}"}},
                          {.name = "chains",
                           .x = {"ilp", "width", "group", "groups_per_cu"},
                           .series = {"ilp"},
                           .quantity = "fraction_of_peak",
                           .findings = {"concurrency_predicted_{type}", "concurrency_measured_{type}"},
                           .marks = {"concurrency_predicted_{type}"},
                           .little = "concurrency_predicted_{type}"}}},
      .derived = {{"chains_per_group", "independent dependency chains per work-group"}},
      .is_valid =
          [](const Case& at) {
            return at.is("operation", "mad") || !(at.is("type", "int") || at.is("type", "long"));
          },
      .plan = plan,
      .items_per_unit =
          [](const Case& at) { return at.number("groups_per_cu") * at.number("group") * at.number("width"); },
      .findings = findings,
      .traits = {{"ilp_needed", "chains",
                  "ILP (dependency chains per work-item) for 90 % of peak at low occupancy"}}};
}

}  // namespace clweave::families
