// SPDX-License-Identifier: Apache-2.0
#include "answers/roofline.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/quantity.hpp"
#include "base/table.hpp"

namespace clweave {

namespace {

std::string name_of(const Record& record) {
  std::string name = record.family;
  for (const char* axis : {"kernel", "type"}) {
    if (const std::string value = record.axis(axis); !value.empty()) name += " " + value;
  }
  return name;
}

const Roof* roof_of(const std::vector<Roof>& roofs, Ceiling name) {
  const auto it = std::ranges::find(roofs, name, &Roof::name);
  return it != roofs.end() ? &*it : nullptr;
}

// Never that of local memory: rows count the bytes of the memory behind it.
const Roof* highest(const std::vector<Roof>& roofs, bool memory) {
  const Roof* best = nullptr;
  for (const auto& roof : roofs) {
    if (roof.memory() == memory && roof.name != Ceiling::local && (best == nullptr || roof.rate > best->rate))
      best = &roof;
  }
  return best;
}

// The roofs over a kernel: those that its row names, else the highest of their kind.
Placed placed(const Record& record, const std::vector<Roof>& roofs) {
  Placed out;
  out.row = &record;
  out.name = name_of(record);
  const Roof* memory = roof_of(roofs, record.ceiling);
  if (memory == nullptr || !memory->memory()) memory = highest(roofs, true);
  const Roof* arithmetic =
      roof_of(roofs, value_named<Ceiling>("arithmetic_" + record.axis("type")).value_or(Ceiling::none));
  if (arithmetic == nullptr) arithmetic = highest(roofs, false);
  if (!record.flops) {
    if (memory == nullptr) return out;
    out.bound = memory->rate;
    out.bound_by = memory->name;
    out.fraction = *record.gb_per_s / memory->rate;
    return out;
  }
  out.intensity = static_cast<double>(*record.flops) / static_cast<double>(*record.bytes);
  out.gflop_per_s = *record.gflop_per_s;
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

std::string letter(std::size_t i) {
  constexpr const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return i < 52 ? std::string(1, letters[i]) : "*";
}

std::string plot(const Roofline& data, const Screen& screen) {
  const Roof* memory = highest(data.roofs, true);
  const Roof* flat = highest(data.roofs, false);
  std::vector<const Placed*> points;
  for (const auto& kernel : data.kernels) {
    if (kernel.intensity > 0 && kernel.bound > 0) points.push_back(&kernel);
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
      if (reachable) put(x, y, paint(screen.ascii ? "." : "·", Style::dim, screen.colour));
    }
  }
  for (std::size_t i = 0; i < points.size(); ++i)
    put(points[i]->intensity, points[i]->gflop_per_s, paint(letter(i), Style::cyan, screen.colour));
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

std::vector<Roofline> rooflines_of(const std::vector<Record>& records) {
  std::vector<Roofline> out;
  std::map<std::string, std::vector<const Record*>> devices;
  std::vector<std::string> order;
  for (const auto& record : records) {
    if (!record.ok() || !record.finding.empty() || !record.time_s) continue;
    auto& rows = devices[record.device_key()];
    if (rows.empty()) order.push_back(record.device_key());
    rows.push_back(&record);
  }
  for (const auto& device : order) {
    const Record& any = *devices[device].front();
    Roofline data{.device = any.device + ", " + any.platform, .roofs = {}, .kernels = {}};
    std::map<Ceiling, Roof> roofs;
    for (const auto* row : devices[device]) {
      const auto rate = rate_of(*row);
      if (row->family != "ceiling" || row->ceiling == Ceiling::none || !rate) continue;
      Roof& roof = roofs[row->ceiling];
      roof = {row->ceiling, std::max(roof.rate, *rate)};
    }
    for (const auto& [name, roof] : roofs) data.roofs.push_back(roof);
    std::map<std::string, Placed> best;
    for (const auto* row : devices[device]) {
      if (row->family == "ceiling" || !row->bytes || !row->gb_per_s || roofs.empty() || row->cached == "yes")
        continue;
      Placed kernel = placed(*row, data.roofs);
      const auto it = best.find(kernel.name);
      if (it == best.end() || kernel.fraction > it->second.fraction) best[kernel.name] = kernel;
    }
    for (auto& [name, kernel] : best) data.kernels.push_back(std::move(kernel));
    std::ranges::stable_sort(data.kernels, {}, &Placed::intensity);
    out.push_back(std::move(data));
  }
  return out;
}

std::string roofline_text(const Roofline& data, const Screen& screen) {
  std::string out = fmt::format("\n{}\n", paint(data.device, Style::bold, screen.colour));
  if (data.roofs.empty())
    return out + "no ceilings in this file: run without --no-ceiling and with another preset than smoke\n";
  Table roofs({{"roof"}, {"rate", Align::right}, {"balance with it", Align::right}});
  const Roof* memory = highest(data.roofs, true);
  for (const auto& roof : data.roofs) {
    roofs.add(
        {text_of(roof.name),
         roof.memory() ? fmt::format("{:.4g} GB/s", roof.rate) : fmt::format("{:.4g} Gop/s", roof.rate),
         roof.memory() || memory == nullptr ? "" : fmt::format("{:.3g} op/B", roof.rate / memory->rate)});
  }
  out += roofs.text(screen.colour) + "\n" + plot(data, screen) + "\n";
  Table table({{""},
               {"kernel, its fastest row beyond the caches"},
               {"op/B", Align::right},
               {"reached", Align::right},
               {"bound", Align::right},
               {"fraction", Align::right},
               {"bound by"}});
  std::size_t marked = 0;
  for (const auto& kernel : data.kernels) {
    const bool moves = kernel.intensity == 0;
    const char* unit = moves ? "GB/s" : "Gop/s";
    table.add({moves || kernel.bound == 0 ? "" : letter(marked), kernel.name,
               moves ? "-" : fmt::format("{:.3g}", kernel.intensity),
               fmt::format("{:.4g} {}", moves ? *kernel.row->gb_per_s : kernel.gflop_per_s, unit),
               kernel.bound > 0 ? fmt::format("{:.4g} {}", kernel.bound, unit) : "-",
               kernel.bound > 0 ? percent_text(kernel.fraction) : "-", text_of(kernel.bound_by)});
    marked += moves || kernel.bound == 0 ? 0 : 1;
  }
  return out + table.text(screen.colour);
}

std::string roofline_csv(const Roofline& data, bool header) {
  std::string out;
  const auto add = [&](const std::vector<std::string>& cells) { out += csv_line(cells); };
  if (header)
    add({"device", "what", "name", "intensity", "gb_per_s", "gflop_per_s", "bound", "bound_by", "fraction"});
  for (const auto& roof : data.roofs) {
    const std::string rate = fmt::format("{}", roof.rate);
    add({data.device, "roof", text_of(roof.name), "", roof.memory() ? rate : "", roof.memory() ? "" : rate,
         "", "", ""});
  }
  for (const auto& kernel : data.kernels) {
    add({data.device, "kernel", kernel.name, fmt::format("{}", kernel.intensity),
         fmt::format("{}", *kernel.row->gb_per_s), fmt::format("{}", kernel.gflop_per_s),
         fmt::format("{}", kernel.bound), text_of(kernel.bound_by), fmt::format("{}", kernel.fraction)});
  }
  return out;
}

}  // namespace clweave
