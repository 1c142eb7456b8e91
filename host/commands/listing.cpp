// SPDX-License-Identifier: Apache-2.0
#include "commands/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/quantity.hpp"
#include "base/table.hpp"
#include "base/terminal.hpp"

namespace clweave {

namespace {

std::string yes(bool flag) { return flag ? "yes" : "no"; }

std::string values_text(const Axis& axis) {
  std::vector<std::string> texts;
  for (const auto& value : axis.values) texts.push_back(text_of(value));
  return fmt::format("{}{}", fmt::join(texts, " "), axis.open ? " .." : "");
}

}  // namespace

std::string devices_table(const std::vector<DeviceInfo>& devices, bool colour) {
  Table table({{"index"},
               {"device"},
               {"vendor"},
               {"type"},
               {"platform"},
               {"driver"},
               {"CUs", Align::right},
               {"memory", Align::right},
               {"local", Align::right},
               {"fp64"},
               {"sub-groups"},
               {"UUID or PCI"},
               {"same hardware as"}});
  for (const auto& device : devices) {
    std::vector<std::string> twins;
    for (const auto& other : devices) {
      if (!device.silicon.empty() && other.silicon == device.silicon && other.index() != device.index())
        twins.push_back(other.index());
    }
    table.add({device.index(), device.name, device.vendor, device.type,
               device.platform + ", " + device.version, device.driver, std::to_string(device.compute_units),
               bytes_text(static_cast<double>(device.memory_bytes)),
               bytes_text(static_cast<double>(device.local_bytes)), yes(device.fp64), yes(device.subgroups),
               !device.pci.empty() ? device.pci : device.uuid, fmt::format("{}", fmt::join(twins, " "))});
  }
  return table.text(colour);
}

std::string devices_json(const std::vector<DeviceInfo>& devices) {
  return nlohmann::json(devices).dump(2) + "\n";
}

std::string families_table(const std::vector<Family>& families, bool colour) {
  std::string out;
  for (const auto& family : families) {
    std::vector<std::string> counts;
    for (const auto* preset : preset_names)
      counts.push_back(fmt::format("{} {}", preset, cases_of(family, family.presets.at(preset), 0).size()));
    out += fmt::format("{}  {}\n  cases: {}\n", paint(family.name, Style::bold, colour), family.question,
                       fmt::join(counts, ", "));
    Table table({{"axis"}, {"values (the first is the default)"}, {"meaning"}});
    for (const auto& axis : family.axes)
      table.add({axis.name, values_text(axis), axis.meaning + (axis.tunable ? " (tunable)" : "")});
    for (const auto& column : family.derived)
      table.add({column.name, "follows from the axes", column.meaning});
    out += table.text(colour) + "\n";
  }
  return out;
}

std::string families_json(const std::vector<Family>& families) {
  auto out = nlohmann::json::array();
  for (const auto& family : families) {
    auto axes = nlohmann::json::array();
    for (const auto& axis : family.axes) {
      auto values = nlohmann::json::array();
      for (const auto& value : axis.values) std::visit([&](const auto& v) { values.push_back(v); }, value);
      axes.push_back({{"name", axis.name},
                      {"meaning", axis.meaning},
                      {"values", values},
                      {"open", axis.open},
                      {"tunable", axis.tunable}});
    }
    auto derived = nlohmann::json::array();
    for (const auto& column : family.derived)
      derived.push_back({{"name", column.name}, {"meaning", column.meaning}});
    nlohmann::json cases;
    for (const auto* preset : preset_names)
      cases[preset] = cases_of(family, family.presets.at(preset), 0).size();
    out.push_back({{"name", family.name},
                   {"question", family.question},
                   {"axes", axes},
                   {"derived", derived},
                   {"cases", cases}});
  }
  return out.dump(2) + "\n";
}

std::string dry_run_table(const std::vector<Job>& jobs, const DeviceInfo& device, bool colour) {
  Table table({{"case"}, {"launches"}, {"memory", Align::right}, {"time", Align::right}});
  double seconds = 0;
  std::uint64_t most_bytes = 0;
  for (const auto& job : jobs) {
    try {
      const Plan plan = plan_of(*job.family, job.at, device);
      std::vector<std::string> launches;
      for (const auto& step : plan.steps) {
        if (const auto* launch = std::get_if<Launch>(&step))
          launches.push_back(fmt::format("{}<{} by {}>", launch->kernel, text_of(launch->global),
                                         launch->local.empty() ? "driver" : text_of(launch->local)));
        else
          launches.emplace_back(std::holds_alternative<CopyBuffer>(step) ? "copy buffer" : "host");
      }
      if (launches.size() > 4) {  // a line is to stay readable
        const std::size_t more = launches.size() - 3;
        launches.resize(3);
        launches.push_back(fmt::format("and {} more", more));
      }
      const Estimate need = estimate(plan, device);
      seconds += need.seconds;
      most_bytes = std::max(most_bytes, need.bytes);
      table.add({job.at.id(), fmt::format("{}", fmt::join(launches, ", ")),
                 bytes_text(static_cast<double>(need.bytes)), seconds_text(need.seconds)});
    } catch (const Error& error) {
      table.add({job.at.id(), std::string("unsupported: ") + error.what(), "", ""});
    }
  }
  return fmt::format("{}{} cases on {}, at most {} of device memory, roughly {}\n", table.text(colour),
                     jobs.size(), device.name, bytes_text(static_cast<double>(most_bytes)),
                     seconds_text(seconds));
}

}  // namespace clweave
