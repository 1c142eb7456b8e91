// SPDX-License-Identifier: Apache-2.0
// list: prints the families, or the columns of a results file.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/case_list.hpp"
#include "commands/command.hpp"
#include "commands/own_kernels.hpp"
#include "results/record.hpp"
#include "results/row_schema.hpp"
#include "suite/family.hpp"
#include "suite/former_names.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> words, families;
  std::string format = "text";
  bool columns = false;
};

int list_columns(const std::string& format) {
  if (format != "text" && format != "markdown" && format != "json")
    throw Error(ErrorCode::usage,
                "--columns gives a Markdown table, or with --json a JSON Schema: leave --" + format + " out");
  put(stdout, format == "json" ? row_schema().dump(2) + "\n" : column_dictionary());
  return success;
}

// Returns whether a word means a file or folder of kernels rather than a family.
bool is_file(const std::string& word) {
  std::error_code none;
  return is_own(word) ||
         (std::ranges::find(all_families(), family_now(word), &Family::name) == all_families().end() &&
          std::filesystem::is_directory(word, none));
}

int list(Options options) {
  if (options.columns) return list_columns(options.format);
  std::vector<std::string> own;
  for (const auto& word : options.words) (is_file(word) ? own : options.families).push_back(word);
  for (const auto& name : load_own(own)) options.families.push_back(name);
  for (auto& name : options.families) name = family_now(name);
  auto families = all_families();
  chosen_families(families, options.families);  // refuses unknown names
  if (!options.families.empty())
    std::erase_if(families, [&](const Family& f) {
      return std::ranges::find(options.families, f.name) == options.families.end();
    });
  return print(families_report(families, !options.families.empty()), options.format);
}

}  // namespace

Command list(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "list",
      "Show what can be measured, a family a line; of one the question that it answers, its axes and values");
  command->add_option("family", options->words,
                      "Families to show in full, or FILE.cl of your own kernels [a line for each family]");
  add_families(*command, options->families, "The same");
  command->add_flag(
      "--columns", options->columns,
      "The columns of a results CSV, as a Markdown table; with --json as a JSON Schema of its rows");
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return list(*options); }};
}

}  // namespace clweave::commands
