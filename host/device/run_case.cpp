// SPDX-License-Identifier: Apache-2.0
#include "device/run_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <exception>
#include <future>
#include <limits>
#include <memory>
#include <span>
#include <thread>

#include "base/stats.hpp"
#include "device/builder.hpp"
#include "device/clock_comparison.hpp"
#include "device/energy.hpp"
#include "device/launch.hpp"
#include "device/memory.hpp"
#include "device/open_device.hpp"
#include "device/peer.hpp"
#include "device/reference.hpp"
#include "os/clock.hpp"
#include "power/sensor_log.hpp"
#include "results/contradictions.hpp"
#include "results/disturbance.hpp"
#include "suite/family.hpp"
#include "suite/over_time.hpp"

namespace clweave::device {

namespace {

bool restores(const Plan& plan) { return std::ranges::any_of(plan.buffers, &BufferSpec::restored); }

// Waits until the driver calls back that the command has ended. The callback owns the promise, which it may
// still be fulfilling when the wait for it returns.
void wait_for_callback(cl::Event& last, const cl::CommandQueue& queue) {
  using Ended = std::promise<cl_int>;
  auto ended = std::make_unique<Ended>();
  auto status = ended->get_future();
  const auto tell = [](cl_event, cl_int of, void* data) {
    const std::unique_ptr<Ended> to(static_cast<Ended*>(data));
    to->set_value(of);
  };
  last.setCallback(CL_COMPLETE, tell, ended.get());
  static_cast<void>(ended.release());
  queue.flush();
  if (const cl_int of = status.get(); of < 0) throw cl::Error(of, "a command");
}

// What a check throws of an output that is wrong.
struct WrongResult : Error {
  WrongResult(const Check& check, const ComparisonResult& result)
      : Error(ErrorCode::wrong_result, result.text()), output{check.output, check.rule, result.sample} {}
  results::WrongOutput output;
};

// The buffers, kernels and checks of one plan on one device. A plan describes a case without OpenCL calls;
// its steps (launches, copies, transfers, host work, builds) are executed in order and timed together.
class Execution {
 public:
  // `checks`: the plan's, each with what it compares with; `peer`: the plan's other device. All arguments
  // must outlive it.
  Execution(OpenDevice& device, OpenDevice& peer, const Plan& plan, const std::vector<Check>& checks,
            const Source& source)
      : device_(device),
        peer_(peer),
        plan_(plan),
        checks_(checks),
        builder_(device, source),
        is_restored_(!restores(plan)) {
    for (const auto& spec : plan.buffers) memory_.emplace_back(spec.on_peer ? peer : device, spec);
    for (std::size_t q = 0; q < plan.queues.count; ++q)
      queues_.push_back(is_of_peer(q) ? peer.queue() : device.queue(q, plan.queues));
    const cl::Program &program = device.build(source).program,
                      &of_peer = plan.peer ? peer.build(source).program : program;
    for (const auto& step : plan.steps) {
      cl::Kernel& kernel = kernels_.emplace_back();
      auto& part = host_parts_.emplace_back();
      mapped_.push_back(nullptr);
      std::visit(Overloaded{[&](const Launch& launch) {
                              kernel = kernel_of(is_of_peer(launch.queue) ? of_peer : program, launch);
                            },
                            [](const CopyBuffer&) {}, [](const Transfer&) {}, [](const Build&) {},
                            [&](const HostWork& work) { part.resize(work.bytes); }},
                 step);
    }
  }

  // Gives buffers that an execution has changed their contents back. Returns when they are there, so that
  // nothing of it is timed.
  void restore() {
    if (is_restored_) return;
    cl::Event last;
    for (const auto& memory : memory_) memory.restore(last);
    device_.finish(device_.queue(), last);
    is_restored_ = true;
  }

  void begin_execution() {
    restore();
    is_restored_ = !restores(plan_);
    for (const auto& memory : memory_) memory.give_pages_back();
    for (std::size_t step = 0; step < plan_.steps.size(); ++step) {
      const auto* const transfer = std::get_if<Transfer>(&plan_.steps[step]);
      if (transfer != nullptr && transfer->mapped_before)
        mapped_[step] = memory_[transfer->to.index].map(*transfer, true, memory_[transfer->from.index],
                                                        queues_[transfer->queue]);
    }
  }

  // Executes all steps `batch` times. Only the first and the last command get an event, because an event at
  // every command keeps devices from preparing the next one (NVIDIA: 10 us per launch instead of 3.5).
  Sample run(int batch) {
    const std::size_t steps = plan_.steps.size(), commands = steps * static_cast<std::size_t>(batch);
    cl::Event first, last;
    if (plan_.idle_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(plan_.idle_s));
    begin_execution();
    const bool is_behind = start_background();
    const double before = host_now();
    for (std::size_t c = plan_.background; c < commands; ++c) {
      cl::Event* event = nullptr;
      if (c + 1 == commands)
        event = &last;
      else if (c == 0 && !plan_.timed_by_host)
        event = &first;
      enqueue(c % steps, event);
      if (c % steps + 1 == steps) end_execution();
    }
    const double enqueued = host_now();
    const double ended = end_of(last);
    if (plan_.background > 0) parts_.emplace_back();
    if (is_behind) parts_.back() = (ended - before) / (host_now() - before);
    Sample sample{.event_s = 0, .host_s = (ended - before) / batch, .batch = batch};
    if (plan_.timed_by_host) return sample;
    const Stamps begin = stamps_of(commands == 1 ? last : first), end = stamps_of(last);
    // With batching, swapped time stamps would still give a positive duration, so check each event.
    const bool valid = begin.valid() && end.valid() && begin.end <= end.end;
    const double device_s = Stamps{valid, begin.start, end.end}.seconds();
    // The system may add as much again to a pause.
    const double pause_s = plan_.wait == Wait::sleep ? 2 * std::chrono::duration<double>(pause).count() : 0;
    clocks_.add({batch, device_s, ended - before, enqueued - before + pause_s});
    sample.event_s = device_s / batch;
    return sample;
  }

  // Executes the steps once and returns each one's time, by an event of its own.
  std::vector<double> run_steps() {
    std::vector<cl::Event> events(plan_.steps.size());
    begin_execution();
    for (std::size_t step = 0; step < events.size(); ++step) enqueue(step, &events[step]);
    device_.finish(device_.queue(), events.back());
    std::vector<double> steps_s;
    for (const auto& event : events) steps_s.push_back(stamps_of(event).seconds());
    return steps_s;
  }

  // Executes the steps once and returns the host time from the first command to the end of the wait.
  double time_synchronous_execution() {
    begin_execution();
    const double before = host_now();
    cl::Event last;
    for (std::size_t step = 0; step < plan_.steps.size(); ++step)
      enqueue(step, step + 1 == plan_.steps.size() ? &last : nullptr);
    return end_of(last) - before;
  }

  void poison_outputs() {
    for (std::size_t b = 0; b < memory_.size(); ++b) {
      if (!plan_.buffers[b].fill) memory_[b].poison_all();
    }
    device_.queue().finish();  // the plan may use other queues
    peer_.queue().finish();
  }

  // Compares all outputs with the reference. Throws `wrong_result`.
  void check(const char* phase) {
    device_.report_phase(phase);
    hashes_.clear();
    right_.resize(checks_.size());
    for (std::size_t c = 0; c < checks_.size(); ++c) {
      const Check& one = checks_[c];
      const ComparisonResult result = memory_[one.buffer.index].compare(one, phase, right_[c]);
      if (result.wrong > 0) throw WrongResult(one, result);
      if (result.hash)
        hashes_ += fmt::format("{}{}:{:016x}", hashes_.empty() ? "" : ";", one.hash_name, *result.hash);
      if (one.unit.empty()) continue;
      measured_ = std::max(measured_, result.measured);
      unit_ = one.unit;
    }
    if (const std::string wrong = guard_problem(); !wrong.empty())
      throw Error(ErrorCode::wrong_result, "wrote " + wrong);
  }

  // Reads what lies behind the ends of buffers before the first launch, so that no kernel is accused of what
  // the driver's fill left there, which is not used any more then. Throws `wrong_result` if writes do no
  // better.
  void check_guards_before_launch() {
    std::string wrong = guard_problem();
    if (!wrong.empty() && device_.fill().by_driver()) {
      device_.fill().refuse("clEnqueueFillBuffer left bytes wrong " + wrong);
      poison_outputs();
      for (auto& memory : memory_) memory.poison_guard();
      wrong = guard_problem();
    }
    if (!wrong.empty())
      throw Error(ErrorCode::wrong_result,
                  "before any launch memory does not hold what was written " + wrong);
  }

  bool maps() const {
    return std::ranges::any_of(plan_.steps, [](const Step& step) {
      const auto* const transfer = std::get_if<Transfer>(&step);
      return transfer != nullptr && transfer->map;
    });
  }

  // Compares the batches' times by both clocks. `clocks` forgets those of executions before.
  ClockComparison& clocks() { return clocks_; }

  // Return the largest value that a check measured, such as an error in ULP, and its unit.
  const Number& measured() const { return measured_; }
  const std::string& unit() const { return unit_; }
  // Tells in the row which part of the time until the background had ended the samples took, their median. If
  // more than one in ten began after its end, the row tells that alone.
  void record_background(Record& record) const {
    const auto samples = std::min(parts_.size(), static_cast<std::size_t>(record.samples.value_or(0)));
    std::vector<double> parts;
    for (const auto& part : std::span(parts_).last(samples)) {
      if (part) parts.push_back(*part);
    }
    const std::size_t late = samples - parts.size();
    if (late > 0)
      record.timer_reason +=
          fmt::format("; the kernel in the background had ended before {} of {} executions", late, samples);
    if (10 * late > samples || parts.empty()) return;
    record.value = median(parts);
    record.unit = "fraction";
  }
  // Returns the hashes that the last checks made.
  const std::string& hashes() const { return hashes_; }

 private:
  cl::Kernel kernel_of(const cl::Program& program, const Launch& launch) {
    return device::kernel_of(program, launch, builder_.build_number(),
                             [this](cl::Kernel& kernel, cl_uint i, Buffer buffer) {
                               memory_[buffer.index].bind_to_kernel(kernel, i);
                             });
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
                         .transfer(transfer, to_device, to_device ? to : from, queues_[transfer.queue], event,
                                   mapped_[step]);
                   },
                   [&](const HostWork& work) {
                     device_.queue()
                         .flush();  // else the driver need not start the earlier steps before the host ends
                     work.compute(host_parts_[step]);
                     device_.queue().enqueueWriteBuffer(memory_[work.to.index].buffer(), CL_TRUE, work.offset,
                                                        work.bytes, host_parts_[step].data(), nullptr, event);
                   },
                   [&](const Build& build) { builder_.build(build.from); },
                   [&](const Launch& launch) {
                     if (builder_.has_built()) kernels_[step] = kernel_of(builder_.program(), launch);
                     std::vector<cl::Event> after;
                     if (is_of_peer(launch.queue)) {
                       queues_.front().enqueueMarkerWithWaitList(nullptr, &after.emplace_back());
                       queues_.front().flush();
                     }
                     with_error_context([&] { return launch_text(launch); },
                                        [&] {
                                          queues_[launch.queue].enqueueNDRangeKernel(
                                              kernels_[step], cl::NullRange, nd_range(launch.global),
                                              nd_range(launch.local), after.empty() ? nullptr : &after,
                                              event);
                                        });
                   }},
        plan_.steps[step]);
  }

  // Enqueues the background, if any, and lets it begin, as events of some drivers do not tell when it does.
  // Returns whether it runs: not with rusticl 22.3, which tells a status only after the end.
  bool start_background() {
    if (plan_.background == 0) return false;
    cl::Event last;
    for (std::size_t step = 0; step < plan_.background; ++step) enqueue(step, &last);
    queues_.front().flush();
    std::this_thread::sleep_for(begins_within);
    return last.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() != CL_COMPLETE;
  }

  // Keeps an out-of-order queue from beginning the next execution before this one has ended.
  void end_execution() {
    if (plan_.queues.in_order) return;
    for (const auto& queue : queues_) queue.enqueueBarrierWithWaitList();
  }

  // Flushes all queues before waiting for the first. It waits for an event of each, because rusticl 22.3's
  // clFinish does not wait for commands that were flushed before it.
  void finish(const cl::Event& last) {
    if (queues_.size() > 1) {
      std::vector<cl::Event> ends(queues_.size());
      for (std::size_t q = 0; q < queues_.size(); ++q) {
        queues_[q].enqueueMarkerWithWaitList(nullptr, &ends[q]);
        queues_[q].flush();
      }
      cl::Event::waitForEvents(ends);
    }
    for (std::size_t q = 1; q < queues_.size(); ++q) queues_[q].finish();
    device_.finish(queues_.front(), last);
  }

  // Returns when a wait as the plan says has ended. Nothing runs any more then, whatever the driver said.
  double end_of(cl::Event& last) {
    wait(last);
    const double ended = host_now();
    if (plan_.wait != Wait::finish) finish(last);
    return ended;
  }

  // Waits as the plan says.
  void wait(cl::Event& last) {
    if (plan_.wait == Wait::finish) return finish(last);
    if (plan_.wait == Wait::blocking_read) {
      std::array<std::byte, 4> first{};
      queues_.front().enqueueReadBuffer(memory_.front().buffer(), CL_TRUE, 0, first.size(), first.data());
      return;
    }
    if (plan_.wait == Wait::callback) return wait_for_callback(last, queues_.front());
    for (const auto& queue : queues_) queue.flush();
    if (plan_.wait == Wait::event) {
      last.wait();
      return;
    }
    const auto has_ended = [&] {
      const auto status = last.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
      if (status < 0) throw cl::Error(status, "a command");
      return status == CL_COMPLETE;
    };
    while (!has_ended()) {
      if (plan_.wait == Wait::sleep) std::this_thread::sleep_for(pause);
    }
  }

  std::string guard_problem() const {
    std::string wrong;
    for (std::size_t b = 0; b < memory_.size() && wrong.empty(); ++b) wrong = memory_[b].guard_problem(b);
    return wrong;
  }

  bool is_of_peer(std::size_t queue) const { return plan_.peer && queue == 1; }

  static constexpr std::chrono::microseconds pause{100};        // of Wait::sleep
  static constexpr std::chrono::milliseconds begins_within{2};  // of the background

  OpenDevice &device_, &peer_;
  const Plan& plan_;
  const std::vector<Check>& checks_;
  Builder builder_;
  std::deque<Memory> memory_;
  std::vector<RightOutput> right_;  // per check
  std::vector<cl::CommandQueue> queues_;
  std::vector<cl::Kernel> kernels_;                 // per step; empty for others than launches
  std::vector<std::vector<std::byte>> host_parts_;  // per step; empty for others than host work
  std::vector<void*> mapped_;                       // per step; null but for what is mapped before
  ClockComparison clocks_;                          // of all batches so far
  bool is_restored_;                                // no buffer is to be restored
  Number measured_;
  std::string unit_;
  std::string hashes_;
  std::vector<Number> parts_;  // of each execution, of the time until the background had ended; empty: it had
};

// Returns the median time of each step over several executions: "1.2e-05;3e-06".
std::string steps_text(const std::vector<std::vector<double>>& executions) {
  std::vector<std::string> medians;
  for (std::size_t step = 0; step < executions.front().size(); ++step) {
    std::vector<double> times;
    for (const auto& steps_s : executions) times.push_back(steps_s[step]);
    medians.push_back(fmt::format("{:.4g}", median(times)));
  }
  return fmt::format("{}", fmt::join(medians, ";"));
}

// Turns the `usage` error of a family that refuses a combination of values into `unsupported`: each value is
// valid, so the user made no mistake, and the row gives the reason.
Plan plan_for(const Family& family, const Case& at, const DeviceInfo& device) {
  try {
    return plan_of(family, at, device);
  } catch (const Error& error) {
    if (error.code != ErrorCode::usage) throw;
    throw Error(ErrorCode::unsupported, error.what());
  }
}

// The steps from a plan to a row, in the order in which run_case calls them.
class CaseRun {
 public:
  CaseRun(OpenDevice& device, const Record& named, const SamplingOptions& sampling)
      : device_(device), sampling_(sampling), row_{named, {}} {
    choose_timer(false);
  }

  // Limits the sampling as the plan needs it, and notes what the plan says of the case.
  void begin(const Plan& plan) {
    if (plan.timed_by_host) choose_timer(true);
    if (plan.never_batched || plan.idle_s > 0 || restores(plan)) sampling_.max_batch = 1;
    // Lets samples follow each other where the host copies or waits for milliseconds around each: that sets
    // them apart.
    constexpr std::uint64_t takes_milliseconds = std::uint64_t{64} << 20;  // bytes to copy
    const auto is_filled_before = [](const Step& step) {
      const auto* const transfer = std::get_if<Transfer>(&step);
      return transfer != nullptr && transfer->mapped_before && transfer->bytes >= takes_milliseconds;
    };
    if (plan.background > 0 || std::ranges::any_of(plan.steps, is_filled_before)) sampling_.spread_s = 0;
    constexpr double background_s = 20e-3;  // in which a background is expected to end
    sampling_.rest_s = plan.idle_s + (plan.background > 0 ? background_s : 0);
    if (!plan.known_incorrect.empty()) {
      record_.known_incorrect = "yes";
      record_.reason = "known incorrect: " + plan.known_incorrect;
    }
    record_.axes.insert(record_.axes.end(), plan.derived.begin(), plan.derived.end());
    for (const auto& [column, cell] : plan.derived_when_measured) record_.axes.emplace_back(column, cell());
  }

  // Builds the program. A plan that may fail to build becomes `unsupported` if the compiler refuses it.
  const OpenDevice::Built& build(const Plan& plan, const Source& source) {
    record_.build_options = source.options;
    record_.kernel_hash = source.kernel_hash;
    device_.report_phase("build");
    const double before = host_now();
    try {
      const auto& built = device_.build(source);
      const bool built_for_earlier_case = host_now() - before < built.build_s;
      record_.build_ms = built_for_earlier_case ? 0 : 1e3 * built.build_s;
      return built;
    } catch (const Error& error) {
      if (!plan.may_fail_to_build || error.code != ErrorCode::build) throw;
      throw Error(ErrorCode::unsupported, refusal_in(error.what(), true));
    }
  }

  // Runs the plan's references; returns its checks, which compare with what they wrote.
  std::vector<Check> run_references(const Plan& plan, const Source& source, const cl::Program& program) {
    References references(device_, plan, source, program);
    std::vector<Check> checks;
    for (const auto& check : plan.checks) checks.push_back(references.known(check));
    add_reason(record_, references.remark());
    return checks;
  }

  // Executes once and checks the whole output, then poisons it for the check after the timing.
  void verify(Execution& execution) {
    device_.report_phase("verify");
    execution.poison_outputs();
    execution.check_guards_before_launch();
    note_fill();
    execution.run(1);
    execution.check("verify");
    execution.poison_outputs();
  }

  // Samples the times, and checks the timer again, which was checked before the first case and after every
  // other, that the host still waits for the device, and that launches are still executed. If the timer
  // fails, the case is timed again by the host's clock.
  void sample(const Plan& plan, Execution& execution) {
    record_cost(record_, plan.cost);
    record_.peak = plan.peak;
    for (const auto& buffer : plan.buffers) row_.buffer_bytes += buffer.bytes;
    const bool by_event = sampling_.use_event;
    if (sampling_.parallel) device_.report_phase(ready);  // returns when all devices may start
    const std::string reason = record_.reason;            // without what the samples add
    std::exception_ptr failure;
    execution.clocks() = {};
    try {
      take_samples(plan, execution);
    } catch (const Error& error) {
      if (error.code != ErrorCode::usage) throw;  // a failed launch is not the timer's fault
      failure = std::current_exception();  // invalid time stamps gave a time of 0, which no median may be
    }
    const bool is_valid = device_.timer_is_still_valid();
    const std::string contradiction = by_event && is_valid && !failure ? clock_contradiction(execution) : "";
    if (by_event && (!is_valid || !contradiction.empty())) {
      clear_measured(record_);
      record_.reason = reason;
      choose_timer(false);
      if (!contradiction.empty()) use_host_clock("the two clocks disagree in this case: " + contradiction);
      take_samples(plan, execution);
    } else if (failure) {
      std::rethrow_exception(failure);
    }
    if (sampling_.use_event) {
      row_.completion_latency_s += execution.clocks().enqueue_s();
      row_.least_host_s = execution.clocks().host_s() / static_cast<double>(record_.batch.value_or(1));
    }
    if (execution.maps()) {
      device_.check_maps();
      execution.run(1);  // is refused if they are wrong now
    }
    if (const std::string problem = device_.launch_problem(); !problem.empty())
      throw Error(ErrorCode::device_lost,
                  "after the timing the device no longer executes every launch: " + problem);
    if (sampling_.energy_s > 0 && (restores(plan) || plan.background > 0))
      record_.meter_reason = restores(plan) ? "restoring buffers takes energy, too"
                                            : "the kernel in the background takes energy, too";
    else if (sampling_.energy_s > 0)
      record_energy(record_, device_, sampling_, [&](int batch) { execution.run(batch); });
  }

  // Checks the output of the timed executions. A driver that skipped the later ones
  // would leave an early one's correct output, so it is poisoned, written by one more execution and checked
  // again.
  void verify_again(Execution& execution) {
    if (!sampling_.verify_afterwards) return;
    device_.report_phase("verify again");
    try {
      execution.check("verify again");
      execution.poison_outputs();
      execution.run(1);  // only one: with more, what a skipped step wrote before would be there
      execution.check("verify again");
    } catch (const Error& error) {
      throw Error(error.code, std::string("correct before the timing, wrong after it: ") + error.what());
    }
  }

  // Executes a second time and checks that, too: a kernel may be right only with the memory as it was filled.
  void verify_once_more(const Plan& plan, Execution& execution) {
    execution.run(1);
    try {
      execution.check("verify again");
    } catch (const Error& error) {
      throw Error(error.code, std::string("correct the first time, wrong the second: ") + error.what());
    }
    record_.verified = Verified::yes;
    record_.status = Status::ok;
    note_unchecked(plan);
  }

  void succeed(const Plan& plan, const Execution& execution) {
    if (device_.finishes_early())
      record_.timer_reason +=
          "; clFinish returns before the work has ended, so its events are waited for, too";
    record_.value = execution.measured();
    record_.unit = execution.unit();
    record_.output_hash = execution.hashes();
    if (plan.background > 0) execution.record_background(record_);
    record_.verified = sampling_.verify_afterwards ? Verified::yes : Verified::before;
    record_.status = Status::ok;
    note_unchecked(plan);
    if (const std::string doubt = rate_doubt(plan); !doubt.empty()) {
      clear_measured(record_);  // no clock that tells such a time is believed
      row_.samples.clear();
      record_.status = Status::implausible;
      add_reason(record_, doubt);
      return;
    }
    if (!plan.known_incorrect.empty()) add_reason(record_, "correct on this device");
  }

  // Asks a kernel of known result, after a wrong one, whether the device is to blame.
  void fail(OpenDevice& device, const Error& error) {
    if (error.code != ErrorCode::wrong_result) return fail(error.code, error.what());
    std::string problem;
    try {
      problem = device.launch_problem();
    } catch (const cl::Error& failure) {
      problem = cl_failure(failure, "its launch").what();
    }
    if (problem.empty()) {
      const auto* const wrong = dynamic_cast<const WrongResult*>(&error);
      if (wrong != nullptr && !wrong->output.sample.empty()) row_.wrong = wrong->output;
      return fail(error.code, error.what());
    }
    fail(ErrorCode::device_lost,
         fmt::format("the device does nothing right any more, as after a reset: {}; the case: {}", problem,
                     error.what()));
  }

  void fail(ErrorCode code, const std::string& why) {
    clear_measured(record_);
    row_.samples.clear();
    results::fail(record_, code, why);
  }

  Row take_row() { return std::move(row_); }

 private:
  // Says of a row whose output nothing checks that it is not verified.
  void note_unchecked(const Plan& plan) {
    bool unchecked_output = plan.checks.empty() && !plan.buffers.empty();
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
      const BufferSpec& buffer = plan.buffers[b];
      const auto looks_at = [b](const Check& check) { return check.buffer.index == b; };
      unchecked_output = unchecked_output || (!buffer.fill && !buffer.scratch && buffer.used() > 0 &&
                                              std::ranges::none_of(plan.checks, looks_at));
    }
    if (!unchecked_output) return;
    record_.verified = Verified::no;
    add_reason(record_, std::string(unchecked) + "nothing checks its output");
  }

  void choose_timer(bool timed_by_host) {
    sampling_.use_event = device_.timer().event && !timed_by_host;
    sampling_.tick_s = sampling_.use_event ? 1e-9 * static_cast<double>(device_.info().timer_ns) : 0;
    row_.completion_latency_s = sampling_.use_event ? device_.timer().completion_latency_s : 0;
    record_.timer = sampling_.use_event ? Timer::event : Timer::host;
    record_.timer_reason =
        timed_by_host ? "the host works too, or several queues take part" : device_.timer().reason;
  }

  void use_host_clock(const std::string& why) {
    choose_timer(true);
    record_.timer_reason = why;
  }

  // Returns why the times of the batches by the two clocks contradict each other. Takes further batches
  // before it says so, as a busy host may have been late after all of a few.
  std::string clock_contradiction(Execution& execution) {
    constexpr int most_batches = 100;
    constexpr double most_s = 2;
    const double tick_s = 1e-9 * static_cast<double>(device_.info().timer_ns);
    std::string why = execution.clocks().contradiction(device_.timer(), tick_s);
    const double begin_s = host_now();
    for (int i = 0; i < most_batches && !why.empty() && host_now() - begin_s < most_s; ++i) {
      before_batch(execution);
      execution.run(static_cast<int>(record_.batch.value_or(1)));
      why = execution.clocks().contradiction(device_.timer(), tick_s);
    }
    return why;
  }

  // Returns why the row moves bytes faster than the device can; empty if it may. Also without measured peaks,
  // so it leaves more room than the check against them: what the caches hold is copied first, then a set of
  // the same size. A kernel that reads its buffers more than once may be served by closer caches.
  std::string rate_doubt(const Plan& plan) {
    constexpr double far_more = 10, once = 1.1, least_rate = 1e9;
    constexpr std::uint64_t usual_bytes = std::uint64_t{8} << 20;
    const auto bytes = static_cast<double>(plan.cost.read + plan.cost.written);
    if (!of_memory(plan.peak) || bytes > once * static_cast<double>(row_.buffer_bytes)) return {};
    const double rate = bytes / record_.time_s.value_or(0);
    if (rate < least_rate) return {};
    for (const std::uint64_t copied : {usual_bytes, row_.buffer_bytes}) {
      const double possible = quick_rate(copied);
      if (rate <= far_more * possible) return {};
      if (copied == row_.buffer_bytes)
        return fmt::format("{:.4g} GB/s where a quick copy of as many bytes reaches {:.4g}", 1e-9 * rate,
                           1e-9 * possible);
    }
    return {};
  }

  // Returns the rate of a quick copy of at most so many bytes; infinite where the device has no room for it,
  // as nothing is known then.
  double quick_rate(std::uint64_t bytes) {
    const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(0, device_.info().max_alloc_bytes));
    try {
      return device_.quick_copy().rate(std::min(bytes, most));
    } catch (const cl::Error&) {
      return std::numeric_limits<double>::infinity();
    }
  }

  // Says in the row that the driver's fill is not used, if that is its own fault.
  void note_fill() {
    if (device_.fill().by_driver() || device_.info().platform == "Oclgrind") return;
    add_reason(record_, "poisoned by writes: " + device_.fill().why_not());
  }

  void before_batch(Execution& execution) {
    device_.report_phase("sample");
    execution.restore();  // before the caches are emptied, as it fills them
    if (sampling_.cold) device_.flush_caches();
  }

  void take_samples(const Plan& plan, Execution& execution) {
    sampling_.launch_overhead_s = device_.launch_overhead_s(sampling_.use_event);
    // A tuning search verifies once and reads no sensors: either would take as long as its short sampling.
    PowerMeter* const meter = sampling_.verify_afterwards ? device_.meter() : nullptr;
    ConditionLog conditions(meter);
    std::vector<Conditions> read;  // behind each batch; without anything where no reading was due
    SamplerHooks hooks{
        .run =
            [&](int batch) {
              before_batch(execution);
              const Sample sample = execution.run(batch);
              const Conditions* const now = conditions.between_batches();
              if (plan.sustained_s > 0) read.push_back(now != nullptr ? *now : Conditions());
              return sample;
            },
        .canary = sampling_.parallel ? std::function<double()>() : [&] { return device_.canary(); },
        .pause = [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); },
        .throttling = device_.throttling()};
    const long setbacks = host_setbacks();
    SampleSet measured =
        plan.sustained_s > 0 ? sustain(hooks, sampling_, plan.sustained_s) : measure(hooks, sampling_);
    record_conditions(record_, meter, conditions.end());
    device_.throttling() = hooks.throttling;
    record_times(record_, measured, sampling_);
    if (plan.sustained_s > 0) record_.over_time = text_of(bins_from(measured.samples, read));
    record_.disturbed = disturbance_of(record_);
    record_call_and_step_times(execution, plan.steps.size());
    if (host_setbacks() != setbacks)
      throw Error(ErrorCode::launch, "the host's clock went backwards meanwhile: its times are not known");
    row_.samples = std::move(measured.samples);
  }

  // Joins each sample with what was read behind it.
  std::vector<TimeBin> bins_from(const std::vector<Sample>& samples,
                                 const std::vector<Conditions>& read) const {
    std::vector<TimeBin> bins;
    double at_s = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Sample& sample = samples[i];
      const Conditions& found = read[read.size() - samples.size() + i];
      at_s += sample.host_s * sample.batch;
      bins.push_back({at_s, sampling_.use_event ? sample.event_s : sample.host_s, found.core_mhz,
                      found.celsius, found.watts});
    }
    return bins;
  }

  // Measures what samples of whole batches do not show: the time of one execution that the host waits for,
  // and the time of each step.
  void record_call_and_step_times(Execution& execution, std::size_t steps) {
    const int least = *record_.wall_s < 0.1 ? 3 : 1;  // long executions vary little
    const int repetitions = static_cast<int>(std::clamp(20e-3 / *record_.wall_s, 1.0 * least, 21.0));
    record_.call_s = record_.wall_s;
    if (record_.batch > 1) {
      std::vector<double> calls;
      for (int i = 0; i < repetitions; ++i) calls.push_back(execution.time_synchronous_execution());
      record_.call_s = median(calls);
    }
    if (!sampling_.use_event || steps == 1) return;
    std::vector<std::vector<double>> executions;
    for (int i = 0; i < repetitions; ++i) {
      before_batch(execution);
      executions.push_back(execution.run_steps());
    }
    record_.steps_s = steps_text(executions);
  }

  OpenDevice& device_;
  SamplingOptions sampling_;
  Row row_;  // the record, which is the CSV's line, and the samples that it was computed from
  Record& record_ = row_.record;
};

}  // namespace

namespace {

// Throws `unsupported` where the kernels might wait for ever, if their waits had no bound.
void need_forward_progress(OpenDevice& device) {
  if (const std::string& problem = device.progress_problem(); !problem.empty())
    throw Error(ErrorCode::unsupported,
                "work-groups that have begun may never go on while others wait for them: " + problem +
                    "; kernels with a fallback need no such promise");
}

// Makes the row of a case: builds it and calls `measure` with the run, the plan and the execution.
template <class F>
Row row_of(OpenDevice& device, const Family& family, const Case& at, const SamplingOptions& sampling,
           const F& measure) {
  CaseRun run(device, named_record(device.info(), family, at), sampling);
  try {
    device.report_phase("plan");
    const Plan plan = plan_for(family, at, device.info());
    run.begin(plan);
    const Source source = source_of(plan, device.kernel_dir());
    if (plan.needs_forward_progress) need_forward_progress(device);
    const auto& built = run.build(plan, source);
    const std::vector<Check> checks = run.run_references(plan, source, built.program);
    device.report_phase("upload");
    const auto pair = plan.peer.value_or(0) > 0 ? open_pair(device, *plan.peer) : nullptr;
    Execution execution(pair ? pair->own : device, pair ? pair->peer : device, plan, checks, source);
    measure(run, plan, execution);
  } catch (const Error& error) {
    run.fail(device, error);
  } catch (const cl::Error& error) {
    const Error meaning = cl_failure(error, "run");
    run.fail(meaning.code, meaning.what());
  } catch (const std::bad_alloc&) {
    run.fail(ErrorCode::out_of_memory, "the host has too little memory");
  }
  return run.take_row();
}

}  // namespace

Row run_case(OpenDevice& device, const Family& family, const Case& at, SamplingOptions sampling) {
  return row_of(device, family, at, sampling, [](CaseRun& run, const Plan& plan, Execution& execution) {
    run.verify(execution);
    run.sample(plan, execution);
    run.verify_again(execution);
    run.succeed(plan, execution);
  });
}

Row check_case(OpenDevice& device, const Family& family, const Case& at) {
  return row_of(device, family, at, {}, [](CaseRun& run, const Plan& plan, Execution& execution) {
    run.verify(execution);
    run.verify_once_more(plan, execution);
  });
}

}  // namespace clweave::device
