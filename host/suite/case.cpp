// SPDX-License-Identifier: Apache-2.0
#include "suite/case.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace clweave::suite {

const Value& Case::at(std::string_view axis) const {
  for (const auto& [name, value] : axes) {
    if (name == axis) return value;
  }
  throw Error(ErrorCode::usage, fmt::format("family {} has no axis '{}'", family, axis));
}

std::int64_t Case::number(std::string_view axis) const {
  if (const auto* n = std::get_if<std::int64_t>(&at(axis))) return *n;
  throw Error(ErrorCode::usage, fmt::format("{}={} must be a whole number", axis, text_of(at(axis))));
}

std::uint64_t Case::count(std::string_view axis, std::int64_t least, std::int64_t most) const {
  const std::int64_t value = number(axis);
  if (value < least || value > most)
    throw Error(ErrorCode::unsupported, fmt::format("{} must be {} to {} here", axis, least, most));
  return static_cast<std::uint64_t>(value);
}

const std::string& Case::text(std::string_view axis) const {
  if (const auto* word = std::get_if<std::string>(&at(axis))) return *word;
  throw Error(ErrorCode::usage, fmt::format("{}={} must be a word", axis, text_of(at(axis))));
}

Case Case::with(std::string_view axis, Value value) const {
  Case out = *this;
  const auto it = std::ranges::find(out.axes, axis, &std::pair<std::string, Value>::first);
  if (it == out.axes.end()) at(axis);  // throws
  it->second = std::move(value);
  return out;
}

std::string Case::id() const {
  std::string out = family;
  for (const auto& [name, value] : axes) out += "/" + name + "=" + text_of(value);
  return out;
}

}  // namespace clweave::suite
