// SPDX-License-Identifier: Apache-2.0
// html_report: everything that results files say as one page for people: sections of cards, charts and
// tables.
//
// The page is a value first, as JSON: sections, their charts (Vega-Lite specifications without data, and the
// data) and tables. host/answers/html holds what shows it: page.html, its style and script, and Vega. All of
// it is one file that asks nothing of any network. Names, reasons and paths are data there, never markup.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/claims/claims.hpp"
#include "analysis/compare/changes.hpp"
#include "results/results_set.hpp"

namespace clweave::page {

// How a file came about: its first row.
struct FileOrigin {
  std::string file;
  Record first;
};

struct HtmlInput {
  const ResultsSet* set = nullptr;
  const std::vector<Family>* families = nullptr;
  std::vector<Claim> claims;
  std::vector<FileOrigin> origins;
  const RunComparison* regression = nullptr;  // of a device before and after
  std::string command;                        // that makes this page
};

// Its "sections" are in order; one without data has "absent", which says what would measure it.
nlohmann::json page_of(const HtmlInput&);

// The page as a file.
std::string html_of(const nlohmann::json& page);

}  // namespace clweave::page
