// SPDX-License-Identifier: Apache-2.0
// runner: gets a case run, whatever the driver does to the process that runs it.
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
  // A case without a sign of life for so long is stopped; see Patience. How long one may take that is alive
  // is the measuring rule's business.
  double timeout_s = 30;
  std::function<void()> tick = {};                   // called often while waiting
  std::function<void(const char* what)> stage = {};  // told what begins, where cases run in this process
  std::function<bool()> stop_at_once = {};           // the user wants out without waiting for the case
  std::function<void()> ready = {};  // of cases timed together: returns when the timing is to begin
  // Of the processor, that a baseline there runs each case on; empty: as many as it has.
  std::vector<unsigned> threads = {};
};

class Runner {
 public:
  virtual ~Runner() = default;

  // Every device; what is wrong with a driver that could not be used goes to `complaints`.
  virtual std::vector<DeviceInfo> devices(std::vector<std::string>& complaints) = 0;

  // The jobs from here on are for this device, in a fresh process where there are processes.
  virtual void begin(const DeviceInfo&) = 0;

  // What the first run() would do on the device before its case: start the process, certify the timer.
  // Whatever goes wrong is left to that.
  virtual void open() {}

  // Never throws for what a driver does: the row tells. Empty when the user wanted out.
  virtual std::optional<Row> run(const Job&, const SamplingOptions&) = 0;

  // What the compiler of a device's driver makes of a program. Throws what became of a driver that gave no
  // answer.
  virtual DriverBuild build(const DeviceInfo&, const Source&, const std::vector<std::string>& kernels);

  // No process of it is left, until the next begin().
  virtual void end() {}
};

// The row of a job that could not be run at all.
Row failed_row(const DeviceInfo&, const Job&, ErrorCode, const std::string& why);

// Each begin() starts a child process, and so does whatever follows a crash, a hang or a failed launch. After
// a hang, a crash or a lost device, a probe child runs a small verified case first: if that fails, the
// device's further jobs become `device_lost` rows. A case that crashed is tried once more with empty kernel
// caches, as a stale cache is a usual cause.
std::unique_ptr<Runner> child_runner(RunnerOptions);

// A program of host/baselines in child processes.
class Baseline : public Runner {
 public:
  struct Offer {
    DeviceInfo device;  // as its rows name it
    std::vector<Job> jobs;
  };
  // What it does of the work of these, beside a device. Throws why there is nothing to be had of it there.
  virtual Offer offer(const DeviceInfo& beside, const std::vector<Job>&) = 0;
};

// A program that gives no answer to two cases in a row is asked no more: its further rows are `device_lost`.
std::unique_ptr<Baseline> baseline_runner(std::string program, RunnerOptions);

// Everything in this process, for debuggers and profilers.
std::unique_ptr<Runner> in_process_runner(RunnerOptions);

}  // namespace clweave::campaign
