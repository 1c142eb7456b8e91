// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/roofline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "report/table.hpp"

namespace clweave::profile {

namespace {

// Roofs are measured to a few per cent themselves.
constexpr double beaten = 0.05;

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

// Never that of local memory: rows count the bytes of the memory behind it.
const Roof* highest(const std::vector<Roof>& roofs, bool memory) {
  const Roof* best = nullptr;
  for (const auto& roof : roofs) {
    if (roof.memory() == memory && roof.name != Peak::local && (best == nullptr || roof.rate > best->rate))
      best = &roof;
  }
  return best;
}

// The roofs over a kernel: the memory's that its row names, else the highest, unless it names arithmetic, as
// it then keeps in registers what it counts; and the arithmetic's that it names, else its type's. None where
// nobody measured its type, such as half precision, or it tells none, as family formats.
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

// The place on a scale of factors, 0 at `low` and 1 at `high`.
double place(double value, double low, double high) { return std::log(value / low) / std::log(high / low); }

// In a plot a mark takes one column.
std::string mark(std::size_t i) {
  constexpr const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return i < 52 ? std::string(1, letters[i]) : "*";
}

std::string plot(const Roofline& data, const Screen& screen) {
  const Roof* memory = highest(data.roofs, true);
  const Roof* flat = highest(data.roofs, false);
  std::vector<const Placed*> points;
  for (const auto& kernel : data.kernels) {
    if (kernel.intensity > 0) points.push_back(&kernel);
  }
  if (memory == nullptr || flat == nullptr || points.empty()) return {};
  const double balance = flat->rate / memory->rate;
  double low_x = balance / 8, high_x = balance * 8, low_y = flat->rate / 10;
  for (const auto* point : points) {
    low_x = std::min(low_x, point->intensity / 2);
    high_x = std::max(high_x, point->intensity * 2);
    low_y = std::min(low_y, point->gflop_per_s / 2);
  }
  const double high_y = 2 * flat->rate;
  const auto columns =
      static_cast<std::size_t>(std::clamp((screen.width > 0 ? screen.width : 80) - 14, 40, 100));
  constexpr std::size_t rows = 20;
  std::vector<std::vector<std::string>> cells(rows, std::vector<std::string>(columns, " "));
  const auto put = [&](double x, double y, const std::string& mark) {
    const auto column = std::lround(place(x, low_x, high_x) * static_cast<double>(columns - 1));
    const auto row = std::lround((1 - place(y, low_y, high_y)) * static_cast<double>(rows - 1));
    if (column < 0 || row < 0 || column >= static_cast<long>(columns) || row >= static_cast<long>(rows))
      return;
    cells[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = mark;
  };
  for (std::size_t c = 0; c < columns; ++c) {
    const double x =
        low_x * std::pow(high_x / low_x, static_cast<double>(c) / static_cast<double>(columns - 1));
    for (const auto& roof : data.roofs) {
      // Under the highest roof of the other kind alone; what lies above cannot be reached.
      const double y = roof.memory() ? roof.rate * x : roof.rate;
      const bool reachable = roof.memory() ? y <= flat->rate : memory->rate * x >= roof.rate;
      if (reachable) put(x, y, paint("·", Style::dim));
    }
  }
  for (std::size_t i = 0; i < points.size(); ++i)
    put(points[i]->intensity, points[i]->gflop_per_s, paint(mark(i), Style::cyan));
  std::string out;
  for (std::size_t r = 0; r < rows; ++r) {
    const double y =
        high_y * std::pow(low_y / high_y, static_cast<double>(r) / static_cast<double>(rows - 1));
    out += fmt::format("{:>11} {}", r % 4 == 0 ? si_text(1e9 * y, 3, "op/s") : "", screen.ascii ? "|" : "│");
    for (const auto& cell : cells[r]) out += cell;
    while (out.back() == ' ') out.pop_back();
    out += "\n";
  }
  out += std::string(12, ' ') + (screen.ascii ? "+" : "└");
  for (std::size_t c = 0; c < columns; ++c) out += screen.ascii ? "-" : "─";
  const std::string left = fmt::format("{:.3g}", low_x), right = fmt::format("{:.3g} op/B", high_x);
  return out + fmt::format("\n{:13}{}{:>{}}\n", "", left, right, columns - left.size());
}

}  // namespace

double energy_left(double intensity, double byte) { return 1 / (1 + byte / intensity); }

double time_left(double intensity, double byte) { return std::min(1.0, intensity / byte); }

namespace {

void take_energy(Roofline& data, const RunTime& run) {
  const bool copies = run.peak == Peak::copy, computes = run.peak == Peak::arithmetic_float;
  const Number joules = copies || computes ? run.joules_of_unit(run.energy_j) : Number();
  Number& least = copies ? data.joules_per_byte : data.joules_per_flop;
  if (joules && *joules > 0 && (!least || *joules < *least)) least = joules;
}

}  // namespace

std::vector<Roofline> rooflines_of(const ResultsSet& set) {
  std::vector<Roofline> out;
  for (const auto& device : set.devices) {
    if (device.published ||
        std::ranges::all_of(device.cases, [](const CaseTimes& at) { return at.runs.empty(); }))
      continue;
    Roofline data{.device = device.name + ", " + device.platform,
                  .roofs = {},
                  .kernels = {},
                  .elsewhere = {},
                  .cached = {}};
    for (const auto& [name, rate] : device.peaks) data.roofs.push_back({name, rate});
    std::map<std::string, Placed> best;
    for (const auto& at : device.cases) {
      if (at.family() == peak_family) {
        for (const auto& run : at.runs) {
          if (at.counts(run) && !run.cached) take_energy(data, run);
        }
      }
      if (at.family() == peak_family || data.roofs.empty()) continue;
      for (const auto& run : at.runs) {
        if (!at.counts(run) || !run.bytes || !run.gb_per_s) continue;
        if (run.cached) {
          ++data.cached[at.family()];
          continue;
        }
        if (!run.flops && (run.peak == Peak::none || run.peak == Peak::local)) {
          ++data.elsewhere[at.family()];
          continue;
        }
        Placed kernel = placed(*at.name, run, data.roofs);
        if (kernel.bound == 0) {
          ++data.elsewhere[at.family()];
          continue;
        }
        const auto it = best.find(kernel.name);
        if (it == best.end() || kernel.fraction > it->second.fraction) best[kernel.name] = kernel;
      }
    }
    for (auto& [name, kernel] : best) data.kernels.push_back(std::move(kernel));
    std::ranges::stable_sort(data.kernels, {}, &Placed::intensity);
    out.push_back(std::move(data));
  }
  return out;
}

namespace {

// What bytes leave of an operation's rate, and of its energy: the two curves that Vuduc draws over each
// other.
void add_energy(const Roofline& data, Report& out) {
  const Roof *copy = roof_of(data.roofs, Peak::copy),
             *arithmetic = roof_of(data.roofs, Peak::arithmetic_float);
  if (!data.joules_per_byte || !data.joules_per_flop || copy == nullptr || arithmetic == nullptr) return;
  const double of_time = arithmetic->rate / copy->rate,
               of_energy = *data.joules_per_byte / *data.joules_per_flop;
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

void add_device(const Roofline& data, Report& out) {
  out.line();
  out.line(paint(data.device, Style::bold));
  if (data.roofs.empty())
    return out.line("no peaks in this file: run without --no-peak and with another preset than smoke");
  Table roofs({{"roof"}, {"rate", Align::right}, {"balance with it", Align::right}});
  const Roof* memory = highest(data.roofs, true);
  for (const auto& roof : data.roofs) {
    roofs.add(
        {text_of(roof.name), number_text(roof.rate, unit_of(roof.name)),
         roof.memory() || memory == nullptr ? "" : fmt::format("{:.3g} op/B", roof.rate / memory->rate)});
  }
  out.table(std::move(roofs));
  out.line();
  out.drawing([data](const Screen& screen) { return plot(data, screen); });
  out.line();
  add_energy(data, out);
  Table table({{""},
               {"kernel, its fastest row beyond the caches", Align::left, Overflow::wrap},
               {"op/B", Align::right, Overflow::keep, 1},
               {"reached", Align::right},
               {"bound", Align::right, Overflow::keep, 2},
               {"fraction", Align::right},
               {"bound by", Align::left, Overflow::cut, 3}});
  std::size_t marked = 0;
  for (const auto& kernel : data.kernels) {
    const bool moves = kernel.intensity == 0;
    const char* unit = moves ? "GB/s" : "Gop/s";
    table.add({moves ? "" : mark(marked), kernel.name, moves ? "-" : fmt::format("{:.3g}", kernel.intensity),
               number_text(moves ? kernel.gb_per_s : kernel.gflop_per_s, unit),
               number_text(kernel.bound, unit), percent_text(kernel.fraction), text_of(kernel.bound_by)});
    marked += moves ? 0 : 1;
  }
  out.table(std::move(table));
  std::vector<std::string> above;
  for (const auto& kernel : data.kernels) {
    if (kernel.fraction > 1 + beaten) above.push_back(kernel.name);
  }
  if (!above.empty())
    out.line(fmt::format(
        "above their bound, as part of what they count never leaves the caches or registers, or as the "
        "roof was measured on a worse day: {}",
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
  out.columns(
      {"device", "what", "name", "intensity", "gb_per_s", "gflop_per_s", "bound", "bound_by", "fraction"});
  for (const auto& data : all) {
    add_device(data, out);
    for (const auto& roof : data.roofs) {
      const Cell rate = roof.rate, none;
      out.row({data.device, "roof", text_of(roof.name), none, roof.memory() ? rate : none,
               roof.memory() ? none : rate, none, none, none});
    }
    for (const auto& kernel : data.kernels)
      out.row({data.device, "kernel", kernel.name, kernel.intensity, kernel.gb_per_s, kernel.gflop_per_s,
               kernel.bound, text_of(kernel.bound_by), kernel.fraction});
  }
  return out;
}

}  // namespace clweave::profile
