// SPDX-License-Identifier: Apache-2.0
// complete: prints the words that may stand in place of the last one of a command line, for the shells'
// functions.
//
// A line for each: the word, a tab and its meaning. A first line :file or :directory asks the shell for
// paths.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "analysis/claims/load.hpp"
#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "commands/command.hpp"
#include "commands/own_kernels.hpp"
#include "suite/family.hpp"
#include "suite/former_names.hpp"

namespace clweave::commands {

namespace {

using Words = std::vector<std::string>;

// Shortens a meaning to its first part, unless that is a mere word before a colon.
std::string brief(const std::string& meaning) {
  std::size_t end = meaning.size();
  for (const char* mark : {": ", "; ", ", e.g.", " ["}) end = std::min(end, meaning.find(mark, 12));
  return meaning.substr(0, end);
}

std::string line(const std::string& word, const std::string& meaning) {
  return meaning.empty() ? word : word + "\t" + brief(meaning);
}

// Returns the options that the help shows, those of option groups, too.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> out;
  for (const auto* option : app.get_options()) {
    const bool of_a_group = option == app.get_help_ptr() && app.get_name().empty();
    if (!option->get_group().empty() && !of_a_group) out.push_back(option);
  }
  for (const auto* group : app.get_subcommands([](const CLI::App* sub) { return sub->get_name().empty(); })) {
    const auto more = options_of(*group);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

Words names_of(const CLI::Option& option) {
  Words out;
  for (const auto& name : option.get_snames()) out.push_back("-" + name);
  for (const auto& name : option.get_lnames()) out.push_back("--" + name);
  return out;
}

// Returns "n=" for each axis, or "n=64" for each value if `typed` names the axis.
Words axis_words(const std::string& typed) {
  std::set<std::string> out;
  const std::size_t equals = typed.find('=');
  for (const auto& family : all_families()) {
    for (const auto& axis : family.axes) {
      if (equals == std::string::npos) out.insert(axis.name + "=");
      if (equals == std::string::npos || axis.name != typed.substr(0, equals)) continue;
      const std::size_t comma = typed.rfind(',');
      const std::string head =
          typed.substr(0, (comma == std::string::npos ? equals : std::max(equals, comma)) + 1);
      for (const auto& value : axis.values) out.insert(head + text_of(value));
    }
  }
  return {out.begin(), out.end()};
}

// Returns the values of options that do not list their own; others may be valid, too.
Words usual_values(const std::string& option, const std::string& typed) {
  Words out;
  if (option == "--preset") return {preset_names.begin(), preset_names.end()};
  if (option == "--device") return {"cpu", "gpu", "accelerator"};
  if (option == "--set" || option == "--where") return axis_words(typed);
  if (option == "--family" || option == "family") {
    for (const auto& family : all_families()) out.push_back(family.name);
  } else if (option == "--claim") {
    for (const auto& claim : load_claims("")) out.push_back(claim.id);
  }
  return out;
}

// Returns the values of an option or positional; none for numbers and free text.
Words values_of(const CLI::Option& option, const std::string& typed) {
  const Words names = names_of(option);
  // The name of the value, then its checks: "NAME:{text,csv}", "FILE:PATH(existing)".
  const std::string type = option.get_type_name();
  Words out = usual_values(names.empty() ? option.get_name(true) : names.back(), typed);
  if (const auto open = type.find('{'), close = type.find('}'); open < close && close != std::string::npos)
    out = split(type.substr(open + 1, close - open - 1), ',');
  if (!out.empty()) {
    const auto comma = typed.rfind(',');
    if (option.get_delimiter() != '\0' && comma != std::string::npos) {
      for (auto& word : out) word.insert(0, typed.substr(0, comma + 1));
    }
    return out;
  }
  for (const auto& part : split(type + ":" + (names.empty() ? option.get_name(true) : ""), ':')) {
    if (part.starts_with("FILE")) return {":file"};
    if (part.starts_with("DIR")) return {":directory"};
  }
  return {};
}

Words option_words(const CLI::App& command) {
  Words out;
  for (const auto* option : options_of(command)) {
    for (const auto& name : names_of(*option)) out.push_back(line(name, option->get_description()));
  }
  return out;
}

const CLI::Option* option_named(const CLI::App& command, const std::string& name) {
  for (const auto* option : options_of(command)) {
    const Words names = names_of(*option);
    if (!option->get_type_name().empty() &&  // a flag has none
        std::ranges::find(names, name) != names.end())
      return option;
  }
  return nullptr;
}

Words command_words(const CLI::App& app) {
  Words out;
  for (const auto* command :
       app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); }))
    out.push_back(line(command->get_name(), command->get_description()));
  std::ranges::sort(out);
  return out;
}

// Joins words that bash has split at '='.
Words joined(const Words& words) {
  Words out;
  bool open = false;
  for (const auto& word : words) {
    const bool equals = word == "=" && !out.empty();
    if (equals || open)
      out.back() += word;
    else
      out.push_back(word);
    open = equals;
  }
  return out;
}

// Returns the candidates for the last word of a command.
Words words_of(const CLI::App& command, const Words& words) {
  const std::string& word = words.back();
  const auto equals = word.find('=');
  if (word.starts_with("--") && equals != std::string::npos) {
    const auto* option = option_named(command, word.substr(0, equals));
    Words out = option != nullptr ? values_of(*option, word.substr(equals + 1)) : Words();
    for (auto& value : out) {
      if (!value.starts_with(':')) value.insert(0, word.substr(0, equals + 1));
    }
    return out;
  }
  const auto* option = words.size() > 1 ? option_named(command, words[words.size() - 2]) : nullptr;
  if (option != nullptr && !(option->get_expected_min() == 0 && word.starts_with('-')))
    return values_of(*option, word);
  if (word.starts_with('-')) return option_words(command);
  for (const auto* positional : options_of(command)) {
    if (positional->nonpositional()) continue;
    if (auto out = values_of(*positional, word); !out.empty()) return out;
  }
  return option_words(command);
}

// Loads the kernels that the words before the last one name, whose axes may be wanted.
void load_named(const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    try {
      if (is_own(words[i])) load_own(Words{words[i]});
    } catch (const Error&) {  // the command itself will say it
    }
  }
}

Words candidates(const CLI::App& app, const Words& words) {
  const auto commands = app.get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); });
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto it = std::ranges::find_if(
        commands, [&](const CLI::App* sub) { return sub->get_name() == command_now(words[i]); });
    if (it != commands.end())
      return words_of(**it, {words.begin() + static_cast<std::ptrdiff_t>(i), words.end()});
  }
  return words.back().starts_with('-') ? option_words(app) : command_words(app);
}

}  // namespace

Command complete(CLI::App& app) {
  auto* command = app.add_subcommand("complete", "Candidates for the last of the words behind --");
  command->group("");  // not in the help
  // They are read from `arguments`; CLI11 leaves words behind -- to a command that has a positional.
  auto words = std::make_shared<Words>();
  command->add_option("WORD", *words);
  return {command, [&app, words](const std::vector<std::string>& arguments) {
            const auto begin = std::ranges::find(arguments, "--");
            *words = joined({begin == arguments.end() ? begin : begin + 1, arguments.end()});
            if (words->empty()) words->emplace_back();
            load_named(*words);
            std::string out;
            for (const auto& one : candidates(app, *words)) {
              if (one.starts_with(':') || one.starts_with(words->back())) out += one + "\n";
            }
            put(stdout, out);
            return success;
          }};
}

}  // namespace clweave::commands
