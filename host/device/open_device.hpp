// SPDX-License-Identifier: Apache-2.0
// open_device: an opened device: its queues, the programs built so far, its certified timer and power meter.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "device/cl.hpp"
#include "device/counting.hpp"
#include "device/fill.hpp"
#include "device/measure.hpp"
#include "device/program.hpp"
#include "device/quick_copy.hpp"
#include "device/second_driver.hpp"
#include "device/staging.hpp"
#include "device/timer.hpp"
#include "power/meter_certificate.hpp"
#include "suite/device_info.hpp"
#include "suite/plan.hpp"

namespace clweave::device {

class OpenDevice {
 public:
  // Opens the device that `info` describes, and certifies its timer, its fill, its maps, and that it executes
  // every launch. Throws `device_lost` if it is gone, `launch` if it cannot be opened, `wrong_result` if
  // launches are left out or reads show old content. `report_phase` is called before each step that may take
  // long, so that a watchdog sees progress. `without_fill`, if not empty, says why the driver's fill is not
  // even tried. `context`, if any, is one that has this device among others.
  OpenDevice(DeviceInfo info, std::string kernel_dir, std::function<void(const char* what)> report_phase = {},
             std::string without_fill = {}, cl::Context context = {});

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
  double canary() { return canary_s(canary_probe()); }
  ThrottleDetector& throttling() { return throttling_; }

  // The memory's fill with poison, certified.
  Fill& fill() { return *fill_; }
  // Returns why maps of buffers cannot be trusted; empty if they can.
  const std::string& map_problem() const { return map_problem_; }
  // Looks again. Throws cl::Error.
  void check_maps() { map_problem_ = counting_->map_problem(); }
  // Returns what shows that the device does not execute launches as it should, by a kernel of known result;
  // empty if it does. After a wrong result it tells a wrong kernel from a lost device. Throws cl::Error.
  std::string launch_problem();
  // Returns what shows that a work-group which has begun may never go on while others wait for it, measured
  // when first asked for; empty if it does. Throws as build() does, and cl::Error.
  const std::string& progress_problem();
  // Tells what the device moves at most.
  QuickCopy& quick_copy() { return *quick_copy_; }
  // Finishes the queue, and waits for its last command if that did not. Throws cl::Error.
  void finish(const cl::CommandQueue&, const cl::Event& last);

  // Overwrites a buffer that is larger than any known cache, but at most 1 GiB and a quarter of the memory.
  void flush_caches();

  void report_phase(const char* what) const {
    if (report_phase_) report_phase_(what);
  }
  // Calls `work` for stretches of so many bytes on all cores, and reports progress meanwhile: it may take
  // minutes, of which a watchdog must not blame the device. A stretch begins at a multiple of host_grain.
  // Throws what `work` throws.
  static constexpr std::uint64_t host_grain = 1 << 16;
  void on_host(const char* phase, std::uint64_t bytes,
               const std::function<void(std::uint64_t begin, std::uint64_t end)>& work) const;
  // Returns a second driver that references run on, too; null: there is none. Looked for when first asked.
  SecondDriver* second_driver();
  const DeviceInfo& info() const { return info_; }
  const std::string& kernel_dir() const { return kernel_dir_; }
  const cl::Device& device() const { return device_; }
  const cl::Context& context() const { return context_; }
  cl::CommandQueue& queue() { return queue_; }
  // Returns a plan's queue by its number, made when first asked for; the first in-order queue without a
  // priority is queue() itself. Throws cl::Error, and `unsupported` if the device has no such queues.
  cl::CommandQueue queue(std::size_t number, const Queues& queues);
  Staging& staging() { return *staging_; }
  const TimerCertificate& timer() const { return timer_; }
  // Returns whether a queue's finish has returned while commands still ran.
  bool finishes_early() const { return finishes_early_; }
  // Returns whether the certified timer still works: by a short check or, if that fails, by certifying it
  // anew. If that fails, too, the timer is not used from then on. Throws cl::Error, and `launch` if the host
  // no longer waits for the end of work, so that neither clock tells its time.
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
  void open_queue();
  void certify_fill(std::string without_fill);
  void open_harness();
  std::size_t most_items() const;  // that `spin` is launched with
  void size_spin();                // so that it takes 10 ms
  void size_canary(const std::vector<TimerProbe>&);
  bool host_time_grows();  // with the work of a launch
  std::vector<TimerProbe> certify_timer();
  void certify_launches(const Source& harness);
  TimerProbe spin(std::size_t items, cl_uint trips, double work);
  TimerProbe empty_probe() { return spin(1, 0, 0); }
  TimerProbe canary_probe() { return spin(canary_items_, canary_trips_, 1); }
  std::vector<TimerProbe> timer_probes();
  double canary_s(const TimerProbe&) const;
  void calibrate_canary();

  DeviceInfo info_;
  std::string kernel_dir_;
  std::function<void(const char*)> report_phase_;
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  // By number, whether in order, and whether with a priority.
  std::map<std::tuple<std::size_t, bool, bool>, cl::CommandQueue> more_queues_;
  std::optional<Staging> staging_;
  std::optional<Fill> fill_;
  std::optional<Counting> counting_;
  std::optional<QuickCopy> quick_copy_;
  std::string map_problem_, no_stamps_;  // empty: maps work, the queue writes time stamps
  bool finishes_early_ = false;
  std::map<std::string, Built> built_;  // by hash
  TimerCertificate timer_;
  cl::Kernel spin_;
  cl::Buffer spin_out_;
  cl::Buffer flushed_;
  std::size_t spin_items_ = 0, canary_items_ = 0;
  cl_uint spin_trips_ = 0, canary_trips_ = 0;
  ThrottleDetector throttling_;
  double launch_overhead_s_ = 0;
  double canary_host_s_ = 0;                                    // least when it was calibrated
  std::optional<std::string> progress_problem_;                 // empty: not measured
  std::optional<std::unique_ptr<SecondDriver>> second_driver_;  // empty: not looked for
  std::optional<Sensors> sensors_;
  std::optional<MeterCertificate> meter_certificate_;
};

Stamps stamps_of(const cl::Event&);

}  // namespace clweave::device
