// SPDX-License-Identifier: Apache-2.0
// words: enumerations that files and people know by a word each.
#pragma once
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace clweave {

// Specialised beside an enumeration: `list` has the word of each value, in their order.
template <class E>
struct Words;

template <class E>
concept Worded = requires {
  Words<E>::list.size();
};

template <Worded E>
std::string text_of(E value) {
  return Words<E>::list.at(static_cast<std::size_t>(value));
}

// None for a word that stands for no value.
template <Worded E>
std::optional<E> value_named(std::string_view word) {
  for (std::size_t i = 0; i < Words<E>::list.size(); ++i) {
    if (Words<E>::list[i] == word) return static_cast<E>(i);
  }
  return {};
}

template <Worded E>
std::ostream& operator<<(std::ostream& out, E value) {
  return out << text_of(value);
}

}  // namespace clweave

template <clweave::Worded E>
struct fmt::formatter<E> : fmt::formatter<std::string_view> {
  auto format(E value, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(clweave::text_of(value), context);
  }
};
