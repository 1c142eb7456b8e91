// SPDX-License-Identifier: Apache-2.0
// completion: the function that completes clweave's words in a shell; it asks `clweave complete`
// (complete.cpp).

#include <CLI/CLI.hpp>
#include <map>

#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/command.hpp"

namespace clweave::commands {

namespace {

// Each passes the words up to the cursor. Bash has split them at '=', so only what follows it is inserted.
const std::map<std::string, const char*> functions = {
    {"bash", R"(# bash completion of clweave, as `clweave completion bash` prints it
_clweave() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("${line%%$'\t'*}"); done < <(
    "${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case ${COMPREPLY[0]-} in
  :file | :directory)
    line=${COMPREPLY[0]#:} COMPREPLY=()
    compopt -o filenames 2>/dev/null
    while IFS= read -r; do COMPREPLY+=("$REPLY"); done < <(compgen -A "$line" -- "${word#=}")
    return
    ;;
  *=) compopt -o nospace 2>/dev/null; return ;;
  esac
  if [[ $word == "=" || $before == "=" ]]; then COMPREPLY=("${COMPREPLY[@]##*=}"); fi
}
complete -F _clweave clweave
)"},
    {"zsh", R"(#compdef clweave
# zsh completion of clweave, as `clweave completion zsh` prints it
_clweave() {
  local -a found
  found=("${(@f)$(${(Q)words[1]} complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  case $found[1] in
    '') return 1 ;;
    :file) _files ;;
    :directory) _files -/ ;;
    *=) compadd -S '' -- $found ;;
    *) found=("${(@)found/$'\t'/:}"); _describe clweave found ;;
  esac
}
if [[ ${funcstack[1]-} == _clweave ]]; then _clweave "$@"; else compdef _clweave clweave; fi
)"},
    {"fish", R"(# fish completion of clweave, as `clweave completion fish` prints it
function __clweave_complete
  set -l words (commandline -opc)
  set -l found ($words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
  switch "$found[1]"
    case :file
      __fish_complete_path (commandline -ct)
    case :directory
      __fish_complete_directories (commandline -ct)
    case '*'
      printf '%s\n' $found
  end
end
complete -c clweave -f -a '(__clweave_complete)'
)"}};

}  // namespace

Command completion(CLI::App& app) {
  auto* command = app.add_subcommand(
      "completion", "Print the function that completes words in a shell: source <(clweave completion bash)");
  const auto shell = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const auto& [name, function] : functions) names.push_back(name);
  command->add_option("SHELL", *shell, "The shell")->required()->check(one_of(names));
  return {command, [shell](const auto&) {
            put(stdout, functions.at(*shell));
            return success;
          }};
}

}  // namespace clweave::commands
