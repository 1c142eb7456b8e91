// SPDX-License-Identifier: Apache-2.0
#include "campaign/parallel_devices.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <tuple>
#include <utility>

namespace clweave::campaign {

std::vector<std::vector<std::size_t>> equal_devices(const std::vector<DeviceInfo>& devices) {
  const auto kind = [&](std::size_t d) {
    const DeviceInfo& device = devices[d];
    return std::tie(device.name, device.vendor, device.platform, device.platform_version, device.driver);
  };
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto its = std::ranges::find_if(out, [&](const auto& group) { return kind(group[0]) == kind(d); });
    (its != out.end() ? *its : out.emplace_back()).push_back(d);
  }
  return out;
}

// A barrier that members may also leave without waiting.
class Barrier {
 public:
  explicit Barrier(std::size_t members) : awaited_(members) {}

  void begin() {
    const std::scoped_lock lock(mutex_);
    awaited_.assign(awaited_.size(), true);
  }
  void arrive(std::size_t member) {
    std::unique_lock lock(mutex_);
    note(member);
    all_.wait(lock, [this] { return std::ranges::find(awaited_, true) == awaited_.end(); });
  }
  void leave(std::size_t member) {
    const std::scoped_lock lock(mutex_);
    note(member);
  }

 private:
  void note(std::size_t member) {
    awaited_[member] = false;
    all_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable all_;
  std::vector<bool> awaited_;
};

ParallelDevices::ParallelDevices(std::vector<DeviceInfo> devices, const Make& make,
                                 std::function<void()> tick)
    : tick_(std::move(tick)),
      opened_(std::make_unique<Barrier>(devices.size())),
      ready_(std::make_unique<Barrier>(devices.size())) {
  for (std::size_t m = 0; m < devices.size(); ++m) {
    Member& member = *members_.emplace_back(std::make_unique<Member>());
    member.device = std::move(devices[m]);
    member.runner = make([this, m] { ready_->arrive(m); });
  }
  for (std::size_t m = 0; m < members_.size(); ++m) members_[m]->thread = std::thread([this, m] { work(m); });
}

ParallelDevices::~ParallelDevices() {
  end();
  job_ = nullptr;
  for (const auto& member : members_) member->go.release();
  for (const auto& member : members_) member->thread.join();
}

void ParallelDevices::work(std::size_t m) {
  Member& member = *members_[m];
  for (member.go.acquire(); job_ != nullptr; member.go.acquire()) {
    try {
      {
        const std::scoped_lock alone(opening_);
        member.runner->open();
      }
      opened_->arrive(m);
      member.row = member.runner->run(*job_, sampling_);
    } catch (...) {
      member.failure = std::current_exception();
    }
    opened_->leave(m);
    ready_->leave(m);
    done_.release();
  }
}

void ParallelDevices::begin() {
  for (const auto& member : members_) member->runner->begin(member->device);
}

void ParallelDevices::end() {
  for (const auto& member : members_) member->runner->end();
}

std::optional<std::vector<Row>> ParallelDevices::run(const Job& job, const SamplingOptions& sampling) {
  job_ = &job;
  sampling_ = sampling;
  sampling_.parallel = true;
  opened_->begin();
  ready_->begin();
  for (const auto& member : members_) member->go.release();
  for (std::size_t m = 0; m < members_.size(); ++m) {
    while (!done_.try_acquire_for(std::chrono::milliseconds(100))) tick_();
  }
  std::vector<Row> rows;
  for (const auto& member : members_) {
    if (const auto failure = std::exchange(member->failure, nullptr)) std::rethrow_exception(failure);
    if (!member->row) return {};
    rows.push_back(*std::exchange(member->row, {}));
  }
  return rows;
}

}  // namespace clweave::campaign
