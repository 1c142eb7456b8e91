// SPDX-License-Identifier: Apache-2.0
#include "suite/added_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace clweave::suite {

std::vector<Family> built_in_families();  // generated: one call per host/families/*.cpp

namespace {

constexpr std::size_t most_added = 256;

struct AllFamilies {
  std::vector<Family> families = built_in_families();
  std::size_t built_in = families.size();
  std::vector<std::string> files;  // of those added

  // Jobs and tables point to families.
  AllFamilies() { families.reserve(built_in + most_added); }
};

AllFamilies& all() {
  static AllFamilies made;
  return made;
}

}  // namespace

const std::vector<Family>& all_families() { return all().families; }

void add_family(Family family, std::string file) {
  auto& [families, built_in, files] = all();
  if (std::ranges::find(families, family.name, &Family::name) != families.end())
    throw Error(ErrorCode::usage,
                fmt::format("there is a family {} already: give the file another name", family.name));
  if (families.size() == built_in + most_added)
    throw Error(ErrorCode::usage, fmt::format("more than {} families are too many", most_added));
  families.push_back(std::move(family));
  files.push_back(std::move(file));
}

bool is_added(const std::string& name) {
  const auto& [families, built_in, files] = all();
  const auto found = std::ranges::find(families, name, &Family::name);
  return std::cmp_greater_equal(found - families.begin(), built_in) && found != families.end();
}

std::string file_of_family(const std::string& name) {
  const auto& [families, built_in, files] = all();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (families[built_in + i].name == name) return files[i];
  }
  return "";
}

}  // namespace clweave::suite
