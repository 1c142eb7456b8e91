// SPDX-License-Identifier: Apache-2.0
#include "baselines/native.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <thread>

#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "base/parallel.hpp"
#include "base/version.hpp"
#include "campaign/child.hpp"
#include "campaign/protocol.hpp"
#include "campaign/worker.hpp"
#include "commands/case_list.hpp"
#include "commands/command.hpp"
#include "commands/open_devices.hpp"
#include "commands/options.hpp"
#include "device/measure.hpp"
#include "os/clock.hpp"
#include "os/host.hpp"
#include "os/interrupt.hpp"
#include "os/this_program.hpp"
#include "results/disturbance.hpp"
#include "results/provenance.hpp"
#include "results/results_file.hpp"
#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave::baselines {

using nlohmann::json;

namespace {

constexpr std::uint64_t grain = 4096;  // bytes that fills and checks are handed at least
constexpr std::size_t alignment = 4096;

struct Free {
  void operator()(std::byte* at) const { ::operator delete[](at, std::align_val_t(alignment)); }
};

std::byte poison_at(std::uint64_t i) { return static_cast<std::byte>(poison[i % poison.size()]); }

ComparisonResult compared(const Check& check, std::span<const std::byte> all) {
  ComparisonResult total;
  std::mutex merging;
  for_stretches(all.size(), 1 << 16, [&](std::uint64_t begin, std::uint64_t end) {
    const ComparisonResult part = check.compare(begin, all.subspan(begin, end - begin));
    const std::scoped_lock lock(merging);
    total.merge(part);
  });
  return total;
}

// The first byte from `begin` on that is not poison any more.
std::optional<std::uint64_t> first_touched(std::span<const std::byte> all, std::uint64_t begin) {
  std::atomic<std::uint64_t> first = all.size();
  for_stretches(all.size() - begin, grain, [&](std::uint64_t from, std::uint64_t to) {
    std::uint64_t i = begin + from;
    while (i < begin + to && all[i] == poison_at(i)) ++i;
    if (i == begin + to) return;
    std::uint64_t known = first;
    while (i < known && !first.compare_exchange_weak(known, i)) {
    }
  });
  return first < all.size() ? std::optional(first.load()) : std::nullopt;
}

// A plan's buffers in this process' memory.
class HostBuffers {
 public:
  explicit HostBuffers(const Plan& plan) : plan_(plan) {
    for (const auto& spec : plan.buffers) {
      memory_.emplace_back(
          static_cast<std::byte*>(::operator new[](spec.bytes, std::align_val_t(alignment))));
      if (!spec.fill) continue;
      for_stretches(spec.bytes, grain, [&](std::uint64_t begin, std::uint64_t end) {
        spec.fill(begin, std::span(memory_.back().get() + begin, end - begin));
      });
    }
  }

  Work work(const Case& at) {
    Work out{at, {}, {}};
    for (std::size_t b = 0; b < memory_.size(); ++b)
      (plan_.buffers[b].fill ? out.inputs : out.outputs)
          .emplace_back(memory_[b].get(), plan_.buffers[b].bytes);
    return out;
  }

  void poison_outputs() {
    for (std::size_t b = 0; b < memory_.size(); ++b) {
      if (plan_.buffers[b].fill) continue;
      for_stretches(plan_.buffers[b].bytes, grain, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) memory_[b][i] = poison_at(i);
      });
    }
  }

  // Throws `wrong_result`.
  void check() const {
    for (const auto& one : plan_.checks) {
      const BufferSpec& spec = plan_.buffers[one.buffer.index];
      const std::span<const std::byte> all(memory_[one.buffer.index].get(), spec.bytes);
      const ComparisonResult tally = compared(one, all.first(spec.used()));
      if (tally.wrong > 0) throw Error(ErrorCode::wrong_result, tally.text());
      if (const auto at = first_touched(all, spec.used()))
        throw Error(ErrorCode::wrong_result, fmt::format("byte {} was written, behind what is kept", *at));
    }
  }

 private:
  const Plan& plan_;
  std::vector<std::unique_ptr<std::byte[], Free>> memory_;
};

struct NativeJob {
  const Native* native;
  const Family* family;
  Case like;         // whose plan has the work
  Case row;          // as the row names it
  unsigned threads;  // 0: that is no question
};

// The case of `native.like` that computes what `at` does; none where it is not the baseline's.
std::optional<Case> like(const Native& native, const Family& family, const Case& at) {
  Sweep sweep(native.like);
  for (const auto& axis : native.axes) sweep[axis] = Values(at.at(axis));
  const auto cases = cases_of(family, {sweep}, at.seed);
  if (cases.size() != 1 || !native.takes(cases.front())) return {};
  return cases.front();
}

const Family& family_of(const std::string& name) {
  const auto& families = all_families();
  const auto family = std::ranges::find(families, name, &Family::name);
  if (family == families.end()) throw Error(ErrorCode::usage, "there is no family " + name);
  return *family;
}

// Returns the baselines that do the task of a case.
std::vector<NativeJob> jobs_for(const Natives& host, const Case& at) {
  const Family& family = family_of(at.family);
  std::vector<NativeJob> out;
  for (const auto& native : host.all) {
    if (native.family != family.name) continue;
    const auto found = like(native, family, at);
    if (!found) continue;
    Case row{native.family, {{"kernel", native.name}}, at.seed};
    for (const auto& axis : native.axes) row.axes.emplace_back(axis, found->at(axis));
    if (host.threads.empty()) {
      out.push_back({&native, &family, *found, std::move(row), 0});
      continue;
    }
    for (const unsigned threads : native.parallel ? host.threads : std::vector{1U}) {
      Case on = row;
      on.axes.emplace_back(threads_axis, std::int64_t{threads});
      out.push_back({&native, &family, *found, std::move(on), threads});
    }
  }
  return out;
}

std::vector<NativeJob> jobs_for(const Natives& host, const Selection& selection) {
  std::vector<NativeJob> out;
  std::set<std::string> ids;
  for (const auto& ours : select_jobs(all_families(), selection)) {
    if (ours.known_incorrect || ours.is_peak) continue;
    for (auto& job : jobs_for(host, ours.at)) {
      if (ids.insert(job.native->api + " " + job.row.id()).second) out.push_back(std::move(job));
    }
  }
  return out;
}

// Throws what went wrong. `report_phase` hears what begins.
void measure_into(Row& row, const NativeJob& job, const Natives& host, SamplingOptions sampling,
                  const std::function<void(const char*)>& report_phase) {
  Record& record = row.record;
  report_phase("fill");
  const Plan plan = plan_of(*job.family, job.like, host.device);
  HostBuffers buffers(plan);
  const Work work = buffers.work(job.like);
  report_phase("upload");
  const Prepared prepared = job.native->prepare(work);
  const auto verify = [&] {
    buffers.poison_outputs();
    report_phase("build");  // the first time, where kernels are
    prepared.execute();
    if (prepared.collect) prepared.collect();
    report_phase("verify");
    buffers.check();
  };
  verify();
  const auto host_s = [&](int batch, const auto& executions) {
    const double before = host_now();
    executions();
    return (host_now() - before) / batch;
  };
  const auto one_by_one = [&](int batch) {
    for (int i = 0; i < batch; ++i) prepared.execute();
  };
  double told_s = 0;
  const auto sample = [&](int batch) {
    if (const double now_s = host_now(); now_s - told_s > 0.5) {
      report_phase("sample");
      told_s = now_s;
    }
    Sample out{.batch = batch};
    out.host_s = host_s(batch, [&] {
      if (prepared.device_s)
        out.event_s = prepared.device_s(batch);
      else
        one_by_one(batch);
    });
    return out;
  };
  sampling.use_event = static_cast<bool>(prepared.device_s);
  record.timer = sampling.use_event ? Timer::event : Timer::host;
  record.timer_reason = sampling.use_event ? "" : "there is no device";
  SamplerHooks hooks{.run = sample, .canary = {}, .pause = {}};
  SampleSet samples = measure(hooks, sampling);
  record_cost(record, plan.cost);
  record_times(record, samples, sampling);
  record.disturbed = disturbance_of(record);
  record.call_s = record.time_s;
  if (sampling.use_event) {
    std::vector<double> calls;
    for (int i = 0; i < 9; ++i) calls.push_back(host_s(1, [&] { one_by_one(1); }));
    record.call_s = median(calls);
  }
  verify();
  row.samples = std::move(samples.samples);
  record.verified = Verified::yes;
  record.status = Status::ok;
}

Row measured(const NativeJob& job, const Natives& host, SamplingOptions sampling,
             const std::function<void(const char*)>& report_phase) {
  Row row{named_record(host.device, *job.family, job.row), {}};
  Record& record = row.record;
  record.api = job.native->api;
  record.build_options = host.made_by;
  const auto failed = [&](ErrorCode code, const std::string& why) {
    clear_measured(record);
    row.samples.clear();
    fail(record, code, why);
  };
  try {
    const auto measure = [&] { measure_into(row, job, host, sampling, report_phase); };
    if (host.on_threads)
      host.on_threads(job.threads, measure);
    else
      measure();
  } catch (const Error& error) {
    failed(error.code, error.what());
  } catch (const std::bad_alloc&) {
    failed(ErrorCode::out_of_memory, "the host has too little memory");
  } catch (const std::exception& error) {
    failed(ErrorCode::launch, error.what());
  }
  return row;
}

// Divides --budget: each case may sample for half of an equal share of what is left.
class Budget {
 public:
  Budget(std::optional<double> seconds, std::size_t cases) : seconds_(seconds), cases_(cases) {}

  // Returns the options for the next case, or nothing if the time is up. At least one case is measured.
  std::optional<SamplingOptions> next(SamplingOptions sampling) {
    if (!seconds_) return sampling;
    const double left_s = *seconds_ - (host_now() - began_s_);
    const std::size_t to_come = cases_--;
    if (begun_ && left_s <= 0) {
      ++left_out_;
      return {};
    }
    begun_ = true;
    sampling.stop.max_seconds = std::clamp(left_s / static_cast<double>(to_come) / 2, 1e-3,
                                           std::max(1e-3, sampling.stop.max_seconds));
    return sampling;
  }
  std::size_t left_out() const { return left_out_; }

 private:
  std::optional<double> seconds_;
  std::size_t cases_, left_out_ = 0;  // to come
  bool begun_ = false;
  double began_s_ = host_now();
};

// Prints the cases as `clweave run --dry-run` does.
void describe(const std::vector<NativeJob>& jobs, const DeviceInfo& device) {
  std::vector<Job> all;
  for (const auto& job : jobs)
    all.push_back({.family = job.family, .at = job.like, .baseline = BaselineCase{job.native->api, job.row}});
  print(dry_run_report(all, device, false));
}

int measure_all(const std::vector<std::string>& arguments, const NativesOn& natives_on) {
  const std::string program = program_file().filename();
  const auto app = empty_command_line();
  app->name(program);
  app->description(
      "What people would use instead of the kernels of clweave, verified and measured as they are: "
      "one CSV row per case. clweave run --with-baselines measures both in turns.");
  MeasureOptions options;
  add_baseline(*app, options);
  if (!parse(*app, arguments)) return success;
  if (options.csv.empty() && !options.dry_run)
    throw Error(ErrorCode::usage, "--csv FILE is required; --csv - is stdout");
  catch_interrupts();
  const Natives host = natives_on({options.devices, {}, options.threads});
  if (!options.threads.empty() && host.threads.empty())
    throw Error(ErrorCode::usage,
                "--threads: what runs on " + host.device.name + " is not of the host's threads");
  const auto jobs = jobs_for(host, options.selection);
  if (jobs.empty()) throw Error(ErrorCode::usage, "no baseline does the work of these cases");
  if (options.dry_run) {
    describe(jobs, host.device);
    return success;
  }
  const SamplingOptions sampling = sampling_of(options);
  auto axes = axis_names(all_families());
  axes.emplace_back(threads_axis);
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Record common = provenance(words, options.selection.seed, options.label);
  ResultsFile file(options.csv, axes, {common.command, common.run_id, common.version, {}}, options.overwrite);
  Budget budget(options.budget_s, jobs.size() * static_cast<std::size_t>(options.runs()));
  int code = success;
  for (int run = 1; run <= options.runs(); ++run) {
    std::int64_t order = 0;
    for (const auto& job : jobs) {
      if (interrupts() != 0) return interrupted;
      const auto shorter = budget.next(sampling);
      if (!shorter) continue;
      Row row = measured(job, host, *shorter, [](const char*) {});
      row.record.order = ++order;
      fill_common_columns(row.record, common, run);
      file.write(row.record, row.samples);
      if (row.record.ok()) continue;
      log_line("clweave: {}: {}, {}\n", row.record.case_id, row.record.status, row.record.reason);
      if (row.record.failed()) code = case_failed;
    }
  }
  if (budget.left_out() == 0)
    file.finish();
  else
    log_line("clweave: the budget of {} s ended before {} cases; --family and --where choose fewer\n",
             *options.budget_s, budget.left_out());
  return code;
}

// Serves `clweave run --with-baselines`.
json answer_to(const json& request, std::optional<Natives>& host, const NativesOn& natives_on) {
  if (request.contains("open")) {
    tell_phase("open");
    host = natives_on(
        {{}, request.at("open").get<DeviceInfo>(), request.at("threads").get<std::vector<unsigned>>()});
    return {{"device", host->device}, {"version", version}};
  }
  if (!host) throw Error(ErrorCode::usage, "no device is open");
  if (request.contains("baselines")) {
    json offered = json::array();
    for (const auto& job : jobs_for(*host, case_from(request.at("baselines")))) {
      offered.push_back(json_of(BaselineCase{job.native->api, job.row}));
      offered.back()["case"] = json_of(job.like);
    }
    return {{"baselines", offered}};
  }
  const BaselineCase wanted = baseline_case_from(request.at("baseline"));
  for (const auto& job : jobs_for(*host, case_from(request.at("case")))) {
    if (job.native->api == wanted.api && job.row.id() == wanted.row.id())
      return json_of(measured(job, *host, sampling_from(request), tell_phase));
  }
  throw Error(ErrorCode::usage, "there is no " + wanted.row.id() + " of " + wanted.api);
}

[[noreturn]] void serve_natives(const std::vector<std::string>& arguments, const NativesOn& natives_on) {
  const bool is_known = arguments.size() == 3 && arguments[1] == "--parent";
  const auto parent = is_known ? number_of<int>(arguments[2]) : std::nullopt;
  if (!parent)
    throw Error(ErrorCode::usage, "worker --parent PID is what clweave run --with-baselines starts");
  std::optional<Natives> host;
  serve(*parent, [&](const json& request) { return answer_to(request, host, natives_on); });
}

}  // namespace

DeviceInfo processor() {
  const Record here = provenance({}, 0);
  DeviceInfo out;
  out.platform = native_platform;
  out.platform_version = "C++20";
  out.name = here.cpu.empty() ? "processor" : here.cpu;
  out.vendor = "native";
  out.type = "cpu";
  out.driver = here.os;
  out.compute_units = std::max(1U, std::thread::hardware_concurrency());
  out.memory_bytes = out.usable_bytes = out.max_alloc_bytes = os::memory_bytes();
  out.local_bytes = 1 << 20;
  out.max_group = 4096;
  out.max_group_dims = {4096, 4096, 4096};
  out.fp64 = out.int64_atomics = true;
  return out;
}

void check_names(const std::vector<Native>& natives) {
  for (const auto& native : natives) {
    const Case at = cases_of(family_of(native.family), {Sweep(native.like)}, 1).front();
    for (const auto& axis : native.axes) at.at(axis);
  }
}

int native_main(const std::vector<std::string>& arguments, const NativesOn& made_on) {
  const NativesOn natives_on = [&](const Wanted& wanted) {
    Natives out = made_on(wanted);
    check_names(out.all);
    return out;
  };
  try {
    if (!arguments.empty() && arguments.front() == "worker") serve_natives(arguments, natives_on);
    return measure_all(arguments, natives_on);
  } catch (const Error& error) {
    log_line("{}\n", error.what());
    return error.code == ErrorCode::usage       ? bad_usage
           : error.code == ErrorCode::no_device ? no_such_device
           : error.code == ErrorCode::io        ? io_failed
                                                : case_failed;
  }
}

}  // namespace clweave::baselines
