// SPDX-License-Identifier: Apache-2.0
// crew: equal devices at work at the same moment, each by a runner in a thread of its own.
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

// Those of one name, vendor, platform and driver, by their places: a group each, in the order met.
std::vector<std::vector<std::size_t>> equal_devices(const std::vector<DeviceInfo>&);

class Barrier;

class ParallelDevices {
 public:
  // A runner that calls its argument, RunnerOptions::ready, before each timing.
  using Make = std::function<std::unique_ptr<Runner>(std::function<void()> ready)>;

  // `tick` is called often while they work, in the thread that waits for them.
  ParallelDevices(std::vector<DeviceInfo>, const Make&, std::function<void()> tick);
  ~ParallelDevices();
  ParallelDevices(const ParallelDevices&) = delete;
  ParallelDevices& operator=(const ParallelDevices&) = delete;

  // Fresh processes from here on.
  void begin();

  // The job on every device, a row each in their order; none of them where the user wanted out. Processes
  // open their devices one after the other, as the others' work would be in the timers' certificates; then
  // all begin their timing together: whoever is ready waits until no other prepares any more, that is, until
  // it is ready too or its row says why it never will be. Nobody prepares for longer than its runner has
  // patience.
  std::optional<std::vector<Row>> run(const Job&, const SamplingOptions&);

  void end();  // no process is left

 private:
  // One thread for all jobs: a child process ends with the thread that started it.
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
  const Job* job_ = nullptr;  // null: nothing is left to do
  SamplingOptions rule_;
};

}  // namespace clweave::campaign
