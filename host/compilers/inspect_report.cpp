// SPDX-License-Identifier: Apache-2.0
#include "compilers/inspect_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "compilers/source_folder.hpp"
#include "suite/family.hpp"

namespace clweave::compilers {

namespace {

std::string text_of(const Figure& figure) { return figure ? std::to_string(*figure) : ""; }

std::string first_lines(const std::string& text, std::size_t count) {
  auto lines = split(trimmed(text), '\n');
  const bool more = lines.size() > count;
  if (more) lines.resize(count);
  return fmt::format("{}{}", fmt::join(lines, "\n"), more ? "\n.. (--log has all of it)" : "");
}

struct Column {
  const Inspected* inspected;
  const InspectedKernel* kernel;
};

std::vector<const NamedFigure*> told_by(const std::vector<Column>& columns, bool differing) {
  std::vector<const NamedFigure*> out;
  for (const auto& figure : all_figures) {
    const auto value = [&](const Column& column) { return column.kernel->kernel.figures.*figure.value; };
    const bool any = std::ranges::any_of(columns, [&](const Column& c) { return value(c).has_value(); });
    const bool same =
        std::ranges::all_of(columns, [&](const Column& c) { return value(c) == value(columns.front()); });
    if (any && !(differing && same)) out.push_back(&figure);
  }
  return out;
}

std::string group_text(const InspectedKernel& kernel) {
  return kernel.group == 0 ? "the driver's choice" : std::to_string(kernel.group);
}

// Figures down, one or two compilers across.
Table tall_table(const std::vector<Column>& columns, bool differing) {
  std::vector<Table::Column> heads = {{"figure"}};
  for (const auto& column : columns) heads.push_back({column.inspected->by, Align::right});
  heads.push_back({"meaning", Align::left, Overflow::wrap, 1});
  Table table(heads);
  const auto add = [&](const std::string& name, const std::string& meaning, const auto& text) {
    std::vector<std::string> cells = {name};
    for (const auto& column : columns) cells.push_back(text(column));
    cells.push_back(meaning);
    table.add(cells);
  };
  for (const auto* figure : told_by(columns, differing))
    add(figure->name, figure->meaning,
        [&](const Column& column) { return text_of(column.kernel->kernel.figures.*figure->value); });
  if (std::ranges::any_of(columns, [](const Column& c) { return !c.kernel->limited_by.empty(); }))
    add("limited by", "what keeps more waves from running at once",
        [](const Column& column) { return column.kernel->limited_by; });
  return table;
}

// Compilers down, figures across.
Table wide_table(const std::vector<Column>& columns) {
  std::vector<Table::Column> heads = {{"target"}};
  const auto figures = told_by(columns, false);
  for (const auto* figure : figures)
    heads.push_back({figure->heading, Align::right, Overflow::keep, figure->leaves});
  const bool limits =
      std::ranges::any_of(columns, [](const Column& c) { return !c.kernel->limited_by.empty(); });
  if (limits) heads.push_back({"limited by", Align::left, Overflow::keep, 6});
  Table table(heads);
  for (const auto& [inspected, kernel] : columns) {
    std::vector<std::string> cells = {inspected->by};
    for (const auto* figure : figures) cells.push_back(text_of(kernel->kernel.figures.*figure->value));
    if (limits) cells.push_back(kernel->limited_by);
    table.add(cells);
  }
  return table;
}

nlohmann::ordered_json json_of(const Inspected& one) {
  nlohmann::ordered_json out = {{"by", one.by}, {"compiler", one.compiler}};
  if (!one.why.empty()) out["unsupported"] = one.why;
  out["compiles"] = one.compiled.ok;
  out["options"] = one.source.options;
  out["kernel_hash"] = one.source.kernel_hash;
  out["source"] = one.source.text;
  out["log"] = one.compiled.log;
  out["kernels"] = nlohmann::ordered_json::array();
  for (const auto& kernel : one.kernels) {
    nlohmann::ordered_json figures = {{"kernel", kernel.kernel.name},
                                      {"group", kernel.group},
                                      {"local_arguments", kernel.local},
                                      {"limited_by", kernel.limited_by}};
    for (const auto& figure : all_figures) {
      if (const Figure value = kernel.kernel.figures.*figure.value) figures[figure.name] = *value;
    }
    figures["language"] = one.language;
    figures["instructions_text"] = kernel.kernel.isa;
    out["kernels"].push_back(figures);
  }
  return out;
}

// Prints each distinct program once.
void add_programs(Report& out, const std::vector<Inspected>& all, bool with_text) {
  std::vector<std::string> seen;
  for (const auto& one : all) {
    if (one.source.kernel_hash.empty() || std::ranges::find(seen, one.source.kernel_hash) != seen.end())
      continue;
    seen.push_back(one.source.kernel_hash);
    std::vector<std::string> by;
    for (const auto& other : all) {
      if (other.source.kernel_hash == one.source.kernel_hash) by.push_back(other.by);
    }
    out.line(fmt::format("{}{}, options{}", paint("program ", Style::dim), one.source.kernel_hash,
                         one.source.options));
    if (seen.size() > 1 || by.size() < all.size()) out.line(fmt::format("  of {}", fmt::join(by, ", ")));
    if (with_text) out.command(one.source.text);
  }
}

std::vector<std::string> row_columns() {
  std::vector<std::string> names = {"case", "target", "compiler", "kernel", "group", "limited_by"};
  for (const auto& figure : all_figures) names.emplace_back(figure.name);
  names.emplace_back("reason");
  return names;
}

Cell cell_of(const Figure& figure) { return figure ? Cell(*figure) : Cell(); }

// Adds a row for each kernel, or one without a kernel if there is none.
void add_rows(Report& out, const Job& job, const Inspected& one) {
  const auto add = [&](const InspectedKernel* kernel) {
    Report::Row row = {short_id(job), one.by, one.compiler};
    const bool launched = kernel != nullptr && kernel->group > 0;
    row.emplace_back(kernel != nullptr ? Cell(kernel->kernel.name) : Cell());
    row.emplace_back(launched ? Cell(static_cast<std::int64_t>(kernel->group)) : Cell());
    row.emplace_back(kernel != nullptr ? Cell(kernel->limited_by) : Cell());
    for (const auto& figure : all_figures) {
      row.emplace_back(kernel != nullptr ? cell_of(kernel->kernel.figures.*figure.value) : Cell());
    }
    row.emplace_back(one.failed() ? "does not compile: " + first_lines(one.compiled.log, 1) : one.why);
    out.row(row);
  };
  for (const auto& kernel : one.kernels) add(&kernel);
  if (one.kernels.empty()) add(nullptr);
}

void add_kernel(Report& out, const std::string& name, const std::vector<Inspected>& all,
                const InspectionText& options) {
  std::vector<Column> columns;
  for (const auto& one : all) {
    for (const auto& kernel : one.kernels) {
      if (kernel.kernel.name == name) columns.push_back({&one, &kernel});
    }
  }
  const InspectedKernel& first = *columns.front().kernel;
  out.line();
  out.line(fmt::format(
      "{}: {} items a group{}", paint("kernel " + name, Style::bold), group_text(first),
      first.local > 0 ? fmt::format(", {} bytes of local memory as arguments", first.local) : ""));
  const bool differing = options.diff && columns.size() == 2;
  if (differing && told_by(columns, true).empty())
    out.line("every figure is the same");
  else
    out.table(columns.size() <= 2 ? tall_table(columns, differing) : wide_table(columns));
  for (const auto& [inspected, kernel] : columns) {
    const Figure limit = kernel->kernel.figures.group_limit;
    if (limit && kernel->group > static_cast<std::uint64_t>(*limit))
      out.line(fmt::format("{}: groups of {} are more than the {} that its compiler allows for",
                           inspected->by, kernel->group, *limit));
    if (!options.isa) continue;
    out.line(fmt::format("{} of {} by {}", inspected->language, name, inspected->compiler));
    out.command(kernel->kernel.isa.empty() ? inspected->unread : kernel->kernel.isa);
  }
}

// Reports targets without a program, and messages of the others.
void add_notes(Report& out, const std::vector<Inspected>& all, const InspectionText& options) {
  out.line();
  for (const auto& one : all) {
    if (!one.why.empty())
      out.line(fmt::format("{}: unsupported: {}", one.by, one.why));
    else if (one.failed())
      out.line(fmt::format("{}: {}\n{}", one.by, paint("does not compile", Style::red),
                           options.log ? one.compiled.log : first_lines(one.compiled.log, 6)));
    else if (options.log)
      out.line(fmt::format("{}: {}", one.by,
                           one.compiled.log.empty() ? "its compiler said nothing" : "\n" + one.compiled.log));
    else if (!trimmed(one.compiled.log).empty())
      out.line(fmt::format("{}: {}", one.by, first_lines(one.compiled.log, 2)));
    if (!one.unread.empty()) out.line(fmt::format("{}: for {}", one.by, one.unread));
  }
}

}  // namespace

Report inspection_report(const Job& job, const std::vector<Inspected>& all,
                         const std::vector<std::string>& missing, const InspectionText& options) {
  Report out;
  out.heading(job.at.id());
  add_programs(out, all, options.source);
  std::vector<std::string> names;  // of kernels
  for (const auto& one : all) {
    for (const auto& kernel : one.kernels) {
      if (std::ranges::find(names, kernel.kernel.name) == names.end()) names.push_back(kernel.kernel.name);
    }
  }
  for (const auto& name : names) add_kernel(out, name, all, options);
  add_notes(out, all, options);
  std::vector<std::string> compilers;
  for (const auto& one : all) {
    if (!one.compiler.empty() && std::ranges::find(compilers, one.compiler) == compilers.end())
      compilers.push_back(one.compiler);
  }
  for (const auto& line : missing) out.line(paint(line, Style::dim));
  out.line(fmt::format("by {}; --source, --log and --isa show more, --json all", fmt::join(compilers, "; ")));

  out.columns(row_columns());
  for (const auto& one : all) add_rows(out, job, one);
  nlohmann::ordered_json document = {{"case_id", job.at.id()},
                                     {"compilers", nlohmann::ordered_json::array()}};
  for (const auto& one : all) document["compilers"].push_back(json_of(one));
  out.document([document] { return nlohmann::json(document); });
  return out;
}

namespace {

std::string cell_of(const Figures& f) {
  if (!f.registers && !f.instructions) return "";
  std::string text = f.registers ? fmt::format("{}", *f.registers) : "-";
  if (f.occupancy) text += fmt::format(", {} %", *f.occupancy);
  if (f.spilled.value_or(0) > 0)
    text += fmt::format(", **{} spilled**", *f.spilled);
  else if (f.scratch.value_or(0) > 0)
    text += fmt::format(", **{} B scratch**", *f.scratch);
  return text;
}

}  // namespace

Report survey_report(const Survey& survey, const std::vector<std::string>& missing) {
  Report out;
  out.columns(row_columns());
  out.heading("What compilers make of every kernel");
  out.line(
      "Of each kernel, operation and path the first case of preset smoke, and what the findings are about. "
      "`kernels.csv` has all figures, `clweave inspect CASE` those of any other case. Made by "
      "`scripts/compilers`.");
  Table targets({{"target"}, {"device"}, {"compilers"}});
  for (const auto* target : survey.targets) targets.add({target->name, target->meaning, target->compiler});
  out.table(std::move(targets));
  std::string topic;
  for (const auto& finding : findings_of(survey)) {
    if (topic != finding.topic) out.heading(finding.topic);
    topic = finding.topic;
    out.line(fmt::format("- `{}`: {}", finding.about, finding.text));
  }
  out.heading("Registers of an item, occupancy");
  out.line("Intel's are of a thread, which has 128 or 256. What is spilled or in scratch stands behind.");
  const Family* family = nullptr;
  std::optional<Table> table;
  const auto end_table = [&] {
    if (table && !table->empty()) out.table(std::move(*table));
    table.reset();
  };
  for (const auto& one : survey.cases) {
    if (one.job.family != family) {
      end_table();
      family = one.job.family;
      out.heading(family->name);
      std::vector<Table::Column> heads = {{"case", Align::left, Overflow::wrap}, {"kernel"}};
      for (const auto* target : survey.targets)
        heads.push_back({target->name, Align::left, Overflow::keep, 1});
      table.emplace(heads);
    }
    std::vector<std::string> names;
    for (const auto& by : one.by) {
      for (const auto& kernel : by.kernels) {
        if (std::ranges::find(names, kernel.kernel.name) == names.end()) names.push_back(kernel.kernel.name);
      }
    }
    for (const auto& name : names) {
      std::vector<std::string> cells = {short_id(one.job), name};
      for (const auto& by : one.by) {
        std::string cell;
        for (const auto& kernel : by.kernels) {
          if (kernel.kernel.name == name) cell = cell_of(kernel.kernel.figures);
        }
        cells.push_back(cell);
      }
      table->add(cells);
    }
    for (const auto& by : one.by) add_rows(out, one.job, by);
  }
  end_table();
  for (const auto& line : missing) out.line(line);
  return out;
}

void write_survey(const Report& report, const std::string& folder) {
  const Folder made(folder);
  made.write("README.md", text_of(report, "markdown", Screen()));
  made.write("kernels.csv", text_of(report, "csv", Screen()));
}

}  // namespace clweave::compilers
