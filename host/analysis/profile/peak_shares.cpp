// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/peak_shares.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

#include "suite/added_families.hpp"
#include "suite/family.hpp"

namespace clweave::profile {

namespace {

enum class Missing { bound, peak, quiet_peak };

std::string reason_for(Missing why) {
  switch (why) {
    case Missing::bound: return "no bound is described; [cost] takes bound = \"memory\" and others";
    case Missing::peak: return "its peak was not measured; clweave run measures it with any preset but smoke";
    case Missing::quiet_peak: return "its peak was measured while the machine was not quiet; --wait-quiet 5m";
  }
  return "";
}

// Returns why a case has none; empty where it has one, or can have none: another thing than a peak bounds
// what some of the suite's families measure.
std::optional<Missing> missing_share(const CaseTimes& at, const DeviceResults& device, const Family& family) {
  const auto run = at.known_incorrect ? std::nullopt : at.typical(!at.was_run(false));
  if (!run || run->fraction_of_peak) return {};
  if (run->peak == Peak::none)
    return file_of_family(family.name).empty() ? std::nullopt : std::optional(Missing::bound);
  if (!device.peaks.contains(run->peak)) return Missing::peak;
  if (!device.quiet_peaks.contains(run->peak)) return Missing::quiet_peak;
  return {};
}

}  // namespace

std::string share_text(const RunTime& run) {
  if (!run.fraction_of_peak) return "-";
  return fmt::format("{:.0f} %{}", 100 * *run.fraction_of_peak, run.cached ? cached_mark : "");
}

std::vector<std::string> missing_shares(const DeviceResults& device, const std::vector<Family>& families) {
  constexpr std::size_t most_names = 3;
  std::map<Missing, std::vector<std::string>> found;
  for (const auto& at : device.cases) {
    const auto family = std::ranges::find(families, at.family(), &Family::name);
    if (family == families.end() || family->name == peak_family) continue;
    const auto why = missing_share(at, device, *family);
    if (!why) continue;
    auto& names = found[*why];
    if (std::ranges::find(names, family->name) == names.end()) names.push_back(family->name);
  }
  std::vector<std::string> out;
  for (auto& [why, names] : found) {
    const std::size_t all = names.size();
    names.resize(std::min(all, most_names));
    out.push_back(fmt::format("of peak: unknown for {}{}: {}", fmt::join(names, ", "),
                              all > most_names ? fmt::format(" and {} more", all - most_names) : "",
                              reason_for(why)));
  }
  return out;
}

}  // namespace clweave::profile
