// SPDX-License-Identifier: Apache-2.0
// number: the one parser of numbers, and how many digits of one are kept.
#pragma once
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/namespaces.hpp"

namespace clweave::base {

// The number that the whole text is, in any locale; none for anything else, nan and inf among it.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(static_cast<double>(value)))
    return {};
  return value;
}

// Of a measured number, as many digits as mean something.
double rounded(double value, int digits = 6);

}  // namespace clweave::base
