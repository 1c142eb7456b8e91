// SPDX-License-Identifier: Apache-2.0
// fleet_report: the verdicts on a fleet as tables and rows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <functional>

#include "analysis/fleet/fleet.hpp"
#include "base/number.hpp"
#include "base/quantity.hpp"
#include "report/table.hpp"

namespace clweave::fleet {

namespace {

Style style_of(DeviceVerdict verdict) {
  switch (verdict) {
    case DeviceVerdict::drain: return Style::red;
    case DeviceVerdict::unjudged:
    case DeviceVerdict::again: return Style::yellow;
    case DeviceVerdict::faster: return Style::cyan;
    case DeviceVerdict::fine: break;
  }
  return Style::dim;
}

void add_devices(Report& out, const Fleet& fleet, bool every) {
  std::vector<const FleetDevice*> shown;
  for (const auto& device : fleet.devices) {
    if (every || device.verdict != DeviceVerdict::fine) shown.push_back(&device);
  }
  std::ranges::stable_sort(shown, [](const auto* a, const auto* b) { return a->verdict > b->verdict; });
  if (shown.empty()) return;
  Table table(
      {{"device"}, {"verdict"}, {"cases", Align::right}, {"what it shares", Align::left, Overflow::wrap}});
  for (const auto* device : shown)
    table.add({device->location,
               paint(boost::to_upper_copy<std::string>(word_of(device->verdict)), style_of(device->verdict)),
               std::to_string(device->cases), device->shared});
  out.line("");
  out.table(std::move(table));
}

void add_differences(Report& out, const Fleet& fleet, bool every) {
  Table table({{"device"},
               {"family, or case", Align::left, Overflow::cut},
               {"cases", Align::right},
               {fleet.by_baseline ? "over the baseline" : "over the others'", Align::right},
               {"95 % interval", Align::left, Overflow::cut, 1}});
  for (const auto& device : fleet.devices) {
    if (device.verdict == DeviceVerdict::fine || device.verdict == DeviceVerdict::unjudged) continue;
    for (const auto& one : device.differences) {
      if (!one.outlier && !every) continue;
      table.add({device.location, one.id.empty() ? one.family : one.id, std::to_string(one.cases),
                 paint(fmt::format("{:.3f}x", one.ratio), one.outlier ? Style::red : Style::dim),
                 fmt::format("{:.3f} .. {:.3f}", one.low, one.high)});
    }
  }
  if (table.empty()) return;
  out.line("");
  out.table(std::move(table));
}

void add_failed(Report& out, const Fleet& fleet, bool every) {
  constexpr std::size_t most = 5;  // of a device
  Table table({{"device"},
               {"status"},
               {"case", Align::left, Overflow::cut},
               {"reason", Align::left, Overflow::cut, 1}});
  for (const auto& device : fleet.devices) {
    for (std::size_t i = 0; i < device.failures.size(); ++i) {
      if (i == most && !every) {
        table.add({device.location, "..", fmt::format("{} more", device.failures.size() - most), ""});
        break;
      }
      table.add({device.location, text_of(device.failures[i].status), device.failures[i].id,
                 device.failures[i].reason});
    }
  }
  if (table.empty()) return;
  out.line("");
  out.table(std::move(table));
}

void add_rows(const std::vector<Fleet>& fleets, Report& out) {
  out.columns({"location", "device", "device_id", "uuid", "label", "verdict", "what", "family", "case_id",
               "cases", "ratio", "ratio_low", "ratio_high", "p_adjusted", "outlier", "reason"});
  out.rows([&fleets](const std::function<void(Report::Row)>& take) {
    const auto text = [](const std::string& word) { return word.empty() ? Cell() : Cell(word); };
    const auto number = [](double value) { return Cell(rounded(value)); };
    for (const auto& fleet : fleets) {
      for (const auto& device : fleet.devices) {
        const auto row = [&](Report::Row rest) {
          Report::Row cells = {device.location,
                               device.results->name,
                               text(device.results->id),
                               text(device.results->uuid),
                               text(device.results->user_label),
                               word_of(device.verdict)};
          cells.insert(cells.end(), rest.begin(), rest.end());
          take(std::move(cells));
        };
        const auto drain = static_cast<std::int64_t>(device.verdict == DeviceVerdict::drain);
        row({"device",
             {},
             {},
             static_cast<std::int64_t>(device.cases),
             {},
             {},
             {},
             number(device.p),
             drain,
             text(device.shared)});
        for (const auto& one : device.differences)
          row({one.id.empty() ? "family" : "case",
               one.family,
               text(one.id),
               static_cast<std::int64_t>(one.cases),
               number(one.ratio),
               number(one.low),
               number(one.high),
               number(one.p),
               static_cast<std::int64_t>(one.outlier),
               {}});
        for (const auto& failure : device.failures)
          row({"failure",
               failure.family,
               failure.id,
               std::int64_t{1},
               {},
               {},
               {},
               {},
               std::int64_t{1},
               fmt::format("{}: {}", text_of(failure.status), failure.reason)});
      }
    }
  });
}

}  // namespace

Report report_of(const std::vector<Fleet>& fleets, bool every) {
  Report out;
  for (const auto& fleet : fleets) {
    if (&fleet != &fleets.front()) out.line("");
    out.heading(fmt::format("{}: {} device{}, {} cases of {} famil{}", fleet.device, fleet.devices.size(),
                            fleet.devices.size() == 1 ? "" : "s", fleet.cases, fleet.families,
                            fleet.families == 1 ? "y" : "ies"));
    for (const auto& note : fleet.notes) out.line(paint("note: " + note, Style::yellow));
    if (fleet.least > 0 && !fleet.split)
      out.line(fmt::format("In a typical family devices differ by {}; one that differs by {} is named.",
                           percent_text(fleet.spread, 1), percent_text(fleet.least, 1)));
    std::vector<std::string> totals;
    for (const auto verdict : {DeviceVerdict::drain, DeviceVerdict::again, DeviceVerdict::unjudged,
                               DeviceVerdict::faster, DeviceVerdict::fine}) {
      const auto n = fleet.count(verdict);
      if (n == 0 && verdict != DeviceVerdict::drain) continue;
      const std::string words = verdict == DeviceVerdict::drain ? "TO BE DRAINED"
                                : verdict == DeviceVerdict::again
                                    ? "TO BE MEASURED AGAIN"
                                    : boost::to_upper_copy<std::string>(word_of(verdict));
      totals.push_back(n > 0 ? paint(fmt::format("{} {}", n, words), style_of(verdict))
                             : fmt::format("{} {}", n, words));
    }
    out.line(fmt::format("{}", fmt::join(totals, "  ")));
    add_devices(out, fleet, every);
    add_differences(out, fleet, every);
    add_failed(out, fleet, every);
  }
  out.line("");
  const bool by_baseline = !fleets.empty() && fleets.front().by_baseline;
  out.line(fmt::format(
      "Ratios are times over {}. Where no device differs beyond 3 %, one fleet in a hundred has one named.",
      by_baseline ? "the baseline's" : "the other devices'"));
  add_rows(fleets, out);
  return out;
}

}  // namespace clweave::fleet
