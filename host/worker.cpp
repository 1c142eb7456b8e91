// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "child.hpp"

namespace clweave {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StopRule, precision, min_samples, max_samples, max_seconds, check_every)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Measuring, stop, cold, check_again, warm_up_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sample, event_s, host_s, batch, throttled)

namespace {

void answer(const json& line) {
  // A driver's text need not be UTF-8.
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(answer_fd, text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(0);  // nobody is left to answer to
    sent += static_cast<std::size_t>(n);
  }
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

// The row crosses as its CSV cells, so that one table of columns describes it everywhere.
json json_of(const Row& row) {
  std::vector<std::string> axes;
  for (const auto& [name, value] : row.record.axes) axes.push_back(name);
  return {{"header", header_cells(axes)},
          {"row", cells_of(row.record, axes)},
          {"samples", row.samples},
          {"buffer_bytes", row.buffer_bytes}};
}

}  // namespace

json json_of(const Case& at, const Measuring& rule) {
  json axes = json::array();
  for (const auto& [name, value] : at.axes)
    axes.push_back({name, std::visit([](const auto& v) { return json(v); }, value)});
  return {{"case", {{"family", at.family}, {"seed", at.seed}, {"axes", axes}}}, {"rule", rule}};
}

Row row_from(const json& text) {
  CsvTable table;
  table.header = text.at("header");
  table.rows.push_back({1, text.at("row")});
  return {records_of(table, "child").at(0), text.at("samples"), text.at("buffer_bytes")};
}

int serve() {
  // A supervisor that dies takes its children with it; and a crash must not fill the disk.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == 1) _exit(0);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(SIGPIPE, SIG_IGN);

  const auto families = all_families();
  std::unique_ptr<Session> session;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const json request = json::parse(line);
      if (request.contains("devices")) {
        std::vector<std::string> complaints;
        const auto devices = enumerate_devices(complaints);
        answer({{"devices", devices}, {"complaints", complaints}});
      } else if (request.contains("open")) {
        session = std::make_unique<Session>(request.at("open").get<DeviceInfo>(), request.at("kernels"),
                                            [](const char* what) {
                                              answer({{"stage", what}});
                                            });
        answer({{"opened", session->timer().reason}, {"timer", session->timer().name()}});
      } else {
        const Case at = case_from(request.at("case"));
        const auto family = std::ranges::find(families, at.family, &Family::name);
        if (family == families.end() || !session)
          throw Error(Kind::usage, "no such family, or no device open");
        answer(json_of(run_case(*session, *family, at, request.at("rule").get<Measuring>())));
      }
    } catch (const Error& error) {
      answer({{"error", error.what()}, {"kind", error.kind}});
    } catch (const cl::Error& error) {
      const Error meaning = cl_failure(error, "OpenCL");
      answer({{"error", meaning.what()}, {"kind", meaning.kind}});
    } catch (const std::exception& error) {
      answer({{"error", error.what()}, {"kind", Kind::launch}});
    }
  }
  // Not through exit(): drivers hang and crash in their handlers there.
  session.release();  // NOLINT(bugprone-unused-return-value)
  std::cerr.flush();
  _exit(0);
}

}  // namespace clweave
