// SPDX-License-Identifier: Apache-2.0
// runner: runs cases, whatever the driver does to the process that runs them.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/driver_build.hpp"
#include "device/measure.hpp"
#include "results/row.hpp"
#include "suite/selection.hpp"

namespace clweave::campaign {

struct RunnerOptions {
  std::string kernel_dir;
  // Without progress for this long a case is stopped, see Watchdog. SamplingOptions limit how long a case may
  // take that makes progress.
  double timeout_s = 30;
  std::function<void()> tick = {};  // called often while waiting
  std::function<void(const char* what)> report_phase =
      {};                                   // called with what begins, where cases run in this process
  std::function<bool()> stop_at_once = {};  // whether to stop without waiting for the case
  std::function<void()> ready = {};         // for parallel devices: returns when the timing is to begin
  std::string without_fill = {};            // why the driver's fill is not even tried; empty: it is
  // Variables of its processes, "NAME=value": Runner::environment() of another.
  std::vector<std::string> environment = {};
  // Numbers of host threads with which a baseline on the processor runs each case; empty: as many as it has.
  std::vector<unsigned> threads = {};
};

class Runner {
 public:
  virtual ~Runner() = default;

  // Lists every device. Describes drivers that cannot be used in `driver_errors`.
  virtual std::vector<DeviceInfo> devices(std::vector<std::string>& driver_errors) = 0;

  // Selects the device of the jobs to come, and starts a fresh process for them where processes are used.
  virtual void begin(const DeviceInfo&) = 0;

  // Starts the process and certifies the timer, which the first run() would do otherwise. Failures are
  // reported by that run(); in this process they are thrown.
  virtual void open() {}

  // Runs a case. Never throws for a driver's failure, which becomes a row. Empty if the user wants to stop.
  virtual std::optional<Row> run(const Job&, const SamplingOptions&) = 0;

  // Compiles a program with the device's driver and returns what it reports. Throws if the driver gives no
  // answer.
  virtual DriverBuild build(const DeviceInfo&, const Source&, const std::vector<std::string>& kernels);

  // Ends its process, until the next begin().
  virtual void end() {}

  // Returns the variables with which its processes find the devices that it listed, as where drivers are left
  // out; they hold while it lives.
  virtual std::vector<std::string> environment() const { return {}; }
};

// Builds the row of a job that could not be run at all.
Row failed_row(const DeviceInfo&, const Job&, ErrorCode, const std::string& why);

// Runs cases in child processes. Each begin() starts a new one, and so does the next case after a crash, a
// hang or a failed launch. After a crash, a hang or a lost device, a new child runs a small verified case
// first; if that fails, the device's further jobs become `device_lost` rows. A case that crashed is tried
// once more with empty kernel caches, because a stale cache is a common cause.
std::unique_ptr<Runner> child_runner(RunnerOptions);

// Runs a program of host/baselines in child processes.
class Baseline : public Runner {
 public:
  struct Offer {
    DeviceInfo device;  // as its rows name it
    std::vector<Job> jobs;
  };
  // Returns the jobs of the program that do the same work as these, beside a device. Throws if it has none
  // there.
  virtual Offer offer(const DeviceInfo& beside, const std::vector<Job>&) = 0;
};

// After two cases in a row without an answer the program is not asked again: its further rows are
// `device_lost`.
std::unique_ptr<Baseline> baseline_runner(std::string program, RunnerOptions);

// Runs everything in this process, for debuggers and profilers.
std::unique_ptr<Runner> in_process_runner(RunnerOptions);

}  // namespace clweave::campaign
