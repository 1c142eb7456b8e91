// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/glance.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/profile/peak_shares.hpp"
#include "analysis/profile/profile.hpp"
#include "analysis/rows/best.hpp"
#include "base/quantity.hpp"

namespace clweave::profile {

namespace {

// Scales a number to its unit: 64.5 TFLOP/s for 64500 GFLOP/s, 4.6 us for 4600 ns.
std::string scaled_text(double value, const std::string& unit) {
  if (unit == "GB/s") return si_text(1e9 * value, 3, "B/s");
  if (unit == "GFLOP/s") return si_text(1e9 * value, 3, "FLOP/s");
  if (unit == "us") return seconds_text(1e-6 * value);
  if (unit == "ns") return seconds_text(1e-9 * value);
  return number_text(value, unit);
}

std::string value_of(const Trait& trait) {
  if (trait.figure) return scaled_text(trait.figure->value, trait.unit);
  if (trait.disturbed) return scaled_text(*trait.disturbed, trait.unit) + doubtful_mark;
  if (!trait.range) return trait.without_figure();
  return fmt::format("{} to {}, {}", number_text(trait.range->first),
                     number_text(trait.range->second, trait.unit), trait.without_figure());
}

std::string share_of(double value, const Number& theoretical) {
  return theoretical ? percent_text(value / *theoretical, 0) : "unknown";
}

// Returns the kernel of the first row that a trait follows from.
std::string kernel_of(const Trait& trait, const DeviceResults& device) {
  const CaseTimes* at = trait.cases.empty() ? nullptr : device.find(trait.cases.front());
  const Value* kernel = at != nullptr ? at->name->axis("kernel") : nullptr;
  return kernel != nullptr ? text_of(*kernel) : "";
}

void add_trait(Table& table, const Trait& trait, const DeviceResults& device) {
  const bool bandwidth = trait.name == text_of(Peak::copy),
             compute = trait.name == text_of(Peak::arithmetic_float);
  const auto value = trait.figure ? trait.figure->value : trait.disturbed;
  std::string theoretical;
  if (value && (bandwidth || compute))
    theoretical = share_of(*value, bandwidth ? device.theoretical_gb_per_s : device.theoretical_gflop_per_s);
  table.add({trait.headline, value_of(trait), "", theoretical,
             bandwidth || compute ? kernel_of(trait, device) : ""});
}

void add_best(Table& table, const Family& family, const DeviceResults& device) {
  const auto all = contenders(family, device);
  const Contender* best = best_row(family, all);
  if (best == nullptr) return;
  const RunTime& run = best->run;
  const Value* kernel = best->at->name->axis("kernel");
  const Number speed = best->speed(family);
  const bool items = family.view.quantity == "items";
  const std::string value = speed ? si_text(1e9 * *speed, 3,
                                            items                 ? ""
                                            : run.of_operations() ? "op/s"
                                                                  : "B/s")
                                  : seconds_text(run.time_s);
  const bool bound = of_memory(run.peak) && run.gb_per_s && !run.cached;
  table.add({"best " + family.name,
             value + (speed && items ? " items/s" : "") +
                 (run.doubtful() || is_undecided(family, all, *best) ? doubtful_mark : ""),
             run.fraction_of_peak && !run.cached ? percent_text(*run.fraction_of_peak, 0) : "",
             bound ? share_of(*run.gb_per_s, device.theoretical_gb_per_s) : "",
             (kernel != nullptr ? text_of(*kernel) : "") + (best->at->tuned ? " (tuned)" : "")});
}

}  // namespace

std::set<std::string> glance_ids(const std::vector<Family>& families) {
  std::set<std::string> ids;
  for (const auto& family : families) {
    for (const auto& at : cases_of(family, family.presets.glance, 0)) ids.insert(at.id());
  }
  return ids;
}

bool is_of_glance(const DeviceResults& device, const std::set<std::string>& ids) {
  const auto is_peak = [](const CaseTimes& at) { return at.family() == peak_family; };
  return !std::ranges::all_of(device.cases, is_peak) &&
         std::ranges::all_of(device.cases,
                             [&](const CaseTimes& at) { return at.tuned || ids.contains(at.id()); });
}

Table glance_table(const DeviceRows& rows, const std::vector<Family>& families) {
  const DeviceResults& device = *rows.results;
  Table table({{""},
               {"measured", Align::right},
               {"of peak", Align::right},
               {"of theoretical", Align::right},
               {"kernel", Align::left, Overflow::cut}});
  const Profile profile = profile_of(rows, families);
  for (const auto& trait : profile.traits) {
    if (!trait.headline.empty() && trait.is_known()) add_trait(table, trait, device);
  }
  for (const auto& family : families) {
    if (family.view.headline) add_best(table, family, device);
  }
  return table;
}

}  // namespace clweave::profile
