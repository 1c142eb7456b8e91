// SPDX-License-Identifier: Apache-2.0
#include "analysis/rows/case_labels.hpp"

namespace clweave::rows {

bool needs_name(const Value& value) {
  const auto* word = std::get_if<std::string>(&value);
  return word == nullptr || (!word->empty() && word->front() >= '0' && word->front() <= '9');
}

std::string letter_of(std::size_t device) {
  std::string out;
  for (std::size_t rest = device + 1; rest > 0; rest = (rest - 1) / 26)
    out.insert(out.begin(), static_cast<char>('A' + (rest - 1) % 26));
  return out;
}

void CaseLabels::learn(const CaseName& at) {
  Axes& axes = families_[at.family];
  for (const auto& [axis, value] : at.axes) {
    const auto [it, is_new] = axes.first.try_emplace(*axis, *value);
    if (!is_new && it->second != *value) axes.varies.insert(*axis);
  }
}

std::string CaseLabels::of(const CaseName& at) const {
  std::string out = at.family;
  const auto axes = families_.find(at.family);
  for (const auto& [axis, value] : at.axes) {
    if (axes == families_.end() || !axes->second.varies.contains(*axis)) continue;
    out += " ";
    if (needs_name(*value)) out.append(*axis).append("=");
    out += text_of(*value);
  }
  return out;
}

}  // namespace clweave::rows
