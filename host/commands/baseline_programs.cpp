// SPDX-License-Identifier: Apache-2.0
#include "commands/baseline_programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/open_devices.hpp"
#include "os/interrupt.hpp"
#include "os/this_program.hpp"

namespace clweave::commands {

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> names = {"clweave_baseline_cpu", "clweave_baseline_boost_compute",
                                              "clweave_baseline_cuda"};

}  // namespace

std::vector<BaselineProgram> baselines_beside(const DeviceInfo& device, const std::vector<Job>& jobs,
                                              const RunnerOptions& how) {
  const fs::path folder = program_file().parent_path();
  std::vector<BaselineProgram> out;
  bool any = false;
  for (const char* name : names) {
    if (!fs::exists(folder / name)) continue;
    any = true;
    if (interrupts() != 0) return out;
    try {
      const std::shared_ptr<Baseline> runner = baseline_runner((folder / name).string(), how);
      auto offer = runner->offer(device, jobs);
      if (offer.jobs.empty()) throw Error(ErrorCode::usage, "it does the work of none of these cases");
      const auto more = [runner, device, its = offer.device](const std::vector<Job>& ours) {
        std::vector<Job> theirs;
        try {
          theirs = runner->offer(device, ours).jobs;
        } catch (const Error&) {  // the program's next case reports it
        }
        runner->begin(its);
        return theirs;
      };
      out.push_back({runner, std::move(offer.device), std::move(offer.jobs), more});
    } catch (const Error& error) {
      if (interrupts() == 0)
        log_line("clweave: {} is left out beside {}: {}\n", name, device.name, error.what());
    }
  }
  if (!any)
    throw Error(
        ErrorCode::usage,
        fmt::format("--with-baselines: none of {} is in {}; the build makes those whose libraries are here",
                    fmt::join(names, ", "), folder.string()));
  return out;
}

}  // namespace clweave::commands
