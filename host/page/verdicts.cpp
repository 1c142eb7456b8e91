// SPDX-License-Identifier: Apache-2.0
// verdicts: the section of what was published, and what the rows of each device say to it.
#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.hpp"
#include "charts/vega.hpp"
#include "page/sections.hpp"

namespace clweave::page {

namespace {

// The verdicts of rows that could decide, and their colours.
struct Shade {
  Verdict verdict;
  const char* colour;
};
constexpr Shade decided[] = {{Verdict::holds, "var(--good)"},
                             {Verdict::within_noise, "var(--c8)"},
                             {Verdict::undecided, "var(--dim)"},
                             {Verdict::fails, "var(--bad)"},
                             {Verdict::no_evidence, "var(--c4)"}};

// Counts the verdicts of each device. The last device with the most failures is the title.
DrawnGraph counts_graph(const Input& input) {
  DrawnGraph graph{.kind = DrawnGraph::Kind::stack,
                   .name = "claims: verdicts",
                   .series_title = "device",
                   .x_title = "verdict",
                   .y_title = "claims",
                   .note_title = ""};
  graph.series = input.labels();
  graph.intervals = false;
  GraphPanel panel{.note = "a claim counts once as published and once at its best, where both are tested"};
  for (const auto& [verdict, colour] : decided) {
    graph.columns.push_back(base::text_of(verdict));
    graph.colours.emplace_back(colour);
  }
  std::size_t most = 0;
  for (std::size_t d = 0; d < input.devices.size(); ++d) {
    const ClaimCounts& counts = input.devices[d].counts;
    for (std::size_t column = 0; column < std::size(decided); ++column) {
      const std::size_t count = counts.of(decided[column].verdict);
      if (count == 0) continue;
      GraphPoint& point = panel.points.emplace_back();
      point.series = d;
      point.column = column;
      point.y = point.low = point.high = static_cast<double>(count);
    }
    if (const std::size_t fails = counts.of(Verdict::fails); fails >= most) {
      most = fails;
      panel.finding = fmt::format("{} published claims fail on {}", fails, graph.series[d]);
    }
  }
  graph.panels.push_back(std::move(panel));
  return graph;
}

std::string cell_of(const ClaimResult& claim_result) {
  std::string text = base::text_of(claim_result.verdict);
  if (claim_result.estimate)
    text += " " + number_text(claim_result.estimate->value, claim_result.criterion->rule.unit);
  return text + (claim_result.cached ? " cached" : "");
}

Json verdicts_table(const Input& input) {
  Texts columns = {"claim", "source", "setting", "statement", "published"};
  for (const auto& device : input.devices) columns.push_back(device.label);
  Json rows = Json::array();
  for (std::size_t r = 0; r < input.devices.front().claim_results.size(); ++r) {
    const ClaimResult& first = input.devices.front().claim_results[r];
    const Claim& claim = *first.claim;
    Json row = Json::array({claim.id, claim.ours() ? "clweave" : claim.id.substr(0, claim.id.find('-')),
                            first.criterion != nullptr ? base::text_of(first.criterion->launches) : "",
                            claim.statement, evidence_text(claim)});
    for (const auto& device : input.devices) row.push_back(cell_of(device.claim_results[r]));
    rows.push_back(std::move(row));
  }
  Json out = table("All claims on all devices", columns, std::move(rows));
  out["filters"] = Json::array({"source", "setting", "verdict", "device"});
  out["verdict_columns"] = input.labels();
  Json words = Json::array();
  for (const Verdict verdict : {Verdict::fails, Verdict::holds, Verdict::within_noise, Verdict::undecided,
                                Verdict::not_measured, Verdict::not_testable, Verdict::no_evidence})
    words.push_back(base::text_of(verdict));
  out["verdicts"] = std::move(words);
  return out;
}

}  // namespace

Json verdicts(const Input& input) {
  if (std::ranges::none_of(input.devices,
                           [](const DeviceInput& device) { return device.counts.any_decided(); }))
    return absent("Claims", "clweave run --claims");
  return section("Claims",
                 "What was published about these kernels, and what the measurements say. The source is the "
                 "number of the text that a claim comes from.",
                 Json::array({chart_of(counts_graph(input)), verdicts_table(input)}));
}

}  // namespace clweave::page
