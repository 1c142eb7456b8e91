// SPDX-License-Identifier: Apache-2.0
#include "page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/compare/devices.hpp"
#include "analysis/profile/profile.hpp"
#include "analysis/profile/roofline.hpp"
#include "analysis/profile/summary.hpp"
#include "analysis/rows/baselines.hpp"
#include "analysis/rows/best.hpp"
#include "analysis/rows/device_rows.hpp"
#include "base/number.hpp"
#include "base/quantity.hpp"
#include "base/terminal.hpp"
#include "base/version.hpp"
#include "charts/vega.hpp"

namespace clweave::page {

// By cmake/embed_page.cmake.
extern const std::string_view page_html, page_css, page_js, vega_js, vega_licences, page_hashes;

namespace {

using Devices = std::vector<const DeviceResults*>;
using Texts = std::vector<std::string>;

constexpr const char* not_measured = "not measured";

// As page.js draws one; `columns`: what the cells of a row of `panels` are called in `spec`, and by people.
Json chart(const std::string& name, Json spec, Json columns, Json panels) {
  return {{"kind", "chart"},
          {"name", name},
          {"spec", std::move(spec)},
          {"columns", std::move(columns)},
          {"panels", std::move(panels)}};
}

// Of no device more than of another.
Json panel_of_all(const std::string& title, const std::string& note, Json rows) {
  return {{"device", nullptr}, {"at", ""}, {"title", title}, {"note", note}, {"rows", std::move(rows)}};
}

Json table(const std::string& title, const Texts& columns, Json rows) {
  return {{"kind", "table"}, {"title", title}, {"columns", columns}, {"rows", std::move(rows)}};
}

std::string id_of(const std::string& title) {
  std::string id;
  for (const char c : title)
    id += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == ' ' ? '-' : c;
  return id;
}

Json section(const std::string& title, const std::string& text, Json parts) {
  return {{"id", id_of(title)}, {"title", title}, {"text", text}, {"parts", std::move(parts)}};
}

std::string chapter_of(const Family& family) {
  std::string out = family.view.chapter.empty() ? family.name : family.view.chapter;
  if (out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

Json absent(const std::string& title, const std::string& why) {
  Json out = section(title, "", Json::array());
  out["absent"] = why;
  return out;
}

std::string plural(std::size_t n, const std::string& one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::string value_of(const Trait& trait) {
  if (trait.figure) return number_text(trait.figure->value, trait.unit == "items" ? "" : trait.unit);
  return trait.undecided.empty() ? not_measured : "undecided";
}

std::string figure_of(const Trait& trait) {
  if (trait.figure)
    return figure_text(trait.figure->value, trait.figure->low, trait.figure->high, trait.unit);
  if (!trait.undecided.empty()) return "undecided";
  return not_measured;
}

const Trait* trait_of(const Profile& card, std::string_view name) {
  const auto it = std::ranges::find(card.traits, name, &Trait::name);
  return it != card.traits.end() ? &*it : nullptr;
}

// ---- The answer -------------------------------------------------------------------------------------------

struct Tally {
  std::size_t holds = 0, fails = 0, noise = 0, other = 0;
};

Tally tally_of(const std::vector<Ruling>& rulings) {
  Tally out;
  for (const auto& ruling : rulings) {
    if (ruling.claim->ours()) continue;
    ++(ruling.verdict == Verdict::holds          ? out.holds
       : ruling.verdict == Verdict::fails        ? out.fails
       : ruling.verdict == Verdict::within_noise ? out.noise
                                                 : out.other);
  }
  return out;
}

// Whose rows a trait comes from, or would.
std::string family_of(const Trait& trait) {
  const auto begin = trait.command.find("--family ");
  if (trait.cases.empty()) return begin != std::string::npos ? trait.command.substr(begin + 9) : "";
  return trait.cases.front().substr(0, trait.cases.front().find('/'));
}

std::string size_text(std::int64_t n) {
  const auto power = std::countr_zero(static_cast<std::uint64_t>(n));
  return n >= 65536 && n == std::int64_t{1} << power ? fmt::format("2^{}", power) : std::to_string(n);
}

// Names a family's best row and what it reached.
std::string best_of(const DeviceResults& device, const Family& family) {
  const auto all = contenders(family, device);
  const Contender* one = best_row(family, all);
  if (one == nullptr || !one->run.gitems_per_s) return not_measured;
  const CaseTimes* at = one->at;
  const RunTime& best = one->run;
  const Value* kernel = at->name->axis("kernel");
  const bool bytes = family.view.quantity != "items" && best.gb_per_s;
  const Value* n = at->name->axis("n");
  const auto* size = n != nullptr ? std::get_if<std::int64_t>(n) : nullptr;
  return fmt::format("{}{}, {}", kernel != nullptr ? text_of(*kernel) : "",
                     size != nullptr && *size > 0 ? " at n = " + size_text(*size) : "",
                     best.fraction_of_peak && !best.cached
                         ? percent_text(*best.fraction_of_peak, 0) + " of a copy"
                     : bytes ? number_text(*best.gb_per_s, "GB/s")
                             : number_text(*best.gitems_per_s, "G/s"));
}

// Words, figure, what it means, and the section or device filter that it leads to.
Json facts_of(const HtmlInput& input, const DeviceResults& device, const Profile* card, const Tally& tally,
              const std::string& label) {
  static const std::vector<std::pair<const char*, const char*>> traits = {
      {"simd_width", "items in lock-step"},
      {"uncoalesced_slowdown", "an uncoalesced row costs"},
      {"stride_slowdown", "strided reads cost"},
      {"copy", "a copy reaches"},
      {"dram_latency", "a dependent load takes"},
      {"launch_latency", "a launch takes"},
      {"arithmetic_float", "float arithmetic reaches"}};
  const auto place_of = [&](std::string_view name) -> std::string {
    const auto family = std::ranges::find(*input.families, name, &Family::name);
    return family != input.families->end() ? id_of(chapter_of(*family)) : "";
  };
  Json facts = Json::array();
  for (const auto& [name, words] : traits) {
    const Trait* trait = card != nullptr ? trait_of(*card, name) : nullptr;
    if (trait == nullptr) continue;
    const std::string why = trait->is_known() ? figure_of(*trait) : "to measure it: " + trait->command;
    facts.push_back(Json::array({words, value_of(*trait), trait->meaning + ": " + why,
                                 trait->figure ? place_of(family_of(*trait)) : ""}));
  }
  for (const char* name : {"copy", "reduction", "scan", "compaction"}) {
    const auto family = std::ranges::find(*input.families, name, &Family::name);
    if (family == input.families->end()) continue;
    const std::string best = best_of(device, *family);
    facts.push_back(Json::array(
        {std::string("best ") + name, best,
         "the fastest at the largest size measured here; section Comparison has what devices share",
         best == not_measured ? "" : place_of(name)}));
  }
  if (tally.holds + tally.fails + tally.noise > 0)
    facts.push_back(Json::array({"published claims here",
                                 fmt::format("{} fail, {} hold", tally.fails, tally.holds),
                                 "which ones",
                                 "claims",
                                 {{"device", label}, {"verdict", "fails"}}}));
  const auto failed = static_cast<std::size_t>(std::ranges::count_if(device.cases, &CaseTimes::failed));
  facts.push_back(Json::array({"went wrong",
                               failed == 0 ? "nothing" : plural(failed, "case"),
                               "what, and why",
                               failed == 0 ? "" : "failures",
                               {{"device", label}}}));
  return facts;
}

Json traits_table(const std::vector<Profile>& cards, const Texts& labels) {
  Texts columns = {"trait"};
  columns.insert(columns.end(), labels.begin(), labels.end());
  Json rows = Json::array();
  for (std::size_t t = 0; t < cards.front().traits.size(); ++t) {
    Json row = Json::array({cards.front().traits[t].meaning});
    bool known = false;
    for (const auto& card : cards) {
      const auto& trait = card.traits[t];
      known = known || trait.is_known();
      row.push_back(trait.note.empty() || !trait.figure ? figure_of(trait)
                                                        : figure_of(trait) + " (" + trait.note + ")");
    }
    if (known) rows.push_back(std::move(row));
  }
  Json out = table("Every trait, device by device", columns, std::move(rows));
  out["folded"] = true;
  return out;
}

Json answer(const HtmlInput& input, const Devices& devices, const Texts& labels,
            const std::vector<Profile>& cards, const std::vector<std::vector<Ruling>>& rulings) {
  Json parts = Json::array(), all = Json::array();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const DeviceResults& device = *devices[d];
    Json odd = Json::array();
    for (const auto& one : anomalies_of(device))
      odd.push_back(Json::array({without_colour(one.text), one.failure}));
    all.push_back({{"device", d},
                   {"name", labels[d]},
                   {"about", fmt::format("{}, driver {}, {} rows",
                                         device.platform.substr(0, device.platform.find(", ")), device.driver,
                                         device.rows)},
                   {"facts", facts_of(input, device, d < cards.size() ? &cards[d] : nullptr,
                                      tally_of(rulings[d]), labels[d])},
                   {"odd", odd}});
  }
  parts.push_back({{"kind", "cards"}, {"cards", std::move(all)}});
  if (!cards.empty()) parts.push_back(traits_table(cards, labels));
  return section("The answer", "What the rows of each device say in short; the sections below show why.",
                 std::move(parts));
}

// ---- Families ---------------------------------------------------------------------------------------------

// Speed-ups over the same case, and whose they are: [kernel, owner, speed-up, as text, note].
class Ladder {
 public:
  Json rows = Json::array();
  Texts kernels, owners;

  // Published times over that of the first step, `first`, of the same device and size.
  void add_published(const ResultsSet& set, const Family& family, const std::string& first) {
    const auto place = [](const PublishedFigure& figure) {
      const Value* n = figure.of->axis("n");
      return figure.device + "/" + (n != nullptr ? text_of(*n) : "");
    };
    std::vector<const PublishedFigure*> steps;
    std::map<std::string, double> begun;
    for (const auto& figure : set.figures) {
      if (figure.quantity != PublishedFigure::Quantity::time || figure.of->family != family.name ||
          !figure.evidence.empty() || figure.of->axis("kernel") == nullptr)
        continue;
      steps.push_back(&figure);
      if (text_of(*figure.of->axis("kernel")) == first) begun[place(figure)] = figure.value;
    }
    for (const auto* figure : steps) {
      if (begun.contains(place(*figure)) && figure->value > 0)
        add(text_of(*figure->of->axis("kernel")), figure->device, begun[place(*figure)] / figure->value,
            "published");
    }
  }

  void add_findings(const DeviceResults& device, const Family& family, const std::string& label) {
    for (const auto& found : device.findings) {
      const Finding& one = found.typical();
      if (found.family == family.name && one.name.starts_with("speedup_") && one.value)
        add(one.name.substr(8), label, *one.value, one.text);
    }
  }

  std::string title() const {
    std::string best, here;
    double most = 0, then = 0;
    for (const auto& row : rows) {
      if (row[4] == "published")
        then = std::max(then, row[2].get<double>());
      else if (row[2] > most) {
        most = row[2];
        best = row[0];
        here = row[1];
      }
    }
    return fmt::format("{} is {} as fast as the first step on {}; the most that was published is {}", best,
                       number_text(most, "x"), here, number_text(then, "x"));
  }

 private:
  void add(const std::string& kernel, const std::string& owner, double speedup, const std::string& note) {
    if (std::ranges::find(kernels, kernel) == kernels.end()) kernels.push_back(kernel);
    if (std::ranges::find(owners, owner) == owners.end()) owners.push_back(owner);
    rows.push_back(Json::array({kernel, owner, rounded(speedup), number_text(speedup, "x"), note}));
  }
};

// Ours beside the published; null where nothing was published.
Json ladder(const ResultsSet& set, const Family& family, const Devices& devices, const Texts& labels) {
  const Axis* steps = family.axis("kernel");
  if (steps == nullptr || std::ranges::none_of(family.view.graphs, [](const Graph& graph) {
        return graph.kind == Graph::Kind::bars && graph.quantity == "speedup";
      }))
    return {};
  Ladder all;
  all.add_published(set, family, text_of(steps->values.front()));
  if (all.rows.empty()) return {};
  for (std::size_t d = 0; d < devices.size(); ++d) all.add_findings(*devices[d], family, labels[d]);
  Texts ordered;
  for (const auto& value : steps->values) {
    if (std::ranges::find(all.kernels, text_of(value)) != all.kernels.end())
      ordered.push_back(text_of(value));
  }
  Json range = Json::array();
  for (std::size_t i = 0; i < all.owners.size(); ++i) range.push_back(colour(i));
  const Json y = {{"field", "kernel"},
                  {"type", "ordinal"},
                  {"sort", ordered},
                  {"axis", {{"title", nullptr}, {"grid", true}}}};
  Json layers = Json::array();
  layers.push_back(
      {{"mark", {{"type", "point"}, {"filled", true}, {"size", 60}, {"opacity", 0.9}}},
       {"encoding",
        {{"x",
          {{"field", "y"},
           {"type", "quantitative"},
           {"scale", {{"type", "log"}}},
           {"axis", {{"title", "times as fast as the first step"}, {"tickCount", 6}, {"format", "~s"}}}}},
         {"y", y},
         {"color",
          {{"field", "owner"},
           {"type", "nominal"},
           {"scale", {{"domain", all.owners}, {"range", range}}},
           {"legend", {{"title", nullptr}, {"orient", "bottom"}, {"columns", 1}, {"labelLimit", 300}}}}},

         {"tooltip", Json::array({{{"field", "owner"}, {"title", "device"}},
                                  {{"field", "kernel"}},
                                  {{"field", "label"}, {"title", "speed-up"}},
                                  {{"field", "note"}}})}}}});
  return chart(family.name + ": beside the published",
               spec_of(std::move(layers), 22.0 * static_cast<double>(ordered.size())),
               Json::array({{"kernel", "kernel"},
                            {"owner", "device"},
                            {"y", "speed-up"},
                            {"label", "shown"},
                            {"note", "note"}}),
               Json::array({panel_of_all(
                   all.title(), "each over its own first step; published times that are void are left out",
                   all.rows)}));
}

// The best kernel beside the best of what people would use instead; null where nobody measured that.
Json rivals_table(const Family& family, const std::vector<std::vector<BaselineRow>>& rivals,
                  const Texts& labels) {
  Texts columns = {"device"};
  columns.insert(columns.end(), rival_columns.begin(), rival_columns.end());
  Json rows = Json::array();
  for (std::size_t d = 0; d < rivals.size(); ++d) {
    for (const auto& one : rivals[d]) {
      if (one.family != family.name) continue;
      Texts cells = {labels[d]};
      cells.insert(cells.end(), one.cells.begin(), one.cells.end());
      rows.push_back(std::move(cells));
    }
  }
  if (rows.empty()) return {};
  Json out = table(fmt::format("Family {} beside what people would use instead", family.name), columns,
                   std::move(rows));
  if (labels.size() > 1) out["filters"] = Json::array({"device"});
  return out;
}

Json findings_of(const Family& family, const Devices& devices, const Texts& labels) {
  Json out = Json::array();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (const auto& found : devices[d]->findings) {
      if (found.family != family.name) continue;
      const Finding& one = found.typical();
      out.push_back(Json::array(
          {labels[d], one.name,
           one.value ? figure_text(*one.value, one.low, one.high, one.unit) : "undecided", one.text}));
    }
  }
  return out;
}

// Charts, rivals and findings of one family; none where nobody measured it.
Json parts_of(const HtmlInput& input, const Family& family, const Devices& devices, const Texts& labels,
              const std::vector<std::vector<BaselineRow>>& rivals) {
  Json parts = Json::array();
  for (const auto& graph : graphs_of(family, *input.set)) parts.push_back(chart_of(graph, devices));
  if (Json beside = ladder(*input.set, family, devices, labels); !beside.is_null())
    parts.push_back(std::move(beside));
  Json findings = findings_of(family, devices, labels);
  if (Json beside = rivals_table(family, rivals, labels); !beside.is_null())
    parts.push_back(std::move(beside));
  if (findings.empty()) return parts;
  Json listed = table(fmt::format("What family {} concluded", family.name),
                      {"device", "finding", "value", "meaning"}, std::move(findings));
  listed["folded"] = true;
  if (devices.size() > 1) listed["filters"] = Json::array({"device"});
  parts.push_back(std::move(listed));
  return parts;
}

Json families(const HtmlInput& input, const Devices& devices, const Texts& labels) {
  Texts order = {"Divergence",       "Access and caches",  "Copy", "Grayscale", "Parallelism",
                 "Reduction ladder", "Scan and compaction"};
  std::map<std::string, std::vector<const Family*>> chapters;
  for (const auto& family : *input.families) {
    const std::string chapter = chapter_of(family);
    if (family.name == peak_family) continue;  // the roofline's
    chapters[chapter].push_back(&family);
    if (std::ranges::find(order, chapter) == order.end()) order.push_back(chapter);
  }
  std::vector<std::vector<BaselineRow>> rivals;
  for (const auto* device : devices) rivals.push_back(baseline_rows(*input.set, *device, *input.families));
  Json out = Json::array();
  for (const auto& chapter : order) {
    Json parts = Json::array();
    Texts questions, names;
    for (const auto* family : chapters[chapter]) {
      names.push_back(family->name);
      const Json of_family = parts_of(input, *family, devices, labels, rivals);
      if (of_family.empty()) continue;
      questions.push_back(family->question);
      parts.insert(parts.end(), of_family.begin(), of_family.end());
    }
    if (parts.empty())
      out.push_back(absent(chapter, fmt::format("clweave run --family {}", fmt::join(names, ","))));
    else
      out.push_back(section(chapter, fmt::format("{}", fmt::join(questions, " ")), std::move(parts)));
  }
  return out;
}

// ---- Roofline ---------------------------------------------------------------------------------------------

// The marks of one device's roofline, as rows of their columns, and how far the picture reaches.
struct RooflinePanel {
  Json rows = Json::array();       // kernels that compute: [name, intensity, Gop/s, of its roof, roof, label]
  Json lines = Json::array();      // roofs: [name, x, y], two a roof
  Json names = Json::array();      // of roofs: [name, x, y, is of memory]
  Json fractions = Json::array();  // all kernels, as columns of a dot chart
  double low_x = HUGE_VAL, high_x = 0;
  const Placed* best = nullptr;
  const Placed* worst = nullptr;
};

Json fraction_row(const Placed& kernel) {
  const bool moves = kernel.intensity == 0;
  const double percent = rounded(100 * kernel.fraction);
  return Json::array(
      {kernel.name, "", percent, percent, percent, percent_text(kernel.fraction, 0),
       fmt::format("{} under {}",
                   number_text(moves ? kernel.gb_per_s : kernel.gflop_per_s, moves ? "GB/s" : "Gop/s"),
                   kernel.bound_by)});
}

void add_kernels(RooflinePanel& panel, const std::vector<Placed>& kernels) {
  std::vector<std::pair<double, double>> named;
  for (const auto& kernel : kernels) {
    // The data of what is far above is in registers or local memory: no roof here is over it.
    if (kernel.fraction > 1.5 || !(kernel.bound > 0)) continue;
    panel.fractions.push_back(fraction_row(kernel));
    if (!(kernel.intensity > 0) || !(kernel.gflop_per_s > 0)) continue;
    if (panel.best == nullptr || kernel.fraction > panel.best->fraction) panel.best = &kernel;
    if (panel.worst == nullptr || kernel.fraction < panel.worst->fraction) panel.worst = &kernel;
    panel.low_x = std::min(panel.low_x, kernel.intensity);
    panel.high_x = std::max(panel.high_x, kernel.intensity);
    // Names that would lie on one another are left to the tooltip and the table.
    const bool crowded = std::ranges::any_of(named, [&](const auto& other) {
      return std::abs(std::log10(other.first / kernel.intensity)) < 0.6 &&
             std::abs(std::log10(other.second / kernel.gflop_per_s)) < 0.2;
    });
    if (!crowded) named.emplace_back(kernel.intensity, kernel.gflop_per_s);
    panel.rows.push_back(
        Json::array({kernel.name, rounded(kernel.intensity), rounded(kernel.gflop_per_s),
                     percent_text(kernel.fraction), text_of(kernel.bound_by), crowded ? "" : kernel.name}));
  }
}

// The slopes of memory up to the highest of arithmetic, and from the highest of memory each of arithmetic;
// false where one of the two was not measured.
bool add_roofs(RooflinePanel& panel, const std::vector<Roof>& roofs) {
  double memory = 0, flat = 0;
  for (const auto& roof : roofs) {
    if (roof.name == Peak::local) continue;
    double& most = roof.memory() ? memory : flat;
    most = std::max(most, roof.rate);
  }
  if (!(memory > 0) || !(flat > 0)) return false;
  panel.low_x = std::min(panel.low_x, flat / memory) / 3;
  panel.high_x = std::max(panel.high_x, flat / memory) * 4;
  std::vector<double> told;
  for (const auto& roof : roofs) {
    if (roof.name == Peak::local || roof.name == Peak::none) continue;
    const std::string name = text_of(roof.name);
    const double from = roof.memory() ? panel.low_x : roof.rate / memory,
                 to = roof.memory() ? flat / roof.rate : panel.high_x;
    for (const double x : {from, to})
      panel.lines.push_back(
          Json::array({name, rounded(x), rounded(roof.memory() ? x * roof.rate : roof.rate)}));
    const double at = roof.memory() ? from : to;
    if (roof.memory() && roof.rate < memory) continue;  // copy and read lie on one another
    if (std::ranges::any_of(told, [&](double rate) { return std::abs(std::log(rate / roof.rate)) < 0.25; }))
      continue;
    if (!roof.memory()) told.push_back(roof.rate);
    panel.names.push_back(Json::array({name + " " + number_text(roof.rate, unit_of(roof.name)), rounded(at),
                                       rounded(roof.memory() ? at * roof.rate : roof.rate), roof.memory()}));
  }
  return true;
}

Json roofline_chart(Json panels) {
  const Json x = {
      {"field", "x"},
      {"type", "quantitative"},
      {"scale", {{"type", "log"}, {"nice", false}}},
      {"axis", {{"title", "operations per byte"}, {"tickCount", 6}, {"grid", false}, {"format", "~g"}}}};
  const Json y = {{"field", "y"},
                  {"type", "quantitative"},
                  {"scale", {{"type", "log"}}},
                  {"axis", {{"title", "Gop/s"}, {"tickCount", 6}, {"format", "~s"}}}};
  Json layers = Json::array();
  layers.push_back({{"data", {{"name", "fits"}}},
                    {"mark", {{"type", "line"}, {"color", "var(--dim)"}, {"strokeWidth", 1.5}}},
                    {"encoding", {{"x", x}, {"y", y}, {"detail", {{"field", "series"}}}}}});
  for (const bool memory : {true, false}) {
    layers.push_back({{"data", {{"name", "labels"}}},
                      {"transform", Json::array({{{"filter", {{"field", "memory"}, {"equal", memory}}}}})},
                      {"mark",
                       {{"type", "text"},
                        {"align", memory ? "left" : "right"},
                        {"baseline", "bottom"},
                        {"dy", memory ? -8 : -3},
                        {"fontSize", 10},
                        {"color", "var(--dim)"}}},
                      {"encoding", {{"x", x}, {"y", y}, {"text", {{"field", "series"}}}}}});
  }
  layers.push_back(
      {{"mark",
        {{"type", "point"}, {"filled", true}, {"size", 50}, {"opacity", 0.9}, {"color", "var(--c1)"}}},
       {"encoding",
        {{"x", x},
         {"y", y},
         {"tooltip", Json::array({{{"field", "series"}, {"title", "kernel"}},
                                  {{"field", "x"}, {"title", "op/B"}},
                                  {{"field", "y"}, {"title", "Gop/s"}},
                                  {{"field", "label"}, {"title", "of its roof"}},
                                  {{"field", "roof"}}})}}}});
  layers.push_back({{"mark",
                     {{"type", "text"},
                      {"align", "left"},
                      {"dx", 6},
                      {"dy", 4},
                      {"fontSize", 9},
                      {"opacity", {{"expr", "room > 60 ? 1 : 0"}}}}},
                    {"encoding", {{"x", x}, {"y", y}, {"text", {{"field", "name"}}}}}});
  Json out = chart("roofline", spec_of(std::move(layers), 380),
                   Json::array({{"series", "kernel"},
                                {"x", "op/B"},
                                {"y", "Gop/s"},
                                {"label", "of its roof"},
                                {"roof", "roof"},
                                {"name", ""}}),
                   std::move(panels));
  out["labels"] = Json::array({"series", "x", "y", "memory"});
  return out;
}

Json roofline(const ResultsSet& set, const Devices& devices) {
  Json log_panels = Json::array(), all_panels = Json::array();
  std::set<std::string> kernels;
  for (const auto& data : rooflines_of(set)) {
    for (const auto& kernel : data.kernels) {
      if (kernel.bound > 0) kernels.insert(kernel.name);
    }
    const auto device = std::ranges::find_if(
        devices, [&](const DeviceResults* one) { return one->name + ", " + one->platform == data.device; });
    if (data.roofs.empty() || data.kernels.empty() || device == devices.end()) continue;
    const auto d = device - devices.begin();
    RooflinePanel panel;
    add_kernels(panel, data.kernels);
    if (!panel.fractions.empty()) {
      const auto near =
          std::ranges::count_if(panel.fractions, [](const Json& one) { return one[2] >= 80.0; });
      all_panels.push_back({{"device", d},
                            {"at", ""},
                            {"note", ""},
                            {"title", fmt::format("{} of {} kernels reach 80 % of the roof over them", near,
                                                  panel.fractions.size())},
                            {"rows", panel.fractions},
                            {"marks", Json::array()}});
    }
    if (panel.rows.empty() || !add_roofs(panel, data.roofs)) continue;
    std::string title =
        fmt::format("{} reaches {} of its roof", panel.best->name, percent_text(panel.best->fraction, 0));
    if (panel.best != panel.worst)
      title += fmt::format(", {} {}", panel.worst->name, percent_text(panel.worst->fraction, 0));
    log_panels.push_back({{"device", d},
                          {"at", ""},
                          {"note", "kernels that only move data have no operations: the next chart has them"},
                          {"title", title},
                          {"rows", panel.rows},
                          {"fits", panel.lines},
                          {"labels", panel.names}});
  }
  if (log_panels.empty() && all_panels.empty())
    return absent("Roofline", "clweave run, without --no-peak and with another preset than smoke");
  Json parts = Json::array();
  if (!log_panels.empty()) parts.push_back(roofline_chart(std::move(log_panels)));
  Json fractions = chart("roofline: fractions",
                         dot_spec({kernels.begin(), kernels.end()}, {"% of the roof over it", false}, 100),
                         Json::array({{"series", "kernel"},
                                      {"column", ""},
                                      {"y", "% of its roof"},
                                      {"low", ""},
                                      {"high", ""},
                                      {"label", "shown"},
                                      {"launch", "reached"}}),
                         all_panels);
  fractions["trim"] = true;
  parts.push_back(std::move(fractions));
  return section("Roofline",
                 "Each kernel's fastest row beyond the caches, under the peaks measured in the same run.",
                 std::move(parts));
}

// ---- Comparison -------------------------------------------------------------------------------------------

const char* text_of_state(State state) {
  switch (state) {
    case State::absent: return "-";
    case State::wrong: return "wrong";
    case State::unsupported: return "unsupported";
    case State::timeout: return "timeout";
    case State::other: return "failed";
    default: return "";
  }
}

// The devices of a comparison that the report shows, and what they are called.
struct ComparedDevices {
  std::vector<std::size_t> columns;  // of the comparison
  Texts heads;
  // By the comparison's number of a device; null: it is not shown.
  const std::string* name_of(std::size_t device) const {
    const auto it = std::ranges::find(columns, device);
    return it != columns.end() ? &heads[static_cast<std::size_t>(it - columns.begin())] : nullptr;
  }
};

// [variant, device, its cells of the heat map]
Json variant_row(const std::string& variant, const std::string& head, const VariantOnDevice& on) {
  if (!on.efficiency)
    return Json::array({variant, head, nullptr, nullptr, nullptr, text_of_state(on.state), "", false});
  const double percent = rounded(100 * *on.efficiency);
  return Json::array({variant, head, percent, percent, percent, fmt::format("{:.0f}", percent),
                      on.fraction ? percent_text(*on.fraction, 0) + " of its peak" : "", percent > 65});
}

// A panel of the heat map; null where too few are known.
Json variants_panel(const FamilyComparison& family, const ComparedDevices& shown) {
  Json rows = Json::array();
  std::size_t known = 0;
  for (const auto& variant : family.variants) {
    for (std::size_t c = 0; c < shown.columns.size(); ++c) {
      const VariantOnDevice& on = variant.on[shown.columns[c]];
      if (on.state == State::absent) continue;
      known += on.efficiency ? 1 : 0;
      rows.push_back(variant_row(variant.name, shown.heads[c], on));
    }
  }
  if (known < 3) return {};
  Texts bests;
  for (const auto column : shown.columns) {
    if (family.best[column] >= 0)
      bests.push_back(family.variants[static_cast<std::size_t>(family.best[column])].name);
  }
  const std::set<std::string> different(bests.begin(), bests.end());
  Json panel = panel_of_all(
      family.name + ": " +
          (different.size() == 1 ? *different.begin() + " is best on every device"
                                 : fmt::format("{} devices, {} different best variants: {}", bests.size(),
                                               different.size(), fmt::join(different, ", "))),
      "100 is the best variant of that device; geometric means over the conditions they share", rows);
  panel["at"] = family.name;
  panel["marks"] = Json::array();
  return panel;
}

// What one variant for all devices costs on each of them.
Json cost_row(const FamilyComparison& family, const ComparedDevices& shown) {
  const auto& one = family.variants[static_cast<std::size_t>(family.one_for_all)];
  Json row = Json::array({family.name, one.name});
  for (const auto column : shown.columns) {
    const Number& efficiency = one.on[column].efficiency;
    row.push_back(efficiency && *efficiency > 0 ? number_text(1 / *efficiency, "x")
                                                : text_of_state(one.on[column].state));
  }
  return row;
}

// The two strongest of a family, two rows each: where the winner wins and where it loses.
void add_inversions(Json& slopes, const FamilyComparison& family, const ComparedDevices& shown) {
  std::size_t told = 0;
  for (const auto& inversion : family.inversions) {
    const std::string* where = shown.name_of(inversion.where);
    const std::string* elsewhere = shown.name_of(inversion.elsewhere);
    if (where == nullptr || elsewhere == nullptr || told++ >= 2) continue;
    const std::string name =
        fmt::format("{} over {} ({})", inversion.winner, inversion.loser, inversion.family);
    const auto add = [&](const char* side, double factor, const std::string& device) {
      slopes.push_back(
          Json::array({name, side, rounded(factor), number_text(factor, "x"), device, inversion.condition}));
    };
    add("where it wins", inversion.factor, *where);
    add("where it loses", 1 / inversion.loss, *elsewhere);
  }
}

Json inversions_chart(const Json& slopes) {
  const Json x = {{"field", "side"},
                  {"type", "ordinal"},
                  {"sort", {"where it wins", "where it loses"}},
                  {"axis", {{"title", nullptr}, {"labelAngle", 0}}}};
  const Json y = {{"field", "y"},
                  {"type", "quantitative"},
                  {"scale", {{"type", "log"}}},
                  {"axis", {{"title", "times as fast as the other"}, {"tickCount", 6}, {"format", "~g"}}}};
  Json layers = Json::array();
  layers.push_back({{"mark", {{"type", "rule"}, {"color", "var(--dim)"}, {"strokeDash", {4, 3}}}},
                    {"encoding", {{"y", {{"datum", 1}, {"type", "quantitative"}}}}}});
  layers.push_back(
      {{"mark", {{"type", "line"}, {"point", true}}},
       {"encoding",
        {{"x", x},
         {"y", y},
         {"color",
          {{"field", "series"},
           {"type", "nominal"},
           {"scale",
            {{"range",
              {"var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)",
               "var(--c8)"}}}},
           {"legend", {{"title", nullptr}, {"orient", "bottom"}, {"columns", 1}, {"labelLimit", 330}}}}},
         {"tooltip", Json::array({{{"field", "series"}},
                                  {{"field", "device"}},
                                  {{"field", "label"}, {"title", "times as fast"}},
                                  {{"field", "at"}}})}}}});
  const auto cell = [&](std::size_t row, std::size_t column) {
    return slopes[row][column].get<std::string>();
  };
  return chart("comparison: rank inversions", spec_of(std::move(layers), 320),
               Json::array({{"series", "pair"},
                            {"side", "side"},
                            {"y", "times as fast"},
                            {"label", "shown"},
                            {"device", "device"},
                            {"at", "condition"}}),
               Json::array({panel_of_all(fmt::format("{} reaches {} on {}, {} on {}", cell(0, 0), cell(0, 3),
                                                     cell(0, 4), cell(1, 3), cell(1, 4)),
                                         "the two strongest of each family", slopes)}));
}

Json comparison(const ResultsSet& set, const std::vector<Family>& families, const Devices& devices,
                const Texts& labels) {
  if (devices.size() < 2) return absent("Comparison", "a report of several devices");
  const DeviceComparison all = compare_devices(set, families);
  ComparedDevices shown;
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    const auto it = std::ranges::find(devices, all.devices[d]);
    if (it == devices.end()) continue;
    shown.columns.push_back(d);
    shown.heads.push_back(labels[static_cast<std::size_t>(it - devices.begin())]);
  }
  Json panels = Json::array(), costs = Json::array(), slopes = Json::array();
  for (const auto& family : all.families) {
    if (!family.of_variants) continue;
    Json panel = variants_panel(family, shown);
    if (panel.is_null()) continue;
    panels.push_back(std::move(panel));
    if (family.one_for_all >= 0) costs.push_back(cost_row(family, shown));
    add_inversions(slopes, family, shown);
  }
  if (panels.empty()) return absent("Comparison", "the same families on each device");
  Json parts = Json::array();
  Json heat = heat_spec({}, shown.heads, "", "", {"% of the device's best variant", false}, false);
  for (auto& layer : heat["layer"]) {
    if (layer["encoding"].contains("y")) layer["encoding"]["y"].erase("sort");
  }
  Json variants = chart("comparison: variant by device", heat,
                        Json::array({{"series", "variant"},
                                     {"column", "device"},
                                     {"y", "% of the best"},
                                     {"low", ""},
                                     {"high", ""},
                                     {"label", "shown"},
                                     {"launch", "note"},
                                     {"dark", ""}}),
                        panels);
  variants["by_rows"] = true;
  variants["trim"] = true;
  parts.push_back(std::move(variants));
  if (!slopes.empty()) parts.push_back(inversions_chart(slopes));
  Texts cost_heads = {"family", "one for all"};
  cost_heads.insert(cost_heads.end(), shown.heads.begin(), shown.heads.end());
  parts.push_back(table("What one variant for all devices costs: its time over that of the device's best",
                        cost_heads, std::move(costs)));
  return section("Comparison", "Which variant is best where. Each device is compared in units of its own.",
                 std::move(parts));
}

// ---- Claims, failures, how it was measured ----------------------------------------------------------------

Json claims(const HtmlInput& input, const Devices& devices, const Texts& labels,
            const std::vector<std::vector<Ruling>>& rulings) {
  bool any = false;
  for (const auto& all : rulings)
    any = any || tally_of(all).holds + tally_of(all).fails + tally_of(all).noise > 0;
  if (!any) return absent("Claims", "clweave run --claims");
  Json parts = Json::array(), counts = Json::array(), rows = Json::array();
  Texts heads = {"claim", "seed", "launched", "statement", "published"};
  std::string worst;
  std::size_t most = 0;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    heads.push_back(labels[d]);
    std::map<Verdict, std::size_t> sums;
    for (const auto& ruling : rulings[d]) {
      if (!ruling.claim->ours()) ++sums[ruling.verdict];
    }
    for (const auto& [verdict, count] : sums) {
      if (verdict != Verdict::not_testable && verdict != Verdict::not_measured)
        counts.push_back(Json::array({labels[d], text_of(verdict), count}));
    }
    if (sums[Verdict::fails] >= most) {
      most = sums[Verdict::fails];
      worst = labels[d];
    }
  }
  Json layers = Json::array();
  layers.push_back({{"mark", {{"type", "bar"}}},
                    {"encoding",
                     {{"x",
                       {{"field", "y"},
                        {"type", "quantitative"},
                        {"axis", {{"title", "claims decided"}, {"tickMinStep", 1}}}}},
                      {"y",
                       {{"field", "device"},
                        {"type", "nominal"},
                        {"sort", labels},
                        {"axis", {{"title", nullptr}, {"labelLimit", 170}}}}},
                      {"color",
                       {{"field", "verdict"},
                        {"type", "nominal"},
                        {"scale",
                         {{"domain", {"holds", "within noise", "undecided", "fails", "void"}},
                          {"range", {"var(--good)", "var(--c8)", "var(--dim)", "var(--bad)", "var(--c4)"}}}},
                        {"legend", {{"title", nullptr}, {"orient", "bottom"}}}}},
                      {"tooltip", Json::array({{{"field", "device"}},
                                               {{"field", "verdict"}},
                                               {{"field", "y"}, {"title", "claims"}}})}}}});
  parts.push_back(
      chart("claims: verdicts", spec_of(std::move(layers), 30.0 * static_cast<double>(devices.size()) + 10),
            Json::array({{"device", "device"}, {"verdict", "verdict"}, {"y", "claims"}}),
            Json::array({panel_of_all(
                fmt::format("{} published claims fail on {}", most, worst),
                "a claim counts once as published and once at its best, where both are tested", counts)})));
  for (std::size_t r = 0; r < rulings.front().size(); ++r) {
    const Ruling& first = rulings.front()[r];
    const Claim& claim = *first.claim;
    Json row = Json::array({claim.id, claim.ours() ? "clweave" : claim.id.substr(0, claim.id.find('-')),
                            first.decision != nullptr ? text_of(first.decision->setting) : "",
                            claim.statement, evidence_text(claim)});
    for (const auto& of_device : rulings) {
      const Ruling& ruling = of_device[r];
      std::string text = text_of(ruling.verdict);
      if (ruling.number) text += " " + number_text(ruling.number->value, ruling.decision->rule.unit);
      if (ruling.cached) text += " cached";
      row.push_back(text);
    }
    rows.push_back(std::move(row));
  }
  Json matrix = table("Every claim on every device", heads, std::move(rows));
  matrix["filters"] = Json::array({"seed", "launched", "verdict", "device"});
  matrix["verdicts"] = labels;
  parts.push_back(std::move(matrix));
  (void)input;
  return section("Claims",
                 "What was published about these kernels, and what the rows say to it. The seed is the "
                 "source that a claim comes from.",
                 std::move(parts));
}

// By which reasons of one kind are known: they differ by numbers.
std::string without_numbers(const std::string& reason) {
  std::string out;
  bool digits = false;
  for (const char c : reason) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || !digits) out += digit ? '#' : c;
    digits = digit;
  }
  return out;
}

Json failures(const Devices& devices, const Texts& labels) {
  struct Group {
    std::size_t cases = 0;
    std::string first;
  };
  std::map<std::tuple<int, std::size_t, std::string, std::string>, Group> groups;  // failed ones first
  std::size_t failed = 0, lacking = 0, known_incorrect_cases = 0;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (const auto& at : devices[d]->cases) {
      if (at.ok()) continue;
      (at.known_incorrect ? known_incorrect_cases : at.failed() ? failed : lacking) += 1;
      const std::string reason = at.reason.substr(0, at.reason.find('\n'));
      const std::string what =
          std::string(at.known_incorrect ? "known incorrect: " : "") + text_of(at.status);
      auto& group = groups[{at.failed()          ? 0
                            : at.known_incorrect ? 2
                                                 : 1,
                            d, at.family() + "\n" + what, without_numbers(reason)}];
      if (group.cases++ == 0) group.first = at.label() + "\n" + reason;
    }
  }
  if (groups.empty()) return absent("Failures", "nothing: every row is ok");
  Json rows = Json::array();
  for (const auto& [key, group] : groups) {
    const auto& [rank, d, what, kind] = key;
    const auto at = what.find('\n'), end = group.first.find('\n');
    if (rows.size() < 500)
      rows.push_back(Json::array({labels[d], what.substr(at + 1), what.substr(0, at), group.cases,
                                  without_colour(group.first.substr(end + 1)), group.first.substr(0, end)}));
  }
  Json listed = table("Every row that is not ok, by kind",
                      {"device", "status", "family", "cases", "reason", "first case"}, std::move(rows));
  listed["filters"] = Json::array({"device", "status", "family"});
  return section("Failures",
                 fmt::format("{} failed, {} the devices cannot run, {} known-incorrect as published.",
                             plural(failed, "case"), lacking, known_incorrect_cases),
                 Json::array({listed}));
}

std::string typed(const std::string& command) {
  const Json words = Json::parse(command, nullptr, false);
  if (!words.is_array()) return command;
  std::string out = "clweave";
  for (const auto& word : words) {
    if (!word.is_string()) return command;
    const auto text = word.get<std::string>();
    const bool plain =
        !text.empty() &&
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=,./:") ==
            std::string::npos;
    out += plain ? " " + text : " '" + text + "'";
  }
  return out;
}

Json how(const HtmlInput& input, const Devices& devices, const Texts& labels) {
  Json parts = Json::array(), rows = Json::array(), files = Json::array();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const DeviceResults& device = *devices[d];
    std::size_t event = 0, host = 0, slowed = 0, unsettled = 0, runs = 0;
    std::vector<double> widths;
    for (const auto& at : device.cases) {
      for (const auto& run : at.runs) {
        ++runs;
        ++(run.timer == Timer::event ? event : host);
        slowed += run.slowed ? 1 : 0;
        unsettled += run.unsettled ? 1 : 0;
        widths.push_back((run.high_s - run.low_s) / (2 * run.time_s));
      }
    }
    std::ranges::sort(widths);
    rows.push_back(Json::array(
        {labels[d], device.name, device.platform, device.driver, device.cpu, device.version,
         fmt::format("{} by the device's clock, {} by the host's", event, host),
         widths.empty() ? "" : "±" + percent_text(widths[widths.size() / 2]),
         fmt::format("{} of {} while the device ran slow, {} not settled", slowed, runs, unsettled)}));
  }
  parts.push_back(table("Devices, timers and noise",
                        {"device", "its name", "platform", "driver", "processor", "clweave", "timed",
                         "typical interval of a median", "doubtful rows"},
                        std::move(rows)));
  for (const auto& origin : input.origins) {
    const Record& r = origin.first;
    files.push_back(Json::array(
        {origin.file, typed(r.command), r.time_utc, r.version, r.os, r.timer_reason, r.build_options}));
  }
  if (!files.empty())
    parts.push_back(table(
        "Files, and the commands that repeat them",
        {"file", "command", "begun", "clweave", "system", "timer of its first row", "its build options"},
        std::move(files)));
  if (!input.set->notes.empty()) {
    Json notes = Json::array();
    for (const auto& note : input.set->notes) notes.push_back(Json::array({without_colour(note)}));
    parts.push_back(table("Notes about the files", {"note"}, std::move(notes)));
  }
  return section("How it was measured",
                 "Every ok row's whole output was checked before and after its timing; intervals are 95 % of "
                 "the median.",
                 std::move(parts));
}

// ---- Before and after -------------------------------------------------------------------------------------

Json change(const RunComparison& regression) {
  std::vector<const ComparedCase*> compared;
  for (const auto& one : regression.cases) {
    if (one.transition == Transition::compared && one.ratio > 0) compared.push_back(&one);
  }
  std::ranges::stable_sort(compared, std::ranges::greater(),
                           [](const ComparedCase* one) { return one->ratio; });
  constexpr std::size_t most = 60, most_listed = 3000;
  Json rows = Json::array(), listed = Json::array();
  Texts names;
  const std::size_t slower = regression.count(Change::slower), faster = regression.count(Change::faster);
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const ComparedCase& one = *compared[i];
    // Worst first; where they do not all fit, the called ones of the other end too.
    if (i < most / 2 || i + most / 2 >= compared.size()) {
      const std::string name = fmt::format("{} {}", i + 1, one.name);
      names.push_back(name);
      rows.push_back(Json::array(
          {name, "", rounded(one.ratio), rounded(one.low), rounded(one.high),
           fmt::format("{:.3g}x{}", one.ratio,
                       one.verdict == Change::undecided ? "" : std::string(" ") + word_of(one.verdict)),
           one.id}));
    }
    if (i < most_listed)
      listed.push_back(Json::array({one.family, one.name, word_of(one.verdict), number_text(one.ratio, "x"),
                                    number_text(one.low, "x"), number_text(one.high, "x"),
                                    one.old_s ? seconds_text(*one.old_s) : "",
                                    one.new_s ? seconds_text(*one.new_s) : ""}));
  }
  Json parts = Json::array();
  if (!rows.empty()) {
    const std::string title =
        slower == 0 ? fmt::format("Nothing is called slower; {} faster, of {} compared",
                                  plural(faster, "case"), compared.size())
                    : fmt::format("{} slower, {} faster, of {}; the worst takes {}", plural(slower, "case"),
                                  faster, compared.size(), number_text(compared.front()->ratio, "x"));
    Json panel = panel_of_all(
        title,
        compared.size() > most
            ? fmt::format("the {} ends of {} cases, worst first; the table has more", most, compared.size())
            : "worst first",
        rows);
    panel["marks"] = Json::array();
    parts.push_back(chart("change: forest", dot_spec(names, {"time now over time before", true}, 1),
                          Json::array({{"series", "case"},
                                       {"column", ""},
                                       {"y", "new / old"},
                                       {"low", "low (95 %)"},
                                       {"high", "high (95 %)"},
                                       {"label", "shown"},
                                       {"launch", "case id"}}),
                          Json::array({panel})));
  }
  Json all = table("Compared cases, worst first",
                   {"family", "case", "verdict", "ratio", "low", "high", "before", "now"}, std::move(listed));
  all["filters"] = Json::array({"family", "verdict"});
  all["folded"] = true;
  parts.push_back(std::move(all));
  Json others = Json::array();
  for (const auto& one : regression.cases) {
    if (one.transition != Transition::compared && others.size() < 500)
      others.push_back(
          Json::array({word_of(one.transition), one.family, one.name, without_colour(one.reason)}));
  }
  if (!others.empty())
    parts.push_back(table("Not compared", {"what", "family", "case", "reason"}, std::move(others)));
  return section("What changed",
                 fmt::format("{} before, {} now.", fmt::join(regression.old_files, ", "),
                             fmt::join(regression.new_files, ", ")),
                 std::move(parts));
}

}  // namespace

Json page_of(const HtmlInput& input) {
  const Devices devices = measured(*input.set);
  const Texts labels = device_labels(devices);
  std::vector<Profile> cards;
  std::vector<std::vector<Ruling>> rulings;
  for (const auto& rows : device_rows(*input.set)) {
    cards.push_back(profile_of(rows, *input.families));
    auto& all = rulings.emplace_back();
    for (const auto& claim : input.claims) {
      for (auto& ruling : rulings_of(claim, rows, *input.families)) all.push_back(std::move(ruling));
    }
  }
  Json sections = Json::array();
  if (input.regression != nullptr) sections.push_back(change(*input.regression));
  sections.push_back(answer(input, devices, labels, cards, rulings));
  for (auto& chapter : families(input, devices, labels)) sections.push_back(std::move(chapter));
  sections.push_back(roofline(*input.set, devices));
  sections.push_back(comparison(*input.set, *input.families, devices, labels));
  sections.push_back(claims(input, devices, labels, rulings));
  sections.push_back(failures(devices, labels));
  sections.push_back(how(input, devices, labels));
  Texts files;
  for (const auto& file : input.set->files) files.push_back(file);
  Json axes = Json::object();
  for (const auto& family : *input.families) {
    for (const auto& axis : family.axes) axes[family.name].push_back({axis.name, axis.meaning});
    for (const auto& derived : family.derived) axes[family.name].push_back({derived.name, derived.meaning});
  }
  return {{"version", version},
          {"command", input.command},
          {"devices", labels},
          {"most", std::ranges::max_element(devices, {}, &DeviceResults::rows) - devices.begin()},
          {"rows", input.set->rows},
          {"files", files},
          {"axes", std::move(axes)},
          {"sections", std::move(sections)}};
}

std::string html_of(const Json& page) {
  // In a script element nothing but "<" could end it.
  std::string data;
  for (const char c : page.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<')
      data += "\\u003c";
    else
      data += c;
  }
  const std::vector<std::pair<std::string_view, std::string_view>> places = {
      {"@HASHES@", page_hashes}, {"@STYLE@", page_css}, {"@DATA@", data},
      {"@VEGA@", vega_js},       {"@SCRIPT@", page_js}, {"@LICENCES@", vega_licences}};
  std::string out;
  std::string_view rest = page_html;
  for (auto at = rest.find('@'); at != std::string_view::npos; at = rest.find('@')) {
    out.append(rest.substr(0, at));
    rest.remove_prefix(at);
    const auto place =
        std::ranges::find_if(places, [&](const auto& one) { return rest.starts_with(one.first); });
    const std::string_view with = place != places.end() ? place->second : rest.substr(0, 1);
    out.append(with);
    rest.remove_prefix(place != places.end() ? place->first.size() : 1);
  }
  return out.append(rest);
}

}  // namespace clweave::page
