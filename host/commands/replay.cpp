// SPDX-License-Identifier: Apache-2.0
#include "commands/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/version.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

// The options of a command that name files, which may be elsewhere by now; a single case needs none of them.
const std::vector<std::string> file_options = {"--resume",      "--replay", "--case",
                                               "--claims-file", "--csv",    "--store"};

std::vector<std::string> without_files(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (std::ranges::find(file_options, words[w]) != file_options.end())
      ++w;
    else
      out.push_back(words[w]);
  }
  return out;
}

}  // namespace

std::vector<std::string> command_words(const std::string& cell, const std::string& where) {
  const auto words = nlohmann::json::parse(cell, nullptr, false);
  if (!words.is_array() || words.empty() ||
      !std::ranges::all_of(words, [](const auto& word) { return word.is_string(); }))
    throw Error(ErrorCode::io, fmt::format("{}: column command: '{}' is no list of words", where, cell));
  return words.get<std::vector<std::string>>();
}

Job job_of(const Record& row, const std::vector<Family>& families, const std::string& where) {
  const auto family = std::ranges::find(families, row.family, &Family::name);
  if (family == families.end())
    throw Error(ErrorCode::usage, fmt::format("{}: there is no family {} any more", where, row.family));
  Job job{&*family, {family->name, {}, static_cast<std::uint64_t>(row.seed.value_or(1))}};
  for (const auto& axis : family->axes) {
    const std::string cell = row.axis(axis.name);
    if (cell.empty())
      throw Error(ErrorCode::usage,
                  fmt::format("{}: {} has no value for axis {}", where, row.case_id, axis.name));
    job.at.axes.emplace_back(axis.name, value_of(cell));
  }
  return job;
}

Replay replay_of(const Record& row, const std::vector<Family>& families, const std::string& where) {
  const auto then = parse_options(without_files(command_words(row.command, where)));
  if (!then) throw Error(ErrorCode::io, where + ": column command names no run");
  Replay out{job_of(row, families, where), *then};
  out.options.csv = "-";
  out.options.repeat = 1;
  out.options.dry_run = false;
  out.options.with_baselines = false;
  out.options.selection.seed = out.job.at.seed;
  out.options.devices = {row.device};
  return out;
}

Replay replay_of(const MeasureOptions& given, const std::vector<Family>& families) {
  const CsvTable table = read_csv(given.replay);
  const RecordReader reader(table.header, given.replay);
  for (const auto& row : table.rows) {
    Record record;
    if (!reader.read(row, record) || !record.finding.empty()) continue;
    const std::string then = record.case_id;
    add_later_axes(record, families);
    if (then != given.replay_case && record.case_id != given.replay_case) continue;
    if (record.is_baseline())
      throw Error(ErrorCode::usage,
                  fmt::format("{} is of {}, not of clweave: clweave run --with-baselines measures it",
                              given.replay_case, record.api));
    Replay out = replay_of(record, families, fmt::format("{}:{}", given.replay, row.line));
    if (!given.csv.empty()) out.options.csv = given.csv;
    out.options.overwrite = given.overwrite;
    out.options.dry_run = given.dry_run;
    // A dry run can show the case for any device.
    if (!given.devices.empty() || given.dry_run) out.options.devices = given.devices;
    if (record.version != version)
      log_line("clweave: the row was made by {}, this is {}\n", record.version, version);
    return out;
  }
  throw Error(ErrorCode::usage,
              given.replay + " has no case " + given.replay_case + "; its column case_id lists them");
}

}  // namespace clweave::commands
