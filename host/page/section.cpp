// SPDX-License-Identifier: Apache-2.0
#include "page/section.hpp"

#include <fmt/format.h>

#include <cctype>

#include "analysis/profile/profile.hpp"
#include "base/quantity.hpp"

namespace clweave::page {

std::string id_of(const std::string& title) {
  std::string id;
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) id += static_cast<char>(std::tolower(byte));
    if (c == ' ') id += '-';
  }
  return id;
}

Json section(const std::string& title, const std::string& text, Json parts) {
  return {{"id", id_of(title)}, {"title", title}, {"text", text}, {"parts", std::move(parts)}};
}

Json absent(const std::string& title, const std::string& why) {
  Json out = section(title, "", Json::array());
  out["absent"] = why;
  return out;
}

Json table(const std::string& title, const Texts& columns, Json rows) {
  return {{"kind", "table"}, {"title", title}, {"columns", columns}, {"rows", std::move(rows)}};
}

std::string plural(std::size_t n, const std::string& one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

namespace {

std::string without_figure(const Trait& trait) {
  return trait.undecided.empty() ? not_measured : trait.without_figure();
}

}  // namespace

std::string trait_value(const Trait& trait) {
  if (!trait.figure) return without_figure(trait);
  return number_text(trait.figure->value, trait.unit == "items" ? "" : trait.unit);
}

std::string trait_text(const Trait& trait) {
  if (!trait.figure) return without_figure(trait);
  return figure_text(trait.figure->value, trait.figure->low, trait.figure->high, trait.unit);
}

}  // namespace clweave::page
