// SPDX-License-Identifier: Apache-2.0
#include "suite/published.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/number.hpp"

namespace clweave::suite {

extern const std::string_view embedded_figures;  // generated from results/published/figures.csv

namespace {

struct Figure {
  std::string device, evidence;  // device: with the size, where the text names one
  std::string launch;            // "128x131072", work-group and work-groups; empty: the text names none
  std::string value;             // with its unit
  std::optional<double> number;
};

std::map<std::string, std::vector<Figure>> read_figures() {
  const CsvTable table = parse_csv(embedded_figures, "figures.csv");
  std::map<std::string, std::vector<Figure>> out;  // by key
  for (const auto& row : table.rows) {
    const auto cell = [&](const char* column) -> const std::string& {
      const auto it = std::ranges::find(table.header, column);
      if (it == table.header.end()) throw Error(ErrorCode::io, fmt::format("no column {}", column));
      return row.cells[static_cast<std::size_t>(it - table.header.begin())];
    };
    const std::string &size = cell("n_items"), &group = cell("group"), &groups = cell("groups");
    const std::string &speedup = cell("speedup"), &whole = cell("fraction_of");
    Figure figure{.device = cell("device") + (size.empty() ? "" : ", n=" + size),
                  .evidence = cell("evidence"),
                  .launch = group.empty()    ? ""
                            : groups.empty() ? "group " + group
                                             : fmt::format("{}x{}", group, groups),
                  .value = !speedup.empty() ? speedup + "x"
                           : !whole.empty()
                               ? cell("value") + " of " + whole
                               : cell("value") + (cell("unit") == "x" ? "x" : " " + cell("unit")),
                  .number = number_of<double>(cell("value"))};
    std::string_view keys = cell("finding");
    while (!keys.empty()) {
      const auto end = std::min(keys.find(';'), keys.size());
      out[std::string(keys.substr(0, end))].push_back(figure);
      keys.remove_prefix(std::min(end + 1, keys.size()));
    }
  }
  return out;
}

const std::vector<Figure>& figures_of(const std::string& key) {
  static const auto all = read_figures();
  static const std::vector<Figure> none;
  const auto it = all.find(key);
  return it != all.end() ? it->second : none;
}

}  // namespace

std::string published_text(const std::string& key) {
  std::vector<std::string> devices;
  const auto& figures = figures_of(key);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& figure = figures[i];
    const bool same = i > 0 && figures[i - 1].device == figure.device;
    std::string text = figure.evidence.empty() || same ? "" : figure.evidence + ", ";
    if (!figure.launch.empty() && !(same && figures[i - 1].launch == figure.launch))
      text += figure.launch + ": ";
    text += figure.value;
    if (i + 1 == figures.size() || figures[i + 1].device != figure.device)
      text += fmt::format(" ({})", figure.device);
    if (same)
      devices.back() += ", " + text;
    else
      devices.push_back(std::move(text));
  }
  return devices.empty() ? "" : fmt::format("; published: {}", fmt::join(devices, ", "));
}

std::optional<double> published_value(const std::string& key) {
  const auto& figures = figures_of(key);
  return figures.empty() ? std::nullopt : figures.front().number;
}

namespace {

// Takes back what follows from rows of a machine that was not quiet: their times may be any multiple of the
// true ones.
void leave_undecided_if_disturbed(std::vector<Finding>& findings, const std::vector<Outcome>& outcomes) {
  const auto disturbed_of_all =
      static_cast<std::size_t>(std::ranges::count_if(outcomes, &Outcome::disturbed));
  if (disturbed_of_all == 0) return;
  for (auto& found : findings) {
    if (!found.value) continue;
    const std::size_t rows = found.from.empty() ? outcomes.size() : found.from.size();
    const auto disturbed = found.from.empty()
                               ? disturbed_of_all
                               : static_cast<std::size_t>(std::ranges::count_if(
                                     found.from, [](const Outcome* one) { return one->disturbed; }));
    if (disturbed == 0) continue;
    found.value = found.low = found.high = {};
    found.note.clear();
    found.published.clear();
    found.text =
        fmt::format("{} of the {} rows that decide it were disturbed: {}", disturbed, rows, machine_was_busy);
  }
}

}  // namespace

std::vector<Finding> findings_of(const Family& family, const std::vector<Outcome>& outcomes,
                                 const DeviceInfo& device) {
  if (!family.findings) return {};
  auto out = family.findings(outcomes, device);
  leave_undecided_if_disturbed(out, outcomes);
  for (auto& found : out) {
    if (!found.published.empty()) found.text += published_text(found.published);
  }
  return out;
}

}  // namespace clweave::suite
