// SPDX-License-Identifier: Apache-2.0
// number: the one parser of numbers, and rounding to significant digits.
#pragma once
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/namespaces.hpp"

namespace clweave::base {

// Parses the whole text as a number, in any locale; std::nullopt for anything else, including nan and inf.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(static_cast<double>(value)))
    return {};
  return value;
}

// Rounds to significant digits.
double rounded(double value, int digits = 6);

}  // namespace clweave::base
