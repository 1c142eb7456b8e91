// SPDX-License-Identifier: Apache-2.0
#include "device/run_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <fstream>
#include <thread>

#include "base/clock.hpp"
#include "base/stats.hpp"
#include "device/builder.hpp"
#include "device/energy.hpp"
#include "device/memory.hpp"
#include "device/open_device.hpp"
#include "power/sensor_log.hpp"
#include "suite/family.hpp"

namespace clweave::device {

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
  Execution(OpenDevice& device, const Plan& plan, const Source& source, const cl::Program& program)
      : device_(device), plan_(plan), builder_(device, source) {
    for (const auto& spec : plan.buffers) memory_.emplace_back(device, spec);
    for (std::size_t q = 0; q < plan.queues.count; ++q)
      queues_.push_back(device.queue(q, plan.queues.in_order));
    for (const auto& step : plan.steps) {
      cl::Kernel& kernel = kernels_.emplace_back();
      auto& part = host_parts_.emplace_back();
      std::visit(Overloaded{[&](const Launch& launch) { kernel = kernel_of(program, launch); },
                            [](const CopyBuffer&) {}, [](const Transfer&) {}, [](const Build&) {},
                            [&](const HostWork& work) { part.resize(work.bytes); }},
                 step);
    }
  }

  // Executes all steps `batch` times. Only the first and the last command get an event: one at every command
  // keeps devices from preparing the next (NVIDIA: 10 us a launch instead of 3.5, and 4 within an empty one).
  Sample run(int batch) {
    const std::size_t steps = plan_.steps.size(), commands = steps * static_cast<std::size_t>(batch);
    cl::Event first, last;
    if (plan_.idle_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(plan_.idle_s));
    const double before = host_now();
    for (std::size_t c = 0; c < commands; ++c) {
      cl::Event* event = plan_.by_host ? nullptr : c + 1 == commands ? &last : c == 0 ? &first : nullptr;
      enqueue(c % steps, event);
      if (c % steps + 1 == steps) end_execution();
    }
    finish();
    Sample sample{.event_s = 0, .host_s = (host_now() - before) / batch, .batch = batch};
    if (plan_.by_host) return sample;
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
    finish();
    return host_now() - before;
  }

  void poison_outputs() {
    for (std::size_t b = 0; b < memory_.size(); ++b) {
      if (!plan_.buffers[b].fill) memory_[b].poison_all();
    }
    device_.queue().finish();  // the plan may use other queues
  }

  // Compares everything that the executions since the poisoning wrote. Throws `wrong_result`.
  void check(const char* stage) {
    device_.stage(stage);
    for (const auto& one : plan_.checks) {
      const Tally tally = memory_[one.buffer.index].compare(one, stage);
      if (tally.wrong > 0) throw Error(ErrorCode::wrong_result, tally.text());
      if (one.unit.empty()) continue;
      measured_ = std::max(measured_, tally.measured);
      unit_ = one.unit;
    }
    for (std::size_t b = 0; b < memory_.size(); ++b) memory_[b].check_guard(b);
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
                                      memory_[buffer.index].be_argument(kernel, i);
                                    },
                                    [&](LocalBytes local) {
                                      kind = fmt::format("{} bytes of local memory", local.bytes);
                                      kernel.setArg(i, cl::Local(local.bytes));
                                    },
                                    [&](Nonce) {
                                      kind = "the program's number";
                                      kernel.setArg(i, builder_.nonce());
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
                     device_.queue().enqueueCopyBuffer(memory_[copy.from.index].buffer(),
                                                       memory_[copy.to.index].buffer(), 0, 0, copy.bytes,
                                                       nullptr, event);
                   },
                   [&](const Transfer& transfer) {
                     const bool to_device = is_of_host(plan_.buffers[transfer.from.index].place);
                     const Memory &from = memory_[transfer.from.index], &to = memory_[transfer.to.index];
                     (to_device ? from : to)
                         .transfer(transfer, to_device, to_device ? to : from, queues_[transfer.queue],
                                   event);
                   },
                   [&](const HostWork& work) {
                     device_.queue().flush();  // else nothing need run meanwhile
                     work.compute(host_parts_[step]);
                     device_.queue().enqueueWriteBuffer(memory_[work.to.index].buffer(), CL_TRUE, work.offset,
                                                        work.bytes, host_parts_[step].data(), nullptr, event);
                   },
                   [&](const Build& build) { builder_.build(build.from); },
                   [&](const Launch& launch) {
                     if (builder_.has_built()) kernels_[step] = kernel_of(builder_.program(), launch);
                     about([&] { return launch_text(launch); },
                           [&] {
                             queues_[launch.queue].enqueueNDRangeKernel(
                                 kernels_[step], cl::NullRange, nd_range(launch.global),
                                 nd_range(launch.local), nullptr, event);
                           });
                   }},
        plan_.steps[step]);
  }

  // One that is out of order may else begin the next execution before this one has ended.
  void end_execution() {
    if (plan_.queues.in_order) return;
    for (const auto& queue : queues_) queue.enqueueBarrierWithWaitList();
  }

  // All queues are to work before the first is waited for, by an event of each: rusticl 22.3 does not wait
  // for what was flushed before its clFinish.
  void finish() {
    if (queues_.size() > 1) {
      std::vector<cl::Event> ends(queues_.size());
      for (std::size_t q = 0; q < queues_.size(); ++q) {
        queues_[q].enqueueMarkerWithWaitList(nullptr, &ends[q]);
        queues_[q].flush();
      }
      cl::Event::waitForEvents(ends);
    }
    for (const auto& queue : queues_) queue.finish();
  }

  OpenDevice& device_;
  const Plan& plan_;
  Builder builder_;
  std::deque<Memory> memory_;
  std::vector<cl::CommandQueue> queues_;
  std::vector<cl::Kernel> kernels_;                 // per step; empty for others than launches
  std::vector<std::vector<std::byte>> host_parts_;  // per step; empty for others than host work
  Number measured_;
  std::string unit_;
};

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

// What samples of whole batches do not show: how long a call with its wait takes, and what each step has of
// it.
void record_calls(Record& record, Execution& execution, std::size_t steps, const SamplingOptions& rule,
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

}  // namespace

namespace {

// Values that are right by themselves and mean nothing together are nothing that the device lacks or the user
// mistyped: the row says why there is no such case.
Plan plan_for(const Family& family, const Case& at, const DeviceInfo& device) {
  try {
    return plan_of(family, at, device);
  } catch (const Error& error) {
    if (error.code != ErrorCode::usage) throw;
    throw Error(ErrorCode::unsupported, error.what());
  }
}

}  // namespace

namespace {

const OpenDevice::Built& probed(OpenDevice& device, const Source& source) {
  try {
    return device.build(source);
  } catch (const Error& error) {
    if (error.code != ErrorCode::build) throw;
    throw Error(ErrorCode::unsupported, refusal_in(error.what(), true));
  }
}

}  // namespace

Row run_case(OpenDevice& device, const Family& family, const Case& at, SamplingOptions rule) {
  Row row{named_record(device.info(), family, at), {}};
  Record& record = row.record;
  const auto tell_timer = [&](bool by_host) {
    rule.use_event = device.timer().event && !by_host;
    rule.tick_s = rule.use_event ? 1e-9 * static_cast<double>(device.info().timer_ns) : 0;
    row.launch_s = rule.use_event ? device.timer().launch_s : 0;
    record.timer = rule.use_event ? Timer::event : Timer::host;
    record.timer_reason = by_host ? "the host has a part in the work" : device.timer().reason;
  };
  tell_timer(false);
  const auto failed = [&](ErrorCode code, const std::string& why) {
    drop_times(record);
    row.samples.clear();
    fail(record, code, why);
  };
  try {
    device.stage("plan");
    const Plan plan = plan_for(family, at, device.info());
    if (plan.by_host) tell_timer(true);
    if (plan.single || plan.idle_s > 0) rule.max_batch = 1;
    rule.rest_s = plan.idle_s;
    if (!plan.exhibit.empty()) {
      record.exhibit = "yes";
      record.reason = "exhibit: " + plan.exhibit + "; ";
    }
    record.axes.insert(record.axes.end(), plan.derived.begin(), plan.derived.end());
    const Source source = source_of(plan, device.kernel_dir());
    record.build_options = source.options;
    record.fingerprint = source.fingerprint;
    device.stage("build");
    const double before = host_now();
    const auto& built = plan.probe ? probed(device, source) : device.build(source);
    record.build_ms = host_now() - before < built.build_s ? 0 : 1e3 * built.build_s;

    device.stage("upload");
    Execution execution(device, plan, source, built.program);
    device.stage("verify");
    execution.poison_outputs();
    execution.run(1);
    execution.check("verify");

    execution.poison_outputs();
    const auto prepare = [&] {
      device.stage("sample");
      if (rule.cold) device.flush_caches();
    };
    const auto take = [&] {
      rule.launch_s = device.launch_s(rule.use_event);
      // In the brief rounds of a search its looks would take as long as the cases.
      PowerMeter* const meter = rule.check_again ? device.meter() : nullptr;
      Conditioned conditioned(meter);
      Probe probe{
          .run =
              [&](int batch) {
                prepare();
                const Sample sample = execution.run(batch);
                conditioned.between_batches();
                return sample;
              },
          .canary = rule.together ? std::function<double()>() : [&] { return device.canary(); },
          .pause =
              [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); },
          .calm = device.calm()};
      const HostTicks ticks = host_ticks();
      SampleSet measured = measure(probe, rule);
      const HostTicks later = host_ticks();
      record_conditions(record, meter, conditioned.end());
      device.calm() = probe.calm;
      if (later.all > ticks.all) record.steal = (later.stolen - ticks.stolen) / (later.all - ticks.all);
      record_times(record, measured, rule);
      record_calls(record, execution, plan.steps.size(), rule, prepare);
      row.samples = std::move(measured.samples);
    };
    record_cost(record, plan.cost);
    record.ceiling = plan.ceiling;
    for (const auto& buffer : plan.buffers) row.buffer_bytes += buffer.bytes;
    // So the time stamps of every row lie between two looks at the timer that found it right.
    const bool by_event = rule.use_event;
    if (rule.together) device.stage(ready);
    std::exception_ptr failure;
    try {
      take();
    } catch (const Error& error) {
      if (error.code != ErrorCode::usage) throw;  // a launch that failed is none of the timer's
      failure = std::current_exception();         // with some stamps there is nothing to reckon
    }
    if (by_event && !device.timer_holds()) {
      drop_times(record);
      tell_timer(false);
      take();
    } else if (failure) {
      std::rethrow_exception(failure);
    }

    if (rule.energy_s > 0) record_energy(record, device, rule, [&](int batch) { execution.run(batch); });

    // The first check covers the timed block as a whole; a launch that was skipped late in it would leave the
    // output of an earlier one, so the last state is wiped and must come back.
    if (rule.check_again) {
      device.stage("verify again");
      try {
        execution.check("verify again");
        execution.poison_outputs();
        execution.run(1);  // of several, one gives its steps what another was to have from the step before
        execution.check("verify again");
      } catch (const Error& error) {
        throw Error(error.code, std::string("right before the timing, wrong after it: ") + error.what());
      }
    }
    record.value = execution.measured();
    record.unit = execution.unit();
    record.verified = rule.check_again ? Verified::yes : Verified::before;
    record.status = Status::ok;
    if (!plan.exhibit.empty()) record.reason += "right on this device";
  } catch (const Error& error) {
    failed(error.code, error.what());
  } catch (const cl::Error& error) {
    const Error meaning = cl_failure(error, "run");
    failed(meaning.code, meaning.what());
  } catch (const std::bad_alloc&) {
    failed(ErrorCode::out_of_memory, "the host has too little memory");
  }
  return row;
}

}  // namespace clweave::device
