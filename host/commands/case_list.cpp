// SPDX-License-Identifier: Apache-2.0
#include "commands/case_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/quantity.hpp"
#include "base/terminal.hpp"
#include "report/table.hpp"
#include "suite/family.hpp"
#include "suite/mock_devices.hpp"

namespace clweave::commands {

namespace {

std::string yes(bool flag) { return flag ? "yes" : "no"; }

// Returns the values of an axis, and what else it takes.
std::string values_text(const Axis& axis) {
  std::string text;
  for (const auto& value : axis.values) text += (text.empty() ? "" : " ") + text_of(value);
  if (axis.domain.of != Domain::Of::listed) text += " .. (takes " + axis.domain_text() + ")";
  return text;
}

// Gives what the driver reports, by the names of the rows: `version` is clweave's there.
nlohmann::json device_json(const DeviceInfo& device, const std::vector<std::string>& twins) {
  nlohmann::json out = device;
  out["index"] = device.index();
  out["device"] = device.name;
  out["opencl_version"] = device.version;
  out["same_hardware_as"] = twins;
  for (const char* former : {"name", "version", "platform_index", "device_index"}) out.erase(former);
  return out;
}

}  // namespace

Report devices_report(const std::vector<DeviceInfo>& devices) {
  Report out;
  Table table({{"index"},
               {"device", Align::left, Overflow::cut},
               {"type"},
               {"CUs", Align::right},
               {"memory", Align::right},
               {"local", Align::right, Overflow::keep, 5},
               {"fp64", Align::left, Overflow::keep, 4},
               {"sub-groups", Align::left, Overflow::keep, 3},
               {"driver", Align::left, Overflow::cut, 7},
               {"platform", Align::left, Overflow::cut, 8},
               {"vendor", Align::left, Overflow::cut, 2},
               {"UUID or PCI", Align::left, Overflow::cut, 1},
               {"same hardware as", Align::left, Overflow::keep, 6}});
  out.columns({"index", "device", "type", "compute_units", "memory_bytes", "local_bytes", "fp64", "subgroups",
               "driver", "platform", "opencl_version", "vendor", "uuid", "pci", "same_hardware_as"});
  auto document = nlohmann::json::array();
  for (const auto& device : devices) {
    std::vector<std::string> twins;
    for (const auto& other : devices) {
      if (!device.hardware.empty() && other.hardware == device.hardware && other.index() != device.index())
        twins.push_back(other.index());
    }
    table.add({device.index(), device.name, device.type, std::to_string(device.compute_units),
               device.memory_bytes > 0 ? bytes_text(static_cast<double>(device.memory_bytes)) : "unknown",
               bytes_text(static_cast<double>(device.local_bytes)), yes(device.fp64), yes(device.subgroups),
               device.driver, device.platform + ", " + device.version, device.vendor,
               !device.pci.empty() ? device.pci : device.uuid, fmt::format("{}", fmt::join(twins, " "))});
    out.row({device.index(), device.name, device.type, static_cast<std::int64_t>(device.compute_units),
             static_cast<std::int64_t>(device.memory_bytes), static_cast<std::int64_t>(device.local_bytes),
             device.fp64, device.subgroups, device.driver, device.platform, device.version, device.vendor,
             device.uuid, device.pci, twins});
    document.push_back(device_json(device, twins));
  }
  out.table(std::move(table));
  out.document(document);
  return out;
}

namespace {

// Counts by family and preset. Making all cases to count them takes longer than the rest of this file.
using Counts = std::vector<std::map<std::string, std::size_t>>;

Counts counts_of(const std::vector<Family>& families) {
  Counts counts;
  for (const auto& family : families) {
    auto& of_family = counts.emplace_back();
    for (const auto* preset : preset_names)
      of_family[preset] = cases_of(family, family.presets.at(preset), 0).size();
  }
  return counts;
}

nlohmann::json families_json(const std::vector<Family>& families, const Counts& counts) {
  auto out = nlohmann::json::array();
  for (std::size_t f = 0; f < families.size(); ++f) {
    const Family& family = families[f];
    auto axes = nlohmann::json::array();
    for (const auto& axis : family.axes) {
      auto values = nlohmann::json::array();
      for (const auto& value : axis.values) std::visit([&](const auto& v) { values.push_back(v); }, value);
      axes.push_back({{"axis", axis.name},
                      {"meaning", axis.meaning},
                      {"values", values},
                      {"open", axis.domain.of == Domain::Of::shapes},
                      {"takes", axis.domain_text()},
                      {"tunable", axis.tunable}});
    }
    auto derived = nlohmann::json::array();
    for (const auto& column : family.derived)
      derived.push_back({{"axis", column.name}, {"meaning", column.meaning}});
    out.push_back({{"family", family.name},
                   {"question", family.question},
                   {"axes", axes},
                   {"derived", derived},
                   {"cases", counts[f]}});
  }
  return out;
}

// Estimates how long the cases of preset quick take, in a short form: "5 s", "2 min".
std::string quick_time(const Family& family, const DeviceInfo& device) {
  double seconds = 0;
  for (auto& at : cases_of(family, family.presets.quick, 0))
    seconds += predicted_seconds({.family = &family, .at = std::move(at)}, device);
  return seconds < 99.5 ? fmt::format("{:.0f} s", std::ceil(seconds))
                        : fmt::format("{:.0f} min", std::ceil(seconds / 60));
}

// Lists a family a line, in 80 columns.
void add_overview(Report& out, const std::vector<Family>& families, const Counts& counts) {
  const auto devices = mock_devices();
  Table table({{"family"},
               {"measures", Align::left, Overflow::cut},
               {"cases", Align::right},
               {"GPU", Align::right},
               {"CPU", Align::right}});
  for (std::size_t f = 0; f < families.size(); ++f) {
    const Family& family = families[f];
    table.add({family.name, family.brief.empty() ? family.question : family.brief,
               std::to_string(counts[f].at("quick")), quick_time(family, devices.front()),
               quick_time(family, devices.back())});
  }
  out.table(std::move(table));
  out.line();
  out.line("cases: those of `clweave run` (preset quick); GPU, CPU: about how long they take");
  out.command("  clweave list FAMILY        # its question, axes, values and presets");
  out.command("  clweave run --family NAME");
}

}  // namespace

Report families_report(const std::vector<Family>& families, bool in_full) {
  Report out;
  out.columns({"family", "axis", "values", "meaning", "takes", "tunable"});
  const Counts counts = counts_of(families);
  if (!in_full) add_overview(out, families, counts);
  for (std::size_t f = 0; f < families.size(); ++f) {
    const Family& family = families[f];
    Table table({{"axis"},
                 {"values (the first is the default)", Align::left, Overflow::wrap},
                 {"meaning", Align::left, Overflow::wrap}});
    for (const auto& axis : family.axes) {
      table.add({axis.name, values_text(axis), axis.meaning + (axis.tunable ? " (tunable)" : "")});
      std::vector<std::string> values;
      for (const auto& value : axis.values) values.push_back(text_of(value));
      out.row({family.name, axis.name, values, axis.meaning, axis.domain_text(), axis.tunable});
    }
    if (!in_full) continue;
    for (const auto& column : family.derived)
      table.add({column.name, "follows from the axes", column.meaning});
    std::vector<std::string> cases;
    // The preset tune is what `clweave tune` searches: it is no list of cases to run.
    for (const auto* preset : preset_names) {
      if (std::string_view(preset) != "tune")
        cases.push_back(fmt::format("{} {}", preset, counts[f].at(preset)));
    }
    const auto searches = counts[f].at("tune");
    out.line(fmt::format("{}  {}", paint(family.name, Style::bold), family.question));
    out.line(
        fmt::format("  cases: {}{}", fmt::join(cases, ", "),
                    searches > 0 ? fmt::format("; starting points of `clweave tune`: {}", searches) : ""));
    out.table(std::move(table));
    out.line();
  }
  out.document(families_json(families, counts));
  return out;
}

namespace {

// Returns the launches of a case, "reduce<1024 by 256>", of many only the first.
std::vector<std::string> launches_of(const Job& job, const Plan& plan) {
  std::vector<std::string> launches;
  if (job.baseline) launches.push_back("by " + job.baseline->api);
  for (const auto& step : job.baseline ? std::vector<Step>{} : plan.steps) {
    if (const auto* launch = std::get_if<Launch>(&step))
      launches.push_back(fmt::format("{}<{} by {}>", launch->kernel, text_of(launch->global),
                                     launch->local.empty() ? "driver" : text_of(launch->local)));
    else
      launches.emplace_back(std::holds_alternative<CopyBuffer>(step) ? "copy buffer"
                            : std::holds_alternative<Transfer>(step) ? "transfer"
                            : std::holds_alternative<Build>(step)    ? "build"
                                                                     : "host");
  }
  if (launches.size() > 4) {  // keeps the line readable
    const std::size_t more = launches.size() - 3;
    launches.resize(3);
    launches.push_back(fmt::format("and {} more", more));
  }
  return launches;
}

}  // namespace

Report dry_run_report(const std::vector<Job>& jobs, const DeviceInfo& device, bool refines) {
  Report out;
  Table table({{"case", Align::left, Overflow::wrap},
               {"launches", Align::left, Overflow::cut, 1},
               {"memory", Align::right},
               {"time", Align::right}});
  out.columns({"case_id", "memory_bytes", "time_s", "launches", "unsupported"});
  double seconds = 0, peaks_s = 0;
  std::uint64_t most_bytes = 0;
  std::set<std::string> refining;
  for (const auto& job : jobs) {
    if (refines && job.family->refine && !job.baseline) refining.insert(job.family->name);
    try {
      const Plan plan = plan_of(*job.family, job.at, device);
      const auto launches = launches_of(job, plan);
      const CostEstimate need = estimate(plan, device);
      seconds += need.seconds;
      if (job.is_peak) peaks_s += need.seconds;
      most_bytes = std::max(most_bytes, need.bytes);
      table.add({job.named().id(), fmt::format("{}", fmt::join(launches, ", ")),
                 bytes_text(static_cast<double>(need.bytes)), seconds_text(need.seconds)});
      out.row({job.named().id(), static_cast<std::int64_t>(need.bytes), need.seconds, launches, {}});
    } catch (const Error& error) {
      table.add({job.named().id(), std::string("unsupported: ") + error.what(), "", ""});
      out.row({job.named().id(), {}, {}, {}, std::string(error.what())});
    }
  }
  out.table(std::move(table));
  const auto peaks = static_cast<std::size_t>(std::ranges::count_if(jobs, &Job::is_peak));
  const bool beside = peaks > 0 && peaks < jobs.size();  // measured for the others' sake
  out.line(fmt::format(
      "{} cases on {}{}, at most {} of device memory, roughly {}", beside ? jobs.size() - peaks : jobs.size(),
      device.name,
      beside ? fmt::format(", and first {} of its peaks, roughly {}", peaks, seconds_text(peaks_s)) : "",
      bytes_text(static_cast<double>(most_bytes)), seconds_text(seconds)));
  if (!refining.empty())
    out.line(fmt::format("and what turns out to be worth measuring besides: {} may ask for more cases",
                         fmt::join(refining, ", ")));
  return out;
}

}  // namespace clweave::commands
