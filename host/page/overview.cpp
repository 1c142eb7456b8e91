// SPDX-License-Identifier: Apache-2.0
// overview: the section that answers in short: a box per device, and every trait of their profiles.
#include <fmt/format.h>

#include <algorithm>

#include "base/terminal.hpp"
#include "page/sections.hpp"

namespace clweave::page {

namespace {

// Returns facts as the script draws them: words, value, meaning, the section that it leads to, and the
// filters of that section's tables.
Json facts_of(const DeviceInput& device) {
  Json out = Json::array();
  for (const auto& fact : device.facts)
    out.push_back(Json::array({fact.words, fact.value, fact.meaning, id_of(fact.chapter)}));
  if (device.counts.any_decided())
    out.push_back(Json::array(
        {"published claims",
         fmt::format("{} fail, {} hold", device.counts.of(Verdict::fails), device.counts.of(Verdict::holds)),
         "which ones",
         "claims",
         {{"device", device.label}, {"verdict", "fails"}}}));
  const auto failed =
      static_cast<std::size_t>(std::ranges::count_if(device.results->cases, &CaseTimes::failed));
  out.push_back(Json::array({"failures",
                             failed == 0 ? "none" : plural(failed, "case"),
                             "which, and why",
                             failed == 0 ? "" : "failures",
                             {{"device", device.label}}}));
  return out;
}

Json traits_table(const Input& input) {
  Texts columns = {"trait"};
  for (const auto& device : input.devices) columns.push_back(device.label);
  Json rows = Json::array();
  for (std::size_t t = 0; t < input.devices.front().profile.traits.size(); ++t) {
    Json row = Json::array({input.devices.front().profile.traits[t].meaning});
    bool known = false;
    for (const auto& device : input.devices) {
      const Trait& trait = device.profile.traits[t];
      known = known || trait.is_known();
      row.push_back(trait_text(trait) + (trait.figure && !trait.note.empty() ? " (" + trait.note + ")" : ""));
    }
    if (known) rows.push_back(std::move(row));
  }
  Json out = table("Device profiles: all traits", columns, std::move(rows));
  out["folded"] = true;
  return out;
}

}  // namespace

Json overview(const Input& input) {
  Json boxes = Json::array();
  for (std::size_t d = 0; d < input.devices.size(); ++d) {
    const DeviceInput& device = input.devices[d];
    const DeviceResults& results = *device.results;
    Json anomalies = Json::array();
    for (const auto& one : device.anomalies)
      anomalies.push_back(Json::array({without_colour(one.text()), one.failure}));
    boxes.push_back({{"device", d},
                     {"name", device.label},
                     {"about", fmt::format("{}, driver {}, {} rows",
                                           results.platform.substr(0, results.platform.find(", ")),
                                           results.driver, results.rows)},
                     {"facts", facts_of(device)},
                     {"anomalies", std::move(anomalies)}});
  }
  Json parts = Json::array({{{"kind", "devices"}, {"devices", std::move(boxes)}}});
  if (!input.devices.empty()) parts.push_back(traits_table(input));
  return section("Overview", "The main results of each device; the sections below show the measurements.",
                 std::move(parts));
}

}  // namespace clweave::page
