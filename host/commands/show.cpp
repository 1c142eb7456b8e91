// SPDX-License-Identifier: Apache-2.0
// show: results files: the screen that their run ended in, or the families' tables and curves.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "answers/family_table.hpp"
#include "answers/quantity_shown.hpp"
#include "answers/summary.hpp"
#include "base/error.hpp"
#include "commands/command.hpp"
#include "commands/reading.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> files;
  std::string format = "text";
  TableChoice choice;
  bool all = false;
};

int show(const Options& options) {
  const auto& families = all_families();
  const ResultsSet& set = read_with_notes(options.files, families);
  if (measured(set).empty())
    throw Error(Kind::io, fmt::format("no row in {}", fmt::join(options.files, ", ")));
  if (options.all || options.choice != TableChoice())
    return print(family_tables(set, families, options.choice), options.format);
  std::vector<const Family*> every;
  for (const auto& family : families) every.push_back(&family);
  Report out = summary_of(set, families, options.files);
  add_cases(out, set, every);
  return print(out, options.format);
}

}  // namespace

Command show(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "show",
      "Results files: the screen that a run ends in; with options the tables of families, of one device, or "
      "kernel by device of several");
  add_files(*command, options->files);
  add_families(*command, options->choice.families, "Only these families [all]");
  command->add_option("--rows", options->choice.rows, "Axes down the table, or device [the family's own]")
      ->delimiter(',')
      ->type_name("AXIS,..");
  command
      ->add_option("--columns", options->choice.columns,
                   "Axes across the table, or device [the family's own]")
      ->delimiter(',')
      ->type_name("AXIS,..");
  std::vector<std::string> names;
  for (const auto& quantity : shown_quantities()) names.emplace_back(quantity.name);
  command
      ->add_option("--quantity", options->choice.quantity,
                   fmt::format("What the cells show: {} [the family's own]", fmt::join(names, ", ")))
      ->type_name("WHAT");
  command->add_flag("--plot", options->choice.plot, "Curves over the columns, or over the rows, or bars");
  command->add_flag("--all", options->all, "The tables of every family");
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return show(*options); }};
}

}  // namespace clweave::commands
