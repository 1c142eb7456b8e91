// SPDX-License-Identifier: Apache-2.0
#include "description/description.hpp"

#include <algorithm>
#include <array>

#include "base/number.hpp"

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

Uniform random_contents(const ElementType& type) { return type.is_float() ? Uniform{0, 1} : Uniform{0, 100}; }

bool Description::is_output(std::size_t buffer) const {
  return !buffers[buffer].contents || std::ranges::find(checks, buffer, &CheckOf::buffer) != checks.end();
}

bool Description::is_checked() const {
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (!buffers[b].contents && std::ranges::find(checks, b, &CheckOf::buffer) == checks.end()) return false;
  }
  return !checks.empty();
}

}  // namespace clweave::description
