// SPDX-License-Identifier: Apache-2.0
#include "suite/over_time.hpp"

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"

namespace clweave::suite {

namespace {

std::string number_text(const std::optional<double>& number) {
  return number ? fmt::format("{:.4g}", *number) : "-";
}

}  // namespace

std::string text_of(const std::vector<TimeBin>& bins) {
  std::string text;
  for (const TimeBin& bin : bins) {
    text += fmt::format("{}{:.3f} {:.5g} {} {} {}", text.empty() ? "" : ";", bin.at_s, bin.time_s,
                        number_text(bin.core_mhz), number_text(bin.celsius), number_text(bin.watts));
  }
  return text;
}

std::vector<TimeBin> bins_of(const std::string& text) {
  if (text.empty()) return {};
  std::vector<TimeBin> bins;
  for (const auto& part : split(text, ';')) {
    const auto cells = split(part, ' ');
    if (cells.size() != 5) return {};
    const auto at_s = number_of<double>(cells[0]), time_s = number_of<double>(cells[1]);
    if (!at_s || !time_s || *time_s <= 0) return {};
    bins.push_back({*at_s, *time_s, number_of<double>(cells[2]), number_of<double>(cells[3]),
                    number_of<double>(cells[4])});
  }
  return bins;
}

}  // namespace clweave::suite
