// SPDX-License-Identifier: Apache-2.0
#include "answers/short_names.hpp"

namespace clweave {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.x") == std::string::npos;
}

void ShortNames::learn(const CaseTimes& at) {
  auto& first = first_[at.family];
  auto& varies = varies_[at.family];
  for (const auto& [axis, value] : at.axes) {
    const auto [it, is_new] = first.try_emplace(axis, value);
    if (!is_new && it->second != value) varies[axis] = true;
  }
}

std::string ShortNames::of(const CaseTimes& at) const {
  std::string out = at.family;
  const auto varies = varies_.find(at.family);
  for (const auto& [axis, value] : at.axes) {
    if (varies == varies_.end() || !varies->second.contains(axis)) continue;
    out += " ";
    if (is_number(value)) out.append(axis).append("=");
    out += value;
  }
  return out;
}

}  // namespace clweave
