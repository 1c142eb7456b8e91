// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "compare_architectures.hpp"
#include "compare_regression.hpp"
#include "error.hpp"
#include "supervisor.hpp"

namespace clweave {

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
    if (fail_on.slower_than && row.verdict == Verdict::slower && row.ratio > 1 + *fail_on.slower_than)
      return slower;
  }
  return fine;
}

}  // namespace

std::string Report::text(bool colour) const {
  std::string out;
  for (const auto& part : parts_) {
    const auto* line = std::get_if<std::string>(&part);
    out += line != nullptr ? *line + "\n" : std::get<Table>(part).text(colour);
  }
  return out;
}

std::string Report::markdown() const {
  std::string out;
  for (const auto& part : parts_) {
    const auto* line = std::get_if<std::string>(&part);
    if (line == nullptr) {
      out += "\n" + std::get<Table>(part).markdown() + "\n";
    } else if (!line->empty()) {
      out += *line + "  \n";  // two spaces: the line ends here
    }
  }
  return out;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.x") == std::string::npos;
}

void ShortNames::learn(const CaseTimes& at) {
  auto& first = first_[at.family];
  auto& varies = varies_[at.family];
  for (const auto& [axis, value] : at.axes) {
    const auto [it, is_new] = first.try_emplace(axis, value);
    if (!is_new && it->second != value) varies[axis] = true;
  }
}

std::string ShortNames::of(const CaseTimes& at) const {
  std::string out = at.family;
  const auto varies = varies_.find(at.family);
  for (const auto& [axis, value] : at.axes) {
    if (varies == varies_.end() || !varies->second.contains(axis)) continue;
    out += " ";
    if (is_number(value)) out.append(axis).append("=");
    out += value;
  }
  return out;
}

FailOn fail_on_of(const std::string& text) {
  FailOn out;
  for (std::size_t at = 0; at < text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    at = comma + 1;
    if (word == "broken") {
      out.broken = true;
      continue;
    }
    double percent = 0;
    const auto colon = word.find(':');
    bool right = word.substr(0, colon) == "slower";
    if (right && colon != std::string::npos) {
      const char* first = word.data() + colon + 1;
      const char* last = word.data() + word.size();
      const auto [end, error] = std::from_chars(first, last, percent);
      right = error == std::errc{} && percent >= 0 && std::isfinite(percent) &&
              (end == last || (*end == '%' && end + 1 == last));
    }
    if (!right)
      throw Error(Kind::usage,
                  "--fail-on " + text + ": write slower, slower:5%, broken, or several with commas");
    out.slower_than = percent / 100;
  }
  return out;
}

int compare(const CompareOptions& options) {
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
    fmt::print("{}", architectures_text(compare_architectures(before, families), options, screen));
    return fine;
  }
  std::vector<ResultsSet> noise;
  for (const auto& file : options.noise) noise.push_back(read_results({file}, families));
  for (auto* set : {&before, &after}) set->keep(options.families);
  const Regression found = compare_regression(before, after, noise, {.margin = options.margin});
  fmt::print("{}", regression_text(found, options, screen));
  return verdict_code(found, fail_on);
}

}  // namespace clweave
