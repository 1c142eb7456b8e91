// SPDX-License-Identifier: Apache-2.0
// show: the families' tables and curves from results files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "answers/family_table.hpp"
#include "answers/quantity_shown.hpp"
#include "base/error.hpp"
#include "commands/command.hpp"
#include "commands/reading.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> files;
  std::string format = "text";
  TableChoice choice;
};

int show(const Options& options) {
  const auto& families = all_families();
  MedianCases all;
  for (const auto& file : read_with_notes(options.files, families).files) all.add_file(file, families);
  all.settle();
  if (all.devices().empty())
    throw Error(Kind::io, fmt::format("no row in {}", fmt::join(options.files, ", ")));
  return print(family_tables(all, families, options.choice), options.format);
}

}  // namespace

Command show(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "show", "The tables of each family from results files: of one device, or kernel by device of several");
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
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return show(*options); }};
}

}  // namespace clweave::commands
