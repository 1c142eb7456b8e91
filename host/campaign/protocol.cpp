// SPDX-License-Identifier: Apache-2.0
#include "campaign/protocol.hpp"

#include <nlohmann/json.hpp>

#include "base/csv.hpp"

// Argument-dependent lookup finds the conversions of a type in the type's own namespace.
namespace clweave::base {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StopRule, precision, min_samples, max_samples, max_seconds, check_every)
}  // namespace clweave::base

namespace clweave::device {
// The device decides the other fields: run_case fills them.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SamplingOptions, stop, cold, min_batch_s, max_batch, verify_afterwards,
                                   warm_up_s, spread_s, energy_s, parallel)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DriverBuild::Kernel, name, group_limit, width, local, scratch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DriverBuild, ok, log, kernels, binary_bytes, ptx)
}  // namespace clweave::device

namespace clweave::suite {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WrongElement, index, got, wanted, tolerance)
}  // namespace clweave::suite

namespace clweave::results {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sample, event_s, host_s, batch, throttled)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WrongOutput, output, rule, sample)
}  // namespace clweave::results

namespace clweave::campaign {

using nlohmann::json;

json json_of(const Case& at) {
  json axes = json::array();
  for (const auto& [name, value] : at.axes)
    axes.push_back({name, std::visit([](const auto& v) { return json(v); }, value)});
  return {{"family", at.family}, {"seed", at.seed}, {"axes", axes}};
}

Case case_from(const json& text) {
  Case at;
  at.family = text.at("family");
  at.seed = text.at("seed");
  for (const auto& [name, value] : text.at("axes").items()) {
    const auto& pair = value;
    Value v;
    if (pair.at(1).is_string())
      v = pair.at(1).get<std::string>();
    else if (pair.at(1).is_number_float())
      v = pair.at(1).get<double>();
    else
      v = pair.at(1).get<std::int64_t>();
    at.axes.emplace_back(pair.at(0), v);
  }
  return at;
}

json json_of(const BaselineCase& baseline) { return {{"api", baseline.api}, {"row", json_of(baseline.row)}}; }

BaselineCase baseline_case_from(const json& text) { return {text.at("api"), case_from(text.at("row"))}; }

json json_of(const Job& job, const SamplingOptions& sampling) {
  json out = {{"case", json_of(job.at)}, {"sampling", sampling}};
  if (job.baseline) out["baseline"] = json_of(*job.baseline);
  return out;
}

SamplingOptions sampling_from(const json& request) { return request.at("sampling").get<SamplingOptions>(); }

json json_of(const DriverBuild& built) { return built; }

DriverBuild driver_build_from(const json& text) { return text.get<DriverBuild>(); }

// Sends the row as its CSV cells, so that one table of columns describes it everywhere.
json json_of(const Row& row) {
  std::vector<std::string> axes;
  for (const auto& [name, value] : row.record.axes) axes.push_back(name);
  json out = {{"header", header_cells(axes)},
              {"row", cells_of(row.record, axes)},
              {"samples", row.samples},
              {"buffer_bytes", row.buffer_bytes},
              {"completion_latency_s", row.completion_latency_s},
              {"least_host_s", row.least_host_s}};
  if (row.wrong) out["wrong"] = *row.wrong;
  return out;
}

Row row_from(const json& text) {
  CsvTable table;
  table.header = text.at("header");
  table.rows.push_back({1, text.at("row")});
  Row row{records_of(table, "child").at(0), text.at("samples"), text.at("buffer_bytes"),
          text.at("completion_latency_s"), text.at("least_host_s")};
  if (const auto wrong = text.find("wrong"); wrong != text.end()) row.wrong = wrong->get<WrongOutput>();
  return row;
}

}  // namespace clweave::campaign
