// SPDX-License-Identifier: Apache-2.0
#include "compilers/source_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "device/program.hpp"
#include "os/replacement.hpp"
#include "suite/family.hpp"

namespace clweave::compilers {

namespace fs = std::filesystem;

namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

}  // namespace

Folder::Folder(fs::path path) : path_(std::move(path)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (!fs::is_directory(path_, error))
    throw Error(ErrorCode::io,
                fmt::format("{} is no folder and none can be made of that name", path_.string()));
}

void Folder::write(const std::string& file, const std::string& text) const {
  replace_file((path_ / file).string(), text, Links::replaced);
}

void SourcesFolder::add(const std::vector<Job>& jobs, const DeviceInfo& device,
                        const std::string& kernel_dir) {
  for (const auto& job : jobs) {
    if (job.baseline) continue;
    try {
      const Plan plan = plan_of(*job.family, job.at, device);
      const auto names = launched_by(plan);
      if (names.empty()) continue;  // copies and transfers alone
      const Source source = source_of(plan, kernel_dir);
      const std::string file = fmt::format("{}-{}.cl", job.family->name, source.kernel_hash);
      auto& program = programs_[file];
      if (program.kernel_hash.empty()) {
        folder_.write(file, source.text);
        const auto begin = source.options.find_first_not_of(' ');
        program = {.family = job.family->name,
                   .kernel_hash = source.kernel_hash,
                   .options = begin == std::string::npos ? "" : source.options.substr(begin),
                   .may_fail_to_build = plan.may_fail_to_build};
      }
      for (const auto& name : names) add_once(program.entry_points, name);
      add_once(program.devices, device.name);
      add_once(program.cases, job.at.id());
    } catch (const Error& error) {
      if (error.code != ErrorCode::unsupported && error.code != ErrorCode::usage)
        throw;  // the dry run says so
    }
  }
}

std::size_t SourcesFolder::finish() const {
  auto index = nlohmann::ordered_json::array();
  for (const auto& [file, program] : programs_)
    index.push_back({{"file", file},
                     {"family", program.family},
                     {"kernel_hash", program.kernel_hash},
                     {"options", program.options},
                     {"entry_points", program.entry_points},
                     {"may_be_refused", program.may_fail_to_build},
                     {"devices", program.devices},
                     {"cases", program.cases}});
  folder_.write("index.json", index.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return programs_.size();
}

}  // namespace clweave::compilers
