// SPDX-License-Identifier: Apache-2.0
#include "power/sensor_log.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/stats.hpp"
#include "os/clock.hpp"

namespace clweave::power {

namespace {

constexpr std::chrono::milliseconds pause{4};  // between two reads
constexpr double apart_s = 0.1;                // of readings between batches
constexpr double power_lag_s = 0.25;

// Reads the meter in a thread until it is destroyed.
class Reader {
 public:
  Reader(PowerMeter& meter, std::vector<Energy>& out) : thread_([this, &meter, &out] { read(meter, out); }) {}
  ~Reader() {
    {
      const std::scoped_lock lock(mutex_);
      stop_ = true;
    }
    stopped_.notify_one();
    thread_.join();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

 private:
  void read(PowerMeter& meter, std::vector<Energy>& out) {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      lock.unlock();
      out.push_back(meter.energy());
      lock.lock();
      stopped_.wait_for(lock, pause, [this] { return stop_; });
    }
  }

  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace

SensorLog watch(PowerMeter& meter, double seconds, const std::function<void()>& work) {
  SensorLog out;
  {
    const Reader reader(meter, out.readings);
    out.begin_s = host_now();
    do {
      work();
      out.end_s = host_now();
    } while (out.end_s - out.begin_s < seconds);
  }
  return out;
}

ConditionLog::ConditionLog(PowerMeter* meter) : meter_(meter), began_s_(host_now()), last_s_(began_s_) {
  if (meter_ != nullptr && !meter_->tells_power()) first_ = meter_->energy();
}

void ConditionLog::read() {
  readings_.push_back(meter_->conditions());
  last_s_ = host_now();
  if (last_s_ - began_s_ < power_lag_s) readings_.back().watts.reset();
}

const Conditions* ConditionLog::between_batches() {
  if (meter_ == nullptr || host_now() - last_s_ < apart_s) return nullptr;
  read();
  return &readings_.back();
}

Conditions ConditionLog::end() {
  Conditions out;
  if (meter_ == nullptr) return out;
  read();
  const auto of = [this](std::optional<double> Conditions::*member) {
    std::vector<double> values;
    for (const auto& reading : readings_) {
      if (reading.*member) values.push_back(*(reading.*member));
    }
    return values;
  };
  for (auto clock : {&Conditions::core_mhz, &Conditions::memory_mhz}) {
    if (const auto values = of(clock); !values.empty()) out.*clock = median(values);
  }
  if (const auto values = of(&Conditions::celsius); !values.empty())
    out.celsius = *std::ranges::max_element(values);
  if (const auto values = of(&Conditions::watts); !values.empty()) {
    out.watts = summarize(values).mean;
  } else if (const Energy last = first_.joules ? meter_->energy() : Energy();
             first_.joules && last.joules && last.at_s - first_.at_s >= apart_s) {
    out.watts = (*last.joules - *first_.joules) / (last.at_s - first_.at_s);
  }
  for (const auto& reading : readings_) {
    for (const auto& word : reading.throttle) {
      if (std::ranges::find(out.throttle, word) == out.throttle.end()) out.throttle.push_back(word);
    }
  }
  return out;
}

}  // namespace clweave::power
