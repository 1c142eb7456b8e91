// SPDX-License-Identifier: Apache-2.0
#include "results/provenance.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/version.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/library.hpp"
#include "os/unseen_number.hpp"

namespace clweave::results {

namespace {

// Returns the file name of the library that provides the loader's entry points. Looks it up by name, so that
// OpenCL is not called.
std::string loader_name() {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(os::file_of_function("clGetPlatformIDs"), ignored)
      .filename()
      .string();
}

}  // namespace

Record provenance(const std::vector<std::string>& arguments, std::uint64_t seed, const std::string& label) {
  Record common;
  common.label = label;
  // In every container the process may be 1.
  common.run_id = utc_now("{:%Y%m%dT%H%M%SZ}") + fmt::format("-{}-{:08x}", os::process_id(), unseen_number());
  common.version = version;
  // Arguments need not be UTF-8.
  common.command = nlohmann::json(arguments).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  common.seed = static_cast<std::int64_t>(seed);
  common.host = os::host_name();
  common.os = os::system_name();
  common.cpu = os::processor_name();
  common.loader = loader_name();
  return common;
}

void fill_common_columns(Record& record, const Record& common, int run) {
  record.run_id = common.run_id;
  record.run = run;
  record.time_utc = utc_now("{:%Y-%m-%dT%H:%M:%SZ}");
  record.version = common.version;
  record.command = common.command;
  record.seed = common.seed;
  record.host = common.host;
  record.label = common.label;
  record.os = common.os;
  record.cpu = common.cpu;
  record.loader = common.loader;
}

}  // namespace clweave::results
