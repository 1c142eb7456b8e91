// SPDX-License-Identifier: Apache-2.0
// parallel_devices: runs the same job on identical devices at the same time, each by a runner in its own
// thread.
#pragma once
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include "campaign/runner.hpp"

namespace clweave::campaign {

// Groups the indices of devices with the same name, vendor, platform and driver, in the order of their first
// members.
std::vector<std::vector<std::size_t>> equal_devices(const std::vector<DeviceInfo>&);

class Barrier;

class ParallelDevices {
 public:
  // Makes a runner that calls its argument, RunnerOptions::ready, before each timing.
  using Make = std::function<std::unique_ptr<Runner>(std::function<void()> ready)>;

  // `tick` is called often while the devices work, in the thread that waits for them.
  ParallelDevices(std::vector<DeviceInfo>, const Make&, std::function<void()> tick);
  ~ParallelDevices();
  ParallelDevices(const ParallelDevices&) = delete;
  ParallelDevices& operator=(const ParallelDevices&) = delete;

  // Uses fresh processes from here on.
  void begin();

  // Runs the job on every device and returns a row per device, in their order; nothing if the user wants to
  // stop. Processes open their devices one after the other, because other devices' work would distort the
  // certification of a timer. Then all start timing together: each waits until every other is ready or has
  // failed. The runners' timeouts bound that wait.
  std::optional<std::vector<Row>> run(const Job&, const SamplingOptions&);

  void end();  // ends all processes

 private:
  // Keeps one thread for all jobs, because a child process ends with the thread that started it.
  struct Member {
    DeviceInfo device;
    std::unique_ptr<Runner> runner;
    std::optional<Row> row = {};
    std::exception_ptr failure = {};
    std::binary_semaphore go{0};
    std::thread thread = {};
  };
  void work(std::size_t member);

  std::function<void()> tick_;
  std::mutex opening_;
  std::unique_ptr<Barrier> opened_, ready_;
  std::vector<std::unique_ptr<Member>> members_;
  std::counting_semaphore<> done_{0};
  const Job* job_ = nullptr;  // null: the threads end
  SamplingOptions sampling_;
};

}  // namespace clweave::campaign
