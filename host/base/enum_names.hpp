// SPDX-License-Identifier: Apache-2.0
// enum_names: enumerations whose values have a word each in files and on screen.
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

// An enumeration beside which `enum_names(E)` returns the words of its values, in their order.
// Argument-dependent lookup finds it in the enumeration's own namespace.
template <class E>
concept NamedEnum = requires(E value) {
  enum_names(value).size();
};

template <NamedEnum E>
std::string text_of(E value) {
  return enum_names(value).at(static_cast<std::size_t>(value));
}

// Returns the value of a word; std::nullopt if it names none.
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
