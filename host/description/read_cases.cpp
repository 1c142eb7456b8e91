// SPDX-License-Identifier: Apache-2.0
// read_cases: which cases there are, where they can run, and what they are compiled with.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/near_word.hpp"
#include "description/parts.hpp"

namespace clweave::description {

namespace {

constexpr std::size_t most_defines = 100;

Need need_in(const Field& field, const Parts& parts) {
  const Table table = field.table({"condition", "reason"});
  return {table.need("condition").expression(plan_names(parts)), table.need("reason").line()};
}

bool is_macro_name(const std::string& name) {
  constexpr std::size_t longest = 60;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && name.size() <= longest && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

Names plan_names(const Parts& parts) {
  Names names = parts.names;
  names.numbers.insert(names.numbers.end(), std::begin(device_names), std::end(device_names));
  names.buffers.clear();
  return names;
}

bool is_own_define(const std::string& name) { return name == "BUILD_NUMBER" || name.starts_with("CLWEAVE_"); }

void read_conditions(const Table& all, Parts& parts) {
  if (const auto valid = all.find("valid")) {
    for (const auto& one : valid->one_or_more()) parts.made.valid.push_back(one.expression(parts.names));
  }
  if (const auto needs = all.find("needs")) {
    const auto list = needs->list();
    for (std::size_t i = 0; i < list.size(); ++i)
      parts.made.needs.push_back(need_in(list[i].named(fmt::format("need {}", i + 1)), parts));
  }
}

void read_defines(const Field& defines, Parts& parts) {
  const auto entries = defines.entries();
  if (entries.size() > most_defines)
    defines.refuse(fmt::format("{} defines, and there may be {}", entries.size(), most_defines));
  for (const auto& [name, value] : entries) {
    if (!is_macro_name(name))
      refuse(value.key_place(), fmt::format("define '{}': a name has letters, digits and _", name));
    if (is_own_define(name)) refuse(value.key_place(), name + " is the suite's own");
    parts.made.defines.emplace_back(name, value.word_or_number(plan_names(parts)));
  }
}

void read_presets(const Field& presets, Parts& parts) {
  const std::vector<std::string> known(suite::preset_names.begin(), suite::preset_names.end());
  presets.table(known);
  for (const auto& [name, lines] : presets.named("presets").entries()) {
    for (const auto& line : lines.one_or_more())
      parts.made.presets.at(name).push_back(sweep_in(line.named(fmt::format("preset '{}'", name)), parts));
  }
}

}  // namespace clweave::description
