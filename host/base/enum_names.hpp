// SPDX-License-Identifier: Apache-2.0
// enum_names: text for enumerations, in files and on screen.
#pragma once
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/namespaces.hpp"

namespace clweave::base {

// Satisfied by an enumeration E with a function `enum_names(E)` in its namespace, found by argument-dependent
// lookup, that returns the names of its values in order.
template <class E>
concept NamedEnum = requires(E value) {
  enum_names(value).size();
};

template <NamedEnum E>
std::string text_of(E value) {
  return enum_names(value).at(static_cast<std::size_t>(value));
}

// Returns the value of that name; std::nullopt if there is none.
template <NamedEnum E>
std::optional<E> enum_named(std::string_view word) {
  const auto names = enum_names(E{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == word) return static_cast<E>(i);
  }
  return {};
}

template <NamedEnum E>
std::ostream& operator<<(std::ostream& out, E value) {
  return out << text_of(value);
}

}  // namespace clweave::base

template <clweave::base::NamedEnum E>
struct fmt::formatter<E> : fmt::formatter<std::string_view> {
  auto format(E value, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(clweave::base::text_of(value), context);
  }
};
