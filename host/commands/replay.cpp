// SPDX-License-Identifier: Apache-2.0
#include "commands/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/near_word.hpp"
#include "base/version.hpp"
#include "commands/recorded.hpp"
#include "device/program.hpp"
#include "results/contradictions.hpp"
#include "suite/added_families.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

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

Replay replay_of(const Record& row, const std::vector<Family>& families, const MeasureOptions& today,
                 const std::string& where) {
  RecordedCommand then = recorded_command(command_words(row.command, where), where);
  take_kernels(then, today, where);
  Replay out{job_of(row, families, where), then.options, {}};
  if (then.files.contains("--kernels") || is_added(row.family)) out.made_by = row;
  out.options.csv = today.csv.empty() ? "-" : today.csv;
  out.options.overwrite = today.overwrite;
  out.options.dry_run = today.dry_run;
  out.options.sources = today.sources;
  out.options.report = today.report;
  out.options.share = today.share;
  out.options.repeat = 1;
  out.options.with_baselines = false;
  out.options.selection.seed = out.job.at.seed;
  out.options.devices = {row.device};
  // A dry run can show the case for any device.
  if (!today.devices.empty() || today.dry_run) out.options.devices = today.devices;
  return out;
}

void check_kernels(const Record& row, const Job& job, const DeviceInfo& device, const std::string& kernels) {
  const bool own = is_added(row.family);
  if ((kernels.empty() && !own) || row.kernel_hash.empty() || row.device != device.name) return;
  std::string now;
  try {
    now = source_of(plan_of(*job.family, job.at, device), kernels).kernel_hash;
  } catch (const Error& error) {
    if (error.code != ErrorCode::unsupported) throw;
    return;
  }
  if (now != row.kernel_hash && own)
    throw Error(
        ErrorCode::usage,
        fmt::format("{} was measured with another kernel file or description (kernel_hash {}, now {}): "
                    "measure again with clweave run, into another file",
                    row.case_id, row.kernel_hash, now));
  if (now != row.kernel_hash)
    throw Error(
        ErrorCode::usage,
        fmt::format(
            "--kernels {}: {} was measured with kernel_hash {}, and there it is {}: name the kernels of "
            "then, or measure with clweave run --kernels",
            kernels, row.case_id, row.kernel_hash, now));
}

Replay replay_of(const MeasureOptions& given, const std::vector<Family>& families) {
  const CsvTable table = read_csv(given.replay);
  RecordReader reader(table.header, given.replay, table.dialect);
  std::vector<std::string> known;
  for (const auto& row : table.rows) {
    Record record;
    if (!reader.read(row, record) || !record.finding.empty()) continue;
    const std::string then = record.case_id;
    add_later_axes(record, families);
    if (then != given.replay_case && record.case_id != given.replay_case) {
      known.push_back(record.case_id);
      continue;
    }
    check_cells(record, given.replay, row.line);
    if (record.is_baseline())
      throw Error(ErrorCode::usage,
                  fmt::format("{} is of {}, not of clweave: clweave run --with-baselines measures it",
                              given.replay_case, record.api));
    Replay out = replay_of(record, families, given, fmt::format("{}:{}", given.replay, row.line));
    if (record.version != version)
      log_line("clweave: the row was made by {}, this is {}\n", record.version, version);
    return out;
  }
  const auto near = near_word(given.replay_case, known);
  throw Error(ErrorCode::usage,
              fmt::format("{} has no case {}; {}", given.replay, given.replay_case,
                          near.empty() ? "its column case_id lists them" : "did you mean '" + near + "'?"));
}

}  // namespace clweave::commands
