// SPDX-License-Identifier: Apache-2.0
#include "page/page.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/version.hpp"
#include "page/filled.hpp"
#include "page/sections.hpp"

namespace clweave::page {

namespace {

// Returns what the axes of each family mean, for the charts that name them.
Json axes_of(const std::vector<Family>& families) {
  Json out = Json::object();
  for (const auto& family : families) {
    for (const auto& axis : family.axes) out[family.name].push_back({axis.name, axis.meaning});
    for (const auto& derived : family.derived) out[family.name].push_back({derived.name, derived.meaning});
  }
  return out;
}

// The device that the page shows first: the one with the most rows.
std::size_t first_device(const std::vector<DeviceInput>& devices) {
  const auto most =
      std::ranges::max_element(devices, {}, [](const DeviceInput& device) { return device.results->rows; });
  return static_cast<std::size_t>(most - devices.begin());
}

}  // namespace

Json page_of(const Input& input) {
  Json sections = Json::array();
  if (input.changes != nullptr) sections.push_back(changes(*input.changes));
  sections.push_back(overview(input));
  for (auto& chapter : families(input)) sections.push_back(std::move(chapter));
  sections.push_back(roofline(input));
  sections.push_back(comparison(input));
  sections.push_back(verdicts(input));
  sections.push_back(failures(input));
  sections.push_back(measurement(input));
  return {{"version", version},
          {"command", input.command},
          {"list", input.list},
          {"devices", input.labels()},
          {"most", first_device(input.devices)},
          {"rows", input.rows},
          {"files", input.files},
          {"axes", axes_of(*input.families)},
          {"sections", std::move(sections)}};
}

std::string html_of(const Json& page) {
  const std::string data = script_data(page);
  return filled(page_html, {{"@HASHES@", page_hashes},
                            {"@STYLE@", page_css},
                            {"@DATA@", data},
                            {"@VEGA@", vega_js},
                            {"@SCRIPT@", page_js},
                            {"@LICENCES@", vega_licences}});
}

}  // namespace clweave::page
