// SPDX-License-Identifier: Apache-2.0
#include "commands/completions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>

#include "commands/option_table.hpp"

namespace clweave::commands {

namespace {

using Values = OptionEntry::Values;

// What fits beside a word: as much as makes sense alone. Of a word before a colon that is too little.
std::string brief(const std::string& meaning) {
  std::size_t end = meaning.size();
  for (const char* mark : {": ", "; ", ", e.g.", " ["}) end = std::min(end, meaning.find(mark, 12));
  return meaning.substr(0, end);
}

std::vector<std::string> names_of(const std::vector<OptionEntry>& options) {
  std::vector<std::string> out;
  for (const auto& option : options) out.insert(out.end(), option.names.begin(), option.names.end());
  return out;
}

}  // namespace

// ---- bash: without bash-completion's own functions, which need not be there

namespace {

// Shell assignments: what the value of an option, or a positional word, may be.
std::string bash_values(const OptionEntry& option) {
  switch (option.values) {
    case Values::words:
      return fmt::format("words=\"{}\"{}", fmt::join(option.words, " "), option.list ? " list=," : "");
    case Values::files: return "kind=file";
    case Values::folders: return "kind=directory";
    case Values::any: return "";
  }
  return "";
}

}  // namespace

std::string bash_completion(const std::vector<CommandEntry>& commands) {
  std::string by_command, by_option;
  std::vector<std::string> words;
  for (const auto& command : commands) {
    if (!command.name.empty()) words.push_back(command.name);
    by_command +=
        fmt::format(R"(    "{}") options="{}")", command.name, fmt::join(names_of(command.options), " "));
    for (const auto& word : command.positional) by_command += " " + bash_values(word);
    by_command += " ;;\n";
    for (const auto& option : command.options) {
      if (option.value.empty()) continue;
      for (const auto& name : option.names)
        by_option += fmt::format("    {}:{}) {}{} ;;\n", command.name, name,
                                 option.optional ? "" : "options= words= kind= ", bash_values(option));
    }
  }
  return fmt::format(R"(# bash completion of clweave, as `clweave completion bash` prints it
_clweave() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} IFS=$' \t\n'
  local command= options= words= kind= list= head= i
  if [[ $word == "=" ]]; then word=; elif [[ $before == "=" ]]; then before=${{COMP_WORDS[COMP_CWORD - 2]}}; fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
    {1}) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $command in
{2}  esac
  if [[ ! $command ]]; then words="{0}"; fi
  case $command:$before in
{3}  esac
  if [[ $list && $word == *,* ]]; then head=${{word%,*}}, word=${{word##*,}}; fi
  if [[ $word == -* || ! $words$kind ]]; then words+=" $options"; fi
  COMPREPLY=($(compgen -P "$head" -W "$words" -- "$word"))
  if [[ $kind ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -A "$kind" -- "$word")
  fi
}}
complete -F _clweave clweave
)",
                     fmt::join(words, " "), fmt::join(words, "|"), by_command, by_option);
}

// ---- zsh

namespace {

std::string single_quoted(const std::string& text) {
  return "'" + boost::replace_all_copy(text, "'", "'\\''") + "'";
}

std::string zsh_values(const OptionEntry& option) {
  std::string name = boost::replace_all_copy(option.value, ":", "\\:");
  switch (option.values) {
    case Values::words:
      return option.list ? fmt::format("{}:_values -s , value {}", name, fmt::join(option.words, " "))
                         : fmt::format("{}:({})", name, fmt::join(option.words, " "));
    case Values::files: return name + ":_files";
    case Values::folders: return name + ":_files -/";
    case Values::any: return name + ": ";
  }
  return name;
}

// One word of _arguments for each name of an option.
std::string zsh_options(const CommandEntry& command) {
  std::string out;
  for (const auto& option : command.options) {
    std::string meaning = boost::replace_all_copy(brief(option.meaning), "\\", "\\\\");
    for (const char* mark : {"[", "]"})
      meaning = boost::replace_all_copy(meaning, mark, std::string("\\") + mark);
    for (const auto& name : option.names) {
      std::string word = option.again              ? "*"
                         : option.names.size() > 1 ? fmt::format("({})", fmt::join(option.names, " "))
                                                   : "";
      word += name;
      if (!option.value.empty()) word += name.starts_with("--") ? "=" : "+";
      word += "[" + meaning + "]";
      if (!option.value.empty()) word += (option.optional ? "::" : ":") + zsh_values(option);
      out += " \\\n        " + single_quoted(word);
    }
  }
  for (const auto& word : command.positional)
    out += " \\\n        " + single_quoted(fmt::format("{}:{}", word.again ? "*" : "1", zsh_values(word)));
  return out;
}

}  // namespace

std::string zsh_completion(const std::vector<CommandEntry>& commands) {
  std::string described, cases;
  for (const auto& command : commands) {
    if (command.name.empty()) continue;
    described += "        " + single_quoted(command.name + ":" + brief(command.meaning)) + "\n";
    cases += fmt::format("      {}) _arguments{} ;;\n", command.name, zsh_options(command));
  }
  return fmt::format(R"(#compdef clweave
# zsh completion of clweave, as `clweave completion zsh` prints it
_clweave() {{
  local context state state_descr line
  typeset -A opt_args
  _arguments -C{} \
        '1:command:->command' '*::word:->word'
  case $state in
    command)
      local -a commands=(
{}      )
      _describe command commands ;;
    word)
      case $line[1] in
{}      esac ;;
  esac
}}
if [[ ${{funcstack[1]-}} == _clweave ]]; then _clweave "$@"; else compdef _clweave clweave; fi
)",
                     zsh_options(commands.front()), described, cases);
}

// ---- fish

namespace {

std::string fish_quoted(const std::string& text) {
  return "'" + boost::replace_all_copy(boost::replace_all_copy(text, "\\", "\\\\"), "'", "\\'") + "'";
}

// As options of `complete`: -x wants a word and no file, -r a file.
std::string fish_values(const OptionEntry& option) {
  switch (option.values) {
    case Values::words:
      return option.list ? fmt::format(" -x -a '(__fish_append , {})'", fmt::join(option.words, " "))
                         : fmt::format(" -x -a '{}'", fmt::join(option.words, " "));
    case Values::files: return option.optional ? " -F" : " -r -F";
    case Values::folders: return " -x -a '(__fish_complete_directories)'";
    case Values::any: return " -x";
  }
  return "";
}

}  // namespace

std::string fish_completion(const std::vector<CommandEntry>& commands) {
  std::string out =
      "# fish completion of clweave, as `clweave completion fish` prints it\ncomplete -c clweave -f\n";
  for (const auto& command : commands) {
    const std::string when =
        command.name.empty() ? "complete -c clweave -n __fish_use_subcommand"
                             : "complete -c clweave -n '__fish_seen_subcommand_from " + command.name + "'";
    if (!command.name.empty())
      out += fmt::format("complete -c clweave -n __fish_use_subcommand -a {} -d {}\n", command.name,
                         fish_quoted(brief(command.meaning)));
    for (const auto& option : command.options) {
      out += when;
      for (const auto& name : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) out += fish_values(option);
      out += fmt::format(" -d {}\n", fish_quoted(brief(option.meaning)));
    }
    for (const auto& word : command.positional) {
      if (word.values == Values::files) out += when + " -F\n";
      if (word.values == Values::words) out += when + fmt::format(" -a '{}'\n", fmt::join(word.words, " "));
    }
  }
  return out;
}

}  // namespace clweave::commands
