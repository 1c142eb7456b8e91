// SPDX-License-Identifier: Apache-2.0
#include "baselines/native.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "base/tell.hpp"
#include "commands/measuring.hpp"
#include "commands/options.hpp"
#include "device/measure.hpp"
#include "results/provenance.hpp"
#include "results/results_file.hpp"
#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave {

namespace {

constexpr std::uint64_t grain = 4096;  // bytes that fills and checks are handed at least
constexpr std::size_t alignment = 4096;

struct Free {
  void operator()(std::byte* at) const { ::operator delete[](at, std::align_val_t(alignment)); }
};

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
        for (std::uint64_t i = begin; i < end; ++i)
          memory_[b][i] = static_cast<std::byte>(poison[i % poison.size()]);
      });
    }
  }

  // Throws `wrong_result`.
  void check() const {
    for (const auto& one : plan_.checks) {
      const BufferSpec& spec = plan_.buffers[one.buffer.index];
      const std::byte* at = memory_[one.buffer.index].get();
      const Tally tally = one.compare(0, {at, spec.used()});
      if (tally.wrong > 0) throw Error(Kind::wrong_result, tally.text());
      for (std::uint64_t i = spec.used(); i < spec.bytes; ++i) {
        if (at[i] != static_cast<std::byte>(poison[i % poison.size()]))
          throw Error(Kind::wrong_result, fmt::format("byte {} was written, behind what is kept", i));
      }
    }
  }

 private:
  const Plan& plan_;
  std::vector<std::unique_ptr<std::byte[], Free>> memory_;
};

struct NativeJob {
  const Native* native;
  const Family* family;
  Case like;  // whose plan has the work
  Case row;   // as the row names it
};

// The case of `native.like` that computes what `at` does; none where it is not the baseline's.
std::optional<Case> like(const Native& native, const Family& family, const Case& at) {
  Sweep sweep(native.like);
  for (const auto& axis : native.axes) sweep[axis] = Values(at.at(axis));
  const auto cases = cases_of(family, {sweep}, at.seed);
  if (cases.size() != 1 || !native.takes(cases.front())) return {};
  return cases.front();
}

std::vector<NativeJob> jobs_for(const std::vector<Native>& natives, const Selection& selection,
                                unsigned threads) {
  std::vector<NativeJob> out;
  std::set<std::string> ids;
  for (const auto& job : select_jobs(all_families(), selection)) {
    if (job.exhibit || job.is_ceiling) continue;
    for (const auto& native : natives) {
      if (native.family != job.family->name) continue;
      const auto found = like(native, *job.family, job.at);
      if (!found) continue;
      Case row{native.family, {{"kernel", native.name}}, job.at.seed};
      for (const auto& axis : native.axes) row.axes.emplace_back(axis, found->at(axis));
      if (threads > 0) row.axes.emplace_back("threads", std::int64_t{native.parallel ? threads : 1});
      if (ids.insert(native.api + " " + row.id()).second)
        out.push_back({&native, job.family, *found, std::move(row)});
    }
  }
  return out;
}

Row measured(const NativeJob& job, const Natives& host, Measuring rule) {
  Row row{named_record(host.device, *job.family, job.row), {}};
  Record& record = row.record;
  record.api = job.native->api;
  record.build_options = host.made_by;
  const auto failed = [&](Kind kind, const std::string& why) {
    drop_times(record);
    row.samples.clear();
    fail(record, kind, why);
  };
  try {
    const Plan plan = plan_of(*job.family, job.like, host.device);
    HostBuffers buffers(plan);
    const Work work = buffers.work(job.like);
    const Prepared prepared = job.native->prepare(work);
    const auto verify = [&] {
      buffers.poison_outputs();
      prepared.execute();
      if (prepared.collect) prepared.collect();
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
    const auto sample = [&](int batch) {
      Sample out{.batch = batch};
      out.host_s = host_s(batch, [&] {
        if (prepared.device_s)
          out.event_s = prepared.device_s(batch);
        else
          one_by_one(batch);
      });
      return out;
    };
    rule.use_event = static_cast<bool>(prepared.device_s);
    record.timer = rule.use_event ? Timer::event : Timer::host;
    record.timer_reason = rule.use_event ? "" : "there is no device";
    Probe probe{.run = sample, .canary = {}, .pause = {}};
    Measured samples = measure(probe, rule);
    record_cost(record, plan.cost);
    record_times(record, samples, rule);
    record.call_s = record.time_s;
    if (rule.use_event) {
      std::vector<double> calls;
      for (int i = 0; i < 9; ++i) calls.push_back(host_s(1, [&] { one_by_one(1); }));
      record.call_s = median(calls);
    }
    verify();
    row.samples = std::move(samples.samples);
    record.verified = Verified::yes;
    record.status = Status::ok;
  } catch (const Error& error) {
    failed(error.kind, error.what());
  } catch (const std::bad_alloc&) {
    failed(Kind::out_of_memory, "the host has too little memory");
  } catch (const std::exception& error) {
    failed(Kind::launch, error.what());
  }
  return row;
}

int measure_all(const std::vector<std::string>& arguments,
                const std::function<Natives(const std::vector<std::string>&)>& natives) {
  std::vector<std::string> words = {"run"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto options = parse_options(words);
  if (!options) return fine;
  if (options->csv.empty()) throw Error(Kind::usage, "--csv FILE is required; --csv - is stdout");
  catch_interrupts();
  const Natives host = natives(options->devices);
  const auto jobs = jobs_for(host.all, options->selection, host.threads);
  if (jobs.empty()) throw Error(Kind::usage, "no baseline does the work of these cases");
  const Measuring rule = rule_of(*options);
  auto axes = axis_names(all_families());
  axes.emplace_back("threads");
  const Record common = provenance(words, options->selection.seed);
  ResultsFile file(options->csv, axes, {common.command, common.run_id, common.version, {}},
                   options->overwrite);
  int code = fine;
  for (int run = 1; run <= options->runs(); ++run) {
    std::int64_t order = 0;
    for (const auto& job : jobs) {
      if (interrupts() != 0) return interrupted;
      Row row = measured(job, host, rule);
      row.record.order = ++order;
      stamp(row.record, common, run);
      file.write(row.record, row.samples);
      if (row.record.ok()) continue;
      tell("clweave: {}: {}, {}\n", row.record.case_id, row.record.status, row.record.reason);
      if (row.record.failed()) code = case_failed;
    }
  }
  file.finish();
  return code;
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
  out.memory_bytes = out.usable_bytes = out.max_alloc_bytes =
      static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  out.local_bytes = 1 << 20;
  out.max_group = 4096;
  out.max_group_dims = {4096, 4096, 4096};
  out.fp64 = out.int64_atomics = true;
  return out;
}

int native_main(const std::vector<std::string>& arguments,
                const std::function<Natives(const std::vector<std::string>&)>& natives) {
  try {
    return measure_all(arguments, natives);
  } catch (const Error& error) {
    tell("{}\n", error.what());
    return error.kind == Kind::usage       ? bad_usage
           : error.kind == Kind::no_device ? no_such_device
           : error.kind == Kind::io        ? io_failed
                                           : case_failed;
  }
}

}  // namespace clweave
