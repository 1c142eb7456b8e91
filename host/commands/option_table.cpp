// SPDX-License-Identifier: Apache-2.0
#include "commands/option_table.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "analysis/claims/claims.hpp"
#include "base/text.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

// Values that an option takes without a list of its own: others may be right, too, or it says more where they
// are not.
const std::map<std::string, std::vector<std::string>>& usual_values() {
  static const auto made = [] {
    std::map<std::string, std::vector<std::string>> out = {
        {"--preset", {preset_names.begin(), preset_names.end()}},
        {"--device", {"cpu", "gpu", "accelerator"}}};
    for (const auto& family : all_families()) {
      out["--family"].push_back(family.name);
      out["family"].push_back(family.name);
    }
    for (const auto& claim : load_claims("")) out["--claim"].push_back(claim.id);
    return out;
  }();
  return made;
}

OptionEntry entry_of(const CLI::Option& option) {
  using Values = OptionEntry::Values;
  OptionEntry out;
  out.meaning = option.get_description();
  out.list = option.get_delimiter() != '\0';
  out.optional = option.get_expected_min() == 0;
  out.again = option.get_items_expected_max() > 1;
  for (const auto& name : option.get_snames()) out.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) out.names.push_back("--" + name);
  const std::string name = out.names.empty() ? option.get_name(true) : out.names.back();
  if (option.get_type_size() == 0) {
    out.optional = false;
    return out;
  }
  // Its own name of the value, then what its checks say of it: "NAME:{text,csv}", "TEXT:FILE".
  const std::string type = option.get_type_name();
  const auto parts = split(type, ':');
  const auto says = [&](const std::string& word) {
    return std::ranges::any_of(parts, [&](const auto& part) { return part.starts_with(word); });
  };
  out.value = out.names.empty() ? name : parts.front();
  if (out.value.starts_with('[') && out.value.ends_with(']'))
    out.value = out.value.substr(1, out.value.size() - 2);
  if (const auto standard = option.get_default_str(); standard != "[]") out.standard = standard;  // of a list
  if (const auto open = type.find('{'), close = type.find('}'); open < close && close != std::string::npos) {
    out.values = Values::words;
    out.words = split(type.substr(open + 1, close - open - 1), ',');
  } else if (const auto usual = usual_values().find(name); usual != usual_values().end()) {
    out.values = Values::words;
    out.words = usual->second;
  } else if (says("FILE") || out.value.starts_with("FILE")) {
    out.values = Values::files;
  } else if (says("DIR")) {
    out.values = Values::folders;
  }
  return out;
}

void add_options(const CLI::App& app, CommandEntry& out) {
  for (const auto* option : app.get_options()) {
    const bool of_a_group = option == app.get_help_ptr() && app.get_name().empty();
    if (option->get_group().empty() || of_a_group) continue;  // hidden, or a second --help
    (option->nonpositional() ? out.options : out.positional).push_back(entry_of(*option));
  }
}

CommandEntry command_of(const CLI::App& app) {
  CommandEntry out;
  out.name = app.get_name();
  out.meaning = app.get_description();
  add_options(app, out);
  // Groups of options are commands without a name.
  for (const auto* group : app.get_subcommands([](const CLI::App* sub) { return sub->get_name().empty(); }))
    add_options(*group, out);
  return out;
}

}  // namespace

std::vector<CommandEntry> option_table(const CLI::App& app) {
  std::vector<CommandEntry> out = {command_of(app)};
  out.front().name.clear();
  for (const auto* command :
       app.get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); })) {
    if (!command->get_group().empty()) out.push_back(command_of(*command));
  }
  std::ranges::sort(out, {}, &CommandEntry::name);
  return out;
}

}  // namespace clweave::commands
