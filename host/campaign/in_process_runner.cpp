// SPDX-License-Identifier: Apache-2.0
// in_process_runner: runs cases in this process. The only file outside device/ that uses OpenCL.
#include "campaign/runner.hpp"
#include "device/enumerate.hpp"
#include "device/open_device.hpp"
#include "device/run_case.hpp"
#include "os/process_state.hpp"

namespace clweave::campaign {

namespace {

class InProcessRunner : public Runner {
 public:
  explicit InProcessRunner(RunnerOptions options) : options_(std::move(options)) {}

  std::vector<DeviceInfo> devices(std::vector<std::string>& driver_errors) override {
    auto found = enumerate_devices(driver_errors);
    state_.restore();
    return found;
  }

  void begin(const DeviceInfo& device) override {
    device_.reset();
    failure_.reset();
    info_ = device;
  }

  void open() override {
    const auto report_phase = [this](const char* what) {
      if (options_.report_phase) options_.report_phase(what);
      if (options_.tick) options_.tick();
    };
    device_ = std::make_unique<OpenDevice>(info_, options_.kernel_dir, report_phase, options_.without_fill);
    state_.restore();
  }

  DriverBuild build(const DeviceInfo& device, const Source& source,
                    const std::vector<std::string>& kernels) override {
    return driver_build(device, source, kernels);
  }

  std::optional<Row> run(const Job& job, const SamplingOptions& sampling) override {
    if (!device_ && !failure_) {
      try {
        open();
      } catch (const Error& error) {
        failure_ = error;
      }
    }
    if (failure_) return failed_row(info_, job, failure_->code, failure_->what());
    auto row = run_case(*device_, *job.family, job.at, sampling);
    state_.restore();
    return row;
  }

 private:
  RunnerOptions options_;
  std::unique_ptr<OpenDevice> device_;
  DeviceInfo info_;
  std::optional<Error> failure_;  // of opening it, which costs its cases but not the run
  ProcessState state_;            // that drivers change
};

}  // namespace

DriverBuild Runner::build(const DeviceInfo&, const Source&, const std::vector<std::string>&) {
  throw Error(ErrorCode::unsupported, "it builds no programs");
}

std::unique_ptr<Runner> in_process_runner(RunnerOptions options) {
  return std::make_unique<InProcessRunner>(std::move(options));
}

}  // namespace clweave::campaign
