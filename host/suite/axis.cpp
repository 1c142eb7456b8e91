// SPDX-License-Identifier: Apache-2.0
#include "suite/axis.hpp"

#include <fmt/format.h>

#include <charconv>

namespace clweave {

std::string text_of(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return std::to_string(*n);
  if (const auto* x = std::get_if<double>(&value)) return fmt::format("{}", *x);
  return std::get<std::string>(value);
}

Value value_of(const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t n = 0;
  if (auto [at, error] = std::from_chars(text.data(), end, n); error == std::errc{} && at == end) return n;
  double x = 0;
  if (auto [at, error] = std::from_chars(text.data(), end, x); error == std::errc{} && at == end) return x;
  return text;
}

}  // namespace clweave
