// SPDX-License-Identifier: Apache-2.0
#include "campaign/worker.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json.hpp"
#include "campaign/protocol.hpp"
#include "campaign/runner.hpp"
#include "description/loaded.hpp"
#include "os/process.hpp"
#include "os/process_state.hpp"
#include "suite/family.hpp"

namespace clweave::campaign {

using nlohmann::json;

namespace {

void say(const json& line) {
  // The text of a driver need not be UTF-8.
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  if (!os::answer(text)) std::_Exit(0);  // nobody is left to answer to
}

// Carries out one request with the runner of this process.
json answer_to(const json& request, Runner& runner, const std::vector<Family>& families) {
  if (request.contains("devices")) {
    tell_phase("loading drivers");
    std::vector<std::string> driver_errors;
    const auto devices = runner.devices(driver_errors);
    return {{"devices", devices}, {"driver_errors", driver_errors}};
  }
  if (request.contains("open")) {
    runner.begin(request.at("open").get<DeviceInfo>());
    runner.open();
    return {{"opened", true}};
  }
  if (request.contains("build")) {
    tell_phase("build");
    const Source source{request.at("text"), request.at("options"), {}};
    return {{"built",
             json_of(runner.build(request.at("build").get<DeviceInfo>(), source, request.at("entries")))}};
  }
  const Case at = case_from(request.at("case"));
  const auto family = std::ranges::find(families, at.family, &Family::name);
  if (family == families.end()) throw Error(ErrorCode::usage, "there is no family " + at.family);
  return json_of(*runner.run({.family = &*family, .at = at}, sampling_from(request)));
}

}  // namespace

void tell_phase(const char* what) { say({{"phase", what}}); }

void serve(int parent, const std::function<json(const json&)>& answer) {
  os::end_with_parent(parent);
  const ProcessState state;
  tell_phase("start");  // has a timeout of its own, as starting takes long on a busy machine
  for (std::string line; std::getline(std::cin, line);) {
    state.restore();  // from what the drivers of the request before have set
    try {
      std::string why;
      const json request = parsed_json(line, &why);
      if (request.is_discarded()) throw Error(ErrorCode::usage, why);
      say(answer(request));
    } catch (const Error& error) {
      say({{"error", error.what()}, {"kind", error.code}});
    } catch (const std::exception& error) {
      say({{"error", error.what()}, {"kind", ErrorCode::launch}});
    }
  }
  // Not exit(): drivers hang and crash in their exit handlers.
  std::cerr.flush();
  std::_Exit(0);
}

void serve(int parent) {
  std::unique_ptr<Runner> runner;
  const auto report_phase = [](const char* what) {
    tell_phase(what);
    if (std::string line; std::string_view(what) == ready) std::getline(std::cin, line);
  };
  serve(parent, [&runner, &report_phase](const json& request) {
    if (request.contains("descriptions")) description::load_texts(request.at("descriptions"));
    if (!runner || request.contains("open"))
      runner = in_process_runner({.kernel_dir = request.value("kernels", ""),
                                  .report_phase = report_phase,
                                  .without_fill = request.value("without_fill", "")});
    return answer_to(request, *runner, all_families());
  });
}

}  // namespace clweave::campaign
