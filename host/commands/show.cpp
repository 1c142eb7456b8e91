// SPDX-License-Identifier: Apache-2.0
// show: results files as the summary that their run ended with, as tables of the families, or as charts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "analysis/profile/family_table.hpp"
#include "analysis/profile/speedups.hpp"
#include "analysis/profile/summary.hpp"
#include "analysis/rows/metric.hpp"
#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/near_word.hpp"
#include "charts/graph.hpp"
#include "charts/svg.hpp"
#include "commands/command.hpp"
#include "commands/raw_rows.hpp"
#include "commands/read_results.hpp"
#include "commands/write_t4.hpp"
#include "suite/family.hpp"
#include "suite/selection.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> files;
  std::string format = "text";
  TableChoice choice;
  bool all = false;
  bool raw = false;
  std::string t4;                     // path of a file
  std::vector<std::string> baseline;  // "kernel=naive"
  std::string svg;                    // path of a picture
  std::string chart;                  // its name; empty: the family's first
};

// Draws the family's own chart, or the one that rows, columns and quantity ask for.
std::string picture(const Options& options, const ResultsSet& set, const std::vector<Family>& families) {
  const TableChoice& choice = options.choice;
  if (choice.families.size() != 1)
    throw Error(ErrorCode::usage, "--plot FILE.svg draws one family: name it with --family");
  const Family& family = *chosen_families(families, choice.families).front();
  if (!choice.rows.empty() || !choice.columns.empty() || !choice.quantity.empty()) {
    Graph graph{.name = "table", .x = choice.columns, .series = choice.rows};
    if (graph.x.empty()) graph.x = family.view.columns;
    if (graph.series.empty()) graph.series = family.view.rows;
    graph.quantity = choice.quantity.empty() ? family.view.quantity : choice.quantity;
    for (const auto* axes : {&graph.x, &graph.series}) {
      for (const auto& axis : *axes) {
        if (family.axis(axis) == nullptr)
          throw Error(ErrorCode::usage, fmt::format("family {} has no axis {}{}", family.name, axis,
                                                    suggestion(axis, axis_names({family}))));
      }
    }
    return svg_of(drawn(graph, family, set));
  }
  const auto graphs = graphs_of(family, set);
  std::vector<std::string> known;
  for (const auto& graph : graphs) {
    const std::string name = graph.name.substr(family.name.size() + 2);  // behind "family: "
    known.push_back(name);
    if (options.chart.empty() || options.chart == name) return svg_of(graph);
  }
  throw Error(ErrorCode::usage, known.empty()
                                    ? fmt::format("too few cases of family {} for a chart", family.name)
                                    : fmt::format("there is no chart '{}' of family {} here{}", options.chart,
                                                  family.name, suggestion(options.chart, known)));
}

// Refuses families that neither the suite nor the files know.
void check_families(const Options& options, const std::vector<Family>& families) {
  if (options.choice.families.empty()) return;
  read_with_notes(options.files);  // adds families that only the files know
  chosen_families(families, options.choice.families);
}

int show_raw(const Options& options, const std::vector<Family>& families) {
  if (options.format != "csv" && options.format != "json" && options.format != "jsonl")
    throw Error(ErrorCode::usage, "--raw is for programs: add --csv, --json or --jsonl");
  check_families(options, families);
  return print(raw_rows(unpacked(options.files), families, options.choice.families), options.format);
}

int show_t4(const Options& options, const std::vector<Family>& families) {
  const auto& chosen = options.choice.families;
  check_families(options, families);
  if (chosen.size() > 1) throw Error(ErrorCode::usage, "T4 is of one kernel: name one --family");
  write_t4(options.t4, unpacked(options.files), families, chosen.empty() ? "" : chosen.front());
  return success;
}

int show(const Options& options) {
  if (options.files.empty()) throw Error(ErrorCode::usage, "FILE is required: a CSV of clweave run");
  const auto& families = all_families();
  if (options.raw) return show_raw(options, families);
  if (!options.t4.empty()) return show_t4(options, families);
  const ResultsSet& set = read_with_notes(options.files);
  if (!options.svg.empty()) {
    write_drawing(options.svg, picture(options, set, families));
    return success;
  }
  if (!options.chart.empty()) throw Error(ErrorCode::usage, "--chart is for pictures: add --plot FILE.svg");
  if (!options.baseline.empty())
    return print(speedups(set, families, options.choice.families, options.baseline), options.format);
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
      "Show results files: the summary that a run ends with; with options the tables of families, or charts");
  add_files(*command, options->files);
  command->get_option("FILE")->required(false);  // the word after --plot may be one
  add_families(*command, options->choice.families, "Only these families [all]");
  command->add_option("--rows", options->choice.rows, "Axes down the table, or device [the family's own]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("AXIS,..");
  command
      ->add_option("--columns", options->choice.columns,
                   "Axes across the table, or device [the family's own]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("AXIS,..");
  std::vector<std::string> names;
  for (const auto& quantity : metrics()) names.emplace_back(quantity.name);
  command
      ->add_option("--quantity", options->choice.quantity,
                   fmt::format("What the cells show: {} [the family's own]", fmt::join(names, ", ")))
      ->type_name("WHAT");
  command
      ->add_option_function<std::string>(
          "--plot",
          [options = options.get()](const std::string& file) {
            if (file.ends_with(".svg"))
              options->svg = file;
            else
              options->choice.plot = true;
            // A word after --plot may also be a results file.
            if (!file.empty() && !file.ends_with(".svg")) options->files.push_back(file);
          },
          "Draw curves over the columns, else over the rows, else bars; into FILE.svg: a chart of one "
          "family, with a panel for each device")
      ->type_name("FILE.svg")
      ->expected(0, 1);
  command
      ->add_option("--chart", options->chart,
                   "The chart of this name, where the family has several [the first]")
      ->type_name("NAME");
  add_baseline_values(*command, options->baseline);
  command->add_flag("--all", options->all, "The tables of every family");
  command->add_flag("--raw", options->raw,
                    "Every row as it stands, as --csv, --json or --jsonl, where numbers are numbers");
  add_t4(*command, options->t4);
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return show(*options); }};
}

}  // namespace clweave::commands
