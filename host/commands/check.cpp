// SPDX-License-Identifier: Apache-2.0
// check: tests the rules of families on every case, without a device.
#include "suite/check.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/exit.hpp"
#include "commands/command.hpp"
#include "commands/own_kernels.hpp"
#include "description/loaded.hpp"
#include "device/program.hpp"
#include "suite/family.hpp"
#include "suite/selection.hpp"

namespace clweave::commands {

namespace {

int check(const std::vector<std::string>& words) {
  const auto& families = all_families();
  std::vector<std::string> names, own;
  std::ranges::partition_copy(words, std::back_inserter(own), std::back_inserter(names), is_own);
  const auto described = load_own(own);
  names.insert(names.end(), described.begin(), described.end());
  std::vector<std::string> stems;
  for (const auto& one : description::loaded())
    stems.push_back(std::filesystem::path(one.file).replace_extension().string());
  for (const auto& [stem, text] : embedded_kernels) stems.emplace_back(stem);
  int result = success;
  for (const auto* family : chosen_families(families, names)) {
    const auto problems = problems_of(*family, stems);
    if (problems.empty()) fmt::print("{}: every rule holds\n", family->name);
    for (const auto& problem : problems) fmt::print("{}: {}\n", family->name, problem);
    if (!problems.empty()) result = case_failed;
  }
  return result;
}

}  // namespace

Command check(CLI::App& app) {
  auto names = std::make_shared<std::vector<std::string>>();
  auto* command = app.add_subcommand("check", "Test the rules of families on every case, without a device");
  command->add_option("family", *names, "Only these families, or kernels of your own by FILE.cl [all]");
  return {command, [names](const auto&) { return check(*names); }};
}

}  // namespace clweave::commands
