// SPDX-License-Identifier: Apache-2.0
// precompiled: what most files include. (A file that relies on it is found by cmake/check_includes.cmake.)
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// clang compiles what is instantiated here once, into an object of its own; GCC would into every object.
#ifdef __clang__
template class nlohmann::basic_json<>;
template class std::vector<std::string>;
template class std::vector<double>;
template class std::vector<std::size_t>;
template class std::vector<std::int64_t>;
template class std::set<std::string>;
template class std::map<std::string, std::string>;
template class std::map<std::string, double>;
template class std::map<std::string, std::size_t>;
template class std::optional<std::string>;
template class std::optional<double>;
template class std::optional<std::int64_t>;

namespace precompiled {

// Each format of one value: the code that formats it is the same in formats of several.
template <typename T>
std::string formatted(const T& value) {
  return fmt::format("{:>{}}", value, 1) + fmt::to_string(value);
}

inline void common_instantiations() {
  const std::string text;
  const std::vector<std::string> texts;
  formatted(text);
  formatted(std::string_view());
  formatted("");
  formatted(' ');
  formatted(true);
  formatted(0);
  formatted(0U);
  formatted(0L);
  formatted(0UL);
  formatted(0.0);
  fmt::format("{} {}", text, text);
  fmt::format("{}", fmt::join(texts, ""));
  fmt::format("{}", fmt::join(std::vector<double>(), ""));
  fmt::print("{}", text);
  std::string appended;
  fmt::format_to(std::back_inserter(appended), "{}", text);
  nlohmann::json json = nlohmann::json::parse(text);
  json = nlohmann::json::parse(text, nullptr, false);
  json["text"] = text;
  json["text"] = texts;
  json["text"] = "";
  json["text"] = 0;
  json["text"] = 0.0;
  json["text"] = true;
  json["text"] = std::int64_t{0};
  json["text"] = std::size_t{0};
  json[text] = json.at("text").get<std::string>() + json.at(text).dump(1) + json.value("text", "");
  json.push_back(json.at(text).get<double>());
  json.push_back(json.at(text).get<bool>());
  json.push_back(json.at(text).get<std::int64_t>());
  json = {{"text", text}, {"number", 0.0}};
  std::vector<std::string> sorted = texts;
  std::ranges::sort(sorted);
  std::vector<double> numbers;
  std::ranges::sort(numbers);
  std::ranges::find(texts, text);
  std::function<void()> call = [] {};
  call();
}

}  // namespace precompiled
#endif
