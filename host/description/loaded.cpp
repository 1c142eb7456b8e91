// SPDX-License-Identifier: Apache-2.0
#include "description/loaded.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "description/kernel_source.hpp"
#include "suite/added_families.hpp"

namespace clweave::description {

namespace {

struct Kept {
  std::vector<Loaded> descriptions;
  nlohmann::json texts = nlohmann::json::array();
};

Kept& kept() {
  static Kept all;
  return all;
}

nlohmann::json json_of(const std::vector<WrittenAs>& written_as) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& one : written_as) out.push_back({{"of", one.of}, {"parts", one.parts}});
  return out;
}

std::vector<WrittenAs> written_as_of(const nlohmann::json& texts) {
  std::vector<WrittenAs> out;
  for (const auto& one : texts)
    out.push_back({one.at("of"), one.at("parts").get<std::vector<std::pair<int, int>>>()});
  return out;
}

Loaded loaded_of(const Description& from) {
  Loaded out{from.name, from.file, from.is_checked(), {}};
  for (std::size_t b = 0; b < from.buffers.size(); ++b) {
    if (!from.buffers[b].contents && !from.has_check(b)) out.unchecked.push_back(from.buffers[b].name);
  }
  return out;
}

}  // namespace

void load(Description from) {
  Loaded one = loaded_of(from);
  nlohmann::json text = {
      {"file", from.file.string()}, {"text", from.text}, {"written_as", json_of(from.written_as)}};
  add_family(family_of(std::move(from)), one.file.filename().string());
  kept().descriptions.push_back(std::move(one));
  kept().texts.push_back(std::move(text));
}

const std::vector<Loaded>& loaded() { return kept().descriptions; }

std::string kernel_text(const std::filesystem::path& file) {
  return file_text(file, std::uintmax_t{16} << 20U);
}

nlohmann::json loaded_texts() { return kept().texts; }

void load_texts(const nlohmann::json& texts) {
  for (const auto& one : texts) {
    if (std::ranges::find(kept().texts, one) != kept().texts.end()) continue;
    const std::filesystem::path file = one.at("file").get<std::string>();
    load(parse_description(one.at("text"), file.filename().string(), file, kernel_text(file),
                           written_as_of(one.at("written_as"))));
  }
}

}  // namespace clweave::description
