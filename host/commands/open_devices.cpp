// SPDX-License-Identifier: Apache-2.0
#include "commands/open_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/log.hpp"
#include "base/near_word.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "commands/case_list.hpp"
#include "os/clock.hpp"
#include "os/drivers.hpp"
#include "os/file.hpp"
#include "os/interrupt.hpp"

namespace clweave::commands {

SamplingOptions sampling_of(const MeasureOptions& options, Sampled what) {
  SamplingOptions sampling;
  sampling.cold = options.cache == "cold";
  sampling.energy_s = options.energy ? 1 : 0;
  const std::string& preset = options.selection.preset;
  // Preset quick samples each case of ours for a shorter time, as it has hundreds; kernels of one's own are
  // few, and run for the sake of their times. Smoke needs the verdicts, not the times.
  const bool own = what == Sampled::cases && !options.own.files.empty();
  if ((preset == "quick" && !own) || preset == "glance" || preset == "profile") {
    sampling.stop.max_seconds = preset == "quick" ? 0.08 : 0.15;
    sampling.warm_up_s = preset == "quick" ? 0.03 : 0.05;
  }
  if (preset != "smoke" && preset != "tune") sampling.spread_s = 4e-3;
  // Of the last round; the first takes a twentieth. Peaks have one round, as long as in preset profile.
  if (preset == "tune") sampling.stop.max_seconds = what == Sampled::peaks ? 0.15 : 1;
  if (preset == "smoke")
    sampling.stop = {
        .precision = 0.5, .min_samples = 3, .max_samples = 3, .max_seconds = 0.05, .check_every = 1};
  if (options.precision) sampling.stop.precision = *options.precision;
  if (options.max_samples) sampling.stop.max_samples = *options.max_samples;
  if (options.max_seconds) sampling.stop.max_seconds = *options.max_seconds;
  sampling.stop.min_samples = std::min(sampling.stop.min_samples, sampling.stop.max_samples);
  if (options.samples) {
    sampling.spread_s = 0;
    sampling.stop.precision = no_precision;
    sampling.stop.min_samples = sampling.stop.max_samples = *options.samples;
    sampling.stop.max_seconds = 1e9;
  }
  if (options.parallel) {
    sampling.spread_s = 0;
    // Sample by time alone, so that all devices work equally long, with longer batches instead of more
    // samples.
    sampling.min_batch_s = std::max(
        sampling.min_batch_s, sampling.stop.max_seconds / static_cast<double>(sampling.stop.max_samples));
    sampling.stop.precision = no_precision;
    sampling.stop.max_samples = 1000000;
  }
  return sampling;
}

RunnerOptions runner_options(const MeasureOptions& options, std::function<void()> tick) {
  // A driver may change the folder that a relative path counts from.
  return {.kernel_dir = options.kernels.empty() ? "" : std::filesystem::absolute(options.kernels).string(),
          .timeout_s = options.timeout_s,
          .tick = std::move(tick),
          .report_phase = {},
          .stop_at_once = [] { return interrupts() > 1; },
          .environment = {},
          .threads = options.threads};
}

std::unique_ptr<Runner> runner_of(const MeasureOptions& options, std::function<void()> tick) {
  RunnerOptions how = runner_options(options, std::move(tick));
  return options.in_process ? in_process_runner(std::move(how)) : child_runner(std::move(how));
}

std::vector<DeviceInfo> listed_devices(Runner& runner) {
  std::vector<std::string> driver_errors;
  auto all = runner.devices(driver_errors);
  for (const auto& error : driver_errors) log_line("clweave: {}\n", error);
  if (interrupts() != 0) return {};
  if (all.empty())
    throw Error(ErrorCode::no_device, std::string("no OpenCL device here. ") + os::how_to_install_opencl());
  return all;
}

namespace {

// Suggests a word that selects a device; the list of devices follows.
std::string near_device(const std::string& selector, const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> known;
  if (selector == "cpu" || selector == "gpu" || selector == "accelerator") return {};  // there is none here
  for (const auto& device : devices) {
    known.push_back(device.type);
    for (const auto* name : {&device.name, &device.vendor, &device.platform}) {
      known.push_back(*name);
      for (const auto& word : split(*name, ' ')) known.push_back(word);
    }
    for (const auto& word : split(device.platform_version, ' ')) known.push_back(word);
  }
  const auto near = near_word(selector, known);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

}  // namespace

std::vector<DeviceInfo> chosen_devices(Runner& runner, const std::vector<std::string>& selectors) {
  const auto all = listed_devices(runner);
  if (all.empty()) return {};
  std::vector<DeviceInfo> chosen;
  if (selectors.empty()) {
    for (const auto& device : all) {
      if (device.duplicate_of.empty())
        chosen.push_back(device);
      else
        log_line("clweave: {} is {} listed again ({}): measured once\n", device.index(), device.duplicate_of,
                 device.name);
    }
    return chosen;
  }
  for (const auto& selector : selectors) {
    const auto matching = select_devices(all, selector);
    if (matching.empty())
      throw Error(ErrorCode::no_device,
                  fmt::format("--device {} matches none of these{}\n{}", selector, near_device(selector, all),
                              text_of(devices_report(all), "text", screen_of(stderr))));
    for (const auto& match : matching) {
      const std::string index = match.duplicate_of.empty() ? match.index() : match.duplicate_of;
      if (index != match.index())
        log_line("clweave: {} is {} listed again, which is measured\n", match.index(), index);
      if (std::ranges::find(chosen, index, &DeviceInfo::index) == chosen.end())
        chosen.push_back(*std::ranges::find(all, index, &DeviceInfo::index));
    }
  }
  return chosen;
}

std::string rows_path(const std::string& path) {
  if (path.empty()) return path;
  if (os::goes_to(stdout, path)) return "-";
  std::error_code none;
  if (std::filesystem::is_regular_file(path, none) && os::goes_to(stderr, path))
    throw Error(ErrorCode::usage, path + " is where stderr goes: choose another --csv");
  return path;
}

std::vector<std::string> default_paths(const std::vector<DeviceInfo>& devices, const std::string& suffix) {
  std::vector<std::string> paths;
  std::map<std::string, int> seen;
  for (const auto& device : devices) {
    std::string folder = slug(device.platform + " " + device.name);
    if (const int twins = ++seen[folder]; twins > 1) folder += fmt::format("-{}", twins);
    paths.push_back(fmt::format("results/{}/{}{}.csv", folder, utc_now("{:%Y-%m-%dT%H%M%SZ}"), suffix));
  }
  return paths;
}

}  // namespace clweave::commands
