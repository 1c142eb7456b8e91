// SPDX-License-Identifier: Apache-2.0
#include "device/open_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>

#include "base/parallel.hpp"
#include "device/forward_progress.hpp"
#include "device/listing.hpp"
#include "os/clock.hpp"
#include "power/sensor_log.hpp"

namespace clweave::device {

OpenDevice::OpenDevice(DeviceInfo info, std::string kernel_dir, std::function<void(const char*)> report_phase,
                       std::string without_fill, cl::Context context)
    : info_(std::move(info)),
      kernel_dir_(std::move(kernel_dir)),
      report_phase_(std::move(report_phase)),
      context_(std::move(context)) {
  begin_load_window();
  try {
    device_ = find_device(info_);
    if (context_() == nullptr) context_ = cl::Context(device_);
    open_queue();
    staging_.emplace(context_, queue_, info_.type == "gpu");
  } catch (const cl::Error& error) {
    throw cl_failure(error, "cannot open " + info_.name);
  }
  try {
    certify_fill(std::move(without_fill));
    open_harness();
  } catch (const cl::Error& error) {
    throw cl_failure(error, "certifying the device");
  }
}

void OpenDevice::open_queue() {
  try {
    queue_ = cl::CommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE);
  } catch (const cl::Error& error) {
    no_stamps_ = "the driver has no queue with time stamps: " + cl_name(error.err());
    queue_ = cl::CommandQueue(context_, device_);
  }
}

void OpenDevice::certify_fill(std::string without_fill) {
  report_phase("certify timer");
  fill_.emplace(queue_);
  if (info_.platform == "Oclgrind")
    without_fill =
        "Oclgrind 21.10 takes filled memory for uninitialised, even after a kernel has stored there";
  if (info_.version.starts_with("OpenCL 1.0") || info_.version.starts_with("OpenCL 1.1"))
    without_fill = "OpenCL has fill since 1.2";
  if (!without_fill.empty()) return fill_->refuse(std::move(without_fill));
  const std::int64_t most = std::min({std::int64_t{36} << 20, info_.max_alloc_bytes, info_.usable_bytes / 4});
  const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, most / 64 * 64));
  if (bytes == 0) return fill_->refuse("there is no memory left to try it");
  const cl::Buffer buffer(context_, CL_MEM_READ_WRITE, bytes);
  report_phase(certifying_fill);
  fill_->certify(buffer, bytes);
}

const OpenDevice::Built& OpenDevice::build(const Source& source) {
  if (const auto it = built_.find(source.kernel_hash); it != built_.end()) return it->second;
  cl::Program program(context_, source.text);
  const double before = host_now();
  build(program, source.options);
  return built_.emplace(source.kernel_hash, Built{program, host_now() - before}).first->second;
}

void OpenDevice::build(cl::Program& program, const std::string& options) const {
  try {
    build_program(program, device_, options);
  } catch (const cl::Error& error) {
    // CL_INVALID_BUILD_OPTIONS and compilers that crash leave no log.
    std::string log;
    if (error.err() == CL_BUILD_PROGRAM_FAILURE)
      log = "\n" + with_files(build_log(program, device_), program.getInfo<CL_PROGRAM_SOURCE>());
    if (const std::string why = refusal_in(log, false); !why.empty())
      throw Error(ErrorCode::unsupported, why);
    throw Error(ErrorCode::build, "options" + options + " gave " + cl_name(error.err()) + log);
  }
}

cl::CommandQueue OpenDevice::queue(std::size_t number, const Queues& queues) {
  const auto& [count, in_order, with_priority] = queues;
  if (number == 0 && in_order && !with_priority) return queue_;
  auto& queue = more_queues_[{number, in_order, with_priority}];
  if (queue() != nullptr) return queue;
  if (!in_order) {
    const auto able = device_.getInfo<CL_DEVICE_QUEUE_PROPERTIES>();
    if ((able & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0)
      throw Error(ErrorCode::unsupported, "the device has no queue that takes commands out of order");
  }
  const cl_command_queue_properties order = in_order ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  if (!with_priority) return queue = cl::CommandQueue(context_, device_, order);
  if (info_.version.starts_with("OpenCL 1."))
    throw Error(ErrorCode::unsupported, "queues get a priority by a function that OpenCL has since 2.0");
  const cl_queue_properties priority = number == 0 ? CL_QUEUE_PRIORITY_LOW_KHR : CL_QUEUE_PRIORITY_HIGH_KHR;
  const std::array<cl_queue_properties, 5> properties = {CL_QUEUE_PROPERTIES, order, CL_QUEUE_PRIORITY_KHR,
                                                         priority, 0};
  cl_int status = CL_SUCCESS;
  const cl::CommandQueue made(
      clCreateCommandQueueWithProperties(context_(), device_(), properties.data(), &status));
  if (status != CL_SUCCESS) throw cl::Error(status, "clCreateCommandQueueWithProperties");
  return queue = made;
}

namespace {

// Iterations of `spin` per work-item, below the loop limit of every device.
constexpr cl_uint max_trips = 16384;
// The search starts small, because a simulator needs seconds for what a device does in microseconds.
// `most_each` work-items keep any compute unit busy for 10 ms; with few units fewer are used, as a simulator
// keeps a record for each byte of memory.
constexpr std::size_t min_items = 64, many_items = 4096, most_each = 1 << 17, max_items = 1 << 22;

}  // namespace

std::size_t OpenDevice::most_items() const {
  return std::min<std::size_t>(max_items, most_each * info_.units());
}

TimerProbe OpenDevice::spin(std::size_t items, cl_uint trips, double work) {
  spin_.setArg(1, trips);
  cl::Event event;
  const double before = host_now();
  queue_.enqueueNDRangeKernel(spin_, cl::NullRange, cl::NDRange(items), cl::NullRange, nullptr, &event);
  finish(queue_, event);
  const double host_s = host_now() - before;
  return {work, stamps_of(event), host_s};
}

void OpenDevice::open_harness() {
  report_phase("certify timer");
  const Source source = source_of("lib/harness", {}, kernel_dir_);
  spin_ = cl::Kernel(build(source).program, "spin");
  spin_out_ = cl::Buffer(context_, CL_MEM_READ_WRITE, most_items() * sizeof(cl_uint));
  spin_.setArg(0, spin_out_);
  spin(min_items, 1, 1);  // may compile
  size_spin();
  size_canary(certify_timer());
  certify_launches(source);
}

void OpenDevice::size_spin() {
  // Find work of 10 ms or more, so that the launch overhead is negligible: first enough work-items for every
  // core, then longer ones, then more of them.
  cl_uint trips = 16;
  std::size_t items = min_items;
  // Another program that takes the processor for 10 ms must not end the search, or the canary would last
  // microseconds and be slow at any disturbance.
  const auto takes = [&](double seconds) {
    constexpr int times = 3;
    for (int i = 0; i < times; ++i) {
      if (spin(items, trips, 1).host_s < seconds) return false;
    }
    return true;
  };
  while (items < most_items() && !takes(10e-3)) {
    if (items >= many_items && trips < max_trips)
      trips *= 2;
    else
      items = std::min(most_items(), 2 * items);
  }
  spin_items_ = canary_items_ = items;
  spin_trips_ = trips;
}

void OpenDevice::size_canary(const std::vector<TimerProbe>& probes) {
  double took_s = std::numeric_limits<double>::infinity();
  for (const auto& probe : probes) {
    if (probe.work > 0) took_s = std::min(took_s, probe.host_s / probe.work);
  }
  canary_trips_ = std::max<cl_uint>(1, static_cast<cl_uint>(spin_trips_ * std::min(1.0, 2e-3 / took_s)));
  calibrate_canary();
}

// Of a driver whose finish no longer waits, the host's time is that of a launch, whatever its work.
bool OpenDevice::host_time_grows() {
  constexpr int times = 3;
  constexpr double least_growth = 3;
  std::size_t items = canary_items_;
  std::uint64_t trips = canary_trips_;
  const auto least_s = [&] {
    double out = std::numeric_limits<double>::infinity();
    for (int i = 0; i < times; ++i) out = std::min(out, spin(items, static_cast<cl_uint>(trips), 1).host_s);
    return out;
  };
  const double once_s = least_s();
  // A canary made while each launch took long may be work of a microsecond, and 256 times that may still be
  // less than a launch costs: then as much as takes any device milliseconds, a processor tenths of a second.
  const std::uint64_t most =
      std::max<std::uint64_t>(256ULL * items * trips, std::uint64_t{many_items} * max_trips);
  while (items * trips < most) {
    if (trips < max_trips)
      trips = std::min<std::uint64_t>(max_trips, 8 * trips);
    else
      items = std::min(most_items(), 8 * items);
    if (least_s() > least_growth * once_s) return true;
    if (trips == max_trips && items == most_items()) return false;
  }
  return false;
}

void OpenDevice::certify_launches(const Source& harness) {
  const auto need = [](const std::string& problem) {
    if (!problem.empty())
      throw Error(ErrorCode::wrong_result,
                  "nothing is measured, as launches are left out or reads show old content: " + problem);
  };
  counting_.emplace(context_, queue_, build(harness).program, info_.max_group);
  need(counting_->miscount(1));  // may compile
  double each_s = 0;
  need(counting_->miscount(4, &each_s));
  const int launches = each_s > 1e-3 ? 16 : 128;
  need(counting_->miscount(launches, &launch_overhead_s_));
  check_maps();
  quick_copy_.emplace(context_, queue_, build(harness).program);
}

std::string OpenDevice::launch_problem() {
  constexpr int launches = 8;
  std::string problem = counting_->miscount(launches);
  // A read may be right once, and give the same again.
  return problem.empty() ? counting_->miscount(launches) : problem;
}

const std::string& OpenDevice::progress_problem() {
  if (progress_problem_) return *progress_problem_;
  report_phase("forward progress");
  // More work-groups than fit at once; and looks that outlast a processor's thread that another program keeps
  // off it.
  const std::uint64_t groups = 256 * info_.units();
  const std::uint64_t looks =
      std::min<std::uint64_t>(info_.type == "cpu" ? 1 << 24 : 200'000, info_.most_turns());
  const Source source = source_of("lib/ticket", {{"GAVE_UP", "0xFFFFFFFFu"}}, kernel_dir_);
  progress_problem_ =
      device::progress_problem(context_, queue_, build(source).program, static_cast<std::uint32_t>(groups),
                               static_cast<std::uint32_t>(looks));
  return *progress_problem_;
}

void OpenDevice::finish(const cl::CommandQueue& queue, const cl::Event& last) {
  if (!device::finish(queue, last)) finishes_early_ = true;
}

// Probes until the timer is certified, or cannot be blamed on a busy host.
std::vector<TimerProbe> OpenDevice::certify_timer() {
  constexpr int most_rounds = 8;
  std::vector<TimerProbe> probes;
  for (int round = 0; round < most_rounds && (round == 0 || timer_.disturbed); ++round) {
    for (auto& probe : timer_probes()) probes.push_back(probe);
    timer_ = certify(probes);
  }
  if (!no_stamps_.empty()) timer_.reason = no_stamps_;
  return probes;
}

std::vector<TimerProbe> OpenDevice::timer_probes() {
  std::vector<TimerProbe> probes;
  for (int i = 0; i < 8; ++i) {
    probes.push_back(spin(spin_items_, spin_trips_, 1));
    probes.push_back(spin(spin_items_, 2 * spin_trips_, 2));
    probes.push_back(empty_probe());
  }
  return probes;
}

bool OpenDevice::timer_is_still_valid() {
  constexpr int most_checks = 3;  // a busy machine may spoil one
  bool host_waits = false;
  for (int i = 0; i < most_checks; ++i) {
    const TimerProbe canary = canary_probe();
    // No higher clock explains an eighth of the time that the same work took.
    host_waits = host_waits || canary.host_s > canary_host_s_ / 8;
    if (!timer_.event && host_waits) return false;
    if (timer_.event && agrees(canary, timer_) && agrees(empty_probe(), timer_)) return true;
  }
  report_phase("certify timer");
  if (!host_waits) {
    if (!host_time_grows())
      throw Error(ErrorCode::launch,
                  "the driver says that work has ended before it has: neither clock tells its time");
    // The machine was so busy when the device was opened that what was found then is far off.
    size_spin();
    size_canary(timer_probes());
    if (!timer_.event) return false;
  }
  const TimerCertificate before = timer_;
  certify_timer();
  if (timer_.event) {
    timer_ = before;
    return true;
  }
  timer_.reason = "certified when the device was opened, but no longer: " + timer_.reason;
  calibrate_canary();  // by the clock in use from now on
  return false;
}

void OpenDevice::on_host(const char* phase, std::uint64_t bytes,
                         const std::function<void(std::uint64_t begin, std::uint64_t end)>& work) const {
  constexpr std::chrono::milliseconds often(50);  // --timeout may be a tenth of a second
  with_heartbeat(
      often, [&] { for_stretches(bytes, host_grain, work); }, [&] { report_phase(phase); });
}

SecondDriver* OpenDevice::second_driver() {
  if (!second_driver_) second_driver_ = SecondDriver::beside(info_);
  return second_driver_->get();
}

PowerMeter* OpenDevice::meter() {
  if (!sensors_) sensors_ = sensors_of(info_, sensor_places());
  return sensors_->meter.get();
}

const MeterCertificate& OpenDevice::meter_certificate() {
  if (meter_certificate_) return *meter_certificate_;
  PowerMeter* const there = meter();
  MeterCertificate out;
  if (there != nullptr) {
    const auto rest = [this] {
      report_phase("certify meter");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    };
    for (const double begin_s = host_now(); host_now() - begin_s < meter_settle_s;) rest();
    constexpr double rest_s = 1;
    const SensorLog idle = watch(*there, rest_s, rest);
    const SensorLog work = watch(*there, 2 * meter_settle_s, [this] {
      report_phase("certify meter");
      spin(spin_items_, 2 * spin_trips_, 2);
    });
    out = certify(idle.readings, work.readings);
  }
  if (!out.good && !sensors_->remark.empty()) out.reason = sensors_->remark;
  if (out.reason.empty()) out.reason = "no sensor tells what the device takes";
  return meter_certificate_.emplace(std::move(out));
}

void OpenDevice::calibrate_canary() {
  throttling_ = {};
  canary_host_s_ = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < ThrottleDetector::window; ++i) {
    const TimerProbe probe = canary_probe();
    canary_host_s_ = std::min(canary_host_s_, probe.host_s);
    throttling_.slow(canary_s(probe));
  }
}

double OpenDevice::canary_s(const TimerProbe& probe) const {
  const double device_s = probe.stamps.seconds();
  return timer_.event && device_s > 0 ? device_s : probe.host_s;
}

void OpenDevice::flush_caches() {
  const auto bytes = static_cast<std::size_t>(
      std::min({std::int64_t{1} << 30, info_.max_alloc_bytes, info_.usable_bytes / 4,
                std::max<std::int64_t>(std::int64_t{256} << 20, 4 * info_.cache_bytes)}) /
      64 * 64);
  if (flushed_() == nullptr) flushed_ = cl::Buffer(context_, CL_MEM_READ_WRITE, bytes);
  fill_->poison(flushed_, 0, bytes);
  queue_.finish();
}

Stamps stamps_of(const cl::Event& event) {
  constexpr cl_ulong sentinel = 0xDEADBEEFDEADBEEFull;
  cl_ulong start = sentinel;
  cl_ulong end = sentinel;
  const bool known =
      clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr) ==
          CL_SUCCESS &&
      clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) == CL_SUCCESS;
  return {known && start != sentinel && end != sentinel, start, end};
}

}  // namespace clweave::device
