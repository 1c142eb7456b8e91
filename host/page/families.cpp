// SPDX-License-Identifier: Apache-2.0
// families: a section per chapter: the charts, baselines and findings of its families.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/rows/baselines.hpp"
#include "base/shell_word.hpp"
#include "charts/vega.hpp"
#include "page/sections.hpp"
#include "suite/added_families.hpp"

namespace clweave::page {

namespace {

Json device_table(const std::string& title, Texts columns, const DeviceTable& rows, bool several_devices) {
  columns.insert(columns.begin(), "device");
  Json out = table(title, columns, rows);
  if (several_devices) out["filters"] = Json::array({"device"});
  return out;
}

void add_family(Json& parts, const FamilyInput& family, bool several_devices) {
  for (const auto& chart : family.charts) parts.push_back(chart_of(chart));
  if (!family.baselines.empty())
    parts.push_back(device_table(fmt::format("Family {}: baselines", family.name),
                                 {rival_columns.begin(), rival_columns.end()}, family.baselines,
                                 several_devices));
  if (!family.bests.empty())
    parts.push_back(
        device_table(fmt::format("Family {}", family.name), {"best row"}, family.bests, several_devices));
  if (family.findings.empty()) return;
  Json findings = device_table(fmt::format("Family {}: findings", family.name),
                               {"finding", "value", "meaning"}, family.findings, several_devices);
  findings["folded"] = true;
  parts.push_back(std::move(findings));
}

// Returns the command that measures a chapter. Own kernels are chosen by their files alone, so that only a
// chapter with others, too, names its families.
std::string command_of(const Chapter& chapter) {
  Texts names;
  std::string files;
  bool own_alone = true;
  for (const auto& family : chapter.families) {
    names.push_back(family.name);
    const std::string file = file_of_family(family.name);
    if (family.own) files += " " + (file.empty() ? "FILE.cl" : shell_word(file));
    own_alone = own_alone && family.own;
  }
  return fmt::format("clweave run{}{}", files,
                     own_alone ? "" : fmt::format(" --family {}", fmt::join(names, ",")));
}

}  // namespace

std::vector<Json> families(const Input& input) {
  std::vector<Json> out;
  for (const auto& chapter : input.chapters) {
    Json parts = Json::array();
    Texts questions;
    for (const auto& family : chapter.families) {
      if (!family.is_empty()) questions.push_back(family.question);
      add_family(parts, family, input.devices.size() > 1);
    }
    out.push_back(parts.empty() ? absent(chapter.title, command_of(chapter))
                                : section(chapter.title, fmt::format("{}", fmt::join(questions, " ")),
                                          std::move(parts)));
  }
  return out;
}

}  // namespace clweave::page
