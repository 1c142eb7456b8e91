// SPDX-License-Identifier: Apache-2.0
#include "commands/tuned_jobs.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/log.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

std::vector<Job> with_tuned(std::vector<Job> jobs, const TunedLaunches& tuned, const Selection& selection,
                            TunedSummary& summary) {
  std::vector<Job> out;
  std::set<std::string> ids;  // taken
  for (const auto& job : jobs) ids.insert(job.at.id());
  for (auto& job : jobs) {
    std::vector<TunedLaunch> beside;
    std::optional<NotCarried> left_out;
    if (!job.known_incorrect && !job.is_peak) beside = tuned.beside(*job.family, job.at, &left_out);
    if (left_out && allows(selection, *job.family, left_out->at)) {
      const TunedSummary::TooLarge found = {job.family, *left_out};
      NotCarried& least = summary.too_large.try_emplace(job.family->name, found).first->second.least;
      if (left_out->at.number(elements_axis) < least.at.number(elements_axis)) least = *std::move(left_out);
    }
    const Job usual = job;
    out.push_back(std::move(job));
    for (const auto& launch : beside) {
      if (!allows(selection, *usual.family, launch.at) || !ids.insert(launch.at.id()).second) continue;
      out.push_back(usual);
      out.back().at = launch.at;
      out.back().tuned = true;
      out.back().tuned_on = launch.of;
      out.back().tuned_with = launch.with;
      summary.devices.insert(launch.of);
      summary.similar_work = summary.similar_work || !launch.with.empty();
    }
  }
  return out;
}

std::vector<std::string> too_large_lines(const TunedSummary& summary) {
  std::vector<std::string> out;
  for (const auto& [name, too_large] : summary.too_large) {
    const auto& [family, least] = too_large;
    const auto n = least.at.number(elements_axis);
    out.push_back(
        fmt::format("no tuned configuration of {} from n={} on: the one found at n={} is used up to {} times "
                    "that; clweave tune --family {}{} --set n={} finds one",
                    name, n, least.found_at_n, carried_at_most, name,
                    family->presets.tune.empty() ? " --preset quick" : "", n));
  }
  return out;
}

void log_tuned(const DeviceInfo& device, const TunedSummary& summary) {
  for (const auto& line : too_large_lines(summary)) log_line("clweave: {}: {}\n", device.name, line);
  for (const auto& other : summary.devices) {
    if (other.empty())
      log_line("clweave: {}: beside default configurations the best that tune found here\n", device.name);
    else
      log_line(
          "clweave: {}: beside default configurations the best of the nearest device that was tuned, {}; "
          "clweave tune finds its own\n",
          device.name, other);
  }
  if (summary.similar_work)
    log_line(
        "clweave: {}: where a piece of work was not tuned, the best configuration of similar work, which "
        "column reason names\n",
        device.name);
}

}  // namespace clweave::commands
