// SPDX-License-Identifier: Apache-2.0
// open_device: one opened device: its queue, the programs built so far, and whether its timer is believed.
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
  // Opens the device with the indices of `info` and certifies its timer. Throws `launch` or `no_device` when
  // it cannot be opened. `stage` is told what begins, so that whoever watches sees that there is life.
  OpenDevice(DeviceInfo info, std::string kernel_dir, std::function<void(const char* what)> stage = {});

  struct Built {
    cl::Program program;
    double build_s;
  };
  // Built once per distinct source and options. Throws `build` with options and log.
  const Built& build(const Source&);
  // Builds a program of this device, whoever knows it. Throws as build() does.
  void build(cl::Program&, const std::string& options) const;

  // Seconds that about 2 ms of fixed arithmetic take now, by the certified timer: more than the best seen
  // means a lower clock or a busy neighbour. Throws cl::Error.
  double canary();
  ThrottleDetector& calm() { return calm_; }

  // Overwrites a buffer larger than any cache known (1 GiB at most, a quarter of the memory at most).
  void flush_caches();

  void stage(const char* what) const {
    if (stage_) stage_(what);
  }
  const DeviceInfo& info() const { return info_; }
  const std::string& kernel_dir() const { return kernel_dir_; }
  const cl::Device& device() const { return device_; }
  const cl::Context& context() const { return context_; }
  cl::CommandQueue& queue() { return queue_; }
  // The first in order is queue() itself; others are made when they are first asked for. Throws cl::Error,
  // and `unsupported` where the device takes no commands out of order.
  cl::CommandQueue queue(std::size_t number, bool in_order);
  Staging& staging() { return *staging_; }
  const TimerCertificate& timer() const { return timer_; }
  // Whether a certified timer is still as it was. Where a short look at it says otherwise it is certified
  // anew, and not believed from then on where that fails. Throws cl::Error.
  bool timer_holds();
  // What no batch may be short against: a launch without work, of many by the host's clock, or of one by that
  // of the times.
  double launch_s(bool by_event) const {
    return std::max(launch_s_, by_event ? timer_.empty_event_s : timer_.empty_host_s);
  }

  // What the device's sensors are read by, looked for when it is first asked for; null: there is none.
  PowerMeter* meter();
  // Whether it may be believed: measured once, some seconds of rest and work, when it is first asked for.
  // Says why there is none. Throws cl::Error.
  const MeterCertificate& meter_certificate();

 private:
  void open_harness();
  TimerProbe spin(std::size_t items, cl_uint trips, double work);
  TimerProbe empty_probe() { return spin(1, 0, 0); }
  TimerProbe canary_probe() { return spin(canary_items_, canary_trips_, 1); }
  std::vector<TimerProbe> timer_probes();
  void find_calm();

  DeviceInfo info_;
  std::string kernel_dir_;
  std::function<void(const char*)> stage_;
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::map<std::pair<std::size_t, bool>, cl::CommandQueue> more_queues_;  // by number and whether in order
  std::optional<Staging> staging_;
  std::map<std::string, Built> built_;  // by fingerprint
  TimerCertificate timer_;
  cl::Kernel spin_;
  cl::Buffer spin_out_;
  cl::Buffer flushed_;
  std::size_t spin_items_ = 0, canary_items_ = 0;
  cl_uint spin_trips_ = 0, canary_trips_ = 0;
  ThrottleDetector calm_;
  double launch_s_ = 0;
  std::optional<Sensors> sensors_;
  std::optional<MeterCertificate> meter_certificate_;
};

Stamps stamps_of(const cl::Event&);

}  // namespace clweave::device
