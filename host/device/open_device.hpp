// SPDX-License-Identifier: Apache-2.0
// open_device: an opened device: its queues, the programs built so far, its certified timer and power meter.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/cl.hpp"
#include "device/measure.hpp"
#include "device/program.hpp"
#include "device/staging.hpp"
#include "device/timer.hpp"
#include "power/meter_certificate.hpp"
#include "suite/device_info.hpp"

namespace clweave::device {

class OpenDevice {
 public:
  // Opens the device that `info` describes and certifies its timer. Throws `device_lost` if it is gone,
  // `launch` if it cannot be opened. `report_phase` is called before each step that may take long, so that a
  // watchdog sees progress.
  OpenDevice(DeviceInfo info, std::string kernel_dir,
             std::function<void(const char* what)> report_phase = {});

  struct Built {
    cl::Program program;
    double build_s;
  };
  // Builds a program, once per distinct source and options. Throws `build` with options and log.
  const Built& build(const Source&);
  // Builds a program that the caller keeps. Throws as build() does.
  void build(cl::Program&, const std::string& options) const;

  // Runs fixed arithmetic of about 2 ms and returns its time by the certified timer. More than the reference
  // means a lower clock or a busy machine. Throws cl::Error.
  double canary();
  ThrottleDetector& throttling() { return throttling_; }

  // Overwrites a buffer that is larger than any known cache, but at most 1 GiB and a quarter of the memory.
  void flush_caches();

  void report_phase(const char* what) const {
    if (report_phase_) report_phase_(what);
  }
  const DeviceInfo& info() const { return info_; }
  const std::string& kernel_dir() const { return kernel_dir_; }
  const cl::Device& device() const { return device_; }
  const cl::Context& context() const { return context_; }
  cl::CommandQueue& queue() { return queue_; }
  // Returns a queue by its number, made when first asked for; the first in-order queue is queue() itself.
  // Throws cl::Error, and `unsupported` if the device has no out-of-order queues.
  cl::CommandQueue queue(std::size_t number, bool in_order);
  Staging& staging() { return *staging_; }
  const TimerCertificate& timer() const { return timer_; }
  // Returns whether the certified timer still works: by a short check or, if that fails, by certifying it
  // anew. If that fails, too, the timer is not used from then on. Throws cl::Error.
  bool timer_is_still_valid();
  // Returns the overhead that a batch must be long against: that of a launch without work, the larger of its
  // share of many by the host's clock and a single one by the clock in use.
  double launch_overhead_s(bool by_event) const {
    return std::max(launch_overhead_s_, by_event ? timer_.empty_event_s : timer_.empty_host_s);
  }

  // Returns the device's power meter, which it looks for when first asked; null: it has none.
  PowerMeter* meter();
  // Returns whether the power meter can be trusted, measured over some seconds of rest and work when first
  // asked. Gives the reason if there is none. Throws cl::Error.
  const MeterCertificate& meter_certificate();

 private:
  void open_harness();
  TimerProbe spin(std::size_t items, cl_uint trips, double work);
  TimerProbe empty_probe() { return spin(1, 0, 0); }
  TimerProbe canary_probe() { return spin(canary_items_, canary_trips_, 1); }
  std::vector<TimerProbe> timer_probes();
  void calibrate_canary();

  DeviceInfo info_;
  std::string kernel_dir_;
  std::function<void(const char*)> report_phase_;
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::map<std::pair<std::size_t, bool>, cl::CommandQueue> more_queues_;  // by number and whether in order
  std::optional<Staging> staging_;
  std::map<std::string, Built> built_;  // by hash
  TimerCertificate timer_;
  cl::Kernel spin_;
  cl::Buffer spin_out_;
  cl::Buffer flushed_;
  std::size_t spin_items_ = 0, canary_items_ = 0;
  cl_uint spin_trips_ = 0, canary_trips_ = 0;
  ThrottleDetector throttling_;
  double launch_overhead_s_ = 0;
  std::optional<Sensors> sensors_;
  std::optional<MeterCertificate> meter_certificate_;
};

Stamps stamps_of(const cl::Event&);

}  // namespace clweave::device
