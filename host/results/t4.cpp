// SPDX-License-Identifier: Apache-2.0
#include "results/t4.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "results/each_row.hpp"
#include "results/results_file.hpp"
#include "suite/family.hpp"
#include "suite/peak.hpp"

namespace clweave::results {

namespace {

using Json = nlohmann::ordered_json;

constexpr double ms = 1e3;  // of a second

// Milliseconds of each sample by either clock, by the number of its row from 1.
struct Runtimes {
  std::map<std::size_t, std::vector<double>> event, host;

  explicit Runtimes(const std::string& rows) {
    const std::string path = samples_path(rows);
    if (!std::filesystem::is_regular_file(path)) return;
    CsvReader reader(path);
    const auto column = [&](const char* title) {
      const auto at = std::ranges::find(reader.header(), title);
      if (at == reader.header().end())
        throw Error(ErrorCode::io,
                    fmt::format("{}:1: no column '{}': not samples of clweave run", path, title));
      return static_cast<std::size_t>(at - reader.header().begin());
    };
    const std::size_t row = column("row"), event_ns = column("event_ns"), host_ns = column("host_ns");
    CsvNumbers numbers(reader.dialect());
    for (CsvTable::Row sample; reader.next(sample);) {
      const auto number = numbers.whole(sample.cells[row]);
      if (!number || *number < 1) continue;
      const auto take = [&](auto& into, std::size_t cell) {
        const auto ns = numbers.number(sample.cells[cell]);
        if (ns && *ns > 0) into[static_cast<std::size_t>(*number)].push_back(1e-6 * *ns);
      };
      take(event, event_ns);
      take(host, host_ns);
    }
  }

  std::vector<double> of(std::size_t row, Timer timer) const {
    const auto& by_row = timer == Timer::event ? event : host;
    const auto at = by_row.find(row);
    return at != by_row.end() ? at->second : std::vector<double>();
  }
};

Json measurements_of(const Record& record) {
  auto out = Json::array();
  const auto number = [&](const char* name, const Number& value, const char* unit, double factor = 1) {
    if (value) out.push_back({{"name", name}, {"value", factor * *value}, {"unit", unit}});
  };
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) out.push_back({{"name", name}, {"value", value}, {"unit", ""}});
  };
  number("time", record.time_s, "ms", ms);
  number("time_low", record.time_low_s, "ms", ms);
  number("time_high", record.time_high_s, "ms", ms);
  number("GB/s", record.gb_per_s, "GB/s");
  number("GFLOP/s", record.gflop_per_s, "GFLOP/s");
  number("gitems_per_s", record.gitems_per_s, "G/s");
  number("fraction_of_peak", record.fraction_of_peak, "");
  number("energy", record.energy_j, "J");
  text("status", text_of(record.status));
  text("verified", text_of(record.verified));
  text("reason", record.reason);
  text("disturbed", record.disturbed);
  return out;
}

Json result_of(const Record& record, const std::vector<double>& runtimes) {
  Json configuration = Json::object();
  for (const auto& cell : record.axes) {
    if (record.case_id.find("/" + cell.first + "=") == std::string::npos) continue;  // follows from the axes
    Json& value = configuration[cell.first];
    std::visit([&](const auto& typed) { value = typed; }, value_of(cell.second));
  }
  Json times = {{"runtimes", runtimes}};
  // The schema's name, and the one that Kernel Tuner writes and its readers look for.
  if (record.build_ms) times["compilation_time"] = times["compilation"] = *record.build_ms;
  const std::string invalidity = invalidity_of(record);
  return {{"timestamp", record.time_utc},
          {"configuration", configuration},
          {"objectives", {"time"}},
          {"times", times},
          {"invalidity", invalidity},
          {"correctness", invalidity == "correct" ? 1 : 0},
          {"measurements", measurements_of(record)}};
}

Json metadata_of(const Record& record) {
  const Json device = {{"device", record.device},     {"vendor", record.vendor},
                       {"type", record.device_type},  {"driver", record.driver},
                       {"platform", record.platform}, {"cpu", record.cpu},
                       {"uuid", record.uuid},         {"device_id", record.device_id}};
  return {{"timeunit", "milliseconds"},
          {"kernel", record.family},
          {"hardware", {{"hardware_description", Json::array({device})}, {"operating_system", record.os}}},
          {"environment",
           {{"device_query", Json::object()}, {"requirements", Json::array({"clweave " + record.version})}}}};
}

// The rows that count, each case's last one, in the order of their first ones.
class Rows {
 public:
  explicit Rows(std::string family) : family_(std::move(family)) {}

  void add(const Record& record, const std::vector<double>& runtimes) {
    const bool other = family_.empty() ? record.family == peak_family : record.family != family_;
    if (other || record.is_baseline() || !record.finding.empty()) return;
    families_.insert(record.family);
    devices_.insert(record.device_key().text());
    const auto [at, is_new] =
        place_.try_emplace(record.case_id + record.cache + record.tuned, results_.size());
    if (is_new) results_.emplace_back();
    results_[at->second] = result_of(record, runtimes);
    if (!metadata_) metadata_ = metadata_of(record);
  }

  Json finish(const std::vector<std::string>& files) const {
    if (!metadata_)
      throw Error(ErrorCode::usage,
                  fmt::format("no row of {} in {}", family_.empty() ? "a family" : "family " + family_,
                              fmt::join(files, ", ")));
    if (families_.size() > 1)
      throw Error(ErrorCode::usage,
                  fmt::format("T4 is of one kernel: add --family and one of {}", fmt::join(families_, ", ")));
    if (devices_.size() > 1)
      throw Error(ErrorCode::usage,
                  fmt::format("T4 is of one device: give the files of one of {}", fmt::join(devices_, "; ")));
    return {{"schema_version", "1.0.0"}, {"metadata", *metadata_}, {"results", results_}};
  }

 private:
  std::string family_;
  std::set<std::string> families_, devices_;
  std::map<std::string, std::size_t> place_;  // in results_, by case
  std::vector<Json> results_;
  std::optional<Json> metadata_;
};

}  // namespace

const char* invalidity_of(const Record& record) {
  const bool verified = record.verified == Verified::yes || record.verified == Verified::before;
  switch (record.status) {
    case Status::ok: return verified ? "correct" : "correctness";
    case Status::wrong_result: return "correctness";
    case Status::unsupported: return "constraints";
    case Status::build_failed: return "compile";
    case Status::timeout: return "timeout";
    default: return "runtime";
  }
}

Json t4_of(const std::vector<std::string>& files, const std::vector<Family>& families,
           const std::string& family) {
  Rows rows(family);
  for (const auto& file : files) {
    const Runtimes runtimes(file);
    std::size_t row = 0;
    each_row({file}, families,
             [&](const Record& record) { rows.add(record, runtimes.of(++row, record.timer)); });
  }
  return rows.finish(files);
}

}  // namespace clweave::results
