// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/roofline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "report/table.hpp"
#include "report/text_chart.hpp"

namespace clweave::profile {

namespace {

// Peaks themselves are measured to a few per cent.
constexpr double tolerance = 0.05;

std::string name_of(const CaseName& at) {
  std::string name = at.family;
  for (const char* axis : {"kernel", "type"}) {
    if (const Value* value = at.axis(axis)) name += fmt::format(" {}", text_of(*value));
  }
  return name;
}

const Roof* roof_of(const std::vector<Roof>& roofs, Peak name) {
  const auto it = std::ranges::find(roofs, name, &Roof::name);
  return it != roofs.end() ? &*it : nullptr;
}

// Returns the highest roof of memory or of arithmetic, null if none. Local memory does not count: rows count
// the bytes of the memory behind it.
const Roof* highest(const std::vector<Roof>& roofs, bool memory) {
  const Roof* best = nullptr;
  for (const auto& roof : roofs) {
    if (roof.memory() == memory && roof.name != Peak::local && (best == nullptr || roof.rate > best->rate))
      best = &roof;
  }
  return best;
}

// Places a kernel below its two roofs. Memory: the roof that the row names, else the highest; none if the row
// names arithmetic, as such a kernel keeps its data in registers. Arithmetic: the roof that the row names,
// else the one of its type. Without a bound where nobody measured the type, such as half precision, or the
// row has none.
Placed placed(const CaseName& at, const RunTime& run, const std::vector<Roof>& roofs) {
  Placed out;
  out.name = name_of(at);
  out.gb_per_s = *run.gb_per_s;
  const Roof* memory = of_memory(run.peak) ? roof_of(roofs, run.peak) : nullptr;
  if (memory == nullptr && !of_arithmetic(run.peak)) memory = highest(roofs, true);
  if (!run.flops) {
    if (memory == nullptr) return out;
    out.bound = memory->rate;
    out.bound_by = memory->name;
    out.fraction = out.gb_per_s / memory->rate;
    return out;
  }
  const Value* type = at.axis("type");
  const Peak of_type = of_arithmetic(run.peak) ? run.peak
                       : type == nullptr
                           ? Peak::none
                           : enum_named<Peak>("arithmetic_" + text_of(*type)).value_or(Peak::none);
  const Roof* arithmetic = roof_of(roofs, of_type);
  if (arithmetic == nullptr && !of_memory(run.peak)) return out;
  out.intensity = static_cast<double>(*run.flops) / static_cast<double>(*run.bytes);
  out.gflop_per_s = run.gflop_per_s.value_or(0);
  const double slope = memory != nullptr ? memory->rate * out.intensity : HUGE_VAL;
  const double flat = arithmetic != nullptr ? arithmetic->rate : HUGE_VAL;
  if (std::isinf(std::min(slope, flat))) return out;
  out.bound = std::min(slope, flat);
  out.bound_by = slope < flat ? memory->name : arithmetic->name;
  out.fraction = out.gflop_per_s / out.bound;
  return out;
}

}  // namespace

double energy_left(double intensity, double byte) { return 1 / (1 + byte / intensity); }

double time_left(double intensity, double byte) { return std::min(1.0, intensity / byte); }

std::vector<std::pair<double, double>> arch_line(double peak, double byte, double low, double high) {
  constexpr int steps = 32;
  std::vector<std::pair<double, double>> out;
  for (int i = 0; i <= steps; ++i) {
    const double intensity = low * std::pow(high / low, i / double{steps});
    out.emplace_back(intensity, peak * energy_left(intensity, byte));
  }
  return out;
}

namespace {

// Keeps the least energy of a copied byte and of an operation on floats.
void take_energy(Roofline& data, const RunTime& run) {
  const bool copies = run.peak == Peak::copy, computes = run.peak == Peak::arithmetic_float;
  const Number joules = copies || computes ? run.joules_of_unit(run.energy_j) : Number();
  Number& least = copies ? data.joules_per_byte : data.joules_per_flop;
  if (joules && *joules > 0 && (!least || *joules < *least)) least = joules;
}

// Returns the bytes of the largest working set that a cache held, 0 if no row tells.
double cache_bytes_of(const DeviceResults& device) {
  for (const auto& found : device.findings) {
    const auto& finding = found.typical();
    if (found.family == peak_family && finding.name == "cache_bytes" && finding.value) return *finding.value;
  }
  return 0;
}

// Places the known kernels, on floats. Leaves out those whose place needs a cache that no row tells of.
std::vector<KnownPlace> known_places(const std::vector<Roof>& roofs, double cache_bytes) {
  const Roof *copy = roof_of(roofs, Peak::copy), *flat = roof_of(roofs, Peak::arithmetic_float);
  if (copy == nullptr || flat == nullptr) return {};
  std::vector<KnownPlace> out;
  for (const auto& kernel : known_kernels) {
    if (kernel.needs_cache && cache_bytes <= 0) continue;
    const double intensity = kernel.intensity(sizeof(float), cache_bytes), slope = copy->rate * intensity;
    out.push_back({&kernel, intensity, std::min(slope, flat->rate),
                   slope < flat->rate ? Peak::copy : Peak::arithmetic_float});
  }
  std::ranges::stable_sort(out, {}, &KnownPlace::intensity);
  return out;
}

using Best = std::map<std::string, Placed>;  // by name

// Takes the runs of one case: each counts as cached, as bounded by no roof, or for its kernel's best place.
void take_case(Roofline& data, Best& best, const CaseTimes& at) {
  for (const auto& run : at.runs) {
    if (!at.counts(run) || !run.bytes || !run.gb_per_s) continue;
    if (run.cached) {
      ++data.cached[at.family()];
      continue;
    }
    const bool unbounded = !run.flops && (run.peak == Peak::none || run.peak == Peak::local);
    const Placed kernel = unbounded ? Placed() : placed(*at.name, run, data.roofs);
    if (kernel.bound == 0) {
      ++data.elsewhere[at.family()];
      continue;
    }
    Placed& known = best.try_emplace(kernel.name, kernel).first->second;
    const double of_run = run.slowed ? kernel.fraction * run.time_s / run.least_s() : 0;
    const double may_reach = std::max(known.may_reach, of_run);
    if (kernel.fraction > known.fraction) known = kernel;
    known.may_reach = may_reach;
  }
}

}  // namespace

std::vector<Roofline> rooflines_of(const ResultsSet& set) {
  std::vector<Roofline> out;
  const auto devices = measured(set);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const DeviceResults& device = *devices[d];
    if (std::ranges::all_of(device.cases, [](const CaseTimes& at) { return at.runs.empty(); })) continue;
    Roofline data{.index = d, .device = device.name + ", " + device.platform, .roofs = {}, .kernels = {}};
    for (const auto& [name, rate] : device.peaks) {
      // Beside other work a peak may be half of what the device can do, and kernels would stand above their
      // roof.
      if (device.quiet_peaks.contains(name))
        data.roofs.push_back({name, rate});
      else
        ++data.busy_peaks;
    }
    Best best;
    for (const auto& at : device.cases) {
      if (at.family() == peak_family) {
        for (const auto& run : at.runs) {
          if (at.counts(run) && !run.cached && !run.slowed) take_energy(data, run);
        }
      } else if (!data.roofs.empty()) {
        take_case(data, best, at);
      }
    }
    for (auto& [name, kernel] : best) data.kernels.push_back(std::move(kernel));
    std::ranges::stable_sort(data.kernels, {}, &Placed::intensity);
    data.known = known_places(data.roofs, cache_bytes_of(device));
    out.push_back(std::move(data));
  }
  return out;
}

namespace {

// Returns the operations on floats that take as much energy as a copied byte.
Number energy_balance(const Roofline& data) {
  if (!data.joules_per_byte || !data.joules_per_flop) return {};
  return *data.joules_per_byte / *data.joules_per_flop;
}

// Adds the roofs as references: the slopes of memory up to the highest arithmetic, and the flat lines of
// arithmetic from the highest slope on, as nothing above can be reached. Of roofs that nearly coincide one is
// named.
void add_roofs(GraphPanel& panel, const std::vector<Roof>& roofs, double low_x, double high_x) {
  const double memory = highest(roofs, true)->rate, flat = highest(roofs, false)->rate;
  std::vector<double> named;
  for (const auto& roof : roofs) {
    if (roof.name == Peak::local || roof.name == Peak::none) continue;
    GraphReference line{.name = text_of(roof.name), .points = {}};
    if (roof.memory())
      line.points = {{low_x, low_x * roof.rate}, {flat / roof.rate, flat}};
    else
      line.points = {{roof.rate / memory, roof.rate}, {high_x, roof.rate}};
    const bool coincides = roof.memory() ? roof.rate < memory : std::ranges::any_of(named, [&](double rate) {
      return std::abs(std::log(rate / roof.rate)) < 0.25;
    });
    if (!coincides) {
      line.label = line.name + " " + number_text(roof.rate, unit_of(roof.name));
      if (!roof.memory()) named.push_back(roof.rate);
    }
    panel.references.push_back(std::move(line));
  }
}

// Adds the arch line, the roof that energy would be, where the rows have energies.
void add_arch_line(GraphPanel& panel, const Roofline& data, double low_x, double high_x) {
  const auto balance = energy_balance(data);
  const Roof* flat = roof_of(data.roofs, Peak::arithmetic_float);
  if (!balance || flat == nullptr) return;
  panel.references.push_back({.name = "arch line",
                              .points = arch_line(flat->rate, *balance, low_x, high_x),
                              .label = "arch line: energy, at least " +
                                       number_text(1e12 * *data.joules_per_flop, "pJ") + " an operation"});
}

// Marks a fraction of rows that were slowed.
std::string fraction_text(const Placed& kernel) {
  return percent_text(kernel.fraction) + (kernel.is_undecided() ? "*" : "");
}

std::size_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  const auto index = static_cast<std::size_t>(at - names.begin());
  if (at == names.end()) names.push_back(name);
  return index;
}

// Returns the kernels of the chart, by intensity.
std::vector<const Placed*> drawn_kernels(const Roofline& data) {
  std::vector<const Placed*> out;
  for (const auto& kernel : data.kernels) {
    if (kernel.is_bounded() && kernel.intensity > 0 && kernel.gflop_per_s > 0) out.push_back(&kernel);
  }
  return out;
}

void add_panel(DrawnGraph& graph, const Roofline& data) {
  const auto kernels = drawn_kernels(data);
  const Roof *memory = highest(data.roofs, true), *flat = highest(data.roofs, false);
  if (kernels.empty() || memory == nullptr || flat == nullptr) return;
  GraphPanel& panel = graph.panels.emplace_back();
  panel.device = data.index;
  panel.device_label = data.device;
  const double balance = flat->rate / memory->rate;
  double low_x = balance / 8, high_x = balance * 8;
  for (const auto* kernel : kernels) {
    GraphPoint& point = panel.points.emplace_back();
    point.series = index_of(graph.series, kernel->name);
    point.x = kernel->intensity;
    point.y = point.low = point.high = kernel->gflop_per_s;
    point.label = fraction_text(*kernel);
    point.note = text_of(kernel->bound_by);
    low_x = std::min(low_x, point.x / 2);
    high_x = std::max(high_x, point.x * 2);
  }
  for (const auto& known : data.known) {
    low_x = std::min(low_x, known.intensity / 1.5);
    high_x = std::max(high_x, known.intensity * 1.5);
    panel.marks.push_back({known.intensity, known.kernel->mark});
  }
  add_roofs(panel, data.roofs, low_x, high_x);
  add_arch_line(panel, data, low_x, high_x);
  auto decided = kernels;
  std::erase_if(decided, [](const Placed* kernel) { return kernel->is_undecided(); });
  if (decided.empty()) {
    panel.finding = std::string("undecided: ") + machine_was_busy;
  } else {
    const auto [worst, best] = std::ranges::minmax_element(decided, {}, &Placed::fraction);
    panel.finding =
        fmt::format("{} reaches {} of its roof", (*best)->name, percent_text((*best)->fraction, 0));
    if (*best != *worst)
      panel.finding += fmt::format(", {} {}", (*worst)->name, percent_text((*worst)->fraction, 0));
  }
  panel.note = "kernels that only move data have no operations: the next chart has them";
}

}  // namespace

DrawnGraph graph_of(const std::vector<Roofline>& all) {
  DrawnGraph graph{.kind = DrawnGraph::Kind::roofline,
                   .name = "roofline",
                   .series_title = "kernel",
                   .x_title = "operations per byte",
                   .y_title = "Gop/s",
                   .label_title = "fraction of its roof",
                   .note_title = "roof",
                   .unit = "Gop/s"};
  graph.log_x = graph.log_y = graph.wide = true;
  graph.intervals = false;
  for (const auto& data : all) add_panel(graph, data);
  return graph;
}

namespace {

// Adds what bytes leave of the rate and of the energy efficiency of operations: the roofline and the arch
// line as numbers.
void add_energy(const Roofline& data, Report& out) {
  const Roof *copy = roof_of(data.roofs, Peak::copy),
             *arithmetic = roof_of(data.roofs, Peak::arithmetic_float);
  const auto balance = energy_balance(data);
  if (!balance || copy == nullptr || arithmetic == nullptr) return;
  const double of_time = arithmetic->rate / copy->rate, of_energy = *balance;
  Table table(
      {{"op/B", Align::right}, {"of the peak rate", Align::right}, {"of the least energy", Align::right}});
  for (double intensity = 0.25; intensity <= 256; intensity *= 2)
    table.add({fmt::format("{:.3g}", intensity), percent_text(time_left(intensity, of_time)),
               percent_text(energy_left(intensity, of_energy))});
  out.line(fmt::format(
      "a byte takes as much time as {:.3g} operations on floats, and as much energy as {:.3g}:", of_time,
      of_energy));
  out.table(std::move(table));
  out.line();
}

// Adds the places of known kernels.
void add_known(const Roofline& data, Report& out) {
  if (data.known.empty()) return;
  const auto balance = energy_balance(data);
  std::vector<Table::Column> heads = {{"known kernel on floats"},
                                      {"op/B", Align::right},
                                      {"by", Align::left, Overflow::cut, 1},
                                      {"bound", Align::right, Overflow::keep, 3},
                                      {"bound by", Align::left, Overflow::cut, 4}};
  if (balance) heads.push_back({"of the least energy", Align::right, Overflow::keep, 2});
  Table table(heads);
  for (const auto& known : data.known) {
    std::vector<std::string> cells = {fmt::format("{} ({})", known.kernel->name, known.kernel->mark),
                                      fmt::format("{:.3g}", known.intensity), known.kernel->formula,
                                      number_text(known.bound, "Gop/s"), text_of(known.bound_by)};
    if (balance) cells.push_back(percent_text(energy_left(known.intensity, *balance)));
    table.add(std::move(cells));
  }
  out.table(std::move(table));
  out.line(
      "at most, by formulas with s = 4 bytes an element and Z bytes of cache; vertical lines in the "
      "chart");
  out.line();
}

void add_device(const Roofline& data, Report& out) {
  out.line();
  out.line(paint(data.device, Style::bold));
  if (data.roofs.empty())
    return out.line(data.busy_peaks > 0
                        ? "the machine was busy while the peaks of this file were measured: run again, with "
                          "--wait-quiet 5m"
                        : "no peaks in this file: run without --no-peak and with another preset than smoke");
  Table roofs({{"roof"}, {"rate", Align::right}, {"balance with it", Align::right}});
  const Roof* memory = highest(data.roofs, true);
  for (const auto& roof : data.roofs) {
    roofs.add(
        {text_of(roof.name), number_text(roof.rate, unit_of(roof.name)),
         roof.memory() || memory == nullptr ? "" : fmt::format("{:.3g} op/B", roof.rate / memory->rate)});
  }
  out.table(std::move(roofs));
  out.line();
  const DrawnGraph graph = graph_of({data});
  out.drawing([graph](const Screen& screen) { return text_of(graph, screen); });
  out.line();
  add_energy(data, out);
  add_known(data, out);
  Table table({{""},
               {"kernel, its fastest row beyond the caches", Align::left, Overflow::wrap},
               {"op/B", Align::right, Overflow::keep, 1},
               {"reached", Align::right},
               {"bound", Align::right, Overflow::keep, 2},
               {"fraction", Align::right},
               {"bound by", Align::left, Overflow::cut, 3}});
  for (const auto& kernel : data.kernels) {
    const bool moves = kernel.intensity == 0;
    const char* unit = moves ? "GB/s" : "Gop/s";
    const auto letter = std::ranges::find(graph.series, kernel.name);
    table.add({letter != graph.series.end()
                   ? letter_of_series(static_cast<std::size_t>(letter - graph.series.begin()))
                   : "",
               kernel.name, moves ? "-" : fmt::format("{:.3g}", kernel.intensity),
               number_text(moves ? kernel.gb_per_s : kernel.gflop_per_s, unit),
               number_text(kernel.bound, unit), fraction_text(kernel), text_of(kernel.bound_by)});
  }
  out.table(std::move(table));
  if (std::ranges::any_of(data.kernels, &Placed::is_undecided))
    out.line(fmt::format("* undecided: {}", machine_was_busy));
  std::vector<std::string> above;
  for (const auto& kernel : data.kernels) {
    if (kernel.fraction > 1 + tolerance) above.push_back(kernel.name);
  }
  if (!above.empty())
    out.line(fmt::format(
        "above their bound, because part of the data they count never leaves caches or registers, or because "
        "the peak was measured under worse conditions: {}",
        fmt::join(above, ", ")));
  const auto left_out = [&](const char* why, const std::map<std::string, std::size_t>& by_family) {
    std::vector<std::string> parts;
    for (const auto& [family, rows] : by_family) parts.push_back(fmt::format("{} of {}", rows, family));
    if (!parts.empty()) out.line(fmt::format("rows {} are not here: {}", why, fmt::join(parts, ", ")));
  };
  left_out("whose buffers fit a cache", data.cached);
  left_out("that neither memory nor arithmetic bounds", data.elsewhere);
}

}  // namespace

Report report_of(const std::vector<Roofline>& all) {
  Report out;
  out.columns({"device", "what", "name", "intensity", "gb_per_s", "gflop_per_s", "bound", "bound_by",
               "fraction", "disturbed"});
  for (const auto& data : all) {
    add_device(data, out);
    for (const auto& roof : data.roofs) {
      const Cell rate = roof.rate, none;
      out.row({data.device, "roof", text_of(roof.name), none, roof.memory() ? rate : none,
               roof.memory() ? none : rate, none, none, none, none});
    }
    for (const auto& known : data.known)
      out.row({data.device, "known", known.kernel->name, known.intensity, Cell(), Cell(), known.bound,
               text_of(known.bound_by), Cell(), Cell()});
    for (const auto& kernel : data.kernels)
      out.row({data.device, "kernel", kernel.name, kernel.intensity, kernel.gb_per_s, kernel.gflop_per_s,
               kernel.bound, text_of(kernel.bound_by), kernel.fraction, kernel.is_undecided()});
  }
  return out;
}

}  // namespace clweave::profile
