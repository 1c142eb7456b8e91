// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/jobs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "analysis/claims/selection.hpp"
#include "suite/peak.hpp"

namespace clweave::claims {

namespace {

using Queries = std::vector<const RowQuery*>;

// Returns every combination of the sizes and types that the queries list, the preferred one first: types in
// their order, then sizes from the largest.
std::vector<ChosenValues> choices_of(const Queries& queries) {
  using How = RowQuery::AxisQuery::How;
  std::map<std::string, Values> preferred, sized;
  for (const auto* query : queries) {
    for (const auto& [axis, of_axis] : query->axes) {
      if (of_axis.how == How::first) preferred[axis] = of_axis.values;
      if (of_axis.how == How::largest) sized[axis] = of_axis.values;
    }
  }
  for (auto& [axis, values] : sized) {
    std::ranges::sort(values);
    std::ranges::reverse(values);
  }
  std::vector<ChosenValues> out(1);
  for (const auto* axes : {&preferred, &sized}) {
    for (const auto& [axis, values] : *axes) {
      std::vector<ChosenValues> wider;
      for (const auto& choice : out) {
        for (const auto& value : values) {
          wider.push_back(choice);
          wider.back()[axis] = value;
        }
      }
      out = std::move(wider);
    }
  }
  return out;
}

// Returns the seconds that the longest case of a query takes the device; std::nullopt if it can do none.
std::optional<double> longest_of(const RowQuery& query, const ChosenValues& choice,
                                 const std::vector<Family>& families, const DeviceInfo& device) {
  std::optional<double> longest;
  const Family& family = *family_named(families, query.family);
  for (const auto& at : cases_of(family, sweeps_of(query, choice), 0)) {
    try {
      longest = std::max(longest.value_or(0), estimate(plan_of(family, at, device), device).device_s);
    } catch (const Error&) {  // the device cannot do it, and says so in the row
      continue;
    }
  }
  return longest;
}

// Chooses the largest sizes at which the device can do a case of each query and none takes long. If there are
// none, returns the smallest, or std::nullopt if a case takes longer than `longest_s` there.
std::optional<ChosenValues> choice_for(const Queries& queries, const std::vector<Family>& families,
                                       const DeviceInfo& device, double longest_s) {
  constexpr double long_s = 0.3;
  auto choices = choices_of(queries);
  for (auto& choice : choices) {
    const bool suits = std::ranges::all_of(queries, [&](const RowQuery* query) {
      const auto longest = longest_of(*query, choice, families, device);
      return longest && *longest <= long_s;
    });
    if (suits) return std::move(choice);
  }
  const bool too_long = std::ranges::any_of(queries, [&](const RowQuery* query) {
    return longest_of(*query, choices.back(), families, device).value_or(0) > longest_s;
  });
  return too_long ? std::nullopt : std::optional(std::move(choices.back()));
}

}  // namespace

std::vector<Job> claim_jobs(const std::vector<Claim>& claims, const std::vector<Family>& families,
                            const Selection& wanted, const DeviceInfo& device, double longest_s) {
  std::vector<Family> asked = families;
  for (auto& family : asked) {
    if (family.name != peak_family || !wanted.peaks) family.presets.at(wanted.preset).clear();
  }
  for (const auto& claim : claims) {
    if (claim.only_if_named && std::isfinite(longest_s)) continue;
    for (auto queries : claim.queries(has_cuda(device.platform))) {
      std::erase_if(queries,
                    [&](const RowQuery* query) { return family_named(families, query->family) == nullptr; });
      const auto choice = choice_for(queries, families, device, longest_s);
      if (!choice) continue;
      for (const auto* query : queries) {
        auto& sweeps = std::ranges::find(asked, query->family, &Family::name)->presets.at(wanted.preset);
        for (auto& sweep : sweeps_of(*query, *choice)) sweeps.push_back(std::move(sweep));
      }
    }
  }
  auto jobs = select_jobs(asked, wanted);
  for (auto& job : jobs) job.family = family_named(families, job.family->name);
  return jobs;
}

}  // namespace clweave::claims
