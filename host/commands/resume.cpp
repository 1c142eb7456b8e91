// SPDX-License-Identifier: Apache-2.0
#include "commands/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "commands/replay.hpp"
#include "results/row.hpp"

namespace clweave::commands {

std::string device_key_of(const DeviceInfo& device, const std::string& label) {
  Record record;
  record.label = label;
  describe_device(record, device);
  return record.device_key().text();
}

std::optional<Interrupted> read_interrupted(MeasureOptions& options, const std::vector<std::string>& axes) {
  Interrupted out{ResultsFile::read(options.resume, axes), {}};
  if (out.left.complete) return {};
  out.command = command_words(out.left.origin.command, options.resume + ":2");
  const bool of_baseline = out.command.front().starts_with("clweave_");
  auto again = of_baseline ? std::nullopt : parse_options(out.command);
  if (!again || std::ranges::find(out.command, "tune") != out.command.end())
    throw Error(ErrorCode::usage,
                fmt::format("{} is not of clweave run and cannot be resumed; start again what made "
                            "it: {}{}",
                            options.resume, of_baseline ? "" : "clweave ", fmt::join(out.command, " ")));
  if (again->parallel)
    throw Error(ErrorCode::usage,
                fmt::format("{} is of run --parallel, whose two sides are measured in turns: "
                            "it cannot be resumed; start again with --overwrite or another --csv",
                            options.resume));
  out.own_file = again->csv.empty();
  again->csv = options.resume;
  again->dry_run = options.dry_run;
  if (options.report) again->report = options.report;
  if (options.share) again->share = options.share;
  options = *again;
  return out;
}

void keep_devices_of(const Interrupted& run, const MeasureOptions& options,
                     std::vector<DeviceInfo>& devices) {
  const std::string& path = options.csv;
  const auto key_of = [&](const DeviceInfo& device) { return device_key_of(device, options.label); };
  std::set<std::string> begun(run.left.origin.devices.begin(), run.left.origin.devices.end());
  for (const auto& record : run.left.records) {
    if (!record.is_baseline()) begun.insert(record.device_key().text());
  }
  std::set<std::string> here;
  for (const auto& device : devices) here.insert(key_of(device));
  const auto refuse = [&](const std::string& key, const char* what) {
    std::string text =
        fmt::format("{} cannot be resumed: {} {}. Here {}", path, key, what, here.size() == 1 ? "is" : "are");
    for (const auto& other : here) text += "\n  " + other;
    throw Error(ErrorCode::no_device, text + "\nStart again with another --csv");
  };
  for (const auto& key : begun) {
    if (!here.contains(key)) refuse(key, "is not here, with that driver");
  }
  if (run.own_file)
    std::erase_if(devices, [&](const DeviceInfo& device) { return !begun.contains(key_of(device)); });
  else if (!run.left.origin.devices.empty()) {
    for (const auto& key : here) {
      if (!begun.contains(key)) refuse(key, "was not there when it began");
    }
  }
}

}  // namespace clweave::commands
