// SPDX-License-Identifier: Apache-2.0
#include "results/provenance.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/unseen_number.hpp"
#include "base/version.hpp"

namespace clweave::results {

namespace {

// Returns the value of the first line "key : value" of a file; empty if there is none.
std::string field_of(const char* path, const std::string& key, char separator) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const auto at = line.find(separator);
    if (at == std::string::npos) continue;
    const auto first = line.find_first_not_of(" \t\"", at + 1);
    const auto last = line.find_last_not_of(" \t\"");
    return first == std::string::npos ? "" : line.substr(first, last - first + 1);
  }
  return {};
}

// Returns the file name of the library that provides the loader's entry points. Looks it up by name, so that
// OpenCL is not called.
std::string loader_name() {
  Dl_info info{};
  void* entry = dlsym(RTLD_DEFAULT, "clGetPlatformIDs");
  if (entry == nullptr || dladdr(entry, &info) == 0) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).filename().string();
}

}  // namespace

Record provenance(const std::vector<std::string>& arguments, std::uint64_t seed, const std::string& label) {
  Record common;
  common.label = label;
  // In every container the process may be 1.
  common.run_id = utc_now("{:%Y%m%dT%H%M%SZ}") + fmt::format("-{}-{:08x}", getpid(), unseen_number());
  common.version = version;
  // Arguments need not be UTF-8.
  common.command = nlohmann::json(arguments).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  common.seed = static_cast<std::int64_t>(seed);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  common.host = host;
  utsname system{};
  uname(&system);
  common.os = fmt::format("{}, {} {}", field_of("/etc/os-release", "PRETTY_NAME", '='), system.sysname,
                          system.release);
  common.cpu = field_of("/proc/cpuinfo", "model name", ':');
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
