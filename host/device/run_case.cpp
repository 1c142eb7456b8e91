// SPDX-License-Identifier: Apache-2.0
#include "device/run_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/clock.hpp"
#include "base/parallel.hpp"
#include "base/stats.hpp"
#include "device/open_device.hpp"
#include "suite/family.hpp"

namespace clweave {

namespace {

cl::NDRange nd_range(const Range& range) {
  switch (range.size()) {
    case 0: return cl::NullRange;
    case 1: return {range[0]};
    case 2: return {range[0], range[1]};
    default: return {range[0], range[1], range[2]};
  }
}

// Calls f; of what OpenCL refuses then, the message says what it was about.
template <class F, class What>
void about(const What& what, const F& f) {
  try {
    f();
  } catch (const cl::Error& error) {
    throw cl_failure(error, what());
  }
}

std::string launch_text(const Launch& launch) {
  return fmt::format("launch of kernel {}<{} by {}> with {} arguments", launch.kernel, text_of(launch.global),
                     launch.local.empty() ? "driver" : text_of(launch.local), launch.args.size());
}

// The buffers, kernels and checks of one plan on one device.
class Execution {
 public:
  Execution(OpenDevice& device, const Plan& plan, const cl::Program& program) : device_(device), plan_(plan) {
    for (const auto& spec : plan.buffers) {
      buffers_.emplace_back(device.context(), CL_MEM_READ_WRITE,
                            round_up(spec.bytes, poison.size()) + guard_bytes);
      if (!spec.fill) continue;
      poison_guard(buffers_.size() - 1);
      upload(buffers_.size() - 1);
    }
    for (const auto& step : plan.steps) {
      cl::Kernel& kernel = kernels_.emplace_back();
      auto& part = host_parts_.emplace_back();
      std::visit(Overloaded{[&](const Launch& launch) { kernel = kernel_of(program, launch); },
                            [](const CopyBuffer&) {}, [&](const HostWork& work) { part.resize(work.bytes); }},
                 step);
    }
  }

  // Executes all steps `batch` times. Only the first and the last command get an event: one at every command
  // keeps devices from preparing the next (NVIDIA: 10 us a launch instead of 3.5, and 4 within an empty one).
  Sample run(int batch) {
    const std::size_t steps = plan_.steps.size(), commands = steps * static_cast<std::size_t>(batch);
    cl::Event first, last;
    const double before = host_now();
    for (std::size_t c = 0; c < commands; ++c)
      enqueue(c % steps, c + 1 == commands ? &last : c == 0 ? &first : nullptr);
    device_.queue().finish();
    Sample sample{.event_s = 0, .host_s = (host_now() - before) / batch, .batch = batch};
    const Stamps begin = stamps_of(commands == 1 ? last : first), end = stamps_of(last);
    // Of many executions, start and end that are exchanged would still look like a time.
    const bool sound = begin.sound() && end.sound() && begin.end <= end.end;
    sample.event_s = Stamps{sound, begin.start, end.end}.seconds() / batch;
    return sample;
  }

  // One execution, each step by its own event.
  std::vector<double> run_steps() {
    std::vector<cl::Event> events(plan_.steps.size());
    for (std::size_t step = 0; step < events.size(); ++step) enqueue(step, &events[step]);
    device_.queue().finish();
    std::vector<double> steps_s;
    for (const auto& event : events) steps_s.push_back(stamps_of(event).seconds());
    return steps_s;
  }

  // One execution by the host's clock, from its first command to the end of the wait.
  double call() {
    const double before = host_now();
    for (std::size_t step = 0; step < plan_.steps.size(); ++step) enqueue(step, nullptr);
    device_.queue().finish();
    return host_now() - before;
  }

  void poison_outputs() {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      if (!plan_.buffers[b].fill) poison_buffer(b);
    }
  }

  // Compares everything that the executions since the poisoning wrote. Throws `wrong_result`.
  void check(const char* stage) {
    device_.stage(stage);
    for (const auto& one : plan_.checks) {
      const Tally tally = tally_of(one, stage);
      if (tally.wrong > 0) throw Error(Kind::wrong_result, tally.text());
      if (one.unit.empty()) continue;
      measured_ = std::max(measured_, tally.measured);
      unit_ = one.unit;
    }
    for (std::size_t b = 0; b < buffers_.size(); ++b) check_guard(b);
  }

  // What the checks measured, the most of all times.
  const Number& measured() const { return measured_; }
  const std::string& unit() const { return unit_; }

 private:
  cl::Kernel kernel_of(const cl::Program& program, const Launch& launch) {
    cl::Kernel kernel;
    about([&] { return "kernel " + launch.kernel; },
          [&] { kernel = cl::Kernel(program, launch.kernel.c_str()); });
    for (cl_uint i = 0; i < launch.args.size(); ++i) {
      std::string kind;
      about([&] { return fmt::format("argument {} of kernel {}, {}", i, launch.kernel, kind); },
            [&] {
              std::visit(Overloaded{[&](Buffer buffer) {
                                      kind = fmt::format("buffer {}", buffer.index);
                                      kernel.setArg(i, buffers_[buffer.index]);
                                    },
                                    [&](LocalBytes local) {
                                      kind = fmt::format("{} bytes of local memory", local.bytes);
                                      kernel.setArg(i, cl::Local(local.bytes));
                                    },
                                    [&](const Scalar& scalar) {
                                      kind = fmt::format("a value of {} bytes", scalar.size());
                                      kernel.setArg(i, scalar.size(), scalar.data());
                                    }},
                         launch.args[i]);
            });
    }
    return kernel;
  }

  void enqueue(std::size_t step, cl::Event* event) {
    std::visit(
        Overloaded{[&](const CopyBuffer& copy) {
                     device_.queue().enqueueCopyBuffer(buffers_[copy.from.index], buffers_[copy.to.index], 0,
                                                       0, copy.bytes, nullptr, event);
                   },
                   [&](const HostWork& work) {
                     device_.queue().flush();  // else nothing need run meanwhile
                     work.compute(host_parts_[step]);
                     device_.queue().enqueueWriteBuffer(buffers_[work.to.index], CL_TRUE, work.offset,
                                                        work.bytes, host_parts_[step].data(), nullptr, event);
                   },
                   [&](const Launch& launch) {
                     about([&] { return launch_text(launch); },
                           [&] {
                             device_.queue().enqueueNDRangeKernel(kernels_[step], cl::NullRange,
                                                                  nd_range(launch.global),
                                                                  nd_range(launch.local), nullptr, event);
                           });
                   }},
        plan_.steps[step]);
  }

  // The host's own work may take minutes: whoever watches hears of it, else the device would be blamed.
  void on_host(const char* stage, std::uint64_t bytes,
               const std::function<void(std::uint64_t begin, std::uint64_t end)>& work) {
    constexpr std::chrono::milliseconds often(50);  // --timeout may be a tenth of a second
    with_heartbeat(
        often, [&] { for_stretches(bytes, 1 << 16, work); }, [&] { device_.stage(stage); });
  }

  void poison_buffer(std::size_t b) { poison_from(b, 0); }
  // Of an input, whose last few bytes behind a multiple of the pattern are uploaded after this.
  void poison_guard(std::size_t b) { poison_from(b, plan_.buffers[b].bytes / poison.size() * poison.size()); }

  void poison_from(std::size_t b, std::uint64_t begin) {
    struct Pattern {
      std::array<unsigned char, poison.size()> bytes;
    };
    const std::uint64_t bytes = round_up(plan_.buffers[b].bytes, poison.size()) + guard_bytes - begin;
    if (device_.info().platform != "Oclgrind") {
      device_.queue().enqueueFillBuffer(buffers_[b], Pattern{poison}, begin, bytes);
      return;
    }
    // What Oclgrind 21.10 has filled it takes for uninitialised, even after a kernel has stored there.
    const std::vector<Pattern> patterns(bytes / poison.size(), Pattern{poison});
    device_.queue().enqueueWriteBuffer(buffers_[b], CL_TRUE, begin, bytes, patterns.data());
  }

  void upload(std::size_t b) {
    const auto& spec = plan_.buffers[b];
    device_.staging().upload(buffers_[b], spec.bytes,
                             [&](std::uint64_t offset, std::span<std::byte> stretch) {
                               on_host("upload", stretch.size(), [&](std::uint64_t begin, std::uint64_t end) {
                                 spec.fill(offset + begin, stretch.subspan(begin, end - begin));
                               });
                             });
  }

  Tally tally_of(const Check& check, const char* stage) {
    Tally total;
    std::mutex merging;
    device_.staging().download(buffers_[check.buffer.index], plan_.buffers[check.buffer.index].used(),
                               [&](std::uint64_t offset, std::span<const std::byte> stretch) {
                                 on_host(stage, stretch.size(), [&](std::uint64_t begin, std::uint64_t end) {
                                   const Tally part =
                                       check.compare(offset + begin, stretch.subspan(begin, end - begin));
                                   const std::scoped_lock lock(merging);
                                   total.merge(part);
                                 });
                               });
    return total;
  }

  void check_guard(std::size_t b) {
    constexpr std::uint64_t stretch_bytes = 64 << 20;
    constexpr std::size_t period = poison.size();
    const std::uint64_t used = plan_.buffers[b].used();
    const std::uint64_t end = round_up(plan_.buffers[b].bytes, period) + guard_bytes;
    std::vector<unsigned char> guard;
    for (std::uint64_t at = used; at < end; at += guard.size()) {
      guard.resize(std::min(stretch_bytes, end - at));
      device_.queue().enqueueReadBuffer(buffers_[b], CL_TRUE, at, guard.size(), guard.data());
      const auto expected = [&](std::size_t i) { return poison[(at + i) % period]; };
      std::size_t right = 0;
      while (right < std::min(period, guard.size()) && guard[right] == expected(right)) ++right;
      // What repeats itself from there on is right: comparing it so takes a tenth of the time.
      if (right == period && std::memcmp(guard.data(), &guard[period], guard.size() - period) == 0) continue;
      while (right < guard.size() && guard[right] == expected(right)) ++right;
      if (right < guard.size())
        throw Error(Kind::wrong_result,
                    fmt::format("wrote behind the end of buffer {}: byte {} of {}", b, at + right, used));
    }
  }

  OpenDevice& device_;
  const Plan& plan_;
  std::vector<cl::Buffer> buffers_;
  std::vector<cl::Kernel> kernels_;                 // per step; empty for others than launches
  std::vector<std::vector<std::byte>> host_parts_;  // per step; empty for others than host work
  Number measured_;
  std::string unit_;
};

std::string yes_no(bool flag) { return flag ? "yes" : "no"; }

// "1.2e-05;3e-06": the median of each step over some executions.
std::string steps_text(const std::vector<std::vector<double>>& executions) {
  std::vector<std::string> medians;
  for (std::size_t step = 0; step < executions.front().size(); ++step) {
    std::vector<double> times;
    for (const auto& steps_s : executions) times.push_back(steps_s[step]);
    medians.push_back(fmt::format("{:.4g}", median(times)));
  }
  return fmt::format("{}", fmt::join(medians, ";"));
}

void record_times(Record& record, const Measured& measured, const Measuring& rule) {
  std::vector<double> times;
  std::vector<double> walls;
  std::int64_t throttled = 0;
  for (const auto& sample : measured.samples) {
    times.push_back(rule.use_event ? sample.event_s : sample.host_s);
    walls.push_back(sample.host_s);
    throttled += sample.throttled ? 1 : 0;
  }
  const auto interval = median_interval(times);
  const auto spread = summarize(times);
  record.batch = measured.samples.front().batch;
  record.method = *record.batch > 1 ? "back_to_back" : "single";
  record.cache = rule.cold ? "cold" : "warm";
  record.samples = static_cast<std::int64_t>(times.size());
  record.converged = yes_no(measured.stop == Stop::converged);
  record.time_s = interval.median;
  if (interval.bounded) {
    record.time_low_s = interval.low;
    record.time_high_s = interval.high;
  }
  record.wall_s = median(walls);
  record.min_s = spread.min;
  record.p25_s = spread.p25;
  record.p75_s = spread.p75;
  record.p95_s = spread.p95;
  record.mean_s = spread.mean;
  record.sd_s = spread.sd;
  record.lag1 = spread.lag1;
  record.outliers = static_cast<std::int64_t>(spread.outliers);
  record.throttled = static_cast<double>(throttled) / static_cast<double>(times.size());
  const auto rate = [&](Count count) -> Number {
    if (!count) return {};
    return 1e-9 * static_cast<double>(*count) / *record.time_s;
  };
  record.gb_per_s = rate(record.bytes);
  record.gflop_per_s = rate(record.flops);
  record.gitems_per_s = rate(record.items);
}

// What samples of whole batches do not show: how long a call with its wait takes, and what each step has of
// it.
void record_calls(Record& record, Execution& execution, std::size_t steps, const Measuring& rule,
                  const std::function<void()>& prepare) {
  const int least = *record.wall_s < 0.1 ? 3 : 1;  // what takes long is not disturbed by much
  const int repetitions = std::clamp(static_cast<int>(20e-3 / *record.wall_s), least, 21);
  record.call_s = record.wall_s;
  if (record.batch > 1) {
    std::vector<double> calls;
    for (int i = 0; i < repetitions; ++i) calls.push_back(execution.call());
    record.call_s = median(calls);
  }
  if (!rule.use_event || steps == 1) return;
  std::vector<std::vector<double>> executions;
  for (int i = 0; i < repetitions; ++i) {
    prepare();
    executions.push_back(execution.run_steps());
  }
  record.steps_s = steps_text(executions);
}

Count known(std::uint64_t count) { return count == 0 ? Count() : Count(static_cast<std::int64_t>(count)); }

// Ticks of all processors since the start, and of those the ones a hypervisor took: the first line of
// /proc/stat. Zeros where there is none.
struct HostTicks {
  double all = 0, stolen = 0;
};
HostTicks host_ticks() {
  HostTicks ticks;
  std::ifstream in("/proc/stat");
  std::string label;
  in >> label;
  double value = 0;
  for (int column = 0; column < 8 && in >> value; ++column) {
    ticks.all += value;
    if (column == 7) ticks.stolen = value;
  }
  return ticks;
}

// No number of a wrong kernel is worth keeping.
void drop_times(Record& record) {
  for (auto member :
       {&Record::time_s, &Record::time_low_s, &Record::time_high_s, &Record::wall_s, &Record::call_s,
        &Record::min_s, &Record::p25_s, &Record::p75_s, &Record::p95_s, &Record::mean_s, &Record::sd_s,
        &Record::lag1, &Record::gb_per_s, &Record::gflop_per_s, &Record::gitems_per_s, &Record::throttled})
    record.*member = {};
  for (auto member : {&Record::samples, &Record::batch, &Record::outliers}) record.*member = {};
  record.converged = record.method = record.steps_s = "";
}

}  // namespace

namespace {

// Values that are right by themselves and mean nothing together are nothing that the device lacks or the user
// mistyped: the row says why there is no such case.
Plan plan_for(const Family& family, const Case& at, const DeviceInfo& device) {
  try {
    return plan_of(family, at, device);
  } catch (const Error& error) {
    if (error.kind != Kind::usage) throw;
    throw Error(Kind::unsupported, error.what());
  }
}

}  // namespace

Row run_case(OpenDevice& device, const Family& family, const Case& at, Measuring rule) {
  Row row{named_record(device.info(), family, at), {}};
  Record& record = row.record;
  const auto tell_timer = [&] {
    rule.use_event = device.timer().event;
    rule.tick_s = rule.use_event ? 1e-9 * static_cast<double>(device.info().timer_ns) : 0;
    record.timer = rule.use_event ? Timer::event : Timer::host;
    record.timer_reason = device.timer().reason;
  };
  tell_timer();
  const auto failed = [&](Kind kind, const std::string& why) {
    drop_times(record);
    row.samples.clear();
    fail(record, kind, why);
  };
  try {
    device.stage("plan");
    const Plan plan = plan_for(family, at, device.info());
    if (!plan.exhibit.empty()) {
      record.exhibit = "yes";
      record.reason = "exhibit: " + plan.exhibit + "; ";
    }
    record.axes.insert(record.axes.end(), plan.derived.begin(), plan.derived.end());
    const Source source = source_of(plan.sources, plan.defines, device.kernel_dir(), plan.options);
    record.build_options = source.options;
    record.fingerprint = source.fingerprint;
    device.stage("build");
    const double before = host_now();
    const auto& built = device.build(source);
    record.build_ms = host_now() - before < built.build_s ? 0 : 1e3 * built.build_s;

    device.stage("upload");
    Execution execution(device, plan, built.program);
    device.stage("verify");
    execution.poison_outputs();
    execution.run(1);
    execution.check("verify");

    rule.launch_s = device.launch_s();
    execution.poison_outputs();
    const auto prepare = [&] {
      device.stage("sample");
      if (rule.cold) device.flush_caches();
    };
    const auto take = [&] {
      Probe probe{
          .run =
              [&](int batch) {
                prepare();
                return execution.run(batch);
              },
          .canary = [&] { return device.canary(); },
          .pause =
              [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); },
          .calm = device.calm()};
      const HostTicks ticks = host_ticks();
      Measured measured = measure(probe, rule);
      const HostTicks later = host_ticks();
      device.calm() = probe.calm;
      if (later.all > ticks.all) record.steal = (later.stolen - ticks.stolen) / (later.all - ticks.all);
      record_times(record, measured, rule);
      record_calls(record, execution, plan.steps.size(), rule, prepare);
      row.samples = std::move(measured.samples);
    };
    record.bytes = known(plan.cost.read + plan.cost.written);
    record.flops = known(plan.cost.flops);
    record.items = known(plan.cost.items);
    record.ceiling = plan.ceiling;
    for (const auto& buffer : plan.buffers) row.buffer_bytes += buffer.bytes;
    // So the time stamps of every row lie between two looks at the timer that found it right.
    const bool by_event = rule.use_event;
    std::exception_ptr failure;
    try {
      take();
    } catch (const Error&) {  // with some stamps there is nothing to reckon
      failure = std::current_exception();
    }
    if (by_event && !device.timer_holds()) {
      drop_times(record);
      tell_timer();
      take();
    } else if (failure) {
      std::rethrow_exception(failure);
    }

    // The first check covers the timed block as a whole; a launch that was skipped late in it would leave the
    // output of an earlier one, so the last state is wiped and must come back.
    if (rule.check_again) {
      device.stage("verify again");
      try {
        execution.check("verify again");
        execution.poison_outputs();
        execution.run(row.samples.back().batch);
        execution.check("verify again");
      } catch (const Error& error) {
        throw Error(error.kind, std::string("right before the timing, wrong after it: ") + error.what());
      }
    }
    record.value = execution.measured();
    record.unit = execution.unit();
    record.verified = rule.check_again ? Verified::yes : Verified::before;
    record.status = Status::ok;
    if (!plan.exhibit.empty()) record.reason += "right on this device";
  } catch (const Error& error) {
    failed(error.kind, error.what());
  } catch (const cl::Error& error) {
    const Error meaning = cl_failure(error, "run");
    failed(meaning.kind, meaning.what());
  } catch (const std::bad_alloc&) {
    failed(Kind::out_of_memory, "the host has too little memory");
  }
  return row;
}

}  // namespace clweave
