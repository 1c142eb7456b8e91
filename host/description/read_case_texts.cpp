// SPDX-License-Identifier: Apache-2.0
// read_case_texts: what {axis} in names of kernels, types and bounds may become.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/near_word.hpp"
#include "description/case_text.hpp"
#include "description/parts.hpp"

namespace clweave::description {

namespace {

constexpr std::size_t most_texts = 1000;  // that one {axis} or several may make of a text

std::set<const suite::Axis*> axes_in(const std::string& text, const Place& place, const Parts& parts) {
  std::set<const suite::Axis*> out;
  for (auto at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const auto end = text.find('}', at);
    const std::string name = text.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    const auto* axis = axis_named(parts, name);
    if (end == std::string::npos || axis == nullptr)
      refuse(place, fmt::format("'{}': {{..}} takes the name of an axis{}", text,
                                suggestion(name, axis_names(parts))));
    out.insert(axis);
  }
  return out;
}

}  // namespace

std::vector<suite::Case> cases_of_text(const std::string& text, const Place& place, const Parts& parts) {
  std::vector<suite::Case> cases(1);
  for (const auto& axis : parts.made.axes) cases[0].axes.emplace_back(axis.name, axis.values.front());
  cases[0].family = parts.made.name;
  for (const auto* axis : axes_in(text, place, parts)) {
    std::vector<suite::Case> more;
    for (const auto& at : cases) {
      for (const auto& value : axis->values) more.push_back(at.with(axis->name, value));
    }
    if (more.size() > most_texts)
      refuse(place, fmt::format("'{}' has more than {} values", text, most_texts));
    cases = std::move(more);
  }
  return cases;
}

TypeOf type_in(const std::string& text, const Place& place, const Parts& parts) {
  std::vector<ElementType> types;
  for (const auto& at : cases_of_text(text, place, parts)) {
    const std::string word = text_at(text, at);
    const auto known = element_type_of(word);
    if (!known && axis_named(parts, word) != nullptr)
      refuse(place, fmt::format("'{0}' is an axis: write \"{{{0}}}\" for the type that it names", word));
    if (!known) {
      const std::string of = word == text ? "" : fmt::format(", of '{}'", text);
      if (const auto near = near_element_type(word); !near.empty())
        refuse(place, fmt::format("unknown type '{}'{}; did you mean '{}'?", word, of, near));
      refuse(place, fmt::format("unknown type '{}'{}: it is char, uchar, short, ushort, int, uint, long, "
                                "ulong, half, float or double, and may have 2, 3, 4, 8 or 16 behind it",
                                word, of));
    }
    if (std::ranges::find(types, *known) == types.end()) types.push_back(*known);
  }
  return {text, std::move(types)};
}

}  // namespace clweave::description
