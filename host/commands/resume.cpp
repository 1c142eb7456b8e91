// SPDX-License-Identifier: Apache-2.0
#include "commands/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/shell_word.hpp"
#include "commands/recorded.hpp"
#include "commands/replay.hpp"
#include "results/row.hpp"
#include "suite/added_families.hpp"

namespace clweave::commands {

std::string device_key_of(const DeviceInfo& device, const std::string& label) {
  Record record;
  record.label = label;
  describe_device(record, device);
  return record.device_key().text();
}

namespace {

// Returns the first row; std::nullopt if there is none that can be read, which those say who read it whole.
std::optional<Record> first_row(const std::string& path) {
  try {
    CsvReader reader(path);
    RecordReader records(reader.header(), path, reader.dialect());
    CsvTable::Row row;
    Record out;
    if (reader.next(row) && records.read(row, out) && !out.command.empty()) return out;
  } catch (const Error&) {
  }
  return {};
}

// Adds the families of users' kernels that the file's command names, from the files of today: its columns
// have their axes.
void load_recorded(const MeasureOptions& today) {
  const auto first = first_row(today.resume);
  if (!first) {
    load_own(today.own.files);
    return;
  }
  const auto words = command_words(first->command, today.resume + ":2");
  if (words.front() != "run") return;
  RecordedCommand then = recorded_command(words, today.resume);
  if (!then.options.own.files.empty() || !today.own.files.empty()) take_inputs(then, today, today.resume);
}

}  // namespace

std::optional<Interrupted> read_interrupted(MeasureOptions& options) {
  load_recorded(options);
  Interrupted out{ResultsFile::read(options.resume, axis_names(all_families())), {}};
  if (out.left.complete) return {};
  out.command = command_words(out.left.origin.command, options.resume + ":2");
  const bool of_baseline = out.command.front().starts_with("clweave_");
  if (of_baseline || std::ranges::find(out.command, "tune") != out.command.end())
    throw Error(ErrorCode::usage,
                fmt::format("{} is not of clweave run and cannot be resumed; start again what made "
                            "it: {}{}",
                            options.resume, of_baseline ? "" : "clweave ", shell_words(out.command)));
  RecordedCommand then = recorded_command(out.command, options.resume);
  if (then.options.parallel)
    throw Error(ErrorCode::usage,
                fmt::format("{} is of run --parallel, whose two sides are measured in turns: "
                            "it cannot be resumed; start again with --overwrite or another --csv",
                            options.resume));
  take_inputs(then, options, options.resume);
  for (const auto& [option, file] : then.files) {
    const bool again = option == "--report" ? options.report.has_value() : options.share.has_value();
    if ((option == "--report" || option == "--share") && !again)
      log_line("clweave: {} began with {}{}{}: add it for it to be written\n", options.resume, option,
               file.empty() ? "" : " ", file);
  }
  out.own_file = !then.files.contains("--csv");
  then.options.csv = options.resume;
  then.options.dry_run = options.dry_run;
  then.options.sources = options.sources;
  then.options.report = options.report;
  then.options.share = options.share;
  options = then.options;
  return out;
}

void check_kernels_of(const Interrupted& run, const MeasureOptions& options,
                      const std::vector<DeviceInfo>& devices) {
  for (const auto& record : run.left.records) {
    if (record.is_baseline() || !record.finding.empty()) continue;
    if (options.kernels.empty() && !is_added(record.family)) continue;
    const Job job = job_of(record, all_families(), options.csv);
    for (const auto& device : devices) {
      if (device_key_of(device, options.label) == record.device_key().text())
        check_kernels(record, job, device, options.kernels);
    }
  }
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
  for (const auto& device : devices) {
    const std::string key = key_of(device);
    const auto then = run.left.origin.listings.find(key);
    if (begun.contains(key) && then != run.left.origin.listings.end() && then->second != device.listing)
      refuse(key, "has no address of its own, and its platform lists other devices than when it began");
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
