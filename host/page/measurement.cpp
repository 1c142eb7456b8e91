// SPDX-License-Identifier: Apache-2.0
// measurement: the sections of rows that failed, and of how the others were measured.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/quantity.hpp"
#include "base/terminal.hpp"
#include "page/sections.hpp"

namespace clweave::page {

namespace {

constexpr std::size_t most_kinds = 500;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Replaces each number by #: reasons of one kind differ only by numbers.
std::string without_numbers(const std::string& reason) {
  std::string out;
  bool digits = false;
  for (const char c : reason) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || !digits) out += digit ? '#' : c;
    digits = digit;
  }
  return out;
}

enum class FailureClass { failed, unsupported, known_incorrect };  // in the order of the table

FailureClass class_of(const CaseTimes& at) {
  return at.failed()          ? FailureClass::failed
         : at.known_incorrect ? FailureClass::known_incorrect
                              : FailureClass::unsupported;
}

// Identifies cases of one device that failed in the same way.
struct FailureKey {
  FailureClass kind;
  std::size_t device;
  std::string family, status, reason;

  // NOLINTNEXTLINE(modernize-use-nullptr): the 0 is in code that the compiler makes
  auto operator<=>(const FailureKey&) const = default;
};

struct Failures {
  std::size_t cases = 0;
  const CaseTimes* first = nullptr;
};

}  // namespace

Json failures(const Input& input) {
  std::map<FailureKey, Failures> kinds;
  std::map<FailureClass, std::size_t> counts;
  for (std::size_t d = 0; d < input.devices.size(); ++d) {
    for (const auto& at : input.devices[d].results->cases) {
      if (at.ok()) continue;
      const FailureClass failure = class_of(at);
      ++counts[failure];
      const std::string status =
          (failure == FailureClass::known_incorrect ? "known incorrect: " : "") + text_of(at.status);
      Failures& kind = kinds[{failure, d, at.family(), status, without_numbers(first_line(at.reason))}];
      if (kind.cases++ == 0) kind.first = &at;
    }
  }
  if (kinds.empty()) {
    Json out = absent("Failures", "none: all rows are ok");
    out["good"] = true;
    return out;
  }
  Json rows = Json::array();
  for (const auto& [key, kind] : kinds) {
    if (rows.size() == most_kinds) break;
    rows.push_back(Json::array({input.devices[key.device].label, key.status, key.family, kind.cases,
                                without_colour(first_line(kind.first->reason)), kind.first->label()}));
  }
  Json listed = table("Rows that are not ok, by kind",
                      {"device", "status", "family", "cases", "reason", "first case"}, std::move(rows));
  listed["filters"] = Json::array({"device", "status", "family"});
  return section("Failures",
                 fmt::format("{} failed; the devices cannot run {}; {} known-incorrect published kernels "
                             "failed, as expected.",
                             plural(counts[FailureClass::failed], "case"), counts[FailureClass::unsupported],
                             counts[FailureClass::known_incorrect]),
                 Json::array({listed}));
}

namespace {

// Returns the command line of a file, quoted where a shell needs it.
std::string typed(const std::string& command) {
  const Json words = Json::parse(command, nullptr, false);
  if (!words.is_array()) return command;
  std::string out = "clweave";
  for (const auto& word : words) {
    if (!word.is_string()) return command;
    const auto text = word.get<std::string>();
    const bool plain =
        !text.empty() &&
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=,./:") ==
            std::string::npos;
    out += plain ? " " + text : " '" + text + "'";
  }
  return out;
}

Json devices_row(const DeviceInput& device) {
  const DeviceResults& results = *device.results;
  std::size_t event = 0, host = 0, slowed = 0, unsettled = 0;
  std::vector<double> widths;
  for (const auto& at : results.cases) {
    for (const auto& run : at.runs) {
      ++(run.timer == Timer::event ? event : host);
      slowed += run.slowed ? 1 : 0;
      unsettled += run.unsettled ? 1 : 0;
      widths.push_back((run.high_s - run.low_s) / (2 * run.time_s));
    }
  }
  std::ranges::sort(widths);
  return Json::array({device.label, results.name, results.platform, results.driver, results.cpu,
                      results.version, fmt::format("{} by the device's clock, {} by the host's", event, host),
                      widths.empty() ? "" : "±" + percent_text(widths[widths.size() / 2]),
                      fmt::format("{} of {} disturbed, {} not settled", slowed, widths.size(), unsettled)});
}

}  // namespace

Json measurement(const Input& input) {
  Json devices = Json::array(), files = Json::array(), notes = Json::array();
  for (const auto& device : input.devices) devices.push_back(devices_row(device));
  for (const auto& origin : input.origins) {
    const Record& r = origin.first;
    files.push_back(Json::array(
        {origin.file, typed(r.command), r.time_utc, r.version, r.os, r.timer_reason, r.build_options}));
  }
  for (const auto& note : input.notes) notes.push_back(Json::array({without_colour(note)}));
  Json parts = Json::array({table("Devices, timers and noise",
                                  {"device", "its name", "platform", "driver", "processor", "clweave",
                                   "timed", "typical interval of a median", "doubtful rows"},
                                  std::move(devices))});
  if (!files.empty())
    parts.push_back(table(
        "Files, and the commands that repeat them",
        {"file", "command", "begun", "clweave", "system", "timer of its first row", "its build options"},
        std::move(files)));
  if (!notes.empty()) parts.push_back(table("Notes about the files", {"note"}, std::move(notes)));
  return section(
      "Measurement",
      "The whole output of every ok row was checked before and after its timing; intervals are 95 % "
      "of the median. clweave locks no clocks.",
      std::move(parts));
}

}  // namespace clweave::page
