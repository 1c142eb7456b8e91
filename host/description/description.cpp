// SPDX-License-Identifier: Apache-2.0
#include "description/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.hpp"
#include "base/near_word.hpp"
#include "base/number.hpp"
#include "description/case_text.hpp"

namespace clweave::description {

namespace {

struct Scalar {
  const char* name;
  std::size_t bytes;
};

// In the order of ElementType::Of.
constexpr std::array<Scalar, 11> scalars = {{{"char", 1},
                                             {"uchar", 1},
                                             {"short", 2},
                                             {"ushort", 2},
                                             {"int", 4},
                                             {"uint", 4},
                                             {"long", 8},
                                             {"ulong", 8},
                                             {"half", 2},
                                             {"float", 4},
                                             {"double", 8}}};
constexpr std::array<std::size_t, 5> widths = {2, 3, 4, 8, 16};

struct Bound {
  const char* name;
  suite::Peak peak;
};

constexpr Bound bounds[] = {{"memory", suite::Peak::copy},
                            {"read", suite::Peak::read},
                            {"write", suite::Peak::write},
                            {"local", suite::Peak::local},
                            {"float", suite::Peak::arithmetic_float},
                            {"double", suite::Peak::arithmetic_double},
                            {"int", suite::Peak::arithmetic_int},
                            {"long", suite::Peak::arithmetic_long}};

const Scalar& scalar_of(ElementType::Of of) { return scalars.at(static_cast<std::size_t>(of)); }

}  // namespace

std::size_t ElementType::scalar_bytes() const { return scalar_of(of).bytes; }

std::size_t ElementType::bytes() const { return scalar_bytes() * (width == 3 ? 4 : width); }

std::string ElementType::text() const {
  return scalar_of(of).name + (width == 1 ? std::string() : std::to_string(width));
}

std::optional<ElementType> element_type_of(const std::string& word) {
  const auto digits = std::min(word.find_first_of("0123456789"), word.size());
  const auto* const found = std::ranges::find(scalars, word.substr(0, digits), &Scalar::name);
  if (found == scalars.end()) return {};
  const auto of = static_cast<ElementType::Of>(found - scalars.begin());
  if (digits == word.size()) return ElementType{of, 1};
  const auto width = number_of<std::size_t>(word.substr(digits));
  if (!width || word[digits] == '0' || std::ranges::find(widths, *width) == widths.end()) return {};
  return ElementType{of, *width};
}

std::string near_element_type(const std::string& word) {
  if (element_type_of(word.substr(0, word.find_first_of("0123456789")))) return {};
  std::vector<std::string> known;
  for (const auto& scalar : scalars) known.emplace_back(scalar.name);
  for (const auto& scalar : scalars) {
    for (const auto width : widths) known.push_back(fmt::format("{}{}", scalar.name, width));
  }
  return near_word(word, known);
}

ElementType TypeOf::at(const suite::Case& at) const {
  const std::string word = text_at(text_, at);
  if (const auto known = element_type_of(word)) return *known;
  throw Error(ErrorCode::usage,
              fmt::format("there is no type '{}', which '{}' is in {}", word, text_, at.id()));
}

bool TypeOf::may_be_float() const { return std::ranges::any_of(all_, &ElementType::is_float); }

bool Description::is_restored(std::size_t buffer) const {
  const BufferOf& of = buffers[buffer];
  return of.contents && of.restore.value_or(has_check(buffer));
}

const std::vector<std::string>& bound_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const auto& bound : bounds) out.emplace_back(bound.name);
    return out;
  }();
  return names;
}

suite::Peak peak_bounding(const std::string& bound) {
  const auto* const found = std::ranges::find(bounds, bound, &Bound::name);
  return found == std::end(bounds) ? suite::Peak::none : found->peak;
}

Uniform usual_range(const ElementType& type) { return type.is_float() ? Uniform{0, 1} : Uniform{0, 100}; }

bool Description::has_check(std::size_t buffer) const {
  return std::ranges::find(checks, buffer, &CheckOf::buffer) != checks.end();
}

bool Description::is_checked() const {
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (!buffers[b].contents && !has_check(b)) return false;
  }
  return !checks.empty();
}

}  // namespace clweave::description
