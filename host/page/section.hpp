// SPDX-License-Identifier: Apache-2.0
// section: the parts that the page's sections are made of, as the script draws them.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace clweave::profile {
struct Trait;
}  // namespace clweave::profile

namespace clweave::page {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

inline constexpr const char* not_measured = "not measured";
inline constexpr const char* roofline_title = "Roofline";  // also the chapter of a family that it shows

// The id of a section, by its title.
std::string id_of(const std::string& title);

Json section(const std::string& title, const std::string& text, Json parts);
// A section without data; `why` says what would measure it.
Json absent(const std::string& title, const std::string& why);
Json table(const std::string& title, const Texts& columns, Json rows);

std::string plural(std::size_t n, const std::string& one);

// A trait's number without and with its interval, or why there is none.
std::string trait_value(const profile::Trait&);
std::string trait_text(const profile::Trait&);

}  // namespace clweave::page
