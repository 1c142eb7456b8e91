// SPDX-License-Identifier: Apache-2.0
// list: prints the families, or the columns of a results file.

#include <CLI/CLI.hpp>
#include <algorithm>
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

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> families, own;
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

int list(Options options) {
  if (options.columns) return list_columns(options.format);
  const auto names = load_own(options.own);
  if (options.families.empty()) options.families = names;
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
      "list", "Show the families: the question each answers, axes, values, number of cases");
  add_own_files(*command, options->own, "; shown alone unless --family says more");
  add_families(*command, options->families,
               "Only these families, with all values of each axis [all families, values shortened]");
  command->add_flag(
      "--columns", options->columns,
      "The columns of a results CSV, as a Markdown table; with --json as a JSON Schema of its rows");
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return list(*options); }};
}

}  // namespace clweave::commands
