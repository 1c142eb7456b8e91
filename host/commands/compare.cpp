// SPDX-License-Identifier: Apache-2.0
// compare: several results files side by side: one device before and after, or several devices.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "answers/architectures.hpp"
#include "answers/regression.hpp"
#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/commands.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

// Devices of one name on both sides: results of one device before and after.
bool one_device(const ResultsSet& a, const ResultsSet& b) {
  return std::ranges::any_of(a.devices, [&](const DeviceResults& device) {
    return !device.published &&
           std::ranges::find(b.devices, device.name, &DeviceResults::name) != b.devices.end();
  });
}

// Exit code 4 for what the user said to fail on.
int verdict_code(const Regression& regression, const FailOn& fail_on) {
  for (const auto& row : regression.cases) {
    if (fail_on.broken && row.what == What::broken) return slower;
    if (fail_on.slower_than && row.verdict == Change::slower && row.ratio > 1 + *fail_on.slower_than)
      return slower;
  }
  return fine;
}

}  // namespace

int compare(const Options& all_options) {
  const CompareOptions& options = all_options.compare;
  const FailOn fail_on = fail_on_of(options.fail_on);
  const Screen screen = screen_of(STDOUT_FILENO);
  const bool two_sides = !options.against.empty() || options.files.size() == 2;
  if (!two_sides && options.mode == "regression")
    throw Error(Kind::usage,
                "a regression has two sides: clweave compare OLD.csv NEW.csv, or OLD1.csv OLD2.csv --against "
                "NEW1.csv NEW2.csv");
  if (options.noise.size() == 1)
    throw Error(Kind::usage, "--noise takes two or more files, measured with nothing changed between them");
  const auto families = all_families();
  ResultsSet before = read_results(
      options.against.empty() && two_sides ? std::vector<std::string>{options.files.front()} : options.files,
      families);
  ResultsSet after;
  if (two_sides)
    after = read_results(
        options.against.empty() ? std::vector<std::string>{options.files.back()} : options.against, families);

  const bool regression =
      options.mode == "regression" ||
      (options.mode == "auto" && two_sides && (!options.against.empty() || one_device(before, after)));
  if (!regression) {
    if (!options.noise.empty() || !options.fail_on.empty() || !options.against.empty())
      throw Error(
          Kind::usage,
          "--against, --noise and --fail-on compare one device before and after, but these are different "
          "devices; --mode regression takes them for one");
    before.merge(std::move(after));
    before.keep(options.families);
    if (before.devices.size() < 2)
      throw Error(Kind::usage,
                  fmt::format("{}: results of one device; compare takes two files of one device, or "
                              "results of several devices",
                              fmt::join(options.files, ", ")));
    fmt::print("{}", architectures_text(compare_architectures(before, families), options.format,
                                        !options.families.empty(), options.all, screen));
    return fine;
  }
  std::vector<ResultsSet> noise;
  for (const auto& file : options.noise) noise.push_back(read_results({file}, families));
  for (auto* set : {&before, &after}) set->keep(options.families);
  const Regression found = compare_regression(before, after, noise, {.margin = options.margin});
  fmt::print("{}", regression_text(found, options.format, options.all, screen));
  return verdict_code(found, fail_on);
}

}  // namespace clweave::commands
